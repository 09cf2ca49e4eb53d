//! What people do to the issue and to the repository, and what is written and heard of it.

use super::*;
use crate::alarm::fakes::issues::Shut;
use crate::policy::time::{Time, minutes};

const B: &str = "deploy-bot: 1 webhook event not delivered (since 2026-11-30 14:05 UTC)";

/// Every issue with its number, whether it is open, and the guids in it.
fn told(repo: &Repository) -> Vec<(u64, bool, String)> {
    let guids = |body: &str| body.lines().filter_map(|line| line.split("[`").nth(1)?.split('`').next()).collect::<Vec<_>>().join(" ");
    repo.server
        .issues
        .borrow()
        .iter()
        .filter(|issue| issue.gone.is_none())
        .map(|issue| (issue.number, issue.is_open, guids(&issue.body)))
        .collect()
}

fn issue(number: u64, is_open: bool, guids: &str) -> (u64, bool, String) {
    (number, is_open, guids.to_owned())
}

#[test]
fn what_a_person_closed_is_seen_and_only_what_is_new_opens_a_new_issue() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.server.person_sets(false);
    assert_eq!(repo.show(15, &["a", "b"]), Ok(6));
    assert_eq!(told(&repo), [issue(1, false, "a"), issue(2, true, "b")], "what was closed says what the person saw");
    assert_eq!((repo.server.open_titles(), repo.issues()), (vec![B.to_owned()], vec![(1, false), (2, true)]));
    assert_eq!(repo.show(30, &["a", "b", "c"]), Ok(3));
    assert_eq!(told(&repo)[1], issue(2, true, "b c"));
    repo.show(45, &["a"]).expect("shown");
    assert_eq!(repo.issues(), [(1, false), (2, false)]);
    assert!(repo.server.issues.borrow()[1].body.contains("Open still: 1 entry of an issue that a person closed."));
    assert_eq!(repo.show(60, &["a"]), Ok(0));
    repo.show(75, &[]).expect("nothing to show");
    assert_eq!(repo.issues(), [(1, false), (2, false)]);
}

#[test]
fn what_a_killed_sweep_closed_is_opened_again_though_a_person_has_seen_another_entry() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.server.person_sets(false);
    repo.show(15, &["a", "b"]).expect("shown");
    let saved = repo.shown.clone();
    repo.show(30, &["a"]).expect("closed");
    assert_eq!(repo.issues(), [(1, false), (2, false)]);
    repo.shown = saved;
    repo.shown.as_mut().expect("it stands").doubt(Some(&[gave_up("a", 0)]));
    repo.show(45, &["a", "b"]).expect("shown");
    assert_eq!(told(&repo), [issue(1, false, "a"), issue(2, true, "b")]);
}

#[test]
fn the_new_issue_whose_answer_was_lost_is_closed_when_its_entries_leave() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.server.person_sets(false);
    repo.server.line.fail("POST /repos", Fault::AnswerLost);
    repo.show(15, &["a", "b"]).expect_err("no answer");
    assert_eq!(repo.issues(), [(1, false), (2, true)]);
    repo.show(30, &[]).expect("it is looked for");
    assert_eq!(repo.issues(), [(1, false), (2, false)]);
    assert_eq!(repo.show(45, &[]), Ok(0));
}

#[test]
fn the_issue_of_the_former_repository_is_closed_though_the_answer_to_the_new_one_was_lost() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.name = "acme/other";
    repo.server.line.fail("POST /repos/acme/other", Fault::AnswerLost);
    repo.show(15, &["a", "b"]).expect_err("no answer");
    repo.show(30, &["a", "b"]).expect("it is found");
    assert_eq!(repo.server.open_titles().len(), 1, "one issue, in the repository of the settings");
    assert_eq!(repo.show(45, &["a", "b"]), Ok(0));
}

#[test]
fn a_change_without_anything_new_leaves_closed_what_a_person_closed() {
    let mut repo = Repository::new();
    repo.show(0, &["a", "b"]).expect("shown");
    repo.server.person_sets(false);
    assert_eq!(repo.show(15, &["a"]), Ok(3));
    assert_eq!(repo.show(30, &["a"]), Ok(0));
    assert_eq!(repo.issues(), [(1, false)]);
    assert_eq!(repo.show(45, &["a", "c"]), Ok(4));
    assert_eq!(told(&repo)[1], issue(2, true, "c"));
}

#[test]
fn an_issue_that_a_person_reopens_goes_on_with_all_that_is_open() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.server.person_sets(false);
    repo.show(15, &["a", "b"]).expect("shown");
    repo.server.person_sets(false);
    repo.show(30, &["a"]).expect("noticed, or closed all the same");
    // Reopened though nothing new is open: it goes on with the next change.
    repo.server.issues.borrow_mut()[1].is_open = true;
    repo.show(45, &["a", "c"]).expect("shown");
    assert_eq!(repo.server.open_issues().len(), 1);
    let mut repo = Repository::new();
    repo.show(0, &["a", "x"]).expect("shown");
    repo.server.person_sets(false);
    repo.show(15, &["a"]).expect("noticed");
    repo.server.person_sets(true);
    repo.show(30, &["a", "b"]).expect("shown");
    assert_eq!(told(&repo), [issue(1, true, "a b")]);
}

