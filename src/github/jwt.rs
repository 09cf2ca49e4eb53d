//! The JWT with which the App signs in.
//!
//! `jwt-compact` makes header, claims and encoding. The signature is the runtime's: computed in wasm it alone would
//! break the Free plan's 10 ms of CPU.
//! Source: GitHub's page "Generating a JSON Web Token (JWT) for a GitHub App".

use std::borrow::Cow;
use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use chrono::DateTime;
use jwt_compact::{Algorithm, AlgorithmExt, AlgorithmSignature, Claims, Header};
use serde::{Deserialize, Serialize};

use crate::policy::time::{Time, minutes};
use crate::ports::{SignError, Signer};

/// A token, and until when it is good.
pub struct Jwt {
    /// For `Authorization: Bearer`.
    pub token: String,
    expires_at: Time,
}

impl Jwt {
    /// Whether GitHub will take it for a minute more.
    #[must_use]
    pub fn is_good_at(&self, now: Time) -> bool {
        now + minutes(1) < self.expires_at
    }
}

/// Without the token.
impl fmt::Debug for Jwt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Jwt").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
struct Issuer<'a> {
    iss: Cow<'a, str>,
}

/// Signs a token for the App `issuer` at `now`, by the real clock: issued a minute back, since GitHub refuses one from
/// its future, and good for seven minutes, below GitHub's ten and above a sweep's five.
///
/// # Errors
/// If the runtime refuses the key.
pub async fn sign<S: Signer>(signer: &S, issuer: &str, now: Time) -> Result<Jwt, SignError> {
    let issued_at = now - minutes(1);
    let expires_at = now + minutes(7);
    let mut claims = Claims::new(Issuer { iss: issuer.into() });
    claims.issued_at = DateTime::from_timestamp(issued_at.seconds(), 0);
    claims.expiration = DateTime::from_timestamp(expires_at.seconds(), 0);
    let header = Header::empty().with_token_type("JWT");
    let unsigned = Unsigned.token(&header, &claims, &()).map_err(|_| SignError)?;
    let message = unsigned.strip_suffix('.').ok_or(SignError)?;
    let signature = signer.sign(message.as_bytes()).await?;
    Ok(Jwt { token: format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature)), expires_at })
}

/// RS256 without its signature, which somebody else adds.
struct Unsigned;

struct NoSignature;

impl AlgorithmSignature for NoSignature {
    fn try_from_slice(_: &[u8]) -> anyhow::Result<Self> {
        Ok(Self)
    }

    fn as_bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&[])
    }
}

impl Algorithm for Unsigned {
    type SigningKey = ();
    type VerifyingKey = ();
    type Signature = NoSignature;

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed("RS256")
    }

    fn sign(&self, (): &(), _: &[u8]) -> NoSignature {
        NoSignature
    }

    /// Never used; a token without its signature is worth nothing.
    fn verify_signature(&self, _: &NoSignature, (): &(), _: &[u8]) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
