//! A node that does what xCAT does where Provost does otherwise: key by key, or `install --xcat --as-xcat`.

use provost_tests::xcat::monitor::{Habit, Monitor};
use provost_tests::xcat::{Web, WebKind, XcatNode, XcatServer, mypostscript};
use serde_json::json;

/// Tells that it ran, and with what.
const RAN: &str = "#!/bin/sh\necho \"${0#./}$*\" >>../ran\n";
/// Fails after that.
const FAILS: &str = "#!/bin/sh\necho \"${0#./}\" >>../ran\nexit 7\n";

/// A management node, and its node `cn1`, with these lists.
fn site(postscripts: &[&str], postbootscripts: &[&str]) -> (XcatServer, Web, XcatNode) {
    let (server, web) = XcatServer::with_web(WebKind::Apache);
    for name in ["first", "last", "boot"] {
        server.script(name, RAN);
    }
    server.script("bad", FAILS).script("sub/worse.sh", FAILS);
    server.mypostscript("cn1", &mypostscript("", postscripts, postbootscripts));
    let node = server.node("cn1", web.address());
    (server, web, node)
}

/// What has run since it was last asked.
fn ran(node: &XcatNode) -> Vec<String> {
    let file = node.path("ran");
    let ran = std::fs::read_to_string(&file).unwrap_or_default();
    let _ = std::fs::remove_file(file);
    ran.lines().map(str::to_owned).collect()
}

#[test]
fn a_name_that_does_not_exist_fails_at_its_place() {
    let (_server, _web, node) = site(&["first", "nowhere", "last"], &["boot"]);
    node.boot(1);
    assert_eq!(ran(&node), ["first"]);
    assert_eq!(node.end_of("boot", "nowhere")["cause"], "missing");
    assert_eq!(node.journal("boot").last().unwrap()["notRun"], json!(["last", "boot"]));

    node.configure("[run]\non_failure = \"continue\"\n");
    let out = node.boot(1).says(&["1 of 4 steps failed: nowhere"]);
    assert_eq!(ran(&node), ["first", "last", "boot"], "{}", out.stderr);
    let end = node.journal("boot").pop().unwrap();
    assert_eq!((&end["result"], &end["stagesFailed"]), (&json!("failure"), &json!(["nowhere"])));

    node.configure("[run]\non_failure = \"continue\"\n[scripts.nowhere]\non_failure = \"stop\"\n");
    node.boot(1);
    assert_eq!(ran(&node), ["first"]);
}

#[test]
fn the_configuration_of_a_script_overrides_its_header() {
    let (server, _web, node) = site(&["bad", "sub/worse.sh", "last"], &[]);
    let header = "# /// provost\n# retries = 0\n# on_failure = \"stop\"\n# ///\n";
    server.script("sub/worse.sh", &FAILS.replacen('\n', &format!("\n{header}"), 1));
    node.configure(
        "[scripts.bad]\non_failure = \"ignore\"\n\
         [scripts.\"sub/worse.sh\"]\non_failure = \"continue\"\nretries = 1\ntimeout = \"9m\"\n",
    );
    let out = node.boot(1).says(&["1 of 3 steps failed: sub/worse.sh", "bad: failed; ignored"]);
    assert_eq!(ran(&node), ["bad", "sub/worse.sh", "sub/worse.sh", "last"], "{}", out.stderr);
    let start = node.journal("boot").into_iter().find(|e| e["stage"] == "sub/worse.sh").unwrap();
    let limit = start["limitMs"].as_u64().unwrap();
    assert!((540_000..600_000).contains(&limit), "{start}");
    let shown = node.provost(&["check"]).stdout;
    assert!(shown.contains("scripts.\"sub/worse.sh\".retries"), "{shown}");

    for (text, what) in [
        ("[run]\non_failure = \"ignore\"\n", "run.on_failure"),
        ("[scripts.bad]\nretry = 1\n", "scripts.bad.retry"),
        ("[scripts.\"a.sh\"]\ntimeout = \"never\"\n", "scripts.\"a.sh\".timeout"),
    ] {
        node.configure(text);
        node.boot(2).says(&[what, "hint: "]);
    }
}

