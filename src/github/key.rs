//! The App's private key: read in every form in which people store it, checked, and handed on as PKCS#8.
//!
//! Only its form is read here. Whether its numbers belong together is checked by the runtime when it imports the key, which is
//! before the first call (see [`crate::recovery`]): what does that here is larger than all the rest of the Worker's own code.

use std::fmt;

use base64ct::{Base64, Encoding};
use pkcs1::{ALGORITHM_ID, ALGORITHM_OID, RsaPrivateKey};
use pkcs8::{PrivateKeyInfo, SecretDocument};
use zeroize::Zeroizing;

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
    #[inline(never)]
    pub fn read(setting: &str) -> Result<Self, KeyError> {
        let text = unfold(setting)?;
        let label = label(&text)?;
        match label {
            "RSA PRIVATE KEY" if text.contains("Proc-Type:") => Err(KeyError::Encrypted),
            "RSA PRIVATE KEY" => Self::wrap(document(&text)?.as_bytes()),
            "PRIVATE KEY" => {
                let document = document(&text)?;
                let info = PrivateKeyInfo::try_from(document.as_bytes()).map_err(|_| KeyError::Broken)?;
                if info.algorithm.oid != ALGORITHM_OID {
                    return Err(KeyError::Broken);
                }
                Self::wrap(info.private_key)
            }
            "ENCRYPTED PRIVATE KEY" => Err(KeyError::Encrypted),
            _ if label.ends_with("PRIVATE KEY") => Err(KeyError::Broken),
            _ => Err(KeyError::NotPrivate),
        }
    }

    /// Takes PKCS#1.
    fn wrap(pkcs1: &[u8]) -> Result<Self, KeyError> {
        let key = RsaPrivateKey::try_from(pkcs1).map_err(|_| KeyError::Broken)?;
        let modulus = key.modulus.as_bytes();
        let bits = modulus.first().map_or(0, |first| modulus.len() * 8 - first.leading_zeros() as usize);
        if bits < LEAST_BITS {
            return Err(KeyError::TooShort(bits));
        }
        SecretDocument::try_from(PrivateKeyInfo::new(ALGORITHM_ID, pkcs1)).map(Self).map_err(|_| KeyError::Broken)
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

fn document(pem: &str) -> Result<SecretDocument, KeyError> {
    SecretDocument::from_pem(pem).map(|(_, document)| document).map_err(|_| KeyError::Broken)
}

/// The PEM text, one line a line, whatever the way in which it was stored as one. Each text on the way to it is wiped, and none of
/// them grows, which would leave a copy behind.
fn unfold(setting: &str) -> Result<Zeroizing<String>, KeyError> {
    let real_ends = |text: &str| joined(text.split("\\n"), "\n", text.len() + 1);
    let setting = setting.trim().trim_matches(['"', '\'']);
    let mut text = real_ends(&joined(setting.split("\\r"), "", setting.len()));
    if !text.contains("-----BEGIN") {
        let packed = joined(text.split_ascii_whitespace(), "", text.len());
        let bytes = Zeroizing::new(Base64::decode_vec(&packed).map_err(|_| KeyError::NotPem)?);
        let unpacked = str::from_utf8(&bytes).map_err(|_| KeyError::NotPem)?;
        text = real_ends(unpacked);
    }
    let start = text.find("-----BEGIN").ok_or(KeyError::NotPem)?;
    // Windows' line ends, blank lines and indents come from copying; the PEM reader takes none of them.
    let lines = text[start..].lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(joined(lines, "\n", text.len() + 1))
}

/// All parts, `end` behind each of them, in a text with room for `bytes`.
fn joined<'p>(parts: impl Iterator<Item = &'p str>, end: &str, bytes: usize) -> Zeroizing<String> {
    let mut all = Zeroizing::new(String::with_capacity(bytes));
    for part in parts {
        all.push_str(part);
        all.push_str(end);
    }
    all
}

fn label(text: &str) -> Result<&str, KeyError> {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----")).ok_or(KeyError::NotPem)
}

#[cfg(test)]
mod tests;
