//! A target of cargo-fuzz: the function that its program is named after.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| provost_fuzz::target(env!("CARGO_BIN_NAME"))(bytes));
