//! The stored form. A change of these snapshots needs a thought about the states that are out there.

use expect_test::expect;

use super::{Case, World, time};
use crate::policy::ledger::{Ledger, add_loss};

#[test]
fn the_stored_form_is_pinned() {
    let case = Case::new(
        "
        a: 10:00 500 | lost
        b issues.opened @7: 10:01 500, 10:02 0, 10:03 500
        c: 10:01 500 | refuse 404
        d issues @7: 10:04 200
        e push @null: 10:05 0 again
        f push: 10:06 500, 10:07 200
        g issues @7: 10:01 500
        h status: 10:08 500 | off
        i issues @8: 10:13 200
        ",
    );
    let case = case.traffic("10:09", "10:14", 20).page_of(10).set(|settings| {
        settings.delivery_pages = 2;
        settings.subrequest_limit = 25;
        settings.superseded_events = vec!["issues".into()];
        settings.ignored_events = vec!["status".into()];
    });
    let case = case.tick("10:15").set(|settings| settings.ignored_events.clear()).tick("10:30");
    let mut ledger = case.world.ledger();
    for (name, at) in [("push", "10:00"), ("push", "10:01"), ("status", "09:59")] {
        add_loss(&mut ledger.left_behind, (time(at), time(at)), Some(&name.into()), time("10:30"), None);
    }
    add_loss(&mut ledger.gaps_lost, (time("08:00"), time("08:10")), None, time("10:30"), None);
    let pretty = serde_json::to_string_pretty(&ledger).unwrap();
    expect![[r#"
        {
          "swept_at": 1796121000000,
          "ground": {
            "cursor": [
              1796120106000,
              "3100012010600000032"
            ],
            "gaps": [
              {
                "newer_end": [
                  1796119755000,
                  "3100011975500000013"
                ],
                "older_end": [
                  1796109300000,
                  "0"
                ],
                "next": "https://api.github.com/?cursor=1796119755000_3100011975500000013_2",
                "first_sweep": true
              }
            ],
            "watched_since": 1796119755000,
            "window_start": 1796110200000,
            "whole_seconds_at": null
          },
          "overtakers": {
            "since": {
              "issues": null
            },
            "newest": [
              [
                "issues",
                8,
                [
                  1796119980000,
                  "3100011998000000011"
                ]
              ]
            ]
          },
          "ignored": {
            "status": 1796121000000
          },
          "no_room": {
            "overtakable": null,
            "any": null
          },
          "events": [
            {
              "g": "a",
              "e": "issue_comment",
              "a": "created",
              "r": 1,
              "t": [
                [
                  1796119200000,
                  "3100011920000000000",
                  500,
                  "f",
                  0
                ]
              ],
              "k": [
                {
                  "at": 1796120100000,
                  "after": 1796120025000,
                  "on": [
                    1796119200000,
                    "3100011920000000000"
                  ],
                  "taken": true
                }
              ]
            },
            {
              "g": "b",
              "e": "issues",
              "a": "opened",
              "r": 7,
              "t": [
                [
                  1796119260000,
                  "3100011926000000001",
                  500,
                  "f",
                  0
                ],
                [
                  1796119380000,
                  "3100011938000000003",
                  500,
                  "f",
                  1
                ]
              ]
            },
            {
              "g": "c",
              "e": "issue_comment",
              "a": "created",
              "r": 1,
              "t": [
                [
                  1796119260000,
                  "3100011926000000004",
                  500,
                  "f",
                  0
                ]
              ],
              "f": {
                "not_redeliverable": 404
              }
            },
            {
              "g": "f",
              "e": "push",
              "r": 1,
              "t": [
                [
                  1796119560000,
                  "3100011956000000007",
                  500,
                  "f",
                  0
                ]
              ],
              "f": "passed"
            },
            {
              "g": "g",
              "e": "issues",
              "r": 7,
              "t": [
                [
                  1796119260000,
                  "3100011926000000009",
                  500,
                  "f",
                  0
                ]
              ]
            },
            {
              "g": "h",
              "e": "status",
              "r": 1,
              "t": [
                [
                  1796119680000,
                  "3100011968000000010",
                  500,
                  "f",
                  0
                ]
              ],
              "f": "ignored"
            }
          ],
          "left_behind": [
            {
              "made_at": 1796121000000,
              "last_at": 1796121000000,
              "from": 1796119140000,
              "to": 1796119260000,
              "count": 3,
              "kinds": {
                "push": 2,
                "status": 1
              }
            }
          ],
          "gaps_lost": [
            {
              "made_at": 1796121000000,
              "last_at": 1796121000000,
              "from": 1796112000000,
              "to": 1796112600000,
              "count": 1
            }
          ]
        }"#]]
    .assert_eq(&pretty);
}

#[test]
fn a_state_of_the_first_version_without_its_optional_parts_is_read() {
    let stored = r#"{"swept_at":null,"ground":{"cursor":null,"gaps":[],"watched_since":null,"window_start":0,"whole_seconds_at":null},
        "overtakers":{"since":{},"newest":[]},"ignored":{},"events":[],"left_behind":[],"gaps_lost":[]}"#;
    assert_eq!(serde_json::from_str::<Ledger>(stored).unwrap(), Ledger::default());
}

#[test]
fn a_lost_state_loses_speed_and_nothing_else() {
    let history = "a: 10:00 500, 10:16 500\nb: 10:01 500 | 500, 200\nc issues: 10:02 500\nd issues: 10:03 200\ne: 10:04 500, 10:05 200";
    let mut case = Case::new(history).tick("10:15");
    case.world = World { saved: String::new(), ..case.world };
    case.tick("10:30 10:45").check(&expect![[r#"
        10:15 a: asked for again
        10:15 b: asked for again
        10:15 c: superseded: a newer event of its kind passed (2026-12-01T10:03:00.000Z)
        10:15 e: delivered
        10:30 a: delivered
        10:30 b: asked for again
        10:30 c: superseded: a newer event of its kind passed (2026-12-01T10:03:00.000Z)
        10:30 e: delivered
        10:45 b: delivered
    "#]]);
}
