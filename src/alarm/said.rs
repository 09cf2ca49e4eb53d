//! What the other side says of a refusal, as a log and an alarm may repeat it: "Issues has been disabled in this repository" helps
//! more than 410. It may repeat anything that it was sent, credentials included.

/// Characters that are repeated.
const LONGEST: usize = 200;

/// A longer word is none: GitHub's tokens have 40 characters and more, Telegram's 35 behind the colon, and the longest word of an
/// error that anybody has seen has 25.
const LONGEST_WORD: usize = 32;

/// The words in one line, without `secrets` and without anything that is long enough to be one: a token, an address with a token in
/// it, a line of a key.
pub(super) fn said(words: &str, secrets: &[&str]) -> String {
    let mut words = words.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        words = words.replace(secret, "…");
    }
    let mut line = String::new();
    for word in words.split(|letter: char| letter.is_whitespace() || letter.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(if word.chars().nth(LONGEST_WORD).is_none() { word } else { "…" });
    }
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_need_is_repeated_in_one_line() {
        assert_eq!(
            said("Bad Request: group chat\nwas upgraded\t to a \u{0}supergroup", &[]),
            "Bad Request: group chat was upgraded to a supergroup"
        );
        assert_eq!(said("Bad Request: CHAT_SEND_PLAIN_FORBIDDEN", &[]), "Bad Request: CHAT_SEND_PLAIN_FORBIDDEN");
        assert_eq!(said("", &[""]), "");
        assert_eq!(said(&"é ".repeat(300), &[]).chars().count(), LONGEST);
    }

    #[test]
    fn whatever_may_be_a_credential_is_not() {
        let token = format!("ghs_{}", "a".repeat(36));
        let bot = "7000000001:AAtokenOfTheFakeTelegramServer_0123";
        let half = &bot["7000000001:".len()..];
        for words in [
            format!("Bad credentials: Bearer {token}"),
            format!("authorization={token}, url=/app"),
            format!("{{\"authorization\":\"{token}\"}}"),
            format!("no such method: https://telegram.example/bot{bot}/sendMessage"),
            format!("no such method: /bot{}/sendMessage", bot.replace(':', "%3A")),
            format!("Unauthorized: {half}"),
            format!("{}\n{}", "M".repeat(64), "I".repeat(64)),
        ] {
            let said = said(&words, &[]);
            for secret in [token.as_str(), half, "MMMM", "IIII"] {
                assert!(!said.contains(secret), "{said}");
            }
        }
        assert_eq!(said("Unauthorized: 7:short", &["7:short"]), "Unauthorized: …");
    }
}
