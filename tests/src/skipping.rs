//! Tests that can't run on this machine, or only in part: each is noted, so that somebody sees it.

use std::fs::OpenOptions;
use std::io::Write;

/// The name of the variable with the file that skips are noted in, `TEST<tab>REASON` a line.
/// `cargo xtask test` sets it, and shows the list at the end.
const VARIABLE: &str = "PROVOST_TEST_SKIPS";

/// Notes that the test can't run here, and ends it. It is called before the test has started anything,
/// because nothing is dropped.
#[expect(clippy::exit, reason = "each test has a process of its own")]
pub fn skip(reason: &str) -> ! {
    assert!(
        std::env::var_os("NEXTEST").is_some(),
        "skipped: {reason} (only under cargo nextest does this end one test alone)"
    );
    skip_part(reason);
    std::process::exit(0)
}

/// Skips the test if something is missing (see [`crate::missing`]).
pub fn skip_if(missing: Option<String>) {
    if let Some(missing) = missing {
        skip(&missing)
    }
}

/// Notes that a part of the test can't run here; the test continues with the others.
pub fn skip_part(reason: &str) {
    let binary = std::env::var("NEXTEST_BINARY_ID").unwrap_or_default();
    let test = std::env::var("NEXTEST_TEST_NAME").unwrap_or_default();
    eprintln!("SKIPPED: {binary} {test}: {reason}");
    if let Some(file) = std::env::var_os(VARIABLE) {
        let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
        // In one write: other tests append at the same time.
        file.write_all(format!("{binary} {test}\t{reason}\n").as_bytes()).unwrap();
    }
}
