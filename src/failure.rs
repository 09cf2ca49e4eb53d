//! What class of failure ended a sweep (spec section 9): a plain value, for whoever finds it, keeps it or tells it.

/// The classes of failure, as the log and the status name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Settings are missing or wrong, or name an App or a server that is not there.
    Config,
    /// GitHub does not take the key.
    Auth,
    /// GitHub asks to wait.
    RateLimited,
    /// GitHub failed.
    ServerError,
    /// No answer came.
    Transport,
    /// An answer could not be read.
    Decode,
    /// The stored state cannot be read or written.
    State,
    /// The runtime ended the sweep before.
    Killed,
}

impl FailureClass {
    /// Whether it says nothing of the settings, the key or the calls that are left: GitHub, or one page, failed.
    #[must_use]
    pub fn is_of_the_moment(self) -> bool {
        matches!(self, Self::ServerError | Self::Transport | Self::Decode)
    }
}
