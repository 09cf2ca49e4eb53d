//! What several tests share.

use std::sync::OnceLock;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rsa::RsaPrivateKey;
use rsa::pkcs1v15::SigningKey;
use rsa::pkcs8::{EncodePrivateKey, LineEnding};
use rsa::sha2::Sha256;
use rsa::signature::{SignatureEncoding, Signer as _};

use crate::policy::time::Time;
use crate::ports::{Clock, SignError, Signer};

/// A key of so many bits, the same in every run.
pub(crate) fn rsa_key(bits: usize) -> RsaPrivateKey {
    RsaPrivateKey::new(&mut StdRng::seed_from_u64(7), bits).expect("a key can be made")
}

/// The App's key in these tests.
pub(crate) fn app_key() -> &'static RsaPrivateKey {
    static KEY: OnceLock<RsaPrivateKey> = OnceLock::new();
    KEY.get_or_init(|| rsa_key(2048))
}

/// The same as PKCS#8 PEM.
pub(crate) fn app_key_pem() -> String {
    app_key().to_pkcs8_pem(LineEnding::LF).expect("a key can be written").to_string()
}

/// Signs as the runtime does.
pub(crate) struct TestSigner;

impl Signer for TestSigner {
    async fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        Ok(SigningKey::<Sha256>::new(app_key().clone()).sign(message).to_vec())
    }
}

/// A real clock that stands still.
pub(crate) struct TestClock(pub(crate) Time);

impl Clock for TestClock {
    fn now(&self) -> Time {
        self.0
    }

    async fn sleep(&self, _: std::time::Duration) {}
}

/// A time as HTTP writes it.
pub(crate) fn http_date(time: Time) -> String {
    let time = chrono::DateTime::from_timestamp_millis(time.millis()).expect("a time of the calendar");
    time.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
