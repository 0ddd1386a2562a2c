//! docs/troubleshooting.md: each message on it is one that a program prints.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/troubleshooting.md");
/// Where the words are by which `provostctl pending` says why a node can't get on.
const WORDS: &str = include_str!("../../../crates/provost-api/src/words.rs");

/// The texts of all sources of the programs, each as its strings are printed: without what continues them in
/// the next line.
fn sources() -> Vec<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let extension = path.extension().and_then(|e| e.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if matches!(extension, Some("rs" | "sh")) {
                texts.push(joined(&fs::read_to_string(path).unwrap()));
            }
        }
    }
    texts
}

fn joined(text: &str) -> String {
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start()).replace("\\\"", "\"")
}

/// The first cells of the tables below `column`, in code.
fn cells(column: &str) -> Vec<&'static str> {
    let head = format!("| {column} |");
    let rows = PAGE
        .split(&*head)
        .skip(1)
        .flat_map(|table| table.lines().skip(2).take_while(|line| line.starts_with('|')));
    // A bar within a cell is escaped.
    let code = |row: &'static str| row.split(" | ").next().unwrap().split('`').skip(1).step_by(2);
    rows.flat_map(code).collect()
}

#[test]
fn each_message_is_in_a_source() {
    let (sources, messages) = (sources(), cells("message"));
    assert!(messages.len() > 30, "{messages:?}");
    for message in messages {
        let parts: Vec<&str> = message.split('…').filter(|part| part.trim().len() > 3).collect();
        assert!(!parts.is_empty(), "{message:?} names nothing");
        let is_there = |text: &String| parts.iter().all(|part| text.contains(part));
        assert!(sources.iter().any(is_there), "no program prints {message:?}");
    }
}

#[test]
fn each_reason_why_a_node_cannot_get_on_has_its_line() {
    let words = WORDS.split_once("impl AuthFailure {").unwrap().1.split_once("\n}\n").unwrap().0;
    let words = words.lines().filter_map(|line| line.split_once("=> \"")?.1.strip_suffix("\","));
    let (words, shown): (Vec<_>, _) = (words.collect(), cells("word"));
    assert!(words.len() > 15, "{words:?}");
    for word in &words {
        assert!(shown.contains(word), "{word:?} is missing");
    }
    assert_eq!(shown.len(), words.len(), "{shown:?}");
}