#[test]
fn with_as_xcat_a_run_goes_on_ends_as_xcats_does_and_the_node_is_never_held() {
    let (_server, web, node) = site(&["bad", "first", "nowhere"], &["last"]);
    let monitor = Monitor::start(Habit::Right);
    node.configure(&format!("monitor_port = {}\n[report]\ndeadline = \"10s\"\n", monitor.port()));
    node.provost(&["install", "--as-xcat"]).expect(2);
    let said = node.provost(&["install", "--xcat", "--as-xcat"]).expect(0);
    said.says(&["provost.d/as-xcat.toml has runs go on"]);
    node.provost(&["install", "--xcat", "--as-xcat"]).expect(0).says(&["is there already"]);

    let all = ["bad", "first", "last"];
    // One more than the guard allows.
    for _ in 0..4 {
        node.boot(1).says(&["2 of 4 steps failed: bad, nowhere"]);
        assert_eq!(ran(&node), all);
    }
    let failed = monitor.said().iter().filter(|said| *said == "installstatus failed").count();
    assert_eq!(failed, 4);
    node.provost(&["xcatdsklspost"]).expect(0);
    assert_eq!(ran(&node), all);
    let update =
        |list: &str| node.provost(&["xcatdsklspost", "1", "-m", web.address(), list, "-c"]);
    update("bad,first").expect(7);
    update("bad,nowhere,first").expect(255);
    update("first").expect(0);
    assert_eq!(ran(&node), ["bad", "first", "bad", "first", "first"]);

    node.provost(&["install", "--remove"]).expect(0);
    assert!(!node.path("provost.d").exists());
    node.boot(1);
    assert_eq!(ran(&node), ["bad"]);
}

#[test]
fn the_lines_of_an_updatenode_are_in_order() {
    let (server, web, node) = site(&[], &[]);
    let prints = "#!/bin/sh\nfor n in 1 2 3; do echo out $n; echo err $n >&2; done\nprintf end\n";
    server.script("prints", prints);
    let update = ["xcatdsklspost", "1", "-m", web.address(), "prints,first,bad", "-c"];
    let out = node.provost(&update);
    // All on one stream: xdsh reads the two of its remote shell one after the other.
    assert_eq!(out.stderr, "");
    let shown = out.stdout;
    let begins = [
        "provost: run of cn1 begins",
        "provost: fetch: ",
        "postscript start..: prints",
        "out 1",
        "err 1",
        "out 2",
        "err 2",
        "out 3",
        "err 3",
        "end",
        "provost: [1/3] prints: ok",
        "postscript end....: prints exited with code 0",
        "postscript start..: first",
        "provost: [2/3] first: ok",
        "postscript end....: first exited with code 0",
        "postscript start..: bad",
        "provost: [3/3] bad: FAILED",
        "postscript end....: bad exited with code 7",
        "provost: run FAILED",
        "returned from postscript",
    ];
    let is_one = |line: &&str| begins.iter().any(|begin| line.starts_with(begin));
    let lines: Vec<&str> = shown.lines().filter(is_one).collect();
    assert_eq!(lines.len(), begins.len(), "{shown}");
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line} isn't {begin}: {shown}");
    }
}

#[test]
fn an_installed_node_boots_after_a_kickstart_that_went_on() {
    let (_server, _web, node) = site(&["bad", "last"], &["boot"]);
    node.configure("[run]\non_failure = \"continue\"\n");
    node.provost(&["kickstart"]).expect(1);
    assert_eq!(ran(&node), ["bad", "last"]);
    node.boot(0);
    assert_eq!(ran(&node), ["boot"]);
}

#[test]
fn a_script_has_what_xcats_has_of_its_caller_unless_its_environment_is_clean() {
    let (server, web, node) = site(&["tell"], &[]);
    server.script("tell", "#!/bin/sh\nenv >../told\n");
    let caller = [
        ("HOME", "/root/x"),
        ("LANG", "de_DE.UTF-8"),
        ("USER", "adm"),
        ("LOGNAME", "adm"),
        ("SHELL", "/bin/zsh"),
        ("SSH_CONNECTION", "10.0.0.1 22 10.0.0.2 22"),
    ];
    let told = |args: &[&str]| {
        let mut command = node.command(args);
        let path = std::env::var("PATH").unwrap();
        command.envs(caller).env("PATH", format!("/opt/odd:{path}")).env("OTHER", "x");
        provost_tests::Out::from(command.output().unwrap()).expect(0);
        let told = std::fs::read_to_string(node.path("told")).unwrap();
        told.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let has = |told: &[String], line: &str| told.iter().any(|l| l == line);
    let update = ["xcatdsklspost", "1", "-m", web.address(), "tell", "-c", "-V"];
    for args in [&["boot"][..], &update] {
        let told = told(args);
        for (name, value) in caller {
            let value = if name == "LANG" { "C" } else { value };
            assert!(has(&told, &format!("{name}={value}")), "{name}: {told:#?}");
        }
        let path = format!("PATH={}:/opt/odd:", node.path("xcatpost").display());
        assert!(told.iter().any(|line| line.starts_with(&path)), "{told:#?}");
        assert!(!told.iter().any(|line| line.starts_with("OTHER=")), "{told:#?}");
        assert_eq!(has(&told, "VERBOSE=1"), args.len() > 1);
    }
    node.configure("[run]\nenvironment = \"clean\"\n");
    let told = told(&["boot"]);
    for name in ["USER=adm", "LOGNAME=adm", "SHELL=/bin/zsh", "SSH_CONNECTION=", "PATH=/opt/odd"] {
        assert!(!told.iter().any(|line| line.starts_with(name)), "{name}: {told:#?}");
    }
}
