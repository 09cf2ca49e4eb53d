//! libFuzzer over the target that `FUZZ_TARGET` names. Started by `npm run fuzz`.
#![no_main]

use std::sync::OnceLock;

#[path = "../../src/alarm/fakes/html.rs"]
mod html;
mod targets;

fn target() -> fn(&[u8]) {
    static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();
    *TARGET.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let found = targets::TARGETS.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("FUZZ_TARGET names none of the targets: {name}")).1
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target()(bytes));
