//! The reference pages of `site.toml` and of a script's header name what the program knows, no more and
//! no less. The program names it itself, in its errors.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::collections::BTreeSet;
use std::path::Path;

use provost_bundle::Policy;
use provost_plan::Site;

fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    std::fs::read_to_string(docs.join(name)).unwrap()
}

/// What an error such as "unknown field `x`, expected one of `a`, `b`" expects.
fn expected(error: &str) -> BTreeSet<String> {
    let expected = error.split_once(", expected ").unwrap().1;
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn of_site(text: &str) -> BTreeSet<String> {
    expected(&Site::parse(text, Path::new("site.toml")).unwrap_err().to_string())
}

fn of_header(line: &str) -> BTreeSet<String> {
    let script = format!("#!/bin/sh\n# /// provost\n# {line}\n# ///\n");
    expected(&Policy::from_script(script.as_bytes()).unwrap_err().to_string())
}

/// The first column of the table whose first cell of its head is `head`, without quotes.
fn column(page: &str, head: &str) -> BTreeSet<String> {
    let table = page.split("\n\n").find(|block| block.starts_with(&format!("| {head} |")));
    let cells = table.unwrap_or_default().lines().skip(2).filter(|line| line.starts_with('|'));
    let cells = cells.map(|line| line.split('|').nth(1).unwrap().trim());
    let cells: BTreeSet<String> = cells.map(|cell| cell.replace(['`', '"'], "")).collect();
    assert!(!cells.is_empty(), "no table {head}");
    cells
}

#[test]
fn every_key_of_a_header_and_each_of_its_values_is_on_the_page() {
    let page = page("script-header.md");
    assert_eq!(column(&page, "key"), of_header("x = 1"));
    for key in ["when", "on_failure", "resume", "leak", "trace"] {
        let values = of_header(&format!("{key} = \"x\""));
        assert_eq!(column(&page, &format!("`{key}`")), values, "{key}");
    }
}

#[test]
fn every_key_of_a_site_is_on_the_page() {
    let page = page("site-toml.md");
    assert_eq!(column(&page, "key"), of_site("[defaults]\nx = 1\n"));
    let line = page.lines().find(|line| line.ends_with("are the top-level keys.")).unwrap();
    let top: BTreeSet<String> = line.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(top, of_site("x = 1\n"));
    assert_eq!(of_site("[scripts.s]\nx = 1\n"), of_header("x = 1"), "as a header's");
}

#[test]
fn the_pages_examples_are_right() {
    let page = page("site-toml.md");
    let example = page.split("```").nth(1).unwrap().strip_prefix("toml\n").unwrap();
    let site = Site::parse(example, Path::new("site.toml")).unwrap();
    let steps = site.plans()["cn003"].postscripts.clone();
    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
    assert_eq!(steps, ["syslog", "mount_scratch /scratch", "gpu_driver"]);
    let page = self::page("script-header.md");
    let example = page.split("```").nth(1).unwrap().strip_prefix("bash\n").unwrap();
    assert_eq!(Policy::from_script(example.as_bytes()).unwrap().inputs, ["OTHERPKGS1"]);
}
