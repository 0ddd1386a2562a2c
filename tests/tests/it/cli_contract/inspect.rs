//! `provost status`, `log`, `analyze`, `gather` and `check`.

use insta::assert_snapshot;
use provost_tests::{missing, skip_if};

use crate::cli_contract::{BROKEN, HELLO, site};

#[test]
fn of_a_node_that_has_run_nothing() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["status"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: nothing has run here yet
    ");
    assert_snapshot!(node.provost(&["status", "--format", "json"]).transcript(), @r#"
    exit status 0
    ----- stdout -----
    {
      "node": "cn001",
      "unreported": 0
    }
    "#);
    assert_snapshot!(node.provost(&["log"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: looking for a log of any script in [DIR]/nodes/cn001/log/scripts: there is none
    provost: hint: list what has run: provost status
    ");
    assert_snapshot!(node.provost(&["analyze"]).transcript(), @"
    exit status 2
    ----- stdout -----
    cn001: nothing has run here yet
    ");
}

#[test]
fn of_a_run_that_succeeded() {
    skip_if(missing::tracing());
    let (_cluster, node) = site(&[("hello", HELLO)]);
    node.provost(&["boot"]).expect(0);
    assert_snapshot!(node.provost(&["status"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: boot succeeded, began [TIME], took [DURATION]
      fetch                    ok  [DURATION]
      hello                    ok  [DURATION]
    ");
    assert_snapshot!(node.provost(&["log"]).transcript(), @"
    exit status 0
    ----- stdout -----
    | hello from cn001
    ");
    assert_snapshot!(node.provost(&["log", "helo"]).transcript(), @r#"
    exit status 2
    ----- stderr -----
    provost: error: looking for a log of "helo" in [DIR]/nodes/cn001/log/scripts: there is none
    provost: hint: list what has run: provost status
    "#);
}

#[test]
#[expect(clippy::too_many_lines, reason = "its views, one after the other")]
fn of_a_run_that_failed() {
    skip_if(missing::tracing());
    let (_cluster, node) = site(&[("hello", HELLO), ("broken", BROKEN), ("later", HELLO)]);
    node.provost(&["boot"]).expect(1);
    assert_snapshot!(node.provost(&["status"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: boot FAILED, began [TIME], took [DURATION]
      fetch                    ok  [DURATION]
      hello                    ok  [DURATION]
      broken                   FAILED (exit status 7)  [DURATION]
      later                    not run

    broken: exit status 7
      caller   7 main [DIR]/nodes/cn001/state/bundle/broken
      line     4 setup [DIR]/nodes/cn001/state/bundle/broken
      command  sh -c 'echo no disk >&2; exit 7'
      commands 1, 1 failed
      output   setting up
               no disk
      log  [DIR]/nodes/cn001/log/scripts/[ID]/02-broken.log
      hint     see all its output on the node: provost log broken; fix it, then: provost boot --continue
    ");
    assert_snapshot!(node.provost(&["status", "--format", "json"]).transcript(), @r#"
    exit status 0
    ----- stdout -----
    {
      "node": "cn001",
      "service": "boot",
      "run": "[ID]",
      "result": "failure",
      "started": "[TIME]",
      "ended": "[TIME]",
      "attempt": 1,
      "bundle": 1,
      "plan": 1,
      "server": "http://127.0.0.1:[PORT]",
      "stages": [
        {
          "stage": "fetch",
          "result": "success",
          "durationMs": [N]
        },
        {
          "stage": "hello",
          "result": "success",
          "durationMs": [N],
          "log": "[DIR]/nodes/cn001/log/scripts/[ID]/01-hello.log"
        },
        {
          "stage": "broken",
          "result": "failure",
          "cause": "exit",
          "exitCode": 7,
          "errorLine": "4 setup [DIR]/nodes/cn001/state/bundle/broken",
          "errorMessage": "setting up\nno disk",
          "command": "sh -c 'echo no disk >&2; exit 7'",
          "calledFrom": "7 main [DIR]/nodes/cn001/state/bundle/broken",
          "commands": 1,
          "commandsFailed": 1,
          "hint": "see all its output on the node: provost log broken; fix it, then: provost boot --continue",
          "durationMs": [N],
          "log": "[DIR]/nodes/cn001/log/scripts/[ID]/02-broken.log"
        }
      ],
      "notRun": [
        "later"
      ],
      "durationMs": [N],
      "unfinished": {
        "service": "boot",
        "run": "[ID]",
        "started": "[TIME]",
        "stage": "broken",
        "outcome": "exit status 7",
        "succeededSince": false,
        "notRun": [
          "later"
        ],
        "command": "provost boot --continue"
      },
      "unreported": 0
    }
    "#);
}

#[test]
fn of_the_log_of_a_run_that_failed() {
    skip_if(missing::tracing());
    let (_cluster, node) = site(&[("hello", HELLO), ("broken", BROKEN), ("later", HELLO)]);
    node.provost(&["boot"]).expect(1);
    assert_snapshot!(node.provost(&["log"]).transcript(), @"
    exit status 0
    ----- stdout -----
    | setting up
    $ sh -c 'echo no disk >&2; exit 7'
      | no disk
    # sh -c 'echo no disk >&2; exit 7' FAILED: exit status 7, [DURATION]
    ");
    assert_snapshot!(node.provost(&["log", "hello", "--format", "json"]).transcript(), @"
    exit status 0
    ----- stdout -----
    []
    ");
    assert_snapshot!(node.provost(&["analyze"]).transcript(), @"
    exit status 1
    ----- stdout -----
    cn001: boot of [TIME] FAILED

    broken: exit status 7
      caller   7 main [DIR]/nodes/cn001/state/bundle/broken
      line     4 setup [DIR]/nodes/cn001/state/bundle/broken
      command  sh -c 'echo no disk >&2; exit 7'
      commands 1, 1 failed
      output   setting up
               no disk
      hint     see all its output on the node: provost log broken; fix it, then: provost boot --continue

    where the time went, of [DURATION] in all:
      [DURATION] [N] %  [STAGE]

    services:
      boot                     FAILED: the stage broken: exit status 7

    what else looks wrong:
      - the boot of [TIME] is unfinished: never ran: later; to go on: provost boot --continue
    ");
}

#[test]
fn of_a_bundle_of_logs() {
    skip_if(missing::tracing());
    let (cluster, node) = site(&[("broken", BROKEN)]);
    node.provost(&["boot"]).expect(1);
    let to = cluster.path("gathered");
    std::fs::create_dir(&to).unwrap();
    let out = node.provost(&["gather", "--to", to.to_str().unwrap()]).expect(0);
    let bundle = out.stdout.trim().to_owned();
    assert_snapshot!(out.transcript(), @"
    exit status 0
    ----- stdout -----
    [DIR]/gathered/log-bundle-cn001-[TIME].tar.gz
    ");
    assert_snapshot!(node.provost(&["analyze", &bundle]).transcript(), @"
    exit status 1
    ----- stdout -----
    cn001: boot of [TIME] FAILED

    broken: exit status 7
      caller   7 main [DIR]/nodes/cn001/state/bundle/broken
      line     4 setup [DIR]/nodes/cn001/state/bundle/broken
      command  sh -c 'echo no disk >&2; exit 7'
      commands 1, 1 failed
      output   setting up
               no disk
      hint     see all its output on the node: provost log broken; fix it, then: provost boot --continue

    where the time went, of [DURATION] in all:
      [DURATION] [N] %  [STAGE]

    services:
      boot                     FAILED: the stage broken: exit status 7

    nothing else looks wrong
    ");
    assert_snapshot!(node.provost(&["gather", "--to", "/nowhere"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: gathering into /nowhere: creating a file in /nowhere: No such file or directory (os error 2)
    provost: hint: name a writable folder with room: provost gather --to DIR
    ");
    assert_snapshot!(node.provost(&["analyze", "/nowhere.tar.gz"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: reading the bundle /nowhere.tar.gz: No such file or directory (os error 2)
    provost: hint: name a log-bundle-….tar.gz of `provost gather`
    ");
    let text = node.path("provost.toml");
    assert_snapshot!(node.provost(&["analyze", text.to_str().unwrap()]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: reading the bundle [DIR]/nodes/cn001/provost.toml: no tar or tar.gz archive: no header of tar's format
    provost: hint: name a log-bundle-….tar.gz of `provost gather`
    ");
}

#[test]
fn of_a_check() {
    skip_if(missing::tracing());
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["check"]).transcript());
    assert_snapshot!(node.provost(&["check", "--format", "json"]).transcript());
}

#[test]
fn of_a_check_of_a_wrong_configuration() {
    skip_if(missing::tracing());
    let (_cluster, node) = site(&[("hello", HELLO)]);
    node.configure("serverz = []\n");
    assert_snapshot!(node.provost(&["check"]).transcript());
}
