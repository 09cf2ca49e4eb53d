use pollster::block_on;
use rsa::pkcs1v15::{Signature, VerifyingKey};
use rsa::sha2::Sha256;
use rsa::signature::Verifier;
use serde_json::{Value, json};

use super::*;
use crate::testing::{TestSigner, app_key};

fn part(token: &str, index: usize) -> Vec<u8> {
    let part = token.split('.').nth(index).expect("a token has three parts");
    Base64UrlUnpadded::decode_vec(part).expect("a part is base64url")
}

#[test]
fn the_public_key_verifies_a_token_with_integers_a_minute_back_and_seven_ahead() {
    let now = Time::from_millis(1_764_547_200_999);
    let jwt = block_on(sign(&TestSigner, "Iv23liABC", now)).expect("it signs");
    let (message, _) = jwt.token.rsplit_once('.').expect("a token has three parts");
    let signature = Signature::try_from(part(&jwt.token, 2).as_slice()).expect("it is a signature");
    VerifyingKey::<Sha256>::new(app_key().to_public_key()).verify(message.as_bytes(), &signature).expect("the key verifies it");
    let header: Value = serde_json::from_slice(&part(&jwt.token, 0)).expect("the header is JSON");
    assert_eq!(header, json!({"alg": "RS256", "typ": "JWT"}));
    let claims: Value = serde_json::from_slice(&part(&jwt.token, 1)).expect("the claims are JSON");
    assert_eq!(claims, json!({"iat": 1_764_547_140, "exp": 1_764_547_620, "iss": "Iv23liABC"}));
}

#[test]
fn a_token_is_signed_anew_before_it_ends() {
    let now = Time::from_millis(1_764_547_200_000);
    let jwt = block_on(sign(&TestSigner, "1", now)).expect("it signs");
    assert!(jwt.is_good_at(now + minutes(5)));
    assert!(!jwt.is_good_at(now + minutes(6)));
    assert_eq!(format!("{jwt:?}").find(&jwt.token), None);
}

#[test]
fn a_clock_at_the_epoch_signs_all_the_same() {
    // As the rehearsal finds it, where the runtime shows no time before the first call.
    let jwt = block_on(sign(&TestSigner, "1", Time::from_millis(0))).expect("it signs");
    let claims: Value = serde_json::from_slice(&part(&jwt.token, 1)).expect("the claims are JSON");
    assert_eq!(claims, json!({"iat": -60, "exp": 420, "iss": "1"}));
}
