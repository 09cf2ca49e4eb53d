//! What a day came to, as one message of Telegram.

use super::telegram::{Markup, Message, buttons};
use super::{app_name, capitalized};
use crate::alarm::Alarm;
use crate::alarm::summary::Day;

/// The summary of `day`, when `alarm` is what Telegram shows.
#[must_use]
pub fn summary(alarm: &Alarm, day: &Day) -> Message {
    let mut out = Markup::default();
    let named = |line: &str| app_name(alarm).map_or_else(|| capitalized(line), |name| format!("{name}: {line}"));
    if is_quiet(alarm, day) {
        out.text("🟢 ").text(&named("All well: "));
        out.text(&format!("{} in 24 hours, {} read, none failed, nothing is open.", sweeps(day.sweeps), deliveries(day.deliveries)));
    } else {
        out.text("📋 ").bold(&named("the last 24 hours"));
        out.text(&format!("\n{}, {} failed.", capitalized(&sweeps(day.sweeps)), day.failed_sweeps));
        out.text(&format!("\n{} read, {} failed.", deliveries(day.deliveries), counted(day.failed, "attempt", "attempts")));
        out.text(&format!("\nAsked for again: {}. Recovered: {}.", day.asked, day.recovered));
        out.text(&format!("\nGave up: {}. Left behind: {}.", day.gave_up, day.left_behind));
        if day.not_redeliverable > 0 {
            out.text(&format!(" GitHub would not redeliver: {}.", day.not_redeliverable));
        }
        out.text(&format!("\nOpen now: {}.", open(alarm.entries.len() as u64, day.under_way)));
    }
    if let Some(since) = day.since {
        out.text(&format!("\nKnown only since {}.", since.for_people()));
    }
    if let Some((from, to)) = day.pause {
        out.text(&format!("\nNo sweep from {} to {}.", from.for_people(), to.for_people()));
    }
    Message::of(out, buttons(alarm))
}

/// Whether nothing happened that anybody would want figures of.
fn is_quiet(alarm: &Alarm, day: &Day) -> bool {
    // Whatever is added to a day is looked at here too.
    let Day {
        since: _,
        pause,
        sweeps: _,
        failed_sweeps,
        deliveries: _,
        failed,
        asked,
        recovered,
        gave_up,
        not_redeliverable,
        left_behind,
        under_way,
    } = *day;
    let happened = [failed_sweeps, failed, asked, recovered, gave_up, not_redeliverable, left_behind, under_way];
    alarm.entries.is_empty() && pause.is_none() && happened.iter().all(|count| *count == 0)
}

fn sweeps(count: u64) -> String {
    counted(count, "sweep", "sweeps")
}

fn deliveries(count: u64) -> String {
    counted(count, "delivery", "deliveries")
}

fn open(entries: u64, under_way: u64) -> String {
    match (entries, under_way) {
        (0, 0) => "nothing".to_owned(),
        (entries, 0) => counted(entries, "entry of the alarm", "entries of the alarm"),
        (0, under_way) => counted(under_way, "event under way", "events under way"),
        (entries, under_way) => format!("{}, {}", open(entries, 0), open(0, under_way)),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them so")]

    use expect_test::expect;

    use super::*;
    use crate::alarm::sample::{self, ADVANCED, gave_up, time};

    fn busy() -> Day {
        Day {
            sweeps: 92,
            failed_sweeps: 2,
            deliveries: 2880,
            failed: 12,
            asked: 14,
            recovered: 9,
            gave_up: 1,
            not_redeliverable: 1,
            left_behind: 3,
            under_way: 1,
            pause: Some((time(0), time(75))),
            since: None,
        }
    }

    #[test]
    fn a_quiet_day_is_one_line_and_any_other_has_its_figures() {
        let quiet = Day { sweeps: 96, deliveries: 2880, ..Day::default() };
        let named = Alarm { slug: Some("deploy-bot".to_owned()), ..Alarm::default() };
        let of_several = Alarm { one_of_several: Some("1234567".to_owned()), ..Alarm::default() };
        let texts = [
            summary(&Alarm::default(), &quiet),
            summary(&of_several, &quiet),
            summary(&named, &Day { since: Some(time(0)), sweeps: 1, deliveries: 1, ..quiet }),
            summary(&named, &Day { pause: Some((time(0), time(75))), ..quiet }),
            summary(&Alarm { entries: sample::alarm(vec![gave_up("a", 0)]).entries, ..named }, &busy()),
        ];
        let texts: Vec<&str> = texts.iter().map(|message| message.html.as_str()).collect();
        expect![[r#"
            🟢 All well: 96 sweeps in 24 hours, 2880 deliveries read, none failed, nothing is open.

            🟢 App 1234567: All well: 96 sweeps in 24 hours, 2880 deliveries read, none failed, nothing is open.

            🟢 deploy-bot: All well: 1 sweep in 24 hours, 1 delivery read, none failed, nothing is open.
            Known only since 2026-11-30 14:05 UTC.

            📋 <b>deploy-bot: the last 24 hours</b>
            96 sweeps, 0 failed.
            2880 deliveries read, 0 attempts failed.
            Asked for again: 0. Recovered: 0.
            Gave up: 0. Left behind: 0.
            Open now: nothing.
            No sweep from 2026-11-30 14:05 UTC to 2026-11-30 15:20 UTC.

            📋 <b>deploy-bot: the last 24 hours</b>
            92 sweeps, 2 failed.
            2880 deliveries read, 12 attempts failed.
            Asked for again: 14. Recovered: 9.
            Gave up: 1. Left behind: 3. GitHub would not redeliver: 1.
            Open now: 1 entry of the alarm, 1 event under way.
            No sweep from 2026-11-30 14:05 UTC to 2026-11-30 15:20 UTC."#]]
        .assert_eq(&texts.join("\n\n"));
    }

    #[test]
    fn whatever_happened_is_not_all_well() {
        let quiet = Day { sweeps: 96, ..Day::default() };
        let happened = [
            Day { failed_sweeps: 1, ..quiet },
            Day { failed: 1, ..quiet },
            Day { asked: 1, ..quiet },
            Day { recovered: 1, ..quiet },
            Day { gave_up: 1, ..quiet },
            Day { not_redeliverable: 1, ..quiet },
            Day { left_behind: 1, ..quiet },
            Day { under_way: 1, ..quiet },
            Day { pause: Some((time(0), time(75))), ..quiet },
        ];
        for day in happened {
            assert!(!summary(&Alarm::default(), &day).plain.contains("All well"), "{day:?}");
        }
        assert!(!summary(&sample::alarm(vec![gave_up("a", 0)]), &quiet).plain.contains("All well"));
        assert!(summary(&Alarm::default(), &quiet).plain.contains("All well"));
    }

    #[test]
    fn it_has_the_buttons_of_the_alarm() {
        let page = "https://redeliver.example/apps/1234567/";
        let alarm = Alarm { advanced_url: Some(ADVANCED.to_owned()), status_url: Some(page.to_owned()), ..Alarm::default() };
        let urls: Vec<String> = summary(&alarm, &busy()).buttons.into_iter().map(|button| button.url).collect();
        assert_eq!(urls, [ADVANCED, page]);
    }
}
