use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::{Config, Secret, read};
use super::*;
use crate::alarm::summary::TimeOfDay;
use crate::policy::tests::properties::few;
use crate::policy::time::hours;
use crate::testing::app_key_pem;

type Given = BTreeMap<String, String>;

/// Two Apps with a key each, and these settings besides; an empty one takes out what is there.
fn given(changes: &[(&str, &str)]) -> Given {
    let key = app_key_pem();
    let both = [("APPS", "11, 22"), ("GITHUB_APP_PRIVATE_KEY_11", &key), ("GITHUB_APP_PRIVATE_KEY_22", &key)];
    both.iter().chain(changes).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn config(changes: &[(&str, &str)], app: &str) -> Config {
    read(&given(changes), Some(app)).expect("the settings can be used")
}

/// What is wrong with the settings of each App, as a person reads it.
fn problems(changes: &[(&str, &str)], app: &str) -> Vec<String> {
    read(&given(changes), Some(app)).map_or_else(|unusable| unusable.problems.texts(), |_| Vec::new())
}

fn ids_of(list: &str) -> (Vec<String>, Vec<String>) {
    let Apps { ids, problems, .. } = Apps::read(&given(&[("APPS", list)]));
    (ids, problems.iter().map(|problem| format!("{} {}", problem.setting, problem.expected)).collect())
}

#[test]
fn a_list_is_read_as_people_write_it() {
    for list in ["11,22", "11, 22", " 11 22 ", "11\n22\n", "[11,22]", "[\"11\", '22']", ",11,,22,"] {
        assert_eq!(ids_of(list), (vec!["11".to_owned(), "22".to_owned()], vec![]), "{list}");
    }
    assert_eq!(ids_of("18446744073709551615").0, ["18446744073709551615"]);
}

#[test]
fn what_is_wrong_with_a_list_is_said_without_what_might_be_a_secret() {
    let no_id =
        |place| format!("APPS is no list of App ids such as 1234567,7654321: number {place} of it is no App id (a client id is none)");
    let (ids, said) = ids_of("11,Iv23secret,22,11,022,-1,0,1e3,18446744073709551616");
    assert_eq!(ids, ["11", "22"]);
    assert_eq!(said, [no_id(2), "APPS names 11 twice".to_owned(), no_id(5), no_id(6), no_id(7), no_id(8), no_id(9)]);
    assert_eq!(ids_of("[]"), (vec![], vec!["APPS names no App; give their ids, such as 1234567,7654321".to_owned()]));
    let many: Vec<String> = (1..=101).map(|id| id.to_string()).collect();
    assert_eq!(ids_of(&many.join(" ")).1, ["APPS names more than 100 Apps; deploy another Worker for the others"]);
}

proptest! {
    #![proptest_config(few(256))]

    #[test]
    fn any_ids_come_back_in_their_order_each_once(numbers in prop::collection::vec(1_u64.., 0..20), separator in "[, \n]{1,3}") {
        let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let (ids, said) = ids_of(&format!("0 {}", texts.join(&separator)));
        let mut seen = Vec::new();
        let twice = texts.iter().filter(|id| seen.contains(id) || { seen.push(*id); false }).count();
        prop_assert_eq!(&ids.iter().collect::<Vec<_>>(), &seen);
        prop_assert_eq!(said.len(), 1 + twice);
    }

    #[test]
    fn no_text_makes_it_panic_and_what_is_read_is_a_number(list in ".{0,40}") {
        let (ids, said) = ids_of(&list);
        prop_assert!(ids.iter().all(|id| id.parse::<u64>().is_ok_and(|number| number.to_string() == *id)));
        // An empty one is no setting: then GITHUB_APP_ID is missing.
        prop_assert!(!ids.is_empty() || !said.is_empty());
    }
}

#[test]
fn without_the_list_there_is_one_app_and_a_client_id_will_do() {
    let apps = |id: &str| Apps::read(&Given::from([("GITHUB_APP_ID".to_owned(), id.to_owned())]));
    assert_eq!((apps("Iv23abc").only(), apps("Iv23abc").are_listed), (Some("Iv23abc"), false));
    assert_eq!((apps(" 12345 ").ids, apps("a b").ids), (vec!["12345".to_owned()], vec![]));
    assert_eq!(apps("a b").problems.len(), 1);
}

#[test]
fn an_app_has_its_own_setting_or_that_of_all() {
    let changes = [
        ("TELEGRAM_BOT_TOKEN", "1:a"),
        ("TELEGRAM_CHAT_ID", "5"),
        ("TELEGRAM_THREAD_ID", "7"),
        ("CONTROL_REPO", "octo/all"),
        ("CONTROL_REPO_22", "octo/two"),
        ("MAX_ATTEMPTS", "4"),
        ("MAX_ATTEMPTS_22", "5"),
        ("DRY_RUN_22", "true"),
        ("RETRY_STATUS_11", "429"),
        ("GITHUB_API_URL_22", "https://ghe.example/api/v3"),
    ];
    let (one, two) = (config(&changes, "11"), config(&changes, "22"));
    assert_eq!((one.app_id.as_str(), two.app_id.as_str()), ("11", "22"));
    assert!(one.is_one_of_several && two.is_one_of_several);
    assert_eq!([one.control_repo.as_deref(), two.control_repo.as_deref()], [Some("octo/all"), Some("octo/two")]);
    let decided = |config: &Config| (config.settings.max_attempts, config.settings.dry_run, config.settings.retry_status.len());
    assert_eq!([decided(&one), decided(&two)], [(4, false, 1), (5, true, 0)]);
    assert_eq!([one.settings.retention, two.settings.retention], [hours(72), hours(168)]);
    assert_eq!([one.telegram.clone(), two.telegram].map(|telegram| telegram.and_then(|telegram| telegram.thread_id)), [Some(7), Some(7)]);
}

#[test]
fn a_topic_is_one_of_its_chat() {
    let telegram = |changes: &[(&str, &str)], app| {
        let all = [("TELEGRAM_BOT_TOKEN", "1:a"), ("TELEGRAM_CHAT_ID", "5"), ("TELEGRAM_THREAD_ID", "7")];
        let telegram = config(&[&all, changes].concat(), app).telegram?;
        Some((telegram.chat_id, telegram.thread_id))
    };
    let chat = |chat: &str, thread| Some((chat.to_owned(), thread));
    assert_eq!(telegram(&[("TELEGRAM_CHAT_ID_22", "6")], "22"), chat("6", None));
    assert_eq!(telegram(&[("TELEGRAM_CHAT_ID_22", "6")], "11"), chat("5", Some(7)));
    assert_eq!(telegram(&[("TELEGRAM_THREAD_ID_22", "8")], "22"), chat("5", Some(8)));
    assert_eq!(telegram(&[("TELEGRAM_THREAD_ID_22", "none")], "22"), chat("5", None));
    assert_eq!(telegram(&[("TELEGRAM_CHAT_ID_22", "None")], "22"), None);
}

#[test]
fn one_app_may_be_without_what_the_others_have() {
    let changes =
        [("CONTROL_REPO", "octo/all"), ("CONTROL_REPO_22", "none"), ("HEARTBEAT_URL_11", "https://x/"), ("HEARTBEAT_URL_22", "none")];
    let (one, two) = (config(&changes, "11"), config(&changes, "22"));
    assert_eq!((one.control_repo.is_some(), two.control_repo), (true, None));
    assert_eq!((one.heartbeat_url.as_ref().map(Secret::expose), two.heartbeat_url.is_none()), (Some("https://x/"), true));
    // For all it would be a repository of that name.
    assert_eq!(problems(&[("CONTROL_REPO", "none")], "11"), ["CONTROL_REPO is no repository as owner/name"]);
}

#[test]
fn each_app_has_its_page_and_its_summary() {
    let shared = [("TELEGRAM_BOT_TOKEN", "1:a"), ("TELEGRAM_CHAT_ID", "5"), ("DAILY_SUMMARY", "07:00")];
    let of = |changes: &[(&str, &str)], app| {
        let config = config(&[&shared, changes].concat(), app);
        (config.status_url, config.daily_summary)
    };
    let page = [("STATUS_URL", "https://x.dev/"), ("ADMIN_TOKEN", "sixteen-letters-")];
    assert_eq!(of(&page, "22").0.as_deref(), Some("https://x.dev/apps/22/"));
    let at = TimeOfDay::parse;
    assert_eq!((of(&[], "11").1, of(&[("DAILY_SUMMARY_22", "08:00")], "22").1), (at("07:00"), at("08:00")));
    assert_eq!(of(&[("DAILY_SUMMARY_22", "none")], "22").1, None);
    assert_eq!(of(&[("TELEGRAM_CHAT_ID_22", "none")], "22").1, None, "it is to be without Telegram");
    let own = [("TELEGRAM_CHAT_ID_22", "none"), ("DAILY_SUMMARY_22", "08:00")];
    let wrong = "DAILY_SUMMARY_22 is sent by Telegram, which is not set; set TELEGRAM_BOT_TOKEN and TELEGRAM_CHAT_ID, or take it out";
    assert_eq!(problems(&[&shared[..], &own].concat(), "22"), [wrong]);
    assert_eq!(problems(&[("STATUS_URL_22", "https://x.dev/")], "11"), ["STATUS_URL_22 is not taken: STATUS_URL is the same for all Apps"]);
}

#[test]
fn a_key_and_a_heartbeat_are_those_of_one_app() {
    let key = app_key_pem();
    let first = [("GITHUB_APP_ID", "11"), ("GITHUB_APP_PRIVATE_KEY_11", ""), ("GITHUB_APP_PRIVATE_KEY", key.as_str())];
    let heartbeat = |config: Config| config.heartbeat_url.map(|url| url.expose().to_owned());
    let with_heartbeat = [&first[..], &[("HEARTBEAT_URL", "https://x/")]].concat();
    assert_eq!(heartbeat(config(&with_heartbeat, "11")).as_deref(), Some("https://x/"));
    assert_eq!(heartbeat(config(&with_heartbeat, "22")), None);
    // Never another's key.
    let missing = [&first[..], &[("GITHUB_APP_PRIVATE_KEY_22", "")]].concat();
    assert_eq!(problems(&missing, "11"), [""; 0]);
    assert_eq!(
        problems(&missing, "22"),
        ["GITHUB_APP_PRIVATE_KEY_22 is missing; give the PEM file that GitHub let you download, as a secret"]
    );
    let whose =
        |name: &str| format!("{name} belongs to one App, and there are several: name it {name}_ID, or set GITHUB_APP_ID to its App");
    for name in ["GITHUB_APP_PRIVATE_KEY", "HEARTBEAT_URL"] {
        let unclaimed = config(&[(name, "https://x/")], "22");
        assert_eq!((unclaimed.warnings, unclaimed.heartbeat_url.is_none()), (vec![whose(name)], true));
    }
}

#[test]
fn a_list_of_one_changes_nothing() {
    let key = app_key_pem();
    let one = Given::from([("APPS", "11"), ("GITHUB_APP_PRIVATE_KEY", &key)].map(|(name, value)| (name.to_owned(), value.to_owned())));
    let config = read(&one, None).expect("the settings can be used");
    assert_eq!((config.app_id.as_str(), config.is_one_of_several, config.key.is_some()), ("11", false, true));
}

#[test]
fn what_is_in_the_wrong_place_is_named_for_each_app() {
    let not_in_apps = "is for an App that is not in APPS; add it there, correct the name, or take this setting out";
    let of_all = |name: &str| format!("is not taken: {name} is the same for all Apps");
    let table = [
        ("GITHUB_APP_ID", "33", "is not in APPS, which has the numbers of all Apps; add it there, or take GITHUB_APP_ID out".to_owned()),
        ("CONTROL_REPO_2", "octo/two", not_in_apps.to_owned()),
        ("DRY_RUN_222", "true", not_in_apps.to_owned()),
        ("SUBREQUEST_LIMIT_22", "1000", of_all("SUBREQUEST_LIMIT")),
        ("ADMIN_TOKEN_22", "0123456789abcdef", of_all("ADMIN_TOKEN")),
        ("CONTROL_REPOSITORY_22", "octo/two", "is no setting: look whether its name is right".to_owned()),
    ];
    for (name, value, said) in table {
        for app in ["11", "22"] {
            assert_eq!(problems(&[(name, value)], app), [format!("{name} {said}")], "{app}");
        }
        assert_eq!(problems(&[(name, "  ")], "11"), [""; 0], "an empty one is as good as none");
    }
    assert_eq!(problems(&[("CONTROL_REPOSITORY_33", "x"), ("OTHER", "x"), ("CONTROL_REPO_two", "x")], "11"), [""; 0]);
}

#[test]
fn a_secret_that_no_app_has_stops_nobody_and_is_told() {
    let not_in_apps = "is for an App that is not in APPS; add it there, correct the name, or take this setting out";
    for name in ["GITHUB_APP_PRIVATE_KEY_33", "TELEGRAM_BOT_TOKEN_33", "HEARTBEAT_URL_33"] {
        assert_eq!(config(&[(name, "x")], "11").warnings, [format!("{name} {not_in_apps}")]);
    }
    // Where something is missing it may be what was meant.
    let mistyped = [("GITHUB_APP_PRIVATE_KEY_22", ""), ("GITHUB_APP_PRIVATE_KEY_222", "x")];
    assert_eq!(
        problems(&mistyped, "22"),
        [
            "GITHUB_APP_PRIVATE_KEY_22 is missing; give the PEM file that GitHub let you download, as a secret".to_owned(),
            format!("GITHUB_APP_PRIVATE_KEY_222 {not_in_apps}"),
        ]
    );
    assert_eq!(problems(&mistyped, "11"), [""; 0]);
}

#[test]
fn a_suffix_without_the_list_is_told() {
    let key = app_key_pem();
    let read_with = |name: &str, value: &str| {
        let alone = [("GITHUB_APP_ID", "11"), ("GITHUB_APP_PRIVATE_KEY", &key), (name, value)];
        read(&Given::from(alone.map(|(name, value)| (name.to_owned(), value.to_owned()))), Some("11"))
    };
    let said = "is a setting of one of several Apps, and APPS is not set; give APPS the ids of all";
    let secret = read_with("GITHUB_APP_PRIVATE_KEY_22", &key).expect("put in before the list is deployed, it stops nobody");
    assert_eq!(secret.warnings, [format!("GITHUB_APP_PRIVATE_KEY_22 {said}")]);
    let unusable = read_with("DRY_RUN_22", "true").expect_err("it cannot be used");
    assert_eq!(unusable.problems.texts(), [format!("DRY_RUN_22 {said}")]);
}

#[test]
fn a_wrong_value_names_the_setting_it_stands_in_and_the_other_app_is_untouched() {
    let changes = [("MAX_ATTEMPTS", "4"), ("MAX_ATTEMPTS_22", "99"), ("GITHUB_APP_PRIVATE_KEY_22", "no key")];
    assert_eq!(problems(&changes, "11"), [""; 0]);
    let said = problems(&changes, "22");
    assert_eq!(said[1], "MAX_ATTEMPTS_22 is no whole number from 2 to 10");
    assert!(said[0].starts_with("GITHUB_APP_PRIVATE_KEY_22 ") && said.len() == 2, "{said:?}");
    let bot_alone = [("TELEGRAM_BOT_TOKEN", "1:a"), ("TELEGRAM_CHAT_ID_11", "5")];
    assert_eq!(problems(&bot_alone, "11"), [""; 0]);
    assert_eq!(
        problems(&bot_alone, "22"),
        ["TELEGRAM_CHAT_ID is missing, though TELEGRAM_BOT_TOKEN is set; give the chat that the bot writes to \
          (TELEGRAM_CHAT_ID_22 for this App alone, or none)"]
    );
    let right = read(&given(&[("GITHUB_APP_PRIVATE_KEY_22", "")]), Some("22")).expect_err("it cannot be used");
    assert_eq!((right.right.app_id.as_str(), right.right.is_one_of_several), ("22", true));
}

#[test]
fn every_setting_is_in_the_table_once() {
    let names: Vec<&str> = SETTINGS.iter().map(|(name, _)| *name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), names.len());
    let source = concat!(include_str!("../reader.rs"), include_str!("../../config.rs"));
    let mut used: Vec<&str> = source
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|text| text.len() > 3 && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
        .chain([APPS, APP_ID])
        .collect();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used, sorted, "what is read, and whose it may be");
}

#[test]
fn a_secret_in_the_place_of_a_name_is_not_repeated() {
    let said = "a name that ends in _22 is no setting: look whether its name is right";
    let names = ["-----BEGIN RSA PRIVATE KEY-----_22".to_owned(), "MIIEpAIBAAKCAQEA7_22".to_owned(), format!("{}_22", "A".repeat(62))];
    for name in names {
        assert_eq!(problems(&[(&name, "x")], "11"), [said], "{name}");
    }
    let longest = format!("{}_22", "A".repeat(61));
    for name in [longest.as_str(), "control_repository_22"] {
        assert_eq!(problems(&[(name, "x")], "11"), [format!("{name} is no setting: look whether its name is right")]);
    }
}
