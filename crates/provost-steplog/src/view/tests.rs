use std::io::Cursor;

use serde_json::{Value, json};

use super::*;
use crate::Paint;

/// A script that makes something, fails to install it, and leaves a process behind.
const LOG: &[u8] = b"2026-11-20T17:00:02.000Z stdout F begin\n\
    2026-11-20T17:00:02.100Z exec F 10 9 make all\n\
    2026-11-20T17:00:02.200Z exec F 11 10 cc a.c\n\
    2026-11-20T17:00:02.300Z exit F 11 0 100ms\n\
    2026-11-20T17:00:02.350Z stdout P ma\n\
    2026-11-20T17:00:02.350Z stdout F de\n\
    2026-11-20T17:00:02.400Z exit F 10 0 300ms\n\
    2026-11-20T17:00:03.000Z exec F 12 9 install -m 0640 a b\n\
    2026-11-20T17:00:03.001Z stderr F install: \x1b[2Jno room\xff\n\
    2026-11-20T17:00:03.002Z exit F 12 1 3ms\n\
    2026-11-20T17:00:03.100Z exec F 13 9 env nice true\n\
    2026-11-20T17:00:03.101Z exec F 13 9 nice true\n\
    2026-11-20T17:00:03.102Z exit F 13 SIGKILL 1ms\n\
    2026-11-20T17:00:03.200Z stderr P half\n\
    2026-11-20T17:00:03.200Z exec F 14 9 sleep 600\n\
    2026-11-20T17:00:03.300Z trace F 3 commands were left out here\n\
    2026-11-20T17:00:03.400Z stdout F $ rm -rf /\n";

/// What the failing command printed.
const NO_ROOM: &str = "install: \u{1b}[2Jno room\u{fffd}\n";

const PIPE: Reader = Reader { is_terminal: false, paint: Paint::always(false), width: None };

fn shown(log: &[u8], part: Part, failed: bool, json: bool, reader: Reader) -> Vec<u8> {
    let mut out = Vec::new();
    View { part, failed, json, reader }.show(Cursor::new(log), &mut out).unwrap();
    out
}

fn text(part: Part, failed: bool, reader: Reader) -> String {
    String::from_utf8_lossy(&shown(LOG, part, failed, false, reader)).into_owned()
}

fn document(part: Part, failed: bool) -> Value {
    serde_json::from_slice(&shown(LOG, part, failed, true, PIPE)).unwrap()
}

