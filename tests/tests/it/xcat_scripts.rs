//! What a postscript of xCAT's finds around it, and what xCAT's tools find after it.

use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use provost_tests::xcat::monitor::{Habit, Monitor};
use provost_tests::xcat::{Web, WebKind, XcatNode, XcatServer, mypostscript};

/// The longest that a message is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// A script that tells how it was called.
const TELL: &str = "#!/bin/bash\n{ echo \"$0\"; pwd; umask; readlink /proc/self/fd/0\n\
                    grep ^MASTER_IP= mypostscript; grep -c tell mypostscript.post; env; } >../told\n";
/// What a table of xCAT's gives a node, as its `mypostscript` has it.
const TABLES: &str = "MASTER_IP='127.0.0.1'\nexport MASTER_IP\nUPDATENODE=0\nexport UPDATENODE\n\
                      SERVICEGROUP='sn1,sn2'\nexport SERVICEGROUP\nPROVMETHOD='rocky9-compute'\n\
                      export PROVMETHOD\n";

struct Site {
    server: XcatServer,
    web: Web,
    node: XcatNode,
}

/// A management node, and its node `cn1`, with these scripts in its lists.
fn site(
    scripts: &[(&str, &str)],
    preamble: &str,
    postscripts: &[&str],
    postbootscripts: &[&str],
) -> Site {
    let (server, web) = XcatServer::with_web(WebKind::Apache);
    for (name, text) in scripts {
        server.script(name, text);
    }
    server.mypostscript("cn1", &mypostscript(preamble, postscripts, postbootscripts));
    let node = server.node("cn1", web.address());
    Site { server, web, node }
}

fn read(node: &XcatNode, name: &str) -> String {
    let path = node.path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[track_caller]
fn has_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|l| l == *line), "no line {line:?} in\n{text}");
    }
}

#[test]
fn a_script_finds_all_that_xcat_gives_it() {
    let scripts = [("sub/tell", TELL)];
    let Site { node, .. } = &site(&scripts, TABLES, &["sub/tell"], &[]);
    // The first server doesn't serve.
    let text = read(node, "provost.toml");
    let text = text.replace("servers = [", "servers = [\"http://127.0.0.2:1\", ");
    std::fs::write(node.path("provost.toml"), text).unwrap();
    let xcatpost = node.path("xcatpost").display().to_string();
    for (args, label, update) in [
        (&["kickstart"][..], "xcat.deployment.postscript", "0"),
        (&["run", "sub/tell"], "xcat.updatenode.postscript", "1"),
    ] {
        node.provost(args).expect(0);
        let told = read(node, "told");
        let mut lines = told.lines();
        let first: Vec<&str> = lines.by_ref().take(6).collect();
        assert_eq!(
            first,
            ["./sub/tell", &xcatpost, "0022", "/dev/null", "MASTER_IP='127.0.0.1'", "0"]
        );
        has_lines(
            &told,
            &[
                &format!("LOGLABEL={label}"),
                &format!("UPDATENODE={update}"),
                "NODE=cn1",
                "MASTER_IP=127.0.0.1",
                "USEOPENSSLFORXCAT=1",
                "XCATSERVER=127.0.0.1:1",
            ],
        );
        let path = lines.find_map(|line| line.strip_prefix("PATH=")).unwrap();
        assert_eq!(path.split(':').next(), Some(&*xcatpost));
        assert_eq!(path.matches(&xcatpost).count(), 1, "{path}");
    }
}

