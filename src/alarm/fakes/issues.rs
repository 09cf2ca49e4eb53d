//! The part of GitHub's API that a control repository needs.

use std::cell::{Cell, RefCell};

use serde_json::{Value, json};

use super::{Line, answer};
use crate::policy::time::Time;
use crate::ports::{Answer, AnswerHeaders, Call, Method, Network, NetworkError};
use crate::testing::http_date;

pub(crate) const APP_ID: u64 = 123_456;
pub(crate) const BOT: &str = "deploy-bot[bot]";
const INSTALLATION: u64 = 42;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issue {
    pub(crate) repo: String,
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) author: &'static str,
    pub(crate) is_open: bool,
    pub(crate) is_pull_request: bool,
    /// When it was last changed.
    pub(crate) updated_at: Time,
    /// The status that it answers with instead: 410 once it is deleted, 301 once it is moved.
    pub(crate) gone: Option<u16>,
}

/// What is wrong with the repository, as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    /// The App is not installed, or there is no such repository.
    NotInstalled,
    /// The repository was moved.
    Moved,
    /// The installation lacks the permission.
    NoPermission,
    /// The issues are switched off.
    NoIssues,
}

/// Repositories that the App is installed in: every one but those named `elsewhere`.
#[derive(Debug, Default)]
pub(crate) struct FakeIssues {
    pub(crate) line: Line,
    pub(crate) issues: RefCell<Vec<Issue>>,
    pub(crate) shut: Cell<Option<Shut>>,
    /// GitHub's clock.
    pub(crate) now: Cell<Time>,
    /// How many milliseconds `Date` is ahead of it, as behind another server's clock.
    pub(crate) date_ahead: Cell<i64>,
    /// What the App hears of its own writes: repository, action, time.
    pub(crate) events: RefCell<Vec<(u64, &'static str, Time)>>,
    last_number: Cell<u64>,
}

impl FakeIssues {
    /// What a person does in the browser.
    pub(crate) fn person_opens(&self, author: &'static str, body: &str, is_pull_request: bool) {
        self.open("acme/control", "Help".to_owned(), body.to_owned(), author, is_pull_request);
    }

    /// A person closes or reopens every issue of ours.
    pub(crate) fn person_sets(&self, is_open: bool) {
        for issue in self.issues.borrow_mut().iter_mut().filter(|issue| issue.author == BOT) {
            issue.is_open = is_open;
            issue.updated_at = self.now.get();
        }
    }

    pub(crate) fn open_titles(&self) -> Vec<String> {
        self.open_issues().into_iter().map(|issue| issue.title).collect()
    }

    pub(crate) fn open_issues(&self) -> Vec<Issue> {
        self.issues.borrow().iter().filter(|issue| issue.is_open && issue.gone.is_none()).cloned().collect()
    }

    fn open(&self, repo: &str, title: String, body: String, author: &'static str, is_pull_request: bool) -> Issue {
        let number = self.last_number.get() + 1;
        self.last_number.set(number);
        let (repo, updated_at) = (repo.to_owned(), self.now.get());
        let issue = Issue { repo, number, title, body, author, is_open: true, is_pull_request, updated_at, gone: None };
        self.issues.borrow_mut().push(issue.clone());
        issue
    }

    fn announce(&self, repo: &str, action: &'static str) {
        self.events.borrow_mut().push((repository_id(repo), action, self.now.get()));
    }

    fn run(&self, method: Method, path: &str, authorization: &str, body: &Value) -> Answer {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let is_app = authorization.matches('.').count() == 2;
        let refused = |status, message: &str| answer(status, &json!({ "message": message }));
        match (method, parts.as_slice()) {
            (Method::Get, ["app"]) => answer(
                200,
                &json!({ "id": APP_ID, "slug": "deploy-bot", "html_url": "https://github.com/apps/deploy-bot",
                    "owner": { "login": "acme", "type": "Organization" } }),
            ),
            (Method::Get, ["repos", _, name, "installation"]) => {
                assert!(is_app, "the App asks, by its JWT");
                match self.shut.get() {
                    Some(Shut::NotInstalled) => refused(404, "Not Found"),
                    Some(Shut::Moved) => refused(301, "Moved Permanently"),
                    _ if *name == "elsewhere" => refused(404, "Not Found"),
                    _ => answer(200, &json!({ "id": INSTALLATION, "app_id": APP_ID, "app_slug": "deploy-bot", "account": null })),
                }
            }
            (Method::Post, ["app", "installations", "42", "access_tokens"]) => {
                assert!(is_app, "the App asks, by its JWT");
                assert_eq!(body["permissions"], json!({ "issues": "write" }), "no more than that");
                if self.shut.get() == Some(Shut::NoPermission) {
                    return refused(422, "The permissions requested are not granted to this installation.");
                }
                let name = body["repositories"][0].as_str().expect("one repository");
                let id = repository_id(name);
                let headers = AnswerHeaders {
                    date: Some(http_date(Time::from_millis(self.now.get().millis() + self.date_ahead.get()))),
                    ..AnswerHeaders::default()
                };
                let token = json!({ "token": format!("ghs_for_{name}"), "repositories": [{ "id": id, "name": name }] });
                Answer { headers, ..answer(201, &token) }
            }
            (_, ["repos", owner, name, "issues", rest @ ..]) => {
                assert_eq!(authorization, format!("Bearer ghs_for_{name}"), "the token reaches into one repository");
                if self.shut.get() == Some(Shut::NoIssues) {
                    return refused(410, "Issues has been disabled in this repository.");
                }
                self.issues(method, &format!("{owner}/{name}"), rest.first().copied(), query, body)
            }
            _ => panic!("no such path: {path}"),
        }
    }

