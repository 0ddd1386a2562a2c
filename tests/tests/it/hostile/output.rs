//! What hostile scripts print is kept byte for byte.

use std::os::unix::fs::PermissionsExt;

use provost_tests::{Ground, World};

use crate::hostile::scripts::{LONG, LONGEST, script};

/// The text of `stream` as the newest log keeps it.
fn kept(ground: &Ground, stream: &str) -> Vec<u8> {
    let status = ground.node().status();
    let stages = status["stages"].as_array().unwrap();
    let log = std::fs::read(stages.last().unwrap()["log"].as_str().unwrap()).unwrap();
    let mut text = Vec::new();
    let tag = |tag: &str| format!(" {stream} {tag} ").into_bytes();
    let (whole, piece) = (tag("F"), tag("P"));
    // `2026-11-20T17:00:09.214Z`
    const TIME: usize = 24;
    for line in log.strip_suffix(b"\n").unwrap_or(&log).split(|b| *b == b'\n') {
        if let Some(part) = line[TIME..].strip_prefix(&whole[..]) {
            text.extend_from_slice(part);
            text.push(b'\n');
        } else if let Some(part) = line[TIME..].strip_prefix(&piece[..]) {
            text.extend_from_slice(part);
        }
    }
    text
}

#[test]
fn every_byte_is_kept() {
    let ground = Ground::new(&[("binary", &script("binary"))]);
    ground.start(World::Walk, &["run", "binary"]).end(LONG);
    assert_eq!(kept(&ground, "stdout"), (0..=255).collect::<Vec<u8>>());
}

#[test]
fn a_line_of_100_mb_is_kept() {
    let ground = Ground::new(&[("long_line", &script("long_line"))]);
    ground.start(World::Walk, &["run", "long_line"]).end(LONGEST);
    let text = kept(&ground, "stdout");
    assert_eq!(text.len(), 100_000_000);
    assert!(text.iter().all(|b| *b == b'x'));
}

#[test]
fn what_is_harmful_on_a_terminal_is_kept_and_not_shown() {
    let nasty = "#!/bin/sh\nprintf '\\033[2Jred\\r\\033]0;title\\007\\n' >&2\nexit 3\n";
    let ground = Ground::new(&[("nasty", nasty)]);
    let run = ground.start(World::Walk, &["run", "nasty"]).end(LONG);
    assert_eq!(kept(&ground, "stderr"), b"\x1b[2Jred\r\x1b]0;title\x07\n");
    let harmful = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!run.said.contains(harmful), "{:?}", run.said);
    assert!(run.said.contains("red"), "{}", run.said);
}

#[test]
fn a_log_that_cannot_be_written_is_said() {
    let ground = Ground::new(&[("three", "#!/bin/sh\necho one\nexit 3\n")]);
    ground.start(World::Walk, &["run", "three"]).end(LONG);
    // The journal stays where it is; logs have no place any more.
    let logs = ground.path("log/scripts");
    std::fs::rename(&logs, ground.path("log/old")).unwrap();
    std::fs::write(&logs, "").unwrap();
    std::fs::set_permissions(&logs, PermissionsExt::from_mode(0o600)).unwrap();
    let run = ground.start(World::Walk, &["run", "three"]).end(LONG);
    assert_ne!(run.code, Some(0));
    assert!(run.said.contains("log/scripts") && run.said.contains("hint: "), "{}", run.said);
    ground.nobody_is_left(&run.said);
}
