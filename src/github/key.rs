//! The App's private key: read in every form in which people store it, checked, and handed on as PKCS#8.
//!
//! `rsa` reads and checks. It never signs (its signatures are not constant in time, RUSTSEC-2023-0071): the runtime does.

use std::fmt;

use base64ct::{Base64, Encoding};
use rsa::RsaPrivateKey;
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::{DecodePrivateKey, EncodePrivateKey, SecretDocument};
use rsa::traits::PublicKeyParts;

/// GitHub makes keys of 2048 bits; the runtime takes no smaller ones for RS256 safely.
const LEAST_BITS: usize = 2048;

/// Why a key cannot be used. None of it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Neither PEM nor base64 of PEM.
    #[error("is no PEM file; give the whole file that GitHub let you download, from -----BEGIN to -----END")]
    NotPem,
    /// PEM of something else.
    #[error("is a PEM file, but of no private key; give the file that GitHub let you download when you generated the App's private key")]
    NotPrivate,
    /// Encrypted.
    #[error("is encrypted with a passphrase; give the file as GitHub let you download it")]
    Encrypted,
    /// PEM with a broken content, or a key of another kind.
    #[error("is cut off, damaged or no RSA key; generate a new private key in the App's settings and give the whole file")]
    Broken,
    /// Too short for RS256.
    #[error("has {0} bits, GitHub's have 2048 or more; generate a new private key in the App's settings")]
    TooShort(usize),
}

/// The key as PKCS#8, wiped from memory when it is dropped.
#[derive(Clone)]
pub struct AppKey(SecretDocument);

impl AppKey {
    /// Reads PEM in PKCS#1 (as GitHub hands it out) or PKCS#8, with real or literal `\n`, or base64 of the whole file.
    ///
    /// # Errors
    /// If it is no RSA private key of 2048 bits or more.
    pub fn read(setting: &str) -> Result<Self, KeyError> {
        let text = unfold(setting)?;
        let label = label(&text)?;
        let key = match label {
            "RSA PRIVATE KEY" if text.contains("Proc-Type:") => return Err(KeyError::Encrypted),
            "RSA PRIVATE KEY" => RsaPrivateKey::from_pkcs1_pem(&text).map_err(|_| KeyError::Broken)?,
            "PRIVATE KEY" => RsaPrivateKey::from_pkcs8_pem(&text).map_err(|_| KeyError::Broken)?,
            "ENCRYPTED PRIVATE KEY" => return Err(KeyError::Encrypted),
            _ if label.ends_with("PRIVATE KEY") => return Err(KeyError::Broken),
            _ => return Err(KeyError::NotPrivate),
        };
        let bits = key.n().bits();
        if bits < LEAST_BITS {
            return Err(KeyError::TooShort(bits));
        }
        key.to_pkcs8_der().map(Self).map_err(|_| KeyError::Broken)
    }

    /// The bytes that the runtime imports.
    #[must_use]
    pub fn pkcs8(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Nothing of the key.
impl fmt::Debug for AppKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("AppKey")
    }
}

/// The PEM text, one line a line, whatever the way in which it was stored as one.
fn unfold(setting: &str) -> Result<String, KeyError> {
    let mut text = setting.trim().trim_matches(['"', '\'']).replace("\\r", "").replace("\\n", "\n");
    if !text.contains("-----BEGIN") {
        let packed: String = text.split_ascii_whitespace().collect();
        let bytes = Base64::decode_vec(&packed).map_err(|_| KeyError::NotPem)?;
        text = String::from_utf8(bytes).map_err(|_| KeyError::NotPem)?.replace("\\n", "\n");
    }
    let start = text.find("-----BEGIN").ok_or(KeyError::NotPem)?;
    // Windows' line ends, blank lines and indents come from copying; the PEM reader takes none of them.
    let lines = text[start..].lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.fold(String::new(), |mut all, line| {
        all.push_str(line);
        all.push('\n');
        all
    }))
}

fn label(text: &str) -> Result<&str, KeyError> {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----")).ok_or(KeyError::NotPem)
}

#[cfg(test)]
mod tests;