    fn issues(&self, method: Method, repo: &str, number: Option<&str>, query: &str, body: &Value) -> Answer {
        let text = |field: &str| body[field].as_str().map(str::to_owned);
        match (method, number) {
            (Method::Get, None) => {
                assert!(query.contains("state=open") && query.contains("per_page=100"), "{query}");
                let issues = self.issues.borrow();
                let open = issues.iter().rev().filter(|issue| issue.repo == repo && issue.is_open && issue.gone.is_none());
                answer(200, &open.map(shape).collect())
            }
            (Method::Post, None) => {
                let issue = self.open(repo, text("title").expect("a title"), text("body").expect("a body"), BOT, false);
                self.announce(repo, "opened");
                answer(201, &check(&issue))
            }
            (Method::Patch, Some(number)) => {
                let mut issues = self.issues.borrow_mut();
                let found = issues.iter_mut().find(|issue| issue.repo == repo && issue.number.to_string() == number);
                let Some(issue) = found else { return answer(410, &json!({ "message": "This issue was deleted" })) };
                if let Some(status) = issue.gone {
                    return answer(status, &json!({ "message": "Gone" }));
                }
                let before = issue.clone();
                issue.title = text("title").unwrap_or_else(|| issue.title.clone());
                issue.body = text("body").unwrap_or_else(|| issue.body.clone());
                issue.is_open = text("state").map_or(issue.is_open, |state| state == "open");
                if (&issue.title, &issue.body) != (&before.title, &before.body) {
                    self.announce(repo, "edited");
                }
                if issue.is_open != before.is_open {
                    self.announce(repo, if issue.is_open { "reopened" } else { "closed" });
                }
                if (&issue.title, &issue.body, issue.is_open) != (&before.title, &before.body, before.is_open) {
                    issue.updated_at = self.now.get();
                }
                answer(200, &check(issue))
            }
            _ => panic!("no such call"),
        }
    }
}

/// What GitHub refuses is a mistake of ours.
fn check(issue: &Issue) -> Value {
    assert!(issue.body.len() <= 65_536 && issue.title.chars().count() <= 256 && !issue.title.trim().is_empty());
    shape(issue)
}

fn shape(issue: &Issue) -> Value {
    let via = (issue.author == BOT).then(|| json!({ "id": APP_ID, "slug": "deploy-bot" }));
    let mut updated_at = issue.updated_at.to_string();
    updated_at.replace_range(19..23, "");
    let mut shape = json!({
        "number": issue.number, "title": issue.title, "body": issue.body, "user": { "login": issue.author },
        "state": if issue.is_open { "open" } else { "closed" }, "performed_via_github_app": via,
        "html_url": format!("https://github.com/{}/issues/{}", issue.repo, issue.number), "updated_at": updated_at,
    });
    if issue.is_pull_request {
        shape["pull_request"] = json!({ "url": "https://api.github.example/pull" });
    }
    shape
}

/// By its name, with or without the owner.
fn repository_id(repo: &str) -> u64 {
    if repo.ends_with("control") { 7 } else { 8 }
}

impl Network for FakeIssues {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        let path = call.url.strip_prefix("https://api.github.example").expect("the API's origin");
        let header = |name: &str| call.headers.iter().find(|(header, _)| *header == name).map_or("", |(_, value)| *value);
        assert!(header("user-agent").starts_with("github-app-redeliver/"));
        let body = call.body.map_or(Value::Null, |body| serde_json::from_str(&body).expect("JSON"));
        let refusal = |status, _| answer(status, &json!({ "message": "Refused" }));
        let authorization = header("authorization");
        self.line.carry(format!("{} {path}", call.method.as_str()), refusal, || self.run(call.method, path, authorization, &body))
    }
}