#[test]
fn xcatinfo_says_what_the_node_is_and_how_far_and_keeps_what_others_wrote() {
    let bad = [("x", "#!/bin/sh\nexit 1\n"), ("y", "#!/bin/sh\ncat ../xcat/xcatinfo >../seen\n")];
    let Site { server, web, node } = &site(&bad, TABLES, &["x"], &["y"]);
    std::fs::create_dir_all(node.path("xcat")).unwrap();
    let old = "IMAGEUUID='1-2'\nXCATSERVER=10.9.9.9\nNODE='old'\n";
    std::fs::write(node.path("xcat/xcatinfo"), old).unwrap();
    let port = web.address().rsplit(':').next().unwrap().to_owned();
    let begun = format!(
        "IMAGEUUID='1-2'\nXCATSERVER=127.0.0.1\nNODE=cn1\nHTTPPORT={port}\nINSTALLDIR=/install\n"
    );
    node.provost(&["kickstart"]).expect(1);
    assert_eq!(read(node, "xcat/xcatinfo"), format!("{begun}POSTSCRIPTS_RC=1\n"));
    server.script("x", "#!/bin/sh\ntrue\n");
    node.provost(&["kickstart"]).expect(0);
    assert_eq!(read(node, "xcat/xcatinfo"), begun);
    node.provost(&["boot"]).expect(0);
    let booted = format!(
        "{begun}SERVICEGROUP=sn1,sn2\nUSEFLOWCONTROL=NO\nIMAGENAME=rocky9-compute\nREBOOT=TRUE\n"
    );
    assert_eq!(read(node, "xcat/xcatinfo"), booted);
    let before = booted.replace("REBOOT=TRUE\n", "");
    assert_eq!(read(node, "seen"), before, "it is so before the scripts run");
}

#[test]
fn an_updatenode_that_moves_the_node_to_another_server_notes_that_one() {
    let tables = TABLES.replace("127.0.0.1", "127.0.0.3");
    let Site { web, node, .. } = &site(&[("x", "#!/bin/sh\n")], &tables, &[], &["x"]);
    let server = || read(node, "xcat/xcatinfo").lines().next().unwrap().to_owned();
    std::fs::create_dir_all(node.path("xcat")).unwrap();
    std::fs::write(node.path("xcat/xcatinfo"), "XCATSERVER=10.9.9.9\nHTTPPORT=80\n").unwrap();
    node.provost(&["xcatdsklspost", "1", "-m", web.address(), "x", "-c"]).expect(0);
    assert_eq!(server(), "XCATSERVER=10.9.9.9", "it is this run's alone");
    node.provost(&["xcatdsklspost", "1", "-M", web.address(), "x", "-c"]).expect(0);
    assert_eq!(server(), "XCATSERVER=127.0.0.1");
    let port = web.address().rsplit(':').next().unwrap();
    has_lines(&read(node, "xcat/xcatinfo"), &[&format!("HTTPPORT={port}")]);
    node.provost(&["boot"]).expect(0);
    assert_eq!(server(), "XCATSERVER=127.0.0.3", "as its tables say");
}

#[test]
fn a_node_that_was_told_nothing_goes_by_its_xcatinfo() {
    let Site { node, .. } = &site(&[("tell", TELL)], TABLES, &["tell"], &[]);
    node.provost(&["boot"]).expect(0);
    std::fs::remove_file(node.path("told")).unwrap();
    let text = read(node, "provost.toml");
    let is_told =
        |line: &&str| ["node =", "servers =", "kind ="].iter().any(|k| line.starts_with(k));
    let text: String =
        text.lines().filter(|line| !is_told(line)).map(|line| format!("{line}\n")).collect();
    std::fs::write(node.path("provost.toml"), text).unwrap();
    node.provost(&["boot"]).expect(0);
    has_lines(&read(node, "told"), &["NODE=cn1"]);
}