#[test]
fn an_issue_that_was_closed_by_us_and_reopened_goes_on_with_the_next_entry() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.show(15, &[]).expect("closed");
    repo.server.person_sets(true);
    repo.show(500, &["b"]).expect("shown");
    assert_eq!(told(&repo), [issue(1, true, "b")]);
}

#[test]
fn a_deleted_or_moved_issue_is_said_and_created_anew_at_once() {
    for (status, said) in
        [(410, "the issue was deleted"), (404, "the issue was deleted"), (301, "the issue was moved to another repository")]
    {
        let mut repo = Repository::new();
        repo.show(0, &["a"]).expect("shown");
        repo.server.issues.borrow_mut()[0].gone = Some(status);
        let error = repo.show(15, &["a", "b"]).expect_err("it is said");
        assert_eq!(error.to_string(), format!("failed to edit the issue of the control repository: status {status}: {said}"));
        assert_eq!((repo.contact, told(&repo)), (Contact::Reached, vec![issue(2, true, "a b")]));
        repo.server.issues.borrow_mut()[1].gone = Some(status);
        repo.show(30, &[]).expect_err("it is said");
        assert_eq!(repo.show(45, &[]), Ok(3), "it may be there all the same: it is looked for, once");
        assert_eq!(repo.show(60, &[]), Ok(0));
    }
}

#[test]
fn a_repository_that_cannot_be_written_to_is_out_of_reach_at_once_and_names_why() {
    for (shut, status, said) in [
        (Shut::NotInstalled, 404, "Not Found"),
        (Shut::Moved, 301, "Moved Permanently"),
        (Shut::NoPermission, 422, "The permissions requested are not granted to this installation."),
        (Shut::NoIssues, 410, "Issues has been disabled in this repository."),
    ] {
        let mut repo = Repository::new();
        repo.server.shut.set(Some(shut));
        let error = repo.show(0, &["a"]).expect_err("refused");
        assert_eq!((error.is_for_good(), error.said()), (true, format!("{said} (status {status})")));
        assert_eq!((repo.contact, &repo.shown), (Contact::Failed, &None));
        repo.server.shut.set(None);
        repo.show(15, &["a"]).expect("shown");
        repo.server.shut.set(Some(shut));
        assert!(repo.show(30, &["a", "b"]).expect_err("refused").is_for_good());
        repo.server.shut.set(None);
        repo.show(45, &["a", "b"]).expect("shown");
        assert_eq!(told(&repo), [issue(1, true, "a b")]);
    }
}

#[test]
fn issues_that_are_switched_off_are_no_reason_to_forget_the_issue() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.server.shut.set(Some(Shut::NoIssues));
    assert!(repo.show(15, &[]).expect_err("switched off").is_for_good());
    repo.server.shut.set(None);
    repo.show(30, &[]).expect("closed");
    assert_eq!(repo.issues(), [(1, false)]);
}

#[test]
fn an_entry_that_comes_back_within_the_hour_does_not_reopen_what_a_person_closed() {
    let mut repo = Repository::new();
    repo.show(0, &["a", "b"]).expect("shown");
    repo.show(15, &["a"]).expect("shown");
    repo.server.person_sets(false);
    repo.show(30, &[]).expect("noticed or not, it stays closed");
    repo.show(31, &["c", "d"]).expect("shown");
    repo.server.person_sets(false);
    repo.show(32, &["c"]).expect("noticed");
    repo.show(45, &["c", "b"]).expect("shown");
    assert_eq!(told(&repo).into_iter().filter(|(_, is_open, _)| *is_open).collect::<Vec<_>>(), [issue(3, true, "b")]);
}

#[test]
fn several_open_ones_of_ours_end_as_the_oldest_and_the_others_point_to_it() {
    let mut repo = Repository::new();
    let marker = text::marker(APP_ID);
    for _ in 0..3 {
        repo.server.person_opens(BOT, &marker, false);
    }
    repo.show(0, &["a"]).expect("shown");
    assert_eq!(repo.issues(), [(1, true), (2, false), (3, false)]);
    assert!(repo.server.issues.borrow()[2].body.starts_with("This alarm goes on in #1."));
    assert_eq!(repo.show(15, &["a"]), Ok(0));
}

#[test]
fn a_pointer_that_did_not_get_through_is_made_by_a_later_sweep() {
    let mut repo = Repository::new();
    let marker = text::marker(APP_ID);
    repo.server.person_opens(BOT, &marker, false);
    repo.server.person_opens(BOT, &marker, false);
    repo.server.line.fail("PATCH /repos/acme/control/issues/2", Fault::Status(503));
    repo.show(0, &["a"]).expect_err("the pointer failed");
    assert_eq!((repo.contact, repo.issues()), (Contact::Reached, vec![(1, true), (2, true)]));
    assert_eq!(repo.show(15, &["a"]), Ok(3));
    assert_eq!(repo.issues(), [(1, true), (2, false)]);
}

