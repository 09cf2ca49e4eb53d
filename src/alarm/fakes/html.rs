//! Telegram's HTML, read as strictly as its documentation has it.

/// Text as a person reads it, and what was marked in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) text: String,
    /// Tag, its address if it is a link, and what it marks.
    pub(crate) marks: Vec<(&'static str, Option<String>, String)>,
}

impl Parsed {
    pub(crate) fn units(&self) -> usize {
        self.text.encode_utf16().count()
    }
}

/// Reads a message, or says what Telegram would refuse.
pub(crate) fn parse(html: &str) -> Result<Parsed, String> {
    let mut parsed = Parsed { text: String::new(), marks: Vec::new() };
    let mut open: Vec<(&'static str, Option<String>, usize)> = Vec::new();
    let mut rest = html;
    while let Some(letter) = rest.chars().next() {
        match letter {
            '<' => {
                let (tag, after) = rest[1..].split_once('>').ok_or("an unclosed tag")?;
                rest = after;
                if let Some(name) = tag.strip_prefix('/') {
                    let (opened, address, start) = open.pop().ok_or("an end without a start")?;
                    if opened != name {
                        return Err(format!("<{opened}> is closed by </{name}>"));
                    }
                    parsed.marks.push((opened, address, parsed.text[start..].to_owned()));
                } else {
                    let (name, address) = start_tag(tag)?;
                    if open.iter().any(|(outer, ..)| *outer == "code") {
                        return Err("markup inside of code".to_owned());
                    }
                    open.push((name, address, parsed.text.len()));
                }
            }
            '>' => return Err("a lone >".to_owned()),
            '&' => {
                let (letter, after) = entity(rest)?;
                parsed.text.push(letter);
                rest = after;
            }
            _ => {
                parsed.text.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    match open.pop() {
        Some((name, ..)) => Err(format!("<{name}> is never closed")),
        None if parsed.text.trim().is_empty() => Err("an empty text".to_owned()),
        None if parsed.units() > 4096 => Err("a text that is too long".to_owned()),
        // Telegram drops what is beyond without a word.
        None if parsed.marks.len() > 100 => Err("more than a hundred marks".to_owned()),
        None => Ok(parsed),
    }
}

/// What Telegram takes as the address of a button or a link.
pub(crate) fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.split('/').next().is_some_and(|host| host.contains('.')) && !rest.contains([' ', '"', '<', '>']))
}

fn start_tag(tag: &str) -> Result<(&'static str, Option<String>), String> {
    match tag {
        "b" => Ok(("b", None)),
        "code" => Ok(("code", None)),
        _ => {
            let address = tag.strip_prefix("a href=\"").and_then(|rest| rest.strip_suffix('"')).ok_or("an unknown tag")?;
            let mut read = String::new();
            let mut rest = address;
            while let Some(letter) = rest.chars().next() {
                let after = match letter {
                    '"' => return Err("a quote in an attribute".to_owned()),
                    '&' => {
                        let (letter, after) = entity(rest)?;
                        read.push(letter);
                        after
                    }
                    _ => {
                        read.push(letter);
                        &rest[letter.len_utf8()..]
                    }
                };
                rest = after;
            }
            Ok(("a", Some(read)))
        }
    }
}

fn entity(text: &str) -> Result<(char, &str), String> {
    [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"')]
        .iter()
        .find_map(|(name, letter)| text.strip_prefix(name).map(|rest| (*letter, rest)))
        .ok_or_else(|| "an unescaped & or an unknown entity".to_owned())
}
