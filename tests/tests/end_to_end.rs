//! From a site to a provisioned node, and what everybody is told when it fails.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use provost_tests::processes::until;
use provost_tests::{Cluster, pipe};
use serde_json::{Value, json};

const OK: &str = "#!/bin/sh\necho \"$0 $* on $NODE\"\n";

/// Ends with 7 at its line 12.
const SEVEN: &str = "#!/bin/bash\n# one\n# two\nset -e\nsetup() {\n    echo setting up\n}\nsetup\n\
     echo first\necho second >&2\necho third\nexit 7\necho never\n";

fn cluster(site: &str, scripts: &[(&str, &str)]) -> Cluster {
    let mut cluster = Cluster::new();
    for (name, text) in scripts {
        cluster.script(name, text);
    }
    cluster.site(site).publish().expect(0);
    cluster.start();
    cluster
}

fn phases(journal: &[Value]) -> Vec<String> {
    let of = |e: &Value, key: &str| e[key].as_str().unwrap_or("-").to_owned();
    journal.iter().map(|e| [of(e, "stage"), of(e, "phase"), of(e, "result")].join(" ")).collect()
}

#[test]
fn a_node_is_provisioned() {
    let cluster = cluster(
        "[defaults]\npostscripts = [\"one\"]\n[defaults.env]\nCOLOUR = \"dark 'red'\"\n\
         [groups.compute]\nnodes = \"cn[001-003]\"\npostscripts = [\"sub/two 'a b' c\"]\n\
         postbootscripts = [\"three\"]\n",
        &[
            ("one", "#!/bin/bash\necho \"$COLOUR\"\nhelper\n"),
            ("helper", "#!/bin/sh\necho helped\n"),
            ("sub/two", "#!/bin/bash\nprintf '<%s>' \"$@\"; echo\n"),
            ("three", OK),
        ],
    );
    let node = cluster.node("cn001");
    assert_eq!(cluster.status("cn001")["status"], "defined");
    let out = node.provost(&["boot"]).expect(0);
    out.says(&["[1/3] one: ok", "[2/3] sub/two: ok", "[3/3] three: ok", "boot ended well"]);

    let expected = [
        "- service start -",
        "fetch stage start -",
        "fetch stage end success",
        "one stage start -",
        "one stage end success",
        "sub/two stage start -",
        "sub/two stage end success",
        "three stage start -",
        "three stage end success",
        "- service end success",
    ];
    let journal = node.journal("boot");
    assert_eq!(phases(&journal), expected);
    let seqs: Vec<_> = journal.iter().map(|e| e["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=10).collect::<Vec<_>>());
    assert_eq!(journal[2]["stages"], json!(["one", "sub/two", "three"]));
    assert_eq!(journal[5]["args"], json!(["a b", "c"]));

    let status = node.status();
    assert_eq!((&status["result"], &status["unreported"]), (&json!("success"), &json!(0)));
    let log = std::fs::read_to_string(status["stages"][1]["log"].as_str().unwrap()).unwrap();
    assert!(log.contains("stdout F dark 'red'\n") && log.contains("stdout F helped\n"), "{log}");
    let log = node.provost(&["log", "sub/two"]).expect(0).stdout;
    assert!(log.ends_with("stdout F <a b><c>\n"), "{log}");

    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["node"]["status"], "booted");
    assert_eq!(shown["runs"][0]["records"], json!(journal), "the records are the journal's");
    let nodes = cluster.ctl_json(&["nodes"]);
    assert_eq!(nodes.as_array().unwrap().len(), 1);
    cluster.ctl(&["wait-for", "cn001", "--status", "booted", "--timeout", "10s"]).expect(0);

    // Nothing has changed: the same again, from what is there.
    node.provost(&["boot"]).expect(0);
    assert_eq!(cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_script_that_ends_with_7_at_its_line_12_is_named_by_all() {
    let cluster = cluster(
        "[nodes.cn001]\npostscripts = [\"one\", \"bad\", \"later\"]\n",
        &[("one", OK), ("bad", SEVEN), ("later", OK)],
    );
    let node = cluster.node("cn001");
    let out = node.provost(&["boot"]).expect(1);
    out.says(&[
        "bad: FAILED (exit status 7",
        "at line 12 main",
        "command: exit 7",
        "| third",
        "hint: ",
    ]);

    let path = node.path("state/bundle/bad");
    let line = format!("12 main {}", path.display());
    let message = "first\nsecond\nthird";
    let journal = node.journal("boot");
    let end = &journal[journal.len() - 2];
    let last = &journal[journal.len() - 1];
    let status = node.status();
    let told = cluster.status("cn001");
    let sorted = |v: &Value| {
        let mut lines: Vec<_> = v.as_str().unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines.join("\n")
    };
    for facts in [end, &status["stages"][2], &told] {
        assert_eq!(facts["exitCode"], 7, "{facts}");
        assert_eq!(facts["cause"], "exit");
        assert_eq!(facts["errorLine"], json!(line));
        assert_eq!(sorted(&facts["errorMessage"]), message);
        assert!(facts["hint"].as_str().unwrap().contains("provost log bad"));
    }
    assert_eq!((&last["phase"], &last["result"]), (&json!("service end"), &json!("failure")));
    assert_eq!(last["notRun"], json!(["later"]));
    assert_eq!(last["errorLine"], json!(line));
    assert_eq!((&told["status"], &told["stage"]), (&json!("failed"), &json!("bad")));
    assert_eq!(status["stages"].as_array().unwrap().len(), 3, "the later script did not run");
    let text = node.provost(&["status"]).expect(0).stdout;
    for part in ["bad", "12 main", "exit status 7", "third", "later", "not run", "hint"] {
        assert!(text.contains(part), "{part} isn't in\n{text}");
    }
    let text = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    for part in ["failed", "bad", "12 main", "third"] {
        assert!(text.contains(part), "{part} isn't in\n{text}");
    }
    assert!(cluster.ctl(&["log", "cn001", "bad"]).expect(0).stdout.contains("third"));
    let out = cluster.ctl(&["wait-for", "cn001", "--status", "booted", "--timeout", "10s"]);
    out.expect(1).says(&["cn001", "bad"]);
}

#[test]
fn what_was_changed_on_its_way_is_refused_and_named_and_nothing_runs() {
    let mark = "#!/bin/sh\ntouch \"$MARK\"\n";
    let many: Vec<String> = (0..20).map(|n| format!("data/file{n}")).collect();
    for (case, pack) in [("an object", false), ("the pack", true)] {
        let cluster = Cluster::new();
        cluster.script("mark", mark);
        for name in many.iter().filter(|_| pack) {
            cluster.script(name, &format!("#!/bin/sh\necho {name}\n"));
        }
        let marked = cluster.path("marked");
        cluster.site(&format!(
            "[nodes.cn001]\npostscripts = [\"mark\"]\n[nodes.cn001.env]\nMARK = {marked:?}\n"
        ));
        cluster.publish().expect(0);
        let mut cluster = cluster;
        cluster.start();
        let folder = cluster.www().join(if pack { "packs" } else { "objects" });
        let file = first_file(&folder);
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let node = cluster.node("cn001");
        let out = node.provost(&["boot"]).expect(3);
        let name = if pack { "packs/" } else { "mark" };
        out.says(&["fetch: FAILED", name, "hint: "]);
        assert!(!marked.exists(), "{case}: it ran");
        let told = cluster.status("cn001");
        assert_eq!(
            (&told["status"], &told["cause"]),
            (&json!("failed"), &json!("verify")),
            "{case}"
        );
        assert_eq!(told["stage"], "fetch");
        assert!(told["errorMessage"].as_str().unwrap().contains(name), "{case}: {told}");
        cluster.publish().expect(0);
        node.provost(&["boot"]).expect(0);
        assert!(marked.exists(), "{case}: publishing again mends it");
    }
}

fn first_file(folder: &std::path::Path) -> std::path::PathBuf {
    let entry = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    if entry.is_dir() { first_file(&entry) } else { entry }
}

#[test]
fn what_others_cannot_read_is_not_published() {
    use std::os::unix::fs::PermissionsExt;
    let cluster = Cluster::new();
    cluster.script("one", OK).script("secret", OK);
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    let secret = cluster.scripts().join("secret");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("nowhere", cluster.scripts().join("dangling")).unwrap();
    let out = cluster.publish();
    assert_ne!(out.code, Some(0));
    out.says(&["secret", "chmod a+r", "dangling", "nowhere"]);
    assert!(!cluster.www().exists(), "nothing was written");
}

#[test]
fn a_second_run_is_refused_while_one_is_going_on() {
    let cluster = cluster(
        "[nodes.cn001]\npostscripts = [\"waits\"]\n",
        &[("waits", "#!/bin/bash\necho begun >\"$PIPE.begun\"\nread -r word <\"$PIPE\"\n")],
    );
    let hold = cluster.path("pipe");
    pipe(&hold);
    pipe(&cluster.path("pipe.begun"));
    cluster
        .site(&format!("[nodes.cn001]\npostscripts = [\"waits\"]\nenv.PIPE = {hold:?}\n"))
        .publish()
        .expect(0);
    let node = cluster.node("cn001");
    let mut first = node.spawn(&["boot"]);
    std::fs::read(cluster.path("pipe.begun")).unwrap();
    node.provost(&["run", "waits"]).expect(6).says(&["another run is going on", "boot", "hint: "]);
    let wait = ["wait-for", "cn001", "--status", "netbooting", "--timeout", "10s"];
    cluster.ctl(&wait).expect(0);
    std::fs::write(&hold, "go\n").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

/// A boot that hangs in its first script, and the line of stderr that says so.
fn hanging() -> (Cluster, provost_tests::Node, std::process::Child) {
    let cluster = cluster(
        "[nodes.cn001]\npostscripts = [\"hangs\", \"later\"]\n",
        &[("later", OK), ("hangs", "#!/bin/bash\necho $$ >\"$PIPE\"\nexec sleep 300\n")],
    );
    let begun = cluster.path("pipe");
    pipe(&begun);
    let site = "[nodes.cn001]\npostscripts = [\"hangs\", \"later\"]\n";
    cluster.site(&format!("{site}env.PIPE = {begun:?}\n")).publish().expect(0);
    let node = cluster.node("cn001");
    let child = node.spawn(&["boot"]);
    std::fs::read(&begun).unwrap();
    (cluster, node, child)
}

#[test]
fn a_run_that_is_ended_by_a_signal_is_interrupted_and_no_success() {
    let (cluster, node, mut child) = hanging();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let journal = node.journal("boot");
    let end = &journal[journal.len() - 2];
    assert_eq!((&end["cause"], &end["result"]), (&json!("interrupted"), &json!("failure")));
    assert_eq!(journal.last().unwrap()["notRun"], json!(["later"]));
    assert_eq!(cluster.status("cn001")["cause"], "interrupted");
}

#[test]
fn a_run_that_was_killed_is_closed_by_the_next_one() {
    let (cluster, node, mut child) = hanging();
    child.kill().unwrap();
    child.wait().unwrap();
    let before = node.journal("boot");
    assert_eq!(before.last().unwrap()["phase"], "stage start");
    cluster.script("hangs", OK).publish().expect(0);
    node.provost(&["boot"]).expect(0).says(&["was cut off"]);
    let journal = node.journal("boot");
    let closed = phases(&journal[before.len()..before.len() + 2]);
    assert_eq!(closed, ["hangs stage end failure", "- service end failure"]);
    assert_eq!(journal[before.len()]["cause"], "interrupted");
    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["node"]["status"], "booted");
    assert_eq!(shown["node"]["attempt"], 2);
    assert_eq!(shown["runs"][1]["result"], "failure");
}

#[test]
fn a_boot_that_was_killed_is_closed_by_whatever_runs_next() {
    let (cluster, node, mut child) = hanging();
    child.kill().unwrap();
    child.wait().unwrap();
    cluster.script("hangs", OK).publish().expect(0);
    node.provost(&["run", "hangs"]).expect(0).says(&["was cut off"]);
    let journal = node.journal("boot");
    assert_eq!(journal.last().unwrap()["phase"], "service end");
    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["node"]["status"], "failed");
    assert_eq!(shown["node"]["cause"], "interrupted");
}

#[test]
fn what_could_not_be_reported_goes_with_the_next_chance() {
    let mut cluster = cluster("[nodes.cn001]\npostscripts = [\"one\"]\n", &[("one", OK)]);
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let address = cluster.kill_daemon();
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let limits = "[fetch]\ndeadline = \"1s\"\n[report]\ndeadline = \"1s\"\n";
    std::fs::write(node.path("provost.toml"), config + limits).unwrap();
    let begun = Instant::now();
    let out = node.provost(&["boot"]).expect(3);
    assert!(begun.elapsed() < Duration::from_secs(15));
    out.says(&[&address, "refused", "tries", "hint: ", "4 records could not be reported yet"]);
    assert_eq!(node.status()["unreported"], 4);
    node.provost(&["report"]).expect(3);
    cluster.start_at(&address);
    node.provost(&["report"]).expect(0).says(&["4 records reported, 0 left"]);
    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(
        (&shown["node"]["status"], &shown["node"]["cause"]),
        (&json!("failed"), &json!("fetch"))
    );
    assert_eq!(shown["runs"][0]["records"], json!(node.journal("boot")[6..]));
    node.provost(&["report"]).expect(0).says(&["0 records reported, 0 left"]);
}

#[test]
fn an_installed_node_runs_its_postbootscripts_at_its_first_boot() {
    let site = "[nodes.cn001]\npostscripts = [\"post\"]\npostbootscripts = [\"postboot\"]\n";
    let cluster = cluster(site, &[("post", OK), ("postboot", OK)]);
    let node = cluster.node("cn001");
    let stages = |node: &provost_tests::Node| {
        let stages = node.status()["stages"].as_array().unwrap().clone();
        stages[1..].iter().map(|s| s["stage"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    node.provost(&["kickstart"]).expect(0);
    assert_eq!(
        (stages(&node), cluster.status("cn001")["status"].clone()),
        (vec!["post".into()], json!("booting"))
    );
    node.provost(&["boot"]).expect(0);
    assert_eq!(
        (stages(&node), cluster.status("cn001")["status"].clone()),
        (vec!["postboot".into()], json!("booted"))
    );
    node.provost(&["boot"]).expect(0);
    assert!(stages(&node).is_empty(), "a later boot is reported, and nothing runs");
    cluster.site(&format!("{site}runbootscripts = true\n")).publish().expect(0);
    node.provost(&["boot"]).expect(0);
    assert_eq!(stages(&node), ["postboot"]);
}

#[test]
fn an_admin_runs_what_is_named_and_the_nodes_status_stays() {
    let cluster = cluster(
        "[nodes.cn001]\npostscripts = [\"one\"]\n",
        &[("one", OK), ("two", OK), ("bad", SEVEN)],
    );
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    node.provost(&["run", "two", "--flag", "a b"]).expect(0);
    assert_eq!(node.status()["stages"][1]["args"], json!(["--flag", "a b"]));
    let told = cluster.status("cn001");
    assert_eq!((&told["status"], &told["updatestatus"]), (&json!("booted"), &json!("synced")));
    node.provost(&["run", "-P", "two x,one,bad,two"]).expect(1);
    let told = cluster.status("cn001");
    assert_eq!((&told["status"], &told["updatestatus"]), (&json!("booted"), &json!("failed")));
    assert_eq!(told["stage"], "bad");
    let out = node.provost(&["run", "tow"]).expect(1);
    out.says(&["tow", "no such file", "hint: "]);
    assert_eq!(node.status()["stages"][1]["cause"], "missing");
    node.provost(&["run"]).expect(2);
    node.provost(&["run", "-P", "two; rm -rf /"]).expect(2).says(&["hint: "]);
}

#[test]
fn a_failure_that_may_be_does_not_stop_the_run() {
    let header = |policy: &str| {
        format!("#!/bin/sh\n# /// provost\n# on_failure = \"{policy}\"\n# ///\necho $0\nexit 3\n")
    };
    let site = "[nodes.cn001]\npostscripts = [\"ignored\", \"one\"]\n";
    let cluster = cluster(
        site,
        &[("ignored", &header("ignore")), ("continued", &header("continue")), ("one", OK)],
    );
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");
    cluster.site(&site.replace("ignored", "continued")).publish().expect(0);
    node.provost(&["boot"]).expect(1);
    assert_eq!(node.status()["stages"][2]["result"], "success", "the later script ran");
    let told = cluster.status("cn001");
    assert_eq!((&told["status"], &told["stage"]), (&json!("failed"), &json!("continued")));
}

#[test]
fn a_script_that_takes_too_long_fails_by_its_own_limit() {
    let script = "#!/bin/bash\n# /// provost\n# timeout = \"1s\"\n# ///\necho waiting\nsleep 300\n";
    let cluster = cluster("[nodes.cn001]\npostscripts = [\"hangs\"]\n", &[("hangs", script)]);
    let node = cluster.node("cn001");
    let begun = Instant::now();
    node.provost(&["boot"]).expect(1);
    assert!(begun.elapsed() < Duration::from_secs(20));
    let told = cluster.status("cn001");
    assert_eq!((&told["status"], &told["cause"]), (&json!("failed"), &json!("timeout")));
    assert_eq!(told["errorMessage"], "waiting");
}

#[test]
fn a_wrong_configuration_is_told_with_its_line_and_its_mend() {
    let cluster = cluster("[nodes.cn001]\npostscripts = [\"one\"]\n", &[("one", OK)]);
    let node = cluster.node("cn001");
    let server = format!("servers = [\"http://{}\"]\n", cluster.daemon().nodes());
    let key = cluster.key();
    node.configure("serverz = []\n");
    node.provost(&["boot"]).expect(2).says(&["provost.toml:3", "serverz", "hint: "]);
    node.configure("");
    node.provost(&["boot"]).expect(2).says(&["no server is configured", "hint: "]);
    let journal = node.journal("boot");
    assert_eq!(journal[journal.len() - 2]["cause"], "config", "it is in the journal, too");
    node.configure(&server);
    node.provost(&["boot"]).expect(2).says(&["[trust] says nothing", "unsigned", "hint: "]);
    node.configure(&format!("{server}[trust]\nunsigned = true\n"));
    node.provost(&["boot"]).expect(0).says(&["WARNING", "unsigned"]);
    std::fs::write(node.path("token"), "cn001 wrong\n").unwrap();
    node.configure(&format!("{server}[trust]\nkeys = [\"{key}\"]\n[report]\ndeadline = \"1s\"\n"));
    node.provost(&["boot"]).expect(3).says(&["401", "provostctl token", "hint: "]);
}

#[test]
fn wait_for_follows_a_node_to_its_end() {
    let (cluster, _node, mut child) = hanging();
    let socket = cluster.daemon().socket();
    let mut waiting = std::process::Command::new(provost_tests::program("provostctl"))
        .args(["--admin", &socket, "wait-for", "cn001", "--status", "booted", "--timeout", "1m"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(waiting.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("1m"), "it says its limit: {line}");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    child.wait().unwrap();
    assert_eq!(waiting.wait().unwrap().code(), Some(1), "it ends as soon as the node failed");
    let out = cluster.ctl(&["wait-for", "cn001", "--status", "booted", "--timeout", "1s"]);
    assert_eq!(out.code, Some(1));
    cluster.ctl(&["token", "cn002"]).expect(0);
    let out = cluster.ctl(&["wait-for", "cn002", "--status", "booted", "--timeout", "1s"]);
    out.expect(124).says(&["cn002", "defined"]);
    std::io::stderr().flush().unwrap();
}

#[test]
fn whoever_keeps_a_journal_locked_does_not_hang_a_run() {
    let cluster = cluster("[nodes.cn001]\npostscripts = [\"one\"]\n", &[("one", OK)]);
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let reader = std::fs::File::open(node.path("log/services/boot.json")).unwrap();
    reader.lock_shared().unwrap();
    let mut boot = node.spawn(&["boot"]);
    let ended = until(Duration::from_secs(100), || boot.try_wait().unwrap().is_some());
    if !ended {
        boot.kill().unwrap();
    }
    assert_eq!(boot.wait().unwrap().code(), Some(2));
    let told = cluster.ctl_json(&["show", "cn001"])["node"]["hint"].clone();
    assert!(told.as_str().unwrap().contains("fuser"), "{told}");
    drop(reader);
    node.provost(&["boot"]).expect(0);
}