#[test]
fn behind_a_service_node_a_script_knows_it_and_the_management_node() {
    let tables = "SITEMASTER='10.9.9.9'\nexport SITEMASTER\nMASTER='127.0.0.1'\nexport MASTER\n\
                  MASTER_IP='127.0.0.1'\nexport MASTER_IP\n";
    let Site { web, node, .. } = &site(&[("tell", TELL)], tables, &["tell"], &[]);
    let monitor = Monitor::start(Habit::Right);
    let port = web.address().rsplit(':').next().unwrap();
    std::fs::create_dir_all(node.path("xcat")).unwrap();
    let info = format!("XCATSERVER=127.0.0.1\nHTTPPORT={port}\nNODE=cn1\n");
    std::fs::write(node.path("xcat/xcatinfo"), &info).unwrap();
    node.configure(&format!("monitor_port = {}\n[report]\ndeadline = \"1m\"\n", monitor.port()));
    let text = read(node, "provost.toml");
    let text: String = text
        .lines()
        .filter(|l| !l.starts_with("servers ="))
        .fold(String::new(), |text, line| text + line + "\n");
    std::fs::write(node.path("provost.toml"), text).unwrap();
    node.provost(&["boot"]).expect(0);
    let told = ["XCATSERVER=127.0.0.1:1", "MASTER=127.0.0.1", "SITEMASTER=10.9.9.9"];
    has_lines(&read(node, "told"), &told);
    assert!(read(node, "xcat/xcatinfo").starts_with(&info), "it stays the node's server");
    assert_eq!(monitor.said().last().map(String::as_str), Some("installstatus booted"));
}

/// Scripts that end in different ways; those that fail let the next one run.
const FAILING: [(&str, &str); 3] = [
    ("good", "#!/bin/sh\necho fine\n"),
    (
        "bad",
        "#!/bin/sh\n# /// provost\n# on_failure = \"continue\"\n# ///\necho oh no >&2\nexit 3\n",
    ),
    (
        "slow",
        "#!/bin/sh\n# /// provost\n# on_failure = \"continue\"\n# timeout = \"1s\"\n# ///\n\
         exec sleep 1000\n",
    ),
];

