//! The control repository, as far as the alarm needs it. Its App has not subscribed to `issues`, so it hears nothing of its own writes.

use github_app_redeliver::policy::time::Time;
use github_app_redeliver::ports::{Answer, Call, Method};
use serde_json::{Value, json};

use super::answer;

/// The issues in it.
#[derive(Debug, Default)]
pub(super) struct Control {
    issues: Vec<Issue>,
}

/// Issues of others came first.
const FIRST_NUMBER: usize = 1_000;

#[derive(Debug)]
struct Issue {
    body: String,
    is_open: bool,
}

impl Control {
    /// What GitHub answers to a call about it.
    pub(super) fn answer(&mut self, call: &Call<'_>, path: &str, now: Time) -> Answer {
        let sent: Value = call.body.as_deref().map_or(Value::Null, |body| serde_json::from_str(body).expect("what is sent is JSON"));
        let (status, body) = match (call.method, path) {
            (Method::Get, path) if path.ends_with("/installation") => (200, json!({ "id": 1, "app_id": 123_456, "app_slug": "app" })),
            (Method::Post, path) if path.ends_with("/access_tokens") => {
                (201, json!({ "token": "ghs_nobody", "repositories": [{ "id": 7, "name": "control" }] }))
            }
            (Method::Get, _) => {
                (200, (0..self.issues.len()).filter(|nth| self.issues[*nth].is_open).map(|nth| self.shape(nth, now)).collect())
            }
            (Method::Post, _) => {
                let nth = self.issues.len();
                self.issues.push(Issue { body: String::new(), is_open: true });
                self.write(nth, &sent);
                (201, self.shape(nth, now))
            }
            (Method::Patch, path) => {
                let number: usize = path.rsplit('/').next().and_then(|number| number.parse().ok()).expect("an edit names an issue");
                self.write(number - FIRST_NUMBER, &sent);
                (200, self.shape(number - FIRST_NUMBER, now))
            }
        };
        answer(status, &body.to_string())
    }

    fn write(&mut self, nth: usize, sent: &Value) {
        let issue = &mut self.issues[nth];
        if let Some(body) = sent["body"].as_str() {
            body.clone_into(&mut issue.body);
        }
        if let Some(state) = sent["state"].as_str() {
            issue.is_open = state == "open";
        }
    }

    fn shape(&self, nth: usize, now: Time) -> Value {
        let issue = &self.issues[nth];
        let number = FIRST_NUMBER + nth;
        json!({
            "number": number,
            "body": issue.body,
            "user": { "login": "app[bot]" },
            "state": if issue.is_open { "open" } else { "closed" },
            "html_url": format!("https://github.com/acme/control/issues/{number}"),
            "updated_at": now.to_string(),
        })
    }
}
