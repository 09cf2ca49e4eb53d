//! Where a list goes on: the `Link` header, checked before the App's JWT is sent there (spec section 9).

use url::Url;

/// A `Link` that is not to be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Not of the header's form, or two next links.
    #[error("the `Link` header cannot be parsed")]
    Malformed,
    /// Another scheme, host or port than the API's.
    #[error("the next link leaves the API's origin")]
    OtherOrigin,
    /// Another path than the list's.
    #[error("the next link leaves the list's path")]
    OtherPath,
}

/// The path and query of the `rel="next"` link, as they are to be put behind the API's base URL; `None` if there is none.
///
/// `base_url` is the API's, without a slash at its end; `path` the list's, such as `/app/hook/deliveries`.
///
/// # Errors
/// If the header cannot be parsed, or the link leaves the API's origin or the list's path.
pub fn next(header: Option<&str>, base_url: &str, path: &str) -> Result<Option<String>, LinkError> {
    let Some(header) = header else { return Ok(None) };
    let mut found = None;
    for (target, rels) in parse(header)? {
        if rels.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("next")) && found.replace(target).is_some() {
            return Err(LinkError::Malformed);
        }
    }
    found.map(|target| check(target, base_url, path)).transpose()
}

/// A page cursor that [`next`] gave, to be followed now: the settings may name another server since, but no other path.
///
/// # Errors
/// If it leaves the list's path.
pub fn resume<'a>(cursor: &'a str, path: &str) -> Result<&'a str, LinkError> {
    let query = cursor.strip_prefix(path).and_then(|rest| rest.strip_prefix('?'));
    query.map(|_| cursor).ok_or(LinkError::OtherPath)
}

fn check(target: &str, base_url: &str, path: &str) -> Result<String, LinkError> {
    if let Some(query) = plain_query(target, base_url, path) {
        return Ok(format!("{path}?{query}"));
    }
    checked_query(target, base_url, path).map(|query| format!("{path}?{query}"))
}

/// The query of a target in GitHub's own form. Two dozen pages a sweep have it, and to parse an URL takes longer than all else of a
/// link: so what starts as our own call did, and has no letter that a parser would look at, is not parsed.
fn plain_query<'a>(target: &'a str, base_url: &str, path: &str) -> Option<&'a str> {
    let query = target.strip_prefix(base_url)?.strip_prefix(path)?.strip_prefix('?')?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%=&".contains(&byte);
    query.bytes().all(is_plain).then_some(query)
}

fn checked_query(target: &str, base_url: &str, path: &str) -> Result<String, LinkError> {
    let base = Url::parse(&format!("{base_url}{path}")).map_err(|_| LinkError::Malformed)?;
    let target = base.join(target).map_err(|_| LinkError::Malformed)?;
    if target.origin() != base.origin() || !target.username().is_empty() || target.password().is_some() {
        return Err(LinkError::OtherOrigin);
    }
    if target.path() != base.path() {
        return Err(LinkError::OtherPath);
    }
    target.query().map(str::to_owned).ok_or(LinkError::Malformed)
}

/// Takes `<target>; rel="x"; other=y, <target>…` apart, as RFC 8288 has it.
fn parse(header: &str) -> Result<Vec<(&str, &str)>, LinkError> {
    let mut links = Vec::new();
    let mut rest = header.trim();
    while !rest.is_empty() {
        let (target, after) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')).ok_or(LinkError::Malformed)?;
        let mut rel = None;
        rest = after.trim_start();
        while let Some(parameter) = rest.strip_prefix(';') {
            let (name, value, after) = parse_parameter(parameter)?;
            if name.eq_ignore_ascii_case("rel") {
                rel = rel.or(Some(value));
            }
            rest = after.trim_start();
        }
        links.push((target, rel.unwrap_or_default()));
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.is_empty() => {}
            None => return Err(LinkError::Malformed),
        }
    }
    Ok(links)
}

