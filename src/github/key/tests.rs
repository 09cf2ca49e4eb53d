use rsa::pkcs1::EncodeRsaPrivateKey;
use rsa::pkcs8::LineEnding;

use super::*;
use crate::testing::{app_key, app_key_pem, rsa_key};

fn pkcs1() -> String {
    app_key().to_pkcs1_pem(LineEnding::LF).expect("a key can be written").to_string()
}

#[test]
fn every_form_in_which_people_store_it_gives_the_same_key() {
    let expected = AppKey::read(&app_key_pem()).expect("PKCS#8 is read");
    let pkcs1 = pkcs1();
    let forms = [
        pkcs1.clone(),
        pkcs1.replace('\n', "\\n"),
        pkcs1.replace('\n', "\\r\\n"),
        format!("\"{}\"", pkcs1.replace('\n', "\\n")),
        pkcs1.replace('\n', "\r\n"),
        pkcs1.replace('\n', "\n  "),
        format!("\n\n{pkcs1}\n\n"),
        Base64::encode_string(pkcs1.as_bytes()),
        Base64::encode_string(app_key_pem().as_bytes()),
        Base64::encode_string(pkcs1.as_bytes())
            .as_bytes()
            .chunks(64)
            .fold(String::new(), |all, line| all + &String::from_utf8_lossy(line) + "\n"),
        Base64::encode_string(pkcs1.replace('\n', "\\n").as_bytes()),
    ];
    for form in forms {
        let key = AppKey::read(&form).unwrap_or_else(|error| panic!("{error}: {}", &form[..60]));
        assert_eq!(key.pkcs8(), expected.pkcs8());
    }
    assert_eq!(format!("{expected:?}"), "AppKey");
}

#[test]
fn what_is_no_such_key_is_named() {
    let public = rsa::pkcs8::EncodePublicKey::to_public_key_pem(&app_key().to_public_key(), LineEnding::LF).expect("a key can be written");
    let short = rsa_key(1024).to_pkcs1_pem(LineEnding::LF).expect("a key can be written").to_string();
    let pem = pkcs1();
    let table = [
        (String::new(), KeyError::NotPem),
        ("SHA256:abcdef".to_owned(), KeyError::NotPem),
        (Base64::encode_string(b"hello"), KeyError::NotPem),
        (public, KeyError::NotPrivate),
        (short, KeyError::TooShort(1024)),
        (pem[..pem.len() / 2].to_owned(), KeyError::Broken),
        (pem.replace("\nMII", "\nMIJ"), KeyError::Broken),
        (pem.replace("RSA PRIVATE", "EC PRIVATE"), KeyError::Broken),
        (pem.replace("RSA PRIVATE", "OPENSSH PRIVATE"), KeyError::Broken),
        (app_key_pem().replace(" PRIVATE", " ENCRYPTED PRIVATE"), KeyError::Encrypted),
        (pem.replacen('\n', "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1), KeyError::Encrypted),
    ];
    for (text, expected) in table {
        assert_eq!(AppKey::read(&text).err(), Some(expected));
    }
}
