//! `provost run` and `provost stamp`.

use insta::assert_snapshot;

use crate::cli_contract::{BROKEN, HELLO, site};

#[test]
fn of_a_script() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["run", "hello", "one", "two words"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: run of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] hello: ok ([DURATION])
    provost: run succeeded after [DURATION]
    ");
}

#[test]
fn of_a_list() {
    let (_cluster, node) = site(&[("hello", HELLO), ("broken", BROKEN)]);
    assert_snapshot!(node.provost(&["run", "-P", "hello one,broken,hello"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: run of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 3 scripts to run ([DURATION])
    provost: [1/3] hello: ok ([DURATION])
    provost: [2/3] broken: FAILED (exit status 7, [DURATION])
    provost: error: broken: exit status 7 at line 4 setup [DIR]/nodes/cn001/state/bundle/broken
    provost:   command: sh -c 'echo no disk >&2; exit 7'
    provost:   | setting up
    provost:   | no disk
    provost: hint: see all its output on the node: provost log broken; fix it, then: provost run broken
    provost: run FAILED after [DURATION]
    ");
}

#[test]
fn of_an_unknown_script() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["run", "helo"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: run of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] helo: FAILED (missing script, [DURATION])
    provost: error: helo: missing script
    provost:   | starting [DIR]/nodes/cn001/state/bundle/helo: there is no such file
    provost: hint: put it into the scripts' folder and publish again; then: provost run helo
    provost: run FAILED after [DURATION]
    ");
}

#[test]
fn of_a_path() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["run", "../hello"]).transcript(), @r#"
    exit status 2
    ----- stderr -----
    provost: error: "../hello" can't be a script's name: it has a part `.` or `..`
    provost: hint: name a script as it is in the published folder
    "#);
}

#[test]
fn of_a_list_with_an_open_quote() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["run", "-P", "hello 'one"]).transcript(), @r#"
    exit status 2
    ----- stderr -----
    provost: error: "hello 'one" can't be run: a quote isn't closed
    provost: hint: close it, or put a \ before it
    "#);
}

#[test]
fn of_marks_in_an_image() {
    let once = "#!/bin/sh\n# /// provost\n# when = \"once\"\n# ///\n";
    let (cluster, node) = site(&[("once", once), ("hello", HELLO)]);
    let root = cluster.path("image");
    std::fs::create_dir(&root).unwrap();
    let root = root.to_str().unwrap();
    assert_snapshot!(node.provost(&["stamp", "--root", root]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: stamped: once
    provost: 1 step stamped in [DIR]/nodes/cn001/state/done
    ");
    assert_snapshot!(node.provost(&["stamp", "--root", root, "hello"]).transcript(), @r#"
    exit status 2
    ----- stderr -----
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: error: stamping hello: it runs each time, stamped or not
    provost: hint: set when = "once" or when = "change" in its header
    "#);
    assert_snapshot!(node.provost(&["stamp", "--root", root, "helo"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: error: stamping helo: there is no such script in the bundle
    provost: hint: use its name in the bundle
    ");
    assert_snapshot!(node.provost(&["stamp", "--root", "/nowhere"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: stamping the image /nowhere: no such folder
    provost: hint: give the image's root folder with --root
    ");
}

#[test]
fn of_a_reboot_request_outside_a_script() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    let mut command = node.command(&["reboot-request", "new kernel"]);
    let out: provost_tests::Out = command.output().unwrap().into();
    assert_snapshot!(out.transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: requesting a reboot: PROVOST_REBOOT isn't set, so no step is running
    provost: hint: call it in a script that `provost boot` runs, then end the script with status 0
    ");
}

#[test]
fn of_an_install_without_xcat() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["install", "--xcat"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: [DIR]/nodes/cn001/xcat/xcatdsklspost calls [BIN]/provost
    provost: at boot [DIR]/nodes/cn001/etc/systemd/system/provost-xcat.service calls it
    provost: to go back: provost install --remove; or remove [BIN]/provost, and what was there before runs as it did
    ");
    assert_snapshot!(node.provost(&["install", "--remove"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: [DIR]/nodes/cn001/xcat/xcatdsklspost is removed; there was none before
    provost: [DIR]/nodes/cn001/etc/systemd/system/provost-xcat.service is removed
    ");
}

#[test]
fn of_a_configuration_file_that_is_missing() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    std::fs::remove_file(node.path("provost.toml")).unwrap();
    assert_snapshot!(node.provost(&["stamp", "--root", "/"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: error: reading the configuration [DIR]/nodes/cn001/provost.toml: No such file or directory (os error 2)
    provost: hint: name the right file with --config, and check that root can read it
    ");
    assert_snapshot!(node.provost(&["check", "--no-such-flag"]).transcript(), @"
    exit status 2
    ----- stderr -----
    error: unexpected argument '--no-such-flag' found

    Usage: provost check [OPTIONS]

      hint: see provost check --help
    ");
}