/// `name`, `value` and what comes behind; the value with or without quotes, or none.
fn parse_parameter(text: &str) -> Result<(&str, &str, &str), LinkError> {
    let text = text.trim_start();
    let end = text.find(['=', ';', ',']).unwrap_or(text.len());
    let (name, rest) = (text[..end].trim_end(), &text[end..]);
    let Some(value) = rest.strip_prefix('=') else { return Ok((name, "", rest)) };
    let value = value.trim_start();
    if let Some(quoted) = value.strip_prefix('"') {
        let (value, after) = quoted.split_once('"').ok_or(LinkError::Malformed)?;
        return Ok((name, value, after));
    }
    let end = value.find([';', ',']).unwrap_or(value.len());
    Ok((name, value[..end].trim_end(), &value[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://api.github.com";
    const PATH: &str = "/app/hook/deliveries";

    fn read(header: &str) -> Result<Option<String>, LinkError> {
        next(Some(header), BASE, PATH)
    }

    #[test]
    fn the_next_link_is_followed_verbatim() {
        let expected = Ok(Some("/app/hook/deliveries?per_page=100&cursor=v1_3844358593348378624%3D".to_owned()));
        let link = "<https://api.github.com/app/hook/deliveries?per_page=100&cursor=v1_3844358593348378624%3D>";
        assert_eq!(read(&format!("{link}; rel=\"next\"")), expected);
        assert_eq!(read(&format!("<https://api.github.com/app/hook/deliveries?a>; rel=\"prev\", {link}; rel=next")), expected);
        assert_eq!(read(&format!("{link}; title=\"a, b\"; REL=\"first NEXT\" ,")), expected);
        assert_eq!(read("</app/hook/deliveries?per_page=100&cursor=v1_3844358593348378624%3D>; rel=\"next\""), expected);
    }

    #[test]
    fn what_is_not_parsed_is_what_a_parser_would_have_made_of_it() {
        for (base, query) in [
            (BASE, "per_page=100&cursor=v1_3844358593348378624%3D"),
            (BASE, ""),
            (BASE, "a=~._-&&=%"),
            ("https://ghe.example:8443/api/v3", "page=2"),
        ] {
            let target = format!("{base}{PATH}?{query}");
            assert_eq!(plain_query(&target, base, PATH), Some(query));
            assert_eq!(checked_query(&target, base, PATH).as_deref(), Ok(query));
        }
        for query in ["a#b", "a b", "a\tb", "a\"b", "a<b", "a'b", "ü", "a?b", "a/../b", "a@b", "a\\b", "a\u{0}"] {
            assert_eq!(plain_query(&format!("{BASE}{PATH}?{query}"), BASE, PATH), None, "{query:?}");
        }
        for target in [format!("{BASE}.evil.example{PATH}?a"), format!("{BASE}{PATH}/1?a"), format!("{PATH}?a"), format!("{BASE}{PATH}")] {
            assert_eq!(plain_query(&target, BASE, PATH), None, "{target}");
        }
    }

    #[test]
    fn a_list_ends_without_a_next_link() {
        assert_eq!(next(None, BASE, PATH), Ok(None));
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("<https://evil.example/>; rel=\"prev\""), Ok(None));
    }

    #[test]
    fn a_link_that_leaves_the_origin_is_refused() {
        for target in [
            "https://evil.example/app/hook/deliveries?cursor=a",
            "http://api.github.com/app/hook/deliveries?cursor=a",
            "https://api.github.com:8443/app/hook/deliveries?cursor=a",
            "https://api.github.com@evil.example/app/hook/deliveries?cursor=a",
            "https://user:pass@api.github.com/app/hook/deliveries?cursor=a",
            "https://api.github.com.evil.example/app/hook/deliveries?cursor=a",
            "//evil.example/app/hook/deliveries?cursor=a",
            "\\\\evil.example/app/hook/deliveries?cursor=a",
            "data:,x",
        ] {
            assert_eq!(read(&format!("<{target}>; rel=\"next\"")), Err(LinkError::OtherOrigin), "{target}");
        }
    }

    #[test]
    fn a_link_that_leaves_the_path_is_refused() {
        for target in [
            "https://api.github.com/app/hook/deliveries/1/attempts?cursor=a",
            "https://api.github.com/app/hook/deliveries/../../x?cursor=a",
            "https://api.github.com/app?cursor=a",
        ] {
            assert_eq!(read(&format!("<{target}>; rel=\"next\"")), Err(LinkError::OtherPath), "{target}");
        }
    }

    #[test]
    fn what_cannot_be_parsed_is_refused() {
        for header in [
            "https://api.github.com/app/hook/deliveries?cursor=a; rel=\"next\"",
            "<https://api.github.com/app/hook/deliveries?cursor=a; rel=\"next\"",
            "<https://api.github.com/app/hook/deliveries?cursor=a>; rel=\"next",
            "<https://api.github.com/app/hook/deliveries?cursor=a>; rel=\"next\" junk",
            "<https://api.github.com/app/hook/deliveries?a>; rel=next, <https://api.github.com/app/hook/deliveries?b>; rel=next",
            "<https://api.github.com/app/hook/deliveries>; rel=\"next\"",
            "<https://:api>; rel=\"next\"",
        ] {
            assert_eq!(read(header), Err(LinkError::Malformed), "{header}");
        }
    }

    #[test]
    fn a_base_with_a_path_keeps_it() {
        let link = "<https://ghe.example/api/v3/app/hook/deliveries?cursor=a>; rel=\"next\"";
        let cursor = next(Some(link), "https://ghe.example/api/v3", PATH).expect("it is followed").expect("there is one");
        assert_eq!(resume(&cursor, PATH), Ok("/app/hook/deliveries?cursor=a"));
    }

    #[test]
    fn a_kept_cursor_that_leaves_the_path_is_refused() {
        for cursor in
            ["/app?cursor=a", "/app/hook/deliveries/1?cursor=a", "https://evil.example/app/hook/deliveries?cursor=a", "", "@evil.example/?"]
        {
            assert_eq!(resume(cursor, PATH), Err(LinkError::OtherPath), "{cursor}");
        }
    }
}