#[test]
fn a_sweep_without_a_state_looks_once_and_goes_on_or_says_that_the_record_was_lost() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.shown = None;
    assert_eq!(repo.show(15, &["b"]), Ok(4));
    assert_eq!(told(&repo), [issue(1, true, "b")]);
    repo.shown = None;
    assert_eq!(repo.show(30, &[]), Ok(4));
    assert_eq!(repo.issues(), [(1, false)]);
    assert!(repo.server.issues.borrow()[0].body.starts_with("The record of this issue was lost"));
    assert_eq!(repo.show(45, &[]), Ok(0));
}

#[test]
fn a_look_that_failed_is_made_again() {
    let mut repo = Repository::new();
    repo.server.line.fail("GET /repos/acme/control/issues", Fault::NoAnswer);
    assert_eq!(repo.show(0, &[]), Ok(4), "what may pass is read once more at once");
    let mut repo = Repository::new();
    repo.server.line.fail("GET /repos/acme/control/issues", Fault::NoAnswer);
    repo.server.line.fail("GET /repos/acme/control/issues", Fault::Status(500));
    repo.show(0, &[]).expect_err("no answer");
    assert_eq!(repo.show(15, &[]), Ok(3));
    assert_eq!(repo.show(30, &[]), Ok(0));
}

#[test]
fn a_lost_answer_to_any_write_leaves_the_issue_as_it_should_be() {
    // What was written is undone before the next sweep: only a second write shows it.
    for (steps, lost, then, open) in [
        (&[&[][..]][..], &["a"][..], &[][..], ""),
        (&[&["a"]], &["a", "b"], &["a"], "a"),
        (&[&["a"]], &[], &["a"], "a"),
        (&[&["a"], &[]], &["a"], &[], ""),
        (&[&["a"], &[]], &["a"], &["a"], "a"),
    ] {
        let mut repo = Repository::new();
        for (minute, guids) in (0..).zip(steps) {
            repo.show(minute, guids).expect("shown");
        }
        repo.server.line.fail(if steps.len() == 1 && steps[0].is_empty() { "POST /repos" } else { "PATCH" }, Fault::AnswerLost);
        repo.show(15, lost).expect_err("no answer");
        repo.show(30, then).expect("shown");
        let shown: Vec<String> = told(&repo).into_iter().filter(|(_, is_open, _)| *is_open).map(|(_, _, guids)| guids).collect();
        assert_eq!(shown.join("; "), open, "{steps:?} {lost:?} {then:?}");
        assert_eq!(repo.show(45, then), Ok(0));
    }
}

#[test]
fn the_old_issue_of_a_repository_that_is_out_of_reach_is_tried_once() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.name = "acme/other";
    repo.server.line.fail("GET /repos/acme/control/installation", Fault::Status(404));
    repo.show(15, &[]).expect_err("not installed there any more");
    assert_eq!(repo.contact, Contact::None, "that says nothing of the repository of the settings");
    assert_eq!(repo.show(30, &[]), Ok(0));
}

#[test]
fn every_write_is_told_once_for_each_event_that_it_makes() {
    let mut repo = Repository::new();
    repo.server.now.set(Time::from_millis(1_796_047_500_750));
    repo.show(0, &["a"]).expect("opened");
    repo.show(15, &["a", "b"]).expect("edited");
    repo.show(30, &[]).expect("closed");
    repo.show(45, &["b"]).expect("reopened");
    repo.name = "acme/other";
    repo.show(60, &["b"]).expect("moved");
    let written: Vec<(u64, Time)> = repo.writes.iter().map(|write| (write.repository_id, write.at)).collect();
    let heard: Vec<(u64, Time)> = repo.server.events.borrow().iter().map(|(id, _, at)| (*id, at.whole_seconds())).collect();
    assert_eq!(written, heard, "{:?}", repo.server.events.borrow());
}

#[test]
fn an_edit_that_changes_nothing_is_no_write_but_finds_one() {
    let mut repo = Repository::new();
    let wrote_at = Time::from_millis(1_796_047_500_000);
    repo.server.now.set(wrote_at);
    repo.show(0, &["a"]).expect("opened");
    repo.server.now.set(wrote_at + minutes(15));
    repo.shown.as_mut().expect("it stands").doubt(None);
    assert_eq!(repo.show(15, &["a"]), Ok(3), "it is written once more");
    let opened = Write { repository_id: 7, at: wrote_at };
    assert_eq!((repo.writes.as_slice(), repo.stood.as_slice()), (&[opened][..], &[opened][..]));
    // Whatever a clock says: what was not in doubt is written.
    repo.server.date_ahead.set(1_000);
    repo.show(30, &["a", "b"]).expect("edited");
    assert_eq!((repo.writes.len(), repo.stood.len()), (2, 1));
}

#[test]
fn the_url_is_there_while_the_issue_is_open() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    assert_eq!(repo.shown.as_ref().and_then(Shown::open_url), Some("https://github.com/acme/control/issues/1"));
    repo.show(15, &[]).expect("closed");
    assert_eq!(repo.shown.as_ref().and_then(Shown::open_url), None);
}
