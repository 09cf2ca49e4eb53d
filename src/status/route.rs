//! Which path is what.

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The status page.
    Page,
    /// The same as JSON.
    Status,
    /// The same as metrics.
    Metrics,
    /// Whether the last good sweep is recent enough.
    Health,
    /// What the next sweep would do; as JSON, or as whoever asks likes it.
    Plan {
        /// Whether the path itself asks for JSON.
        json: bool,
    },
    /// A sweep now.
    Sweep,
    /// A recovery by hand.
    Recover,
    /// An entry taken out.
    Forget,
}

impl Route {
    /// Where a path leads; `None` if there is nothing.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        Some(match path {
            "/" => Self::Page,
            "/status.json" => Self::Status,
            "/metrics" => Self::Metrics,
            "/healthz" => Self::Health,
            "/plan" => Self::Plan { json: false },
            "/plan.json" => Self::Plan { json: true },
            "/sweep" => Self::Sweep,
            "/recover" => Self::Recover,
            "/forget" => Self::Forget,
            _ => return None,
        })
    }

    /// Whether it changes something.
    #[must_use]
    pub fn changes(self) -> bool {
        matches!(self, Self::Sweep | Self::Recover | Self::Forget)
    }

    /// The methods that it takes, as `Allow` has them.
    #[must_use]
    pub fn allows(self) -> &'static str {
        if self.changes() { "POST" } else { "GET, HEAD" }
    }

    /// Whether it takes this method.
    #[must_use]
    pub fn takes(self, method: &str) -> bool {
        self.allows().split(", ").any(|allowed| allowed == method)
    }
}

/// Whether an `Accept` header would rather have a page than JSON: a browser's does.
#[must_use]
pub fn wants_page(accept: Option<&str>) -> bool {
    accept.is_some_and(|accept| accept.split(',').any(|part| part.split(';').next().is_some_and(|name| name.trim() == "text/html")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_is_posted_and_all_else_is_read() {
        for (path, reads) in
            [("/", true), ("/plan.json", true), ("/healthz", true), ("/sweep", false), ("/recover", false), ("/forget", false)]
        {
            let route = Route::of(path).expect("it leads somewhere");
            for method in ["GET", "HEAD", "POST", "PUT", "get", ""] {
                let expected = if reads { matches!(method, "GET" | "HEAD") } else { method == "POST" };
                assert_eq!(route.takes(method), expected, "{method} {path}");
            }
        }
        for path in ["", "//", "/sweep/", "/Sweep", "/plan.html", "/status"] {
            assert_eq!(Route::of(path), None, "{path}");
        }
    }

    #[test]
    fn a_browser_gets_a_page_and_a_program_json() {
        assert!(wants_page(Some("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")));
        for accept in [None, Some("*/*"), Some("application/json"), Some("text/htmlx"), Some("")] {
            assert!(!wants_page(accept), "{accept:?}");
        }
    }
}
