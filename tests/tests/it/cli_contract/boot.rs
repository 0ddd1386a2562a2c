//! `provost boot` and `provost kickstart`.

use insta::assert_snapshot;
use provost_tests::faults::Faulty;
use provost_tests::{missing, skip_if};

use crate::cli_contract::{BROKEN, HELLO, site};

#[test]
fn of_a_boot_that_succeeds() {
    let (_cluster, node) = site(&[("hello", HELLO), ("again", HELLO)]);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 2 scripts to run ([DURATION])
    provost: [1/2] hello: ok ([DURATION])
    provost: [2/2] again: ok ([DURATION])
    provost: boot succeeded after [DURATION]
    ");
}

#[test]
fn of_a_verbose_boot() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["boot", "--verbose"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] hello: ok ([DURATION])
    provost: boot succeeded after [DURATION]
    ");
}

#[test]
fn of_a_boot_whose_script_fails() {
    let (_cluster, node) = site(&[("hello", HELLO), ("broken", BROKEN), ("later", HELLO)]);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 3 scripts to run ([DURATION])
    provost: [1/3] hello: ok ([DURATION])
    provost: [2/3] broken: FAILED (exit status 7, [DURATION])
    provost: error: broken: exit status 7 at line 4 setup [DIR]/nodes/cn001/state/bundle/broken
    provost:   command: sh -c 'echo no disk >&2; exit 7'
    provost:   | setting up
    provost:   | no disk
    provost: hint: see all its output on the node: provost log broken; fix it, then: provost boot --continue
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_boot_that_goes_on_after_a_failure() {
    let policy = "#!/bin/bash\n# /// provost\n# on_failure = \"continue\"\n# ///\nexit 3\n";
    let (_cluster, node) = site(&[("broken", policy), ("later", HELLO)]);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 2 scripts to run ([DURATION])
    provost: [1/2] broken: FAILED (exit status 3, [DURATION])
    provost: error: broken: exit status 3 at line 5 main [DIR]/nodes/cn001/state/bundle/broken
    provost:   command: exit 3
    provost:   | it printed nothing
    provost: hint: see all its output on the node: provost log broken; fix it, then: provost boot --continue
    provost: [2/2] later: ok ([DURATION])
    provost: 1 of 2 steps failed: broken
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_boot_that_ignores_a_failure() {
    let policy = "#!/bin/bash\n# /// provost\n# on_failure = \"ignore\"\n# ///\nexit 3\n";
    let (_cluster, node) = site(&[("broken", policy), ("later", HELLO)]);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @r#"
    exit status 0
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 2 scripts to run ([DURATION])
    provost: [1/2] broken: FAILED (exit status 3, [DURATION])
    provost: error: broken: exit status 3 at line 5 main [DIR]/nodes/cn001/state/bundle/broken
    provost:   command: exit 3
    provost:   | it printed nothing
    provost: hint: see all its output on the node: provost log broken; fix it, then: provost run broken
    provost: broken: failed; ignored (on_failure = "ignore")
    provost: [2/2] later: ok ([DURATION])
    provost: boot succeeded after [DURATION]
    "#);
}

#[test]
fn of_a_boot_with_retries() {
    let policy = "#!/bin/bash\n# /// provost\n# retries = 1\n# ///\nexit 3\n";
    let (_cluster, node) = site(&[("flaky", policy)]);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] flaky: FAILED (exit status 3, [DURATION])
    provost: error: flaky: exit status 3 at line 5 main [DIR]/nodes/cn001/state/bundle/flaky
    provost:   command: exit 3
    provost:   | it printed nothing
    provost: hint: see all its output on the node: provost log flaky; fix it, then: provost boot --continue
    provost: [1/1] flaky: retrying in [DURATION] (1 retry left)
    provost: [1/1] flaky: FAILED (exit status 3, [DURATION])
    provost: error: flaky: exit status 3 at line 5 main [DIR]/nodes/cn001/state/bundle/flaky
    provost:   command: exit 3
    provost:   | it printed nothing
    provost: hint: see all its output on the node: provost log flaky; fix it, then: provost boot --continue
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_boot_with_scripts_that_need_not_run() {
    let once = "#!/bin/sh\n# /// provost\n# when = \"once\"\n# ///\n";
    let manual = "#!/bin/sh\n# /// provost\n# when = \"manual\"\n# ///\n";
    let (_cluster, node) = site(&[("once", once), ("manual", manual), ("hello", HELLO)]);
    node.provost(&["boot"]).expect(0);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 3 scripts to run ([DURATION])
    provost: [1/3] once: skipped: done on [TIME]; it runs once
    provost: [2/3] manual: skipped: it runs only by hand: provost run manual
    provost: [3/3] hello: ok ([DURATION])
    provost: boot succeeded after [DURATION]
    ");
}

#[test]
fn of_a_script_that_takes_too_long() {
    skip_if(missing::tracing());
    let policy = "#!/bin/sh\n# /// provost\n# timeout = \"1s\"\n# ///\nexec sleep 600\n";
    let (_cluster, node) = site(&[("slow", policy)]);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] slow: terminating (SIGTERM)
    provost: [1/1] slow: FAILED (time-out, [DURATION])
    provost: error: slow: time-out
    provost:   command: sleep 600
    provost:   | it printed nothing
    provost: hint: see where it hangs: provost log slow; fix it or raise its `timeout` ([DURATION] now), then: provost boot --continue
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_script_that_is_killed_by_a_signal() {
    let (_cluster, node) = site(&[("killed", "#!/bin/bash\nkill -SEGV $$\n")]);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] killed: FAILED (killed by SIGSEGV, [DURATION])
    provost: error: killed: killed by SIGSEGV
    provost:   | it printed nothing
    provost: hint: see all its output on the node: provost log killed; fix it, then: provost boot --continue
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_script_whose_interpreter_is_missing() {
    let (_cluster, node) = site(&[("odd", "#!/usr/bin/nowhere\n")]);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] odd: FAILED (could not be started, [DURATION])
    provost: error: odd: could not be started
    provost:   | starting [DIR]/nodes/cn001/state/bundle/odd: its first line names the interpreter /usr/bin/nowhere, which isn't on this node
    provost: hint: install /usr/bin/nowhere on the node, or change the script's first line; then: provost boot --continue
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_an_unknown_configuration_key() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    node.configure("serverz = []\n");
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: fetch: FAILED
    provost: error: [DIR]/nodes/cn001/provost.toml:3: serverz: unknown field `serverz`, expected one of `node`, `servers`, `token_file`, `join_file`, `source`, `trust`, `paths`, `fetch`, `run`, `scripts`, `report`, `log`, `guard`
    provost: hint: fix that line; an unknown key may be a typing error
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_configuration_value_that_is_wrong() {
    let (cluster, node) = site(&[("hello", HELLO)]);
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&format!("{settings}[run]\ntimeout = \"30\"\n"));
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 2
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: fetch: FAILED
    provost: error: [DIR]/nodes/cn001/provost.toml:7: run.timeout: `30` isn't a time limit: the unit is missing
    provost: hint: fix that line
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_configuration_without_server() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    node.configure("");
    assert_snapshot!(node.provost(&["boot"]).transcript(), @r#"
    exit status 2
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: error: [trust] is empty: there is no key to verify a bundle by
    provost: hint: set [trust] keys = ["RW…"] to the line that `provostctl key new` printed (`unsigned = true` would run anything)
    provost: fetch: FAILED
    provost: error: no server is configured to fetch from
    provost: hint: set `servers` in provost.toml, e.g. servers = ["http://10.0.0.1:8480"]
    provost: boot FAILED after [DURATION]
    "#);
}

#[test]
fn of_a_configuration_without_trust() {
    let (cluster, node) = site(&[("hello", HELLO)]);
    node.configure(&format!("servers = [\"http://{}\"]\n", cluster.daemon().nodes()));
    assert_snapshot!(node.provost(&["boot"]).transcript(), @r#"
    exit status 2
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: fetch: FAILED
    provost: error: [trust] is empty: there is no key to verify a bundle by
    provost: hint: set [trust] keys = ["RW…"] to the line that `provostctl key new` printed (`unsigned = true` would run anything)
    provost: boot FAILED after [DURATION]
    "#);
}

#[test]
fn of_an_unsigned_boot() {
    let (cluster, node) = site(&[("hello", HELLO)]);
    let server = cluster.daemon().nodes();
    node.configure(&format!("servers = [\"http://{server}\"]\n[trust]\nunsigned = true\n"));
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: WARNING: [trust] says `unsigned = true`: anybody on the network path could have changed what runs here as root
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] hello: ok ([DURATION])
    provost: boot succeeded after [DURATION]
    ");
}

#[test]
fn of_a_bundle_that_another_key_has_signed() {
    let (cluster, node) = site(&[("hello", HELLO)]);
    let other = cluster.path("other").display().to_string();
    let key = cluster.ctl(&["key", "new", "--out", &other]).expect(0).stdout;
    let server = cluster.daemon().nodes();
    let key = key.trim();
    node.configure(&format!("servers = [\"http://{server}\"]\n[trust]\nkeys = [\"{key}\"]\n"));
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 3
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: FAILED
    provost: error: checking manifest.toml: it is signed by key [KEY ID]; the node trusts key [KEY ID], from http://127.0.0.1:[PORT]/manifest.toml ([N] tries in [DURATION])
    provost: hint: publish with a trusted key (provostctl key show), or, if the new key is yours, add it to [trust] keys
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_an_object_that_was_changed() {
    let (cluster, node) = site(&[("hello", HELLO)]);
    let objects = cluster.www().join("objects");
    let folder = std::fs::read_dir(objects).unwrap().next().unwrap().unwrap().path();
    let object = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    std::fs::write(object, HELLO.replace("hello", "olleh")).unwrap();
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 3
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: FAILED
    provost: error: verifying hello: expected SHA-256 [HEX], got SHA-256 [HEX], at http://127.0.0.1:[PORT]/objects/83/[HEX] ([N] tries in [DURATION])
    provost: hint: publish again, which writes hello anew; if it comes back, look for a proxy that alters it
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_token_that_the_server_does_not_know() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    std::fs::write(node.path("token"), "cn001 wrong\n").unwrap();
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 3
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: FAILED
    provost: error: fetching http://127.0.0.1:[PORT]/plans/cn001.toml: the server responded 401 Unauthorized: the token is unknown ([N] tries in [DURATION])
    provost: hint: create a token (provostctl token NODE), and write it to the node's token_file
    provost: boot FAILED after [DURATION]
    provost: 4 records not sent yet; sending again with the next run or `provost report`
    provost: reporting to http://127.0.0.1:[PORT]/: it responded 401 Unauthorized: the token is unknown
    provost: hint: create a token (provostctl token NODE), and write it to the node's token_file
    ");
}

#[test]
fn of_a_node_without_a_plan() {
    let (cluster, _node) = site(&[("hello", HELLO)]);
    let node = cluster.node("cn999");
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&format!("{settings}[fetch]\ndeadline = \"1s\"\n"));
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 3
    ----- stderr -----
    provost: boot of cn999 begins, run [ID]
    provost: fetch: still trying, for up to 1s: fetching http://127.0.0.1:[PORT]/plans/cn999.toml: the server responded 404 Not Found: plans/cn999.toml is not published
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: FAILED
    provost: error: fetching http://127.0.0.1:[PORT]/plans/cn999.toml: the server responded 404 Not Found: plans/cn999.toml is not published ([N] tries in [DURATION])
    provost: hint: on the management node: name this node in site.toml, then provostctl publish, to the folder that provostd.toml calls www
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_server_that_is_down() {
    let (mut cluster, node) = site(&[("hello", HELLO)]);
    let server = cluster.kill_daemon();
    let settings = cluster.settings_for(&[&server]);
    node.configure(&format!("{settings}[fetch]\ndeadline = \"1s\"\n[report]\ndeadline = \"1s\"\n"));
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 3
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: fetch: still trying, for up to 1s: fetching http://127.0.0.1:[PORT]/[DOCUMENT]: Connection refused (os error 111)
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: FAILED
    provost: error: fetching http://127.0.0.1:[PORT]/[DOCUMENT]: Connection refused (os error 111) ([N] tries in [DURATION])
    provost: hint: check that the server runs and that this node can reach it: curl -v URL
    provost: boot FAILED after [DURATION]
    provost: 4 records not sent yet; sending again with the next run or `provost report`
    provost: reporting to http://127.0.0.1:[PORT]/: Connection refused (os error 111)
    provost: hint: check that provostd runs there and that this node can reach it
    ");
}

#[test]
fn of_a_boot_from_what_was_fetched_before() {
    let (mut cluster, node) = site(&[("hello", HELLO)]);
    node.provost(&["boot"]).expect(0);
    let server = cluster.kill_daemon();
    let settings = cluster.settings_for(&[&server]);
    node.configure(&format!("{settings}[fetch]\ndeadline = \"1s\"\n[report]\ndeadline = \"1s\"\n"));
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 3
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: fetch: still trying, for up to 1s: fetching http://127.0.0.1:[PORT]/[DOCUMENT]: Connection refused (os error 111)
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: FAILED
    provost: error: fetching http://127.0.0.1:[PORT]/[DOCUMENT]: Connection refused (os error 111) ([N] tries in [DURATION])
    provost: hint: check that the server runs and that this node can reach it: curl -v URL
    provost: boot FAILED after [DURATION]
    provost: 4 records not sent yet; sending again with the next run or `provost report`
    provost: reporting to http://127.0.0.1:[PORT]/: Connection refused (os error 111)
    provost: hint: check that provostd runs there and that this node can reach it
    ");
}

#[test]
fn of_a_node_that_is_held_and_released() {
    let (cluster, node) = site(&[("broken", BROKEN)]);
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&format!("{settings}[guard]\nmax_attempts = 1\n"));
    node.provost(&["boot"]).expect(1);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 4
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: error: this node is held: 1 run in a row failed, the last was the boot of [TIME]: broken, exit status 7, no disk
    provost: hint: see why the last run failed: provost log; fix it, then: provost release && provost boot --continue, or on the management node: provostctl release cn001 && provostctl continue cn001
    provost: boot FAILED after [DURATION]
    ");
    assert_snapshot!(node.provost(&["status"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: UNFINISHED: the boot of [TIME]: broken failed (exit status 7); this node is held: 1 run in a row failed, the last was the boot of [TIME]: broken, exit status 7, no disk
      to go on: provost release && provost boot --continue

    cn001: boot FAILED, began [TIME], took [DURATION]

    boot: held
      output   this node is held: 1 run in a row failed, the last was the boot of [TIME]: broken, exit status 7, no disk
      hint     see why the last run failed: provost log; fix it, then: provost release && provost boot --continue, or on the management node: provostctl release cn001 && provostctl continue cn001
    ");
    assert_snapshot!(node.provost(&["release"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: released: 1 attempt forgotten; if the management node holds this node, too: provostctl release cn001
    ");
    assert_snapshot!(node.provost(&["release"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: released: 0 attempts forgotten; if the management node holds this node, too: provostctl release cn001
    ");
}

#[test]
fn of_a_node_that_the_management_node_holds() {
    let (cluster, node) = site(&[("broken", BROKEN)]);
    for _ in 0..3 {
        node.provost(&["boot"]).expect(1);
        node.provost(&["release"]).expect(0);
    }
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 4
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: error: the management node holds this node: 3 attempts failed (max_attempts = 3); the last: broken, exit status 7, no disk
    provost: hint: see why the last run failed: provost log; fix it, then, on the management node: provostctl release cn001; then here: provost boot --continue
    provost: boot FAILED after [DURATION]
    ");
    cluster.ctl(&["release", "cn001"]).expect(0);
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] broken: FAILED (exit status 7, [DURATION])
    provost: error: broken: exit status 7 at line 4 setup [DIR]/nodes/cn001/state/bundle/broken
    provost:   command: sh -c 'echo no disk >&2; exit 7'
    provost:   | setting up
    provost:   | no disk
    provost: hint: see all its output on the node: provost log broken; fix it, then: provost boot --continue
    provost: boot FAILED after [DURATION]
    ");
}

#[test]
fn of_a_kickstart() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    assert_snapshot!(node.provost(&["kickstart"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: kickstart of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] hello: ok ([DURATION])
    provost: kickstart succeeded after [DURATION]
    ");
}

#[test]
fn of_a_kickstart_whose_script_fails() {
    let (_cluster, node) = site(&[("broken", BROKEN)]);
    assert_snapshot!(node.provost(&["kickstart"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provost: kickstart of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] broken: FAILED (exit status 7, [DURATION])
    provost: error: broken: exit status 7 at line 4 setup [DIR]/nodes/cn001/state/bundle/broken
    provost:   command: sh -c 'echo no disk >&2; exit 7'
    provost:   | setting up
    provost:   | no disk
    provost: hint: see all its output on the node: provost log broken; fix it, then: provost kickstart --continue
    provost: kickstart FAILED after [DURATION]
    ");
}

#[test]
fn of_reports_that_nobody_takes() {
    let (cluster, node) = site(&[("hello", HELLO)]);
    let files = Faulty::of(cluster.www());
    let settings = cluster.settings_for(&[files.address()]);
    node.configure(&format!("{settings}[report]\ndeadline = \"1s\"\n"));
    assert_snapshot!(node.provost(&["boot"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: boot of cn001 begins, run [ID]
    provost: WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change them (provost check)
    provost: fetch: bundle 1 of [AGE] ago, plan 1, 1 script to run ([DURATION])
    provost: [1/1] hello: ok ([DURATION])
    provost: boot succeeded after [DURATION]
    provost: 6 records not sent yet; sending again with the next run or `provost report`
    provost: reporting to http://127.0.0.1:[PORT]/: it responded 405 Method Not Allowed
    provost: hint: check that provostd listens there, not a plain web server
    ");
    files.refuse();
    assert_snapshot!(node.provost(&["report"]).transcript(), @"
    exit status 3
    ----- stderr -----
    provost: 0 records reported, 6 left
    provost: error: reporting to http://127.0.0.1:[PORT]/: Connection refused (os error 111)
    provost: hint: check that provostd runs there and that this node can reach it
    ");
}

#[test]
fn of_reports() {
    let (_cluster, node) = site(&[("hello", HELLO)]);
    node.provost(&["boot"]).expect(0);
    assert_snapshot!(node.provost(&["report"]).transcript(), @"
    exit status 0
    ----- stderr -----
    provost: 0 records reported, 0 left
    ");
}