#[test]
fn the_start_and_the_end_of_each_script_are_where_and_how_tools_look_for_them() {
    let lists = (&["good", "bad", "slow"][..], &[][..]);
    let Site { node, .. } = &site(&FAILING, TABLES, lists.0, lists.1);
    let syslog = UdpSocket::bind("127.0.0.1:0").unwrap();
    syslog.set_read_timeout(Some(PATIENCE)).unwrap();
    let address = syslog.local_addr().unwrap();
    node.configure(&format!("[log]\nsyslog = \"udp://{address}\"\n"));
    node.provost(&["boot"]).expect(1);

    let log = read(node, "xcat_log/xcat.log");
    // Tools of other users read it, too.
    let mode = std::fs::metadata(node.path("xcat_log/xcat.log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o444, 0o444);
    let lines: Vec<&str> =
        log.lines().map(|l| l.split_once("xcat.").map_or(l, |(_, l)| l)).collect();
    let label = "deployment.postbootscript: ";
    let mut expected = Vec::new();
    for (script, output, returned) in [
        ("good", Some("fine"), "return with 0"),
        ("bad", Some("oh no"), "return with 3"),
        ("slow", None, "return with 124 (time-out)"),
    ] {
        expected.push(format!("{label}postbootscript start..: {script}"));
        expected.push(format!("{label}Running postbootscript: {script}"));
        expected.extend(output.map(str::to_owned));
        expected.push(format!("{label}postbootscript end...: {script} {returned}"));
        expected.push(format!("{label}postbootscript {script} {returned}"));
    }
    expected.push(format!("{label}provision completed with error.(cn1)"));
    assert_eq!(lines, expected);
    assert!(log.contains(" UTC 20") && log.contains(" [info]: xcat.deployment."), "{log}");

    let mut told = Vec::new();
    while !told.last().is_some_and(|line: &String| line.contains("provision completed")) {
        let mut bytes = [0; 4096];
        let n = syslog.recv(&mut bytes).expect("the last line comes, too");
        let line = String::from_utf8(bytes[..n].to_vec()).unwrap();
        if line.split(' ').nth(3) == Some("xcat.deployment.postbootscript") {
            told.push(line);
        }
    }
    assert_eq!(told.len(), 13, "{told:#?}");
    for (line, expected) in told.iter().zip(expected.iter().filter(|l| l.starts_with(label))) {
        let priority = if line.contains("provision") { "<163>1 " } else { "<166>1 " };
        assert!(line.starts_with(priority) && line.split(' ').nth(2) == Some("cn1"), "{line}");
        assert!(line.ends_with(&format!(" - {}", &expected[label.len()..])), "{line}");
    }
}

#[test]
fn a_script_that_is_not_there_is_told_in_xcats_words() {
    let Site { node, .. } = &site(&[("a", "")], TABLES, &["nowhere"], &[]);
    node.provost(&["kickstart"]).expect(1);
    let log = read(node, "xcat_log/xcat.log");
    let line = "[error]: xcat.deployment.postscript: postscript nowhere does NOT exist.\n";
    assert!(log.ends_with(line) && log.lines().count() == 1, "{log}");
}

#[test]
fn what_to_do_is_what_can_be_done_at_an_unmodified_management_node() {
    let bad = [("crlf", "#!/bin/bash\r\ntrue\r\n")];
    let Site { server, node, .. } = &site(&bad, TABLES, &["nowhere"], &[]);
    let there = "/install/postscripts on the management node";
    let out = node.boot(1).says(&[&format!("hint: put it into {there}")]);
    assert!(!out.stderr.contains("publish"), "{}", out.stderr);
    server.mypostscript("cn1", &mypostscript(TABLES, &["crlf"], &[]));
    let out = node.boot(1).says(&["hint: convert it with dos2unix", there]);
    assert!(!out.stderr.contains("publish"), "{}", out.stderr);
    node.boot(1);
    for out in [node.boot(4), node.provost(&["check"]), node.provost(&["release"]).expect(0)] {
        let told = out.stdout + &out.stderr;
        assert!(told.contains("release") && !told.contains("provostctl"), "{told}");
    }
}

#[test]
fn a_script_can_source_xcatlib_whether_the_tree_has_one_or_not() {
    let script = "#!/bin/bash\n. ./xcatlib.sh || exit 9\nv4mask2prefix 255.255.0.0 >../told\n";
    let Site { server, node, .. } = &site(&[("net", script)], TABLES, &["net"], &[]);
    node.provost(&["boot"]).expect(0);
    assert_eq!(read(node, "told"), "16\n");
    server.script("xcatlib.sh", "v4mask2prefix() { echo theirs; }\n");
    node.provost(&["boot"]).expect(0);
    assert_eq!(read(node, "told"), "theirs\n");
}

#[test]
fn in_debug_mode_a_shell_script_shows_what_it_does_and_where_it_fails() {
    let script = "#!/bin/bash -e\necho \"in $1\"\nfalse\necho no\n";
    let tables = format!("{TABLES}XCATDEBUGMODE='1'\nexport XCATDEBUGMODE\n");
    let Site { node, .. } = &site(&[("x", script)], &tables, &["x a"], &[]);
    node.provost(&["boot"]).expect(1);
    let log = read(node, "xcat_log/xcat.log");
    has_lines(&log, &["in a", "+ echo 'in a'", "+ false"]);
    assert!(!log.contains("provost"), "nothing of what watches it shows: {log}");
    let end =
        node.journal("boot").into_iter().find(|r| r["stage"] == "x" && r["result"] == "failure");
    assert_eq!(end.unwrap()["command"], "false");
}

#[test]
fn xcats_logs_that_nobody_takes_hold_nothing_up() {
    let Site { node, .. } = &site(&[("x", "#!/bin/sh\n")], TABLES, &["x"], &[]);
    // A pipe that nobody reads, where the log should be; a file, where a folder should be.
    std::fs::create_dir(node.path("xcat_log")).unwrap();
    provost_tests::pipe(&node.path("xcat_log/xcat.log"));
    std::fs::write(node.path("xcat"), "").unwrap();
    let out = node.provost(&["boot"]).expect(0);
    assert!(out.stderr.contains("xcatinfo up to date: "), "{}", out.stderr);
}