#[test]
fn commands_stand_apart_from_what_is_printed() {
    let expected = "\
| begin
$ make all
  $ cc a.c  # exit status 0, 100 ms
  | made
# make all: exit status 0, 300 ms
$ install -m 0640 a b
  | install: \u{1b}[2Jno room\u{fffd}
# install -m 0640 a b FAILED: exit status 1, 3 ms
$ env nice true  # became the next command, 1 ms
$ nice true  # FAILED: killed by SIGKILL, 1 ms
| half
$ sleep 600
# 3 commands were left out here
  | $ rm -rf /
# sleep 600: still running where the log ends
";
    assert_eq!(text(Part::All, false, PIPE), expected);
}

#[test]
fn a_terminal_gets_colours_and_nothing_that_steers_it() {
    let reader = Reader { is_terminal: true, paint: Paint::always(true), width: None };
    let text = text(Part::All, false, reader);
    let painted = [
        "\x1b[1m$ install -m 0640 a b\x1b[0m\n",
        "  \x1b[2m|\x1b[0m install: no room\u{fffd}\n",
        "\x1b[1;31m# install -m 0640 a b FAILED: exit status 1, 3 ms\x1b[0m\n",
        "  \x1b[1m$ cc a.c\x1b[0m  \x1b[2m# exit status 0, 100 ms\x1b[0m\n",
    ];
    for line in painted {
        assert!(text.contains(line), "{line:?}\n{text:?}");
    }
    let plain = Reader { paint: Paint::always(false), ..reader };
    let harmless = |c: char| !c.is_control() || c == '\n';
    for part in [Part::All, Part::Output, Part::Commands] {
        for failed in [false, true] {
            assert!(self::text(part, failed, plain).chars().all(harmless));
        }
    }
}

#[test]
fn the_output_is_as_it_stands_in_the_log() {
    let expected: Vec<u8> = LOG
        .split_inclusive(|b| *b == b'\n')
        .filter(|line| line[25..].starts_with(b"std"))
        .collect::<Vec<_>>()
        .concat();
    assert!(shown(LOG, Part::Output, false, false, PIPE) == expected);
    let lines = document(Part::Output, false);
    assert_eq!(
        lines[1],
        json!({"time": "2026-11-20T17:00:02.350Z", "stream": "stdout", "text": "ma", "partial": true})
    );
    assert_eq!(lines.as_array().unwrap().len(), 6);
}

#[test]
fn a_log_without_commands_is_shown_as_others_are() {
    let log = b"2026-11-20T17:00:02.000Z trace F commands aren't traced: no right to\n\
        2026-11-20T17:00:02.000Z stdout F begin\n--- 7 bytes are left out here ---\ncut o";
    let expected = "# commands aren't traced: no right to\n| begin\n\
        # --- 7 bytes are left out here ---\n# cut o\n";
    assert_eq!(String::from_utf8_lossy(&shown(log, Part::All, false, false, PIPE)), expected);
    assert_eq!(shown(b"", Part::All, false, false, PIPE), b"");
    assert_eq!(shown(log, Part::All, false, true, PIPE), b"[]\n");
    let expected =
        b"# commands aren't traced: no right to\n# --- 7 bytes are left out here ---\n# cut o\n";
    for (part, failed) in [(Part::Commands, false), (Part::All, true)] {
        assert!(shown(log, part, failed, false, PIPE) == expected);
    }
}

#[test]
fn the_commands_are_a_table() {
    let expected = "\
START             DURATION  EXIT STATUS  COMMAND
17:00:02.100Z       300 ms  0            make all
17:00:02.200Z       100 ms  0              cc a.c
17:00:03.000Z         3 ms  1            install -m 0640 a b
17:00:03.100Z         1 ms  exec         env nice true
17:00:03.101Z         1 ms  SIGKILL      nice true
17:00:03.200Z               running      sleep 600
# 3 commands were left out here
";
    assert_eq!(text(Part::Commands, false, PIPE), expected);
    let narrow = text(Part::Commands, true, Reader { width: Some(45), ..PIPE });
    let expected = "\
START             DURATION  EXIT STATUS  COM…
17:00:03.000Z         3 ms  1            ins…
17:00:03.101Z         1 ms  SIGKILL      nic…
# 3 commands were left out here
";
    assert_eq!(narrow, expected);
}

#[test]
fn what_failed_is_shown_alone() {
    let expected = "\
$ install -m 0640 a b
  | install: \u{1b}[2Jno room\u{fffd}
# install -m 0640 a b FAILED: exit status 1, 3 ms
$ nice true  # FAILED: killed by SIGKILL, 1 ms
# 3 commands were left out here
";
    assert_eq!(text(Part::All, true, PIPE), expected);
}

#[test]
fn each_command_is_an_object() {
    let commands = document(Part::All, false);
    let brief = |at: usize| {
        let command = &commands[at];
        json!([command["command"], command["durationMs"], command["exitCode"], command["signal"]])
    };
    let expected = [
        json!(["make all", 300, 0, null]),
        json!(["cc a.c", 100, 0, null]),
        json!(["install -m 0640 a b", 3, 1, null]),
        json!(["env nice true", 1, null, null]),
        json!(["nice true", 1, null, "SIGKILL"]),
        json!(["sleep 600", null, null, null]),
    ];
    assert_eq!((0..6).map(brief).collect::<Vec<_>>(), expected);
    let bare = document(Part::Commands, false);
    assert_eq!((&commands[2]["output"], &bare[2]["output"]), (&json!(NO_ROOM), &Value::Null));
    let failed = json!([
        {"pid": 12, "ppid": 9, "command": "install -m 0640 a b",
         "start": "2026-11-20T17:00:03.000Z", "durationMs": 3, "exitCode": 1,
         "output": NO_ROOM},
        {"pid": 13, "ppid": 9, "command": "nice true",
         "start": "2026-11-20T17:00:03.101Z", "durationMs": 1, "signal": "SIGKILL"},
    ]);
    assert_eq!(document(Part::All, true), failed);
}
