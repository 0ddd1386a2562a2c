//! `provostd`: what it refuses to start with.

use std::net::TcpListener;
use std::process::Command;

use insta::assert_snapshot;
use provost_tests::{Cluster, Out, program};

/// Starts a daemon that can't start.
fn start(config: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("provostd.toml");
    std::fs::write(&file, config).unwrap();
    let mut daemon = Command::new(program("provostd"));
    let out: Out = daemon.arg("--config").arg(file).output().unwrap().into();
    out.transcript()
}

#[test]
fn of_wrong_configurations() {
    assert_snapshot!(start("www = 'www'\nlisen = '127.0.0.1:0'"), @r#"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: TOML parse error at line 2, column 1
      |
    2 | lisen = '127.0.0.1:0'
      | ^^^^^
    unknown field `lisen`, expected one of `data`, `www`, `store`, `postgres`, `listen`, `admin`, `operators`, `readers`, `node`, `guard`, `quota`, `retention`, `lost_after`, `tokens`, `tls`, `enroll`, `webhooks`, `hooks`, `metrics`, `page`, `xcat`

      hint: use these keys: data, www, store ("sqlite" or "postgres://USER@HOST/NAME"), [postgres] password_file and ca, listen and admin ("ADDRESS:PORT"), operators and readers (a group), lost_after, [guard] max_attempts, [node] binary, programs and servers, [quota] records_mib_per_hour, records_mib, records_per_hour, runs_per_hour, logs_mib_per_hour, logs_mib and reserve_mib, [retention] runs, age, logs and programs, [tokens] allowed, [tls] off, listen, admin, names, proxies, cert and key, [enroll] valid_for, [[webhooks]] name, url, events, template, secret, ca and window, [hooks] on_booted, on_failed, on_lost, on_continue, on_boot, on_rerun, timeout and window, [metrics] steps, [page] name, accent and url, [[page.racks]] name, racks, nodes, per_rack and row, and [xcat] monitor, xcatd, tls_cert, tls_key and dns
    "#);
    assert_snapshot!(start("www = 'www'\nlisten = 'here'"), @r#"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: TOML parse error at line 2, column 10
      |
    2 | listen = 'here'
      |          ^^^^^^
    invalid socket address syntax

      hint: correct that value: provostd.toml(5) says what the key takes
    "#);
    assert_snapshot!(start("www = "), @r#"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: TOML parse error at line 1, column 7
      |
    1 | www = 
      |       ^
    string values must be quoted, expected literal string

      hint: correct that value: provostd.toml(5) says what the key takes
    "#);
    assert_snapshot!(start(""), @r#"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: TOML parse error at line 1, column 1
      |
    1 | 
      | ^
    missing field `www`

      hint: use these keys: data, www, store ("sqlite" or "postgres://USER@HOST/NAME"), [postgres] password_file and ca, listen and admin ("ADDRESS:PORT"), operators and readers (a group), lost_after, [guard] max_attempts, [node] binary, programs and servers, [quota] records_mib_per_hour, records_mib, records_per_hour, runs_per_hour, logs_mib_per_hour, logs_mib and reserve_mib, [retention] runs, age, logs and programs, [tokens] allowed, [tls] off, listen, admin, names, proxies, cert and key, [enroll] valid_for, [[webhooks]] name, url, events, template, secret, ca and window, [hooks] on_booted, on_failed, on_lost, on_continue, on_boot, on_rerun, timeout and window, [metrics] steps, [page] name, accent and url, [[page.racks]] name, racks, nodes, per_rack and row, and [xcat] monitor, xcatd, tls_cert, tls_key and dns
    "#);
    assert_snapshot!(start("www = 'www'\nstore = 'mysql://u:secret@db'"), @r#"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: unknown store "mysql"; expected "sqlite" or "postgres://USER@HOST/NAME"
    in `store`

      hint: correct that value: provostd.toml(5) says what the key takes
    "#);
    assert_snapshot!(start("www = 'www'\n[guard]\nmax_attempts = 0"), @r#"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: TOML parse error at line 3, column 16
      |
    3 | max_attempts = 0
      |                ^
    invalid value: integer `0`, expected a nonzero u32

      hint: correct that value: provostd.toml(5) says what the key takes
    "#);
    assert_snapshot!(start("www = 'www'\n[xcat]\nxcatd = '0.0.0.0:3001'"), @r#"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: TOML parse error at line 2, column 1
      |
    2 | [xcat]
      | ^^^^^^
    `xcatd`, `tls_cert` and `tls_key` must be set together

      hint: correct that value: provostd.toml(5) says what the key takes
    "#);
}

/// Checks a configuration in a folder of its own.
fn check(config: &str) -> Out {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("provostd.toml");
    std::fs::write(&file, config).unwrap();
    let out = Command::new(program("provostd")).arg("check").arg("--config").arg(&file).output();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "it changes nothing: {left:?}");
    out.unwrap().into()
}

#[test]
fn of_a_check() {
    let good = "data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\n";
    assert_snapshot!(check(good).transcript(), @"
    exit status 0
    ----- stdout -----
    [DIR]/provostd.toml: a start would work
    ");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let wrong = format!(
        "data = 'provostd.toml/data'\nwww = 'www'\nlisten = '{address}'\noperators = 'nobody-has-it'\n\
         [tls]\ncert = 'cert.pem'\nkey = 'key.pem'\n\
         [[webhooks]]\nname = 'a'\nurl = 'http://x'\nca = 'none.pem'\n"
    );
    assert_snapshot!(check(&wrong).transcript(), @r#"
    exit status 2
    ----- stderr -----
    provostd: creating the folder [DIR]/provostd.toml/data: not a directory
      hint: check that provostd's user may write to the folder `data` of provostd.toml
    provostd: giving a socket to the group nobody-has-it: there is no such group
      hint: create the group and make provostd's user its member, or change `operators` and `readers` in provostd.toml: getent group nobody-has-it
    provostd: using the webhook "a": [DIR]/none.pem: No such file or directory (os error 2)
      hint: set `ca` under [[webhooks]] of provostd.toml to a file of certificates, PEM, that provostd's user may read
    provostd: reading [DIR]/cert.pem: I/O error: No such file or directory (os error 2)
      hint: set `cert` and `key` under [tls] of provostd.toml to PEM files that provostd's user may read
    provostd: listening on 127.0.0.1:[PORT] (listen): Address already in use (os error 98)
      hint: stop the program that has the port (ss -ltnp sport = :[PORT]), or change `listen`
    "#);
    // As long as the file itself is wrong, that is all.
    let webhooks = "www = 'www'\n[[webhooks]]\nname = 'ops'\nurl = 'http://x'\n\
         [[webhooks]]\nname = 'alerts'\nurl = 'http://x'\ntemplate = 'alertmanager'\n\
         events = ['failed', 'storm-done']\n[[webhooks]]\nname = 'ops'\nurl = 'x'\n";
    assert_snapshot!(check(webhooks).transcript(), @r#"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: webhook "alerts": Alertmanager has no alert for storm-done; leave it out of `events`, or leave `events` out
    webhook "ops": `url` must be http://… or https://…
      hint: correct [[webhooks]]: provostd.toml(5) has its keys
    "#);
    let typo = "www = 'www'\n[[webhooks]]\nname = 'ops'\nurl = 'http://x'\nevents = ['zz']\n";
    check(typo).expect(2).says(&[
        "webhook \"ops\": unknown event \"zz\"; expected some of failed, held, lost, pending, \
         storm-done, booted",
    ]);
    // A start works without it.
    let hook = check(&format!("{good}[hooks]\non_failed = '/nonexistent'\n")).expect(0);
    hook.says(&["warning: [hooks] on_failed: /nonexistent: No such file", "hint: "]);
    let alerts = "[[webhooks]]\nname = 'alerts'\nurl = 'http://x'\ntemplate = 'alertmanager'\n";
    check(&format!("{good}{alerts}")).expect(0);
}

#[test]
fn of_a_wrong_page() {
    let good = "data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\n";
    let page = "[page]\naccent = 'green'\nurl = 'mgmt:8483'\n\
        [[page.racks]]\nname = 'r1'\nnodes = 'cn[1-4]'\n\
        [[page.racks]]\nracks = 'r[2-3]'\nnodes = 'cn[4-9]'\nper_rack = 3\n\
        [[page.racks]]\nname = 'r4'\nnodes = 'cn[10-'\n";
    let wrong = format!("{good}{page}");
    assert_snapshot!(check(&wrong).transcript(), @r##"
    exit status 2
    ----- stderr -----
    provostd: [DIR]/provostd.toml: [page] `accent`: "green" isn't a color such as "#0a7" or "#00aa77"
    [page] `url`: "mgmt:8483" isn't a base URL such as "https://mgmt.example.org:8483"
    [[page.racks]] "r[2-3]": cn4 is in rack "r1" as well
    [[page.racks]] "r4": `nodes`: "cn[10-" names no nodes: its brackets don't match; write names and ranges such as cn001, cn[001-512,600] or r[1-4]n[01-32], with commas between; ! excludes: cn[001-512]!cn007
      hint: correct [page]: provostd.toml(5) has its keys
    "##);
    assert_eq!(start(&wrong), check(&wrong).transcript(), "a start says the same");
    let racks = "[page]\nname = 'Cluster one'\naccent = '#0a7'\nurl = 'https://mgmt:8483'\n\
        [[page.racks]]\nracks = 'r[1-2]'\nnodes = 'cn[1-5]'\nper_rack = 3\n";
    check(&format!("{good}{racks}")).expect(0);
}

#[test]
fn of_a_check_while_the_database_is_away() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let config = format!(
        "data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\nstore = 'postgres://provost@{address}/provost'\n"
    );
    let checked = check(&config).expect(0).says(&[
        "warning: until it is there, nodes and admins are refused: opening the database provost at",
        "Connection refused",
        "hint: check that PostgreSQL runs and can be reached",
    ]);
    assert!(checked.stdout.ends_with(": a start would work\n"), "{}", checked.stdout);
}

#[test]
fn of_a_check_beside_the_daemon() {
    let mut cluster = Cluster::new();
    cluster.start();
    let (nodes, data) = (cluster.daemon().nodes(), cluster.path("provostd"));
    let file = cluster.path("checked.toml");
    let check = |data: &std::path::Path| {
        let config =
            format!("data = {data:?}\nwww = 'www'\nlisten = '{nodes}'\n[tls]\noff = true\n");
        std::fs::write(&file, config).unwrap();
        let out =
            Command::new(program("provostd")).arg("check").arg("--config").arg(&file).output();
        Out::from(out.unwrap())
    };
    check(&data).expect(0);
    check(&cluster.path("another")).expect(2).says(&["Address already in use"]);
    cluster.ctl(&["nodes"]).expect(0);
    cluster.kill_daemon();
    check(&data).expect(0);
    let restoring = data.join("restore.partial");
    std::fs::create_dir(&restoring).unwrap();
    check(&data).expect(2).says(&["provostctl restore goes on, or was cut off"]);
}

#[test]
fn of_a_start_that_only_an_admin_can_help() {
    // Nothing restarts it with this exit status: RestartPreventExitStatus in its unit.
    for wrong in [
        "operators = 'nobody-has-it'\n",
        "[tls]\ncert = 'cert.pem'\nkey = 'key.pem'\n",
        "[[webhooks]]\nname = 'a'\nurl = 'http://x'\nca = 'none.pem'\n",
    ] {
        let said = start(&format!("data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\n{wrong}"));
        assert!(said.starts_with("exit status 2\n"), "{said}");
    }
    let unit = include_str!("../../../../units/provostd.service");
    assert!(
        unit.contains("\nRestart=on-failure\n") && unit.contains("\nRestartPreventExitStatus=2\n")
    );
}

#[test]
fn of_a_path_that_it_does_not_know() {
    let mut cluster = Cluster::new();
    cluster.start();
    for path in ["/v1/nothing", "/nothing"] {
        let answer = cluster.daemon().answer(path);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.0 404 "), "{head}");
        assert!(body.starts_with("{\"error\":\"not found\",\"hint\":"), "{path}: {answer}");
    }
}

#[test]
fn of_a_configuration_without_an_end() {
    let mut daemon = Command::new(program("provostd"));
    let out: Out = daemon.args(["--config", "/dev/zero"]).output().unwrap().into();
    assert_snapshot!(out.transcript(), @"
    exit status 2
    ----- stderr -----
    provostd: reading /dev/zero: it has more than 1 MiB
      hint: name a readable provostd.toml with --config
    ");
}

#[test]
fn of_a_configuration_that_is_missing() {
    let mut daemon = Command::new(program("provostd"));
    let out: Out = daemon.args(["--config", "/nowhere"]).output().unwrap().into();
    assert_snapshot!(out.transcript(), @"
    exit status 2
    ----- stderr -----
    provostd: reading /nowhere: No such file or directory (os error 2)
      hint: name a readable provostd.toml with --config
    ");
}

#[test]
fn of_an_address_that_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let config = format!("data = 'data'\nwww = 'www'\nlisten = '{address}'\nadmin = '127.0.0.1:0'");
    assert_snapshot!(start(&config), @"
    exit status 1
    ----- stderr -----
    provostd: listening on 127.0.0.1:[PORT] (listen): Address already in use (os error 98)
      hint: stop the program that has the port (ss -ltnp sport = :[PORT]), or change `listen`
    ");
}

#[test]
fn of_a_data_folder_that_cannot_be_made() {
    let config = "data = 'provostd.toml'\nwww = 'www'\nlisten = '127.0.0.1:0'\n\
                  admin = '127.0.0.1:0'";
    assert_snapshot!(start(config), @"
    exit status 1
    ----- stderr -----
    provostd: creating the folder [DIR]/provostd.toml: File exists (os error 17)
      hint: check that provostd's user may write to the folder `data` of provostd.toml
    ");
}

#[test]
fn of_a_relay() {
    let start = |args: &[&str]| {
        let out: Out = Command::new(program("provostd")).args(args).output().unwrap().into();
        out.transcript()
    };
    assert_snapshot!(start(&["--relay", "--config", "/etc/provost/relay.toml"]), @"
    exit status 2
    ----- stderr -----
    provostd: starting a relay: provostd has none
      hint: put nginx or haproxy between racks and the management node: docs/proxies.md
    ");
    let upstream = start(&["--relay", "--upstream", "http://10.0.0.1:8480"]);
    assert_eq!(upstream, start(&["--upstream", "http://10.0.0.1:8480"]));
    assert!(upstream.starts_with("exit status 2\n"), "{upstream}");
}

#[test]
fn of_a_database_of_before_the_first_release() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let made = Command::new("python3")
        .args([
            "-c",
            "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version = 11')",
        ])
        .arg(data.join("provost.db"))
        .status();
    assert!(made.unwrap().success());
    let config = format!("data = {data:?}\nwww = {:?}\nlisten = '127.0.0.1:0'\n", folder.path());
    let file = folder.path().join("provostd.toml");
    std::fs::write(&file, config).unwrap();
    let mut start = Command::new(program("provostd"));
    let start: Out = start.arg("--config").arg(&file).output().unwrap().into();
    let mut backup = Command::new(program("provostctl"));
    backup.args(["backup", "--to"]).arg(folder.path().join("backup")).arg("--config").arg(&file);
    let backup: Out = backup.output().unwrap().into();
    let expected = format!("the database in {} is of an unreleased Provost\n", data.display());
    for out in [start.expect(2), backup.expect(1)] {
        let hint = "\n  hint: move it aside or use a new one; then restore the backup that its own";
        assert!(out.stderr.contains(&expected) && out.stderr.contains(hint), "{}", out.stderr);
    }
}
