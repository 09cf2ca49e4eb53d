//! Values from outside: event names, actions and guids are GitHub's, but whoever fakes GitHub, or a future GitHub, may
//! send anything. They are cut before they are escaped, so that no escape is cut in two.

/// Stands for a character that is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// The value with nothing in it that hides, breaks a line or turns the writing round, at most `longest` characters.
pub(super) fn visible(value: &str, longest: usize) -> String {
    if value.is_empty() {
        return "(empty)".to_owned();
    }
    let mut letters = value.chars().map(|letter| if hides(letter) { REPLACEMENT } else { letter });
    let mut text: String = letters.by_ref().take(longest).collect();
    if letters.next().is_some() {
        text.pop();
        text.push('…');
    }
    text
}

/// Control and format characters, and spaces that are not the usual one.
fn hides(letter: char) -> bool {
    letter.is_control()
        || letter.is_whitespace() && letter != ' '
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// For Telegram's HTML and that of a page, in text and in attributes between double quotes. Telegram knows these four names only.
pub(crate) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A code span of Markdown, in which nothing mentions, links or comments. Only a backtick could end it, and only a pipe
/// the cell of a table, so neither is shown.
pub(super) fn code_span(value: &str, longest: usize) -> String {
    format!("`{}`", visible(value, longest).replace(['`', '|'], "\u{fffd}"))
}
