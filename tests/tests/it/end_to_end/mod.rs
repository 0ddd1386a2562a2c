//! From a site to a provisioned node, and what everybody is told when it fails.

mod interrupted;
mod refused;

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use provost_tests::{Cluster, missing, skip_if};
use serde_json::{Value, json};

use interrupted::hanging;

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
    out.says(&["[1/3] one: ok", "[2/3] sub/two: ok", "[3/3] three: ok", "boot succeeded"]);

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
    let log = node.provost(&["log", "sub/two", "--output"]).expect(0).stdout;
    assert!(log.ends_with("stdout F <a b><c>\n"), "{log}");

    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["node"]["status"], "booted");
    assert_eq!(shown["runs"][0]["records"], json!(journal), "the records are the journal's");
    let nodes = cluster.ctl_json(&["nodes"]);
    let reported = nodes.as_array().unwrap().iter().filter(|node| node["status"] != "defined");
    assert_eq!(reported.count(), 1);
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
    let out = cluster.ctl(&["wait-for", "cn001", "--status", "booted", "--since", "1m"]);
    out.expect(1).says(&["cn001", "bad"]);
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
    out.says(&[&address, "refused", "tries", "hint: ", "4 records not sent yet"]);
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
    skip_if(missing::tracing());
    let script = "#!/bin/bash\n# /// provost\n# timeout = \"1s\"\n# ///\necho waiting\nsleep 300\n";
    let cluster = cluster("[nodes.cn001]\npostscripts = [\"hangs\"]\n", &[("hangs", script)]);
    let node = cluster.node("cn001");
    let begun = Instant::now();
    node.provost(&["boot"]).expect(1);
    assert!(begun.elapsed() < Duration::from_secs(20));
    let told = cluster.status("cn001");
    assert_eq!((&told["status"], &told["cause"]), (&json!("failed"), &json!("timeout")));
    assert_eq!((&told["errorMessage"], &told["command"]), (&json!("waiting"), &json!("sleep 300")));
    let nodes = cluster.ctl(&["nodes"]).expect(0).stdout;
    assert!(nodes.contains("  sleep 300: waiting\n"), "{nodes}");
    let group = cluster.ctl(&["nodes", "--group"]).expect(0).stdout;
    assert!(group.contains("\n    command: sleep 300\n    waiting\n"), "{group}");
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
    cluster.ctl(&["wait-for", "cn001", "--status", "booted", "--since", "1m"]).expect(1);
    cluster.ctl(&["token", "--force", "cn002"]).expect(0);
    let out = cluster.ctl(&["wait-for", "cn002", "--status", "booted", "--timeout", "1s"]);
    out.expect(124).says(&["cn002", "defined"]);
    std::io::stderr().flush().unwrap();
}
