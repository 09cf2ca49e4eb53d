//! What a request asks for, and when it may ask again.

use url::Url;

use crate::policy::time::Time;

/// The value of a parameter that is given once; `None` if it is missing or given twice.
#[must_use]
pub fn only(url: &Url, name: &str) -> Option<String> {
    let mut values = url.query_pairs().filter(|(given, _)| given == name).map(|(_, value)| value.into_owned());
    values.next().filter(|_| values.next().is_none())
}

/// A time such as `2026-11-30T02:00Z`, with or without seconds, in any zone. A `+` that came as a space is read as one.
#[must_use]
pub fn since(text: &str) -> Option<Time> {
    let text = text.trim().replace(' ', "+");
    let parse = |text: &str| Time::parse(text).map(|(time, _)| time);
    // RFC 3339 wants seconds, and a person has none.
    parse(&text).or_else(|| {
        let (minutes, zone) = text.split_at_checked("2026-11-30T02:00".len())?;
        parse(&format!("{minutes}:00{zone}"))
    })
}

/// Whole seconds until then, for `Retry-After`; `None` if that is over.
#[must_use]
pub fn retry_after(until: Time, now: Time) -> Option<u64> {
    (now < until).then(|| until.since(now).as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_given_once() {
        let url = |query: &str| Url::parse(&format!("https://x.example/forget{query}")).expect("it is an address");
        assert_eq!(only(&url("?guid=a%20b"), "guid"), Some("a b".to_owned()));
        assert_eq!(only(&url("?x=1&guid="), "guid"), Some(String::new()));
        for query in ["", "?", "?x=guid", "?guid=a&guid=b", "?Guid=a"] {
            assert_eq!(only(&url(query), "guid"), None, "{query}");
        }
    }

    #[test]
    fn a_time_is_read_with_or_without_seconds_in_any_zone() {
        let two = Time::parse("2026-11-30T02:00:00Z").map(|(time, _)| time);
        for text in
            ["2026-11-30T02:00Z", "2026-11-30T02:00:00Z", "2026-11-30T02:00:00.000Z", "2026-11-30T03:00+01:00", "2026-11-30T03:00 01:00"]
        {
            assert_eq!(since(text), two, "{text}");
        }
        for text in
            ["", "yesterday", "2026-11-30", "2026-11-30T02:00", "2026-11-30T02Z", "2026-13-30T02:00Z", "2026-11-30T02:0éZ", "1764460800"]
        {
            assert_eq!(since(text), None, "{text}");
        }
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_and_never_as_none() {
        let at = Time::from_millis;
        assert_eq!(retry_after(at(10_000), at(8_999)), Some(2));
        assert_eq!(retry_after(at(10_000), at(9_999)), Some(1));
        assert_eq!((retry_after(at(10_000), at(10_000)), retry_after(at(10_000), at(20_000))), (None, None));
    }
}
