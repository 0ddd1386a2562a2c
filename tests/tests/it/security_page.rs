//! docs/security.md names the test that attacks each promise.

use std::path::Path;

const PAGE: &str = include_str!("../../../docs/security.md");

/// Where the tests are that the page calls so: `NAME`, or `CRATE: NAME`.
fn files(test: &str) -> [String; 4] {
    let (folder, name) = match test.split_once(": ") {
        Some((of, name)) => (format!("../crates/{of}/tests"), name),
        None => ("tests".to_owned(), test),
    };
    ["it/{}.rs", "it/{}/mod.rs", "{}.rs", "{}/main.rs"]
        .map(|file| format!("{folder}/{}", file.replace("{}", name)))
}

#[test]
fn each_promise_names_a_test_that_is_there() {
    let tables = PAGE.split("| promise | test |\n|---|---|\n").skip(1);
    let mut promises = 0;
    for row in tables.flat_map(|table| table.lines().take_while(|line| line.starts_with('|'))) {
        let tests: Vec<&str> =
            row.rsplit('|').nth(1).unwrap().split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{row}");
        for test in tests {
            assert!(files(test).iter().any(|file| Path::new(file).exists()), "{test}: {row}");
        }
        promises += 1;
    }
    assert!(promises > 20, "{promises}");
}
