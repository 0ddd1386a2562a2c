//! docs/reference/provostd-toml.md names what the program knows, no more and no less, with its defaults.

use std::collections::{BTreeMap, BTreeSet};

use provostd::Config;

const PAGE: &str = include_str!("../../../../docs/reference/provostd-toml.md");
/// A key that the file must have.
const REQUIRED: &str = "www = \"/srv/www\"\n";

/// What the program makes of a file.
fn parse(text: &str) -> Result<String, toml::de::Error> {
    toml::from_str::<Config>(text).map(|config| format!("{config:?}"))
}

/// The head of a section. One that may be there many times has its required keys.
fn head(section: &str) -> String {
    match section {
        "" => String::new(),
        "webhooks" => "[[webhooks]]\nname = \"x\"\nurl = \"http://x\"\n".to_owned(),
        "page.racks" => "[[page.racks]]\nnodes = \"x\"\n".to_owned(),
        _ => format!("[{section}]\n"),
    }
}

/// What an error such as "unknown field `x`, expected one of `a`, `b`" expects.
fn known(text: &str) -> BTreeSet<String> {
    let error = parse(text).unwrap_err().to_string();
    let expected = error.split_once(", expected ").unwrap().1;
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The keys on the page, each with its default, by section; the top is "".
fn documented() -> BTreeMap<String, BTreeMap<String, String>> {
    let section = |text: &str| {
        let head = text.lines().next().unwrap();
        let name = head.split(['[', ']']).skip(1).find(|part| !part.is_empty());
        let name = name.filter(|_| head.contains('[')).unwrap_or_default();
        let rows = text.lines().filter(|line| line.starts_with("| `")).map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            let cell = |at: usize| cells[at].trim().trim_matches('`').to_owned();
            (cell(1), cell(2))
        });
        (name.trim_matches('`').to_owned(), rows.collect())
    };
    PAGE.split("\n## Keys ").skip(1).map(section).collect()
}

#[test]
fn every_key_is_on_the_page_and_every_key_of_the_page_is_one() {
    let sections = documented();
    let mut top: BTreeSet<String> = sections[""].keys().cloned().collect();
    for (section, keys) in sections.iter().filter(|(section, _)| !section.is_empty()) {
        let keys: BTreeSet<String> = keys.keys().cloned().collect();
        let text = format!("{REQUIRED}{}no_such_key = 1\n", head(section));
        assert_eq!(keys, known(&text), "[{section}]");
        // One below another one is a key of that.
        if !section.contains('.') {
            top.insert(section.clone());
        }
    }
    assert_eq!(top, known("no_such_key = 1\n"));
}

#[test]
fn the_defaults_are_those_of_the_page() {
    for (section, keys) in documented() {
        let head = head(&section);
        let own = if section == "webhooks" { &head } else { "" };
        let without = parse(&format!("{REQUIRED}{own}")).unwrap();
        for (key, default) in keys.iter().filter(|(_, default)| !default.is_empty()) {
            let with = format!("{REQUIRED}{head}{key} = {default}\n");
            assert_eq!(parse(&with).unwrap(), without, "{section} {key}");
        }
    }
}

#[test]
fn the_example_is_right() {
    let example = PAGE.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let shown = parse(example).unwrap();
    assert!(shown.contains("max_attempts: 5"), "{shown}");
}
