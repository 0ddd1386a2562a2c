//! `provost record` and `provost fetch`, which scripts call.

use insta::assert_snapshot;
use provost_tests::{Node, Out};

use crate::cli_contract::{HELLO, site};

fn record(node: &Node, args: &[&str]) -> Out {
    let file = node.path("services/own.json").display().to_string();
    node.provost(&[&["record", "--file", &file], args].concat())
}

#[test]
fn of_a_recorded_service() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(record(&node, &["service-start"]).transcript(), @"exit status 0");
    assert_snapshot!(record(&node, &["stage-start", "--stage", "one"]).transcript(), @"exit status 0");
    let end = ["stage-end", "--stage", "one", "--result", "success"];
    assert_snapshot!(record(&node, &end).transcript(), @"exit status 0");
}

#[test]
fn of_record_errors() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(record(&node, &["stage-start"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: recording a stage: it has no name
    provost: hint: name it: --stage NAME
    ");
    assert_snapshot!(record(&node, &["service-end"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: recording: an end needs a result, and a start has none
    provost: hint: add --result success or --result failure to an end, and only there
    ");
    assert_snapshot!(record(&node, &["stage-end", "--stage", "one"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: recording: an end needs a result, and a start has none
    provost: hint: add --result success or --result failure to an end, and only there
    ");
    assert_snapshot!(record(&node, &["service-start", "--run", "me"]).transcript(), @"exit status 0");
    assert_snapshot!(record(&node, &["half-time"]).transcript(), @"
    exit status 2
    ----- stderr -----
    error: invalid value 'half-time' for '<EVENT>'
      [possible values: service-start, service-end, stage-start, stage-end]

      hint: see provost record --help
    ");
    let file = node.path("provost.toml/a.json").display().to_string();
    let not_there = node.provost(&["record", "--file", &file, "service-start"]);
    assert_snapshot!(not_there.transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: opening the journal [DIR]/nodes/cn001/provost.toml/a.json: Not a directory (os error 20)
    provost: hint: check that [DIR]/nodes/cn001/provost.toml is a folder on a writable file system
    ");
}

#[test]
fn of_a_damaged_journal() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    record(&node, &["service-start"]).expect(0);
    let file = node.path("services/own.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{}{{\"cut", text.trim_end().trim_end_matches(']'))).unwrap();
    assert_snapshot!(record(&node, &["service-start"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: the journal was damaged: removed 5 bytes of an incomplete entry; kept 1 entry
    ");
    std::fs::write(&file, "not a journal\n").unwrap();
    assert_snapshot!(record(&node, &["service-start"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: the journal was damaged: removed 13 bytes of an incomplete entry; kept 0 entries; the damaged file is [DIR]/nodes/cn001/services/own.damaged
    ");
    // A folder of that name is in nobody's way.
    std::fs::remove_file(node.path("services/own.damaged")).unwrap();
    std::fs::create_dir(node.path("services/own.damaged")).unwrap();
    std::fs::write(&file, "not a journal\n").unwrap();
    record(&node, &["service-start"]).expect(0).says(&["services/own.damaged.1"]);
}

#[test]
fn of_a_fetch() {
    let (mut cluster, node) = site(&[("hello", HELLO)]);
    let object = {
        let objects = cluster.www().join("objects");
        let folder = std::fs::read_dir(objects).unwrap().next().unwrap().unwrap().path();
        std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
    };
    let digest = object.file_name().unwrap().to_str().unwrap().to_owned();
    let url = |path: &str| format!("http://{}/{path}", cluster.daemon().nodes());
    let good = url(&format!("objects/{}/{digest}", &digest[..2]));
    let missing = url("objects/none");
    node.configure("[fetch]\ndeadline = \"1s\"\n");
    let to = node.path("to").display().to_string();
    let fetch = |url: &str, digest: &str, to: &str| {
        node.provost(&["fetch", url, "--sha256", digest, "--to", to]).transcript()
    };
    assert_snapshot!(fetch(&good, &digest, &to), @"exit status 0");
    assert_snapshot!(fetch(&good, &digest, &to), @"exit status 0");
    let other = digest.chars().rev().collect::<String>();
    assert_snapshot!(fetch(&good, &other, &node.path("other").display().to_string()), @"
    exit status 3
    ----- stderr -----
    error: verifying http://127.0.0.1:[PORT]/objects/83/[HEX]: expected SHA-256 [HEX], got SHA-256 [HEX] ([N] tries in [DURATION])
    hint: compare the digest with the file on the server: sha256sum FILE
    ");
    assert_snapshot!(fetch(&missing, &other, &to), @"
    exit status 3
    ----- stderr -----
    error: fetching http://127.0.0.1:[PORT]/objects/none: the server responded 404 Not Found: not found ([N] tries in [DURATION])
    hint: check the path
    ");
    assert_snapshot!(fetch(&good, "beef", &to), @"
    exit status 2
    ----- stderr -----
    error: invalid value 'beef' for '--sha256 <HEX>': `beef` isn't a SHA-256 of 64 lower-case hex digits

      hint: see provost fetch --help
    ");
    assert_snapshot!(fetch("ftp://x/y", &digest, &to), @"
    exit status 2
    ----- stderr -----
    error: invalid value 'ftp://x/y' for '<URL>': it isn't an http or https URL

      hint: see provost fetch --help
    ");
    assert_snapshot!(fetch(&good, &digest, "/nowhere/file"), @"
    exit status 2
    ----- stderr -----
    error: writing /nowhere/file: creating a file in /nowhere: No such file or directory (os error 2) ([N] tries in [DURATION])
    hint: check that its folder exists and has room
    ");
    cluster.kill_daemon();
    assert_snapshot!(fetch(&good, &other, &to), @"
    exit status 3
    ----- stderr -----
    provost: still trying, for up to 1s: fetching http://127.0.0.1:[PORT]/objects/83/[HEX]: Connection refused (os error 111)
    error: fetching http://127.0.0.1:[PORT]/objects/83/[HEX]: Connection refused (os error 111) ([N] tries in [DURATION])
    hint: check that the server runs and that this node can reach it: curl -v URL
    ");
}
