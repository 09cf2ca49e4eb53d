//! The few things of the outside world that the Worker uses, as traits: the network, the storage, the runtime's
//! signature and the real clock.
//!
//! The adapters that know the runtime are [`crate::http`] and [`crate::recovery`]; tests bring fakes whose every call can be
//! refused, or succeed and lose its answer. One thread runs one sweep, so nothing here is `Send`.
#![allow(async_fn_in_trait, reason = "one thread runs one sweep; no caller needs a bound on the futures")]

use std::time::Duration;

use crate::policy::time::Time;

/// An HTTP method that the Worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates.
    Post,
    /// Edits.
    Patch,
}

impl Method {
    /// As it is written in a request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
        }
    }
}

/// One request. It may hold a secret (a header, Telegram's URL), so it has no `Debug`.
pub struct Call<'a> {
    /// How.
    pub method: Method,
    /// Where, in full.
    pub url: &'a str,
    /// Names in lower case, values.
    pub headers: &'a [(&'static str, &'a str)],
    /// JSON, if the method has a body.
    pub body: Option<String>,
}

/// The headers of an answer that anybody looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerHeaders {
    /// `Link`.
    pub link: Option<String>,
    /// `Date`.
    pub date: Option<String>,
    /// `Retry-After`; read only where the status is 400 or more, as are the next two.
    pub retry_after: Option<String>,
    /// `X-RateLimit-Remaining`.
    pub rate_limit_remaining: Option<String>,
    /// `X-RateLimit-Reset`.
    pub rate_limit_reset: Option<String>,
}

/// One answer, with its whole body.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The HTTP status. A redirect is never followed, so it is seen here.
    pub status: u16,
    /// Its headers.
    pub headers: AnswerHeaders,
    /// Its body.
    pub body: Vec<u8>,
}

/// No answer. The texts name no URL: Telegram's holds the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// The budget of calls is used up: the call was not made.
    #[error("no call is left of the budget")]
    NoCallLeft,
    /// The sweep has taken its five minutes: the call was not made.
    #[error("the sweep has taken its five minutes")]
    SweepOver,
    /// No whole answer within ten seconds.
    #[error("no answer within ten seconds")]
    TimedOut,
    /// The connection failed.
    #[error("the connection failed")]
    Failed,
    /// The body is larger than 4 MiB.
    #[error("the body is larger than 4 MiB")]
    TooLarge,
}

impl NetworkError {
    /// Whether the request was never made, so that it changed nothing.
    #[must_use]
    pub fn was_not_made(&self) -> bool {
        matches!(self, Self::NoCallLeft | Self::SweepOver)
    }
}

/// Outgoing calls. An implementation counts each against the budget of the sweep before it makes it.
pub trait Network {
    /// Makes one call.
    ///
    /// # Errors
    /// If there is no whole answer, or the call may not be made.
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError>;
}

/// The runtime's signature.
pub trait Signer {
    /// RSASSA-PKCS1-v1_5 with SHA-256 over `message`, by the App's key.
    ///
    /// # Errors
    /// If the runtime refuses the key.
    async fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError>;
}

/// The runtime refused to sign. It says no more, since its text could say something of the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the runtime refused to sign with the App's key")]
pub struct SignError;

/// The real clock: for the JWT, time-outs and the duration of a sweep, and for nothing that decides.
pub trait Clock {
    /// The present.
    fn now(&self) -> Time;

    /// Waits, where the other side asks for a few seconds.
    async fn sleep(&self, span: Duration);
}

/// The keys of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// Who sweeps, and until when.
    Lease,
    /// What is kept between sweeps.
    State,
    /// What the last sweeps came to, for the status page.
    History,
    /// The first state that could not be read, put aside.
    Aside,
    /// The last one after it.
    AsideLast,
    /// Failures, while the state cannot be read or written.
    Stopgap,
    /// What other Apps of the Worker wrote into their control repositories.
    Others,
}

impl Key {
    /// As it is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lease => "lease",
            Self::State => "state",
            Self::History => "history",
            Self::Aside => "state-unreadable",
            Self::AsideLast => "state-unreadable-last",
            Self::Stopgap => "failures",
            Self::Others => "others",
        }
    }
}

/// The storage failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the storage failed to {0}")]
pub struct StorageError(pub &'static str);

/// Text by key, as the Durable Object keeps it.
pub trait Storage {
    /// Reads a value.
    ///
    /// # Errors
    /// If the storage fails.
    async fn read(&self, key: Key) -> Result<Option<String>, StorageError>;

    /// Writes all of these or none: a text, or `None` to remove the key.
    ///
    /// # Errors
    /// If the storage fails; it may have written all the same.
    async fn write(&self, values: &[(Key, Option<&str>)]) -> Result<(), StorageError>;
}
