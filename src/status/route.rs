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
    /// Every App of the Worker in a few words, as JSON.
    Apps,
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

/// A path of the HTTP side, which may be of one of several Apps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The App that it names.
    pub app: Option<&'a str>,
    /// Where it leads.
    pub route: Route,
}

impl<'a> Place<'a> {
    /// Takes a path apart: `/plan`, or `/apps/1234567/plan` for that App. `None` if there is nothing.
    #[must_use]
    pub fn of(path: &'a str) -> Option<Self> {
        let Some(rest) = path.strip_prefix("/apps/") else { return Some(Self { app: None, route: Route::of(path)? }) };
        let (app, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        Some(Self { app: Some(app).filter(|app| !app.is_empty())?.into(), route: Route::of(path).filter(|route| *route != Route::Apps)? })
    }
}

/// The path of the page of one of several Apps.
#[must_use]
pub fn home_of(app: &str) -> String {
    format!("/apps/{app}/")
}

impl Route {
    /// All there are, with their paths.
    const ALL: [(&'static str, Self); 10] = [
        ("/", Self::Page),
        ("/status.json", Self::Status),
        ("/apps.json", Self::Apps),
        ("/metrics", Self::Metrics),
        ("/healthz", Self::Health),
        ("/plan", Self::Plan { json: false }),
        ("/plan.json", Self::Plan { json: true }),
        ("/sweep", Self::Sweep),
        ("/recover", Self::Recover),
        ("/forget", Self::Forget),
    ];

    /// Where a path leads; `None` if there is nothing.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == path).map(|(_, route)| *route)
    }

    /// Its path.
    #[must_use]
    pub fn path(self) -> &'static str {
        Self::ALL.iter().find(|(_, route)| *route == self).map_or("/", |(path, _)| *path)
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
    fn a_path_may_name_an_app() {
        let place = |app, route| Some(Place { app, route });
        assert_eq!(Place::of("/plan"), place(None, Route::Plan { json: false }));
        assert_eq!(Place::of("/apps.json"), place(None, Route::Apps));
        for path in ["/apps/1234567", "/apps/1234567/"] {
            assert_eq!(Place::of(path), place(Some("1234567"), Route::Page), "{path}");
        }
        assert_eq!(Place::of(&format!("{}forget", home_of("Iv1.a"))), place(Some("Iv1.a"), Route::Forget));
        for path in ["/apps", "/apps/", "/apps//plan", "/apps/1/nowhere", "/apps/1//", "/apps/1/apps.json", "/apps/1/apps/2/", "/Apps/1/"] {
            assert_eq!(Place::of(path), None, "{path}");
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
