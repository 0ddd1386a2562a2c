//! When a step runs, how often, and what is remembered of it.

use std::path::Path;
use std::time::Duration;

use provost_tests::processes::until;
use provost_tests::{Cluster, Node, pipe};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A script with a header that notes in `$NOTES` that it ran, and with which arguments.
fn script(header: &str, body: &str) -> String {
    let header: String = header.lines().map(|line| format!("# {line}\n")).collect();
    format!(
        "#!/bin/sh\n# /// provost\n{header}# ///\necho \"$PROVOST_STAGE $*\" >>\"$NOTES\"\n{body}\n"
    )
}

/// A cluster whose node `cn001` has the plan `postscripts`, with a daemon that serves it.
fn cluster(postscripts: &str, scripts: &[(&str, &str)]) -> Cluster {
    let mut cluster = Cluster::new();
    for (name, text) in scripts {
        cluster.script(name, text);
    }
    site(&cluster, postscripts, "");
    cluster.start();
    cluster
}

fn site(cluster: &Cluster, postscripts: &str, more: &str) {
    let (notes, folder) = (cluster.path("notes"), cluster.path(""));
    cluster
        .site(&format!(
            "[nodes.cn001]\npostscripts = {postscripts}\n\
             [nodes.cn001.env]\nNOTES = {notes:?}\nFOLDER = {folder:?}\n{more}"
        ))
        .publish()
        .expect(0);
}

/// Which scripts ran since this was asked last.
fn ran(cluster: &Cluster) -> Vec<String> {
    let notes = cluster.path("notes");
    let text = std::fs::read_to_string(&notes).unwrap_or_default();
    let _ = std::fs::remove_file(notes);
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn skipped(node: &Node, stage: usize) -> String {
    let stages = node.status()["stages"].clone();
    assert_eq!(stages[stage]["result"], "success", "{stages}");
    stages[stage]["skipped"].as_str().unwrap_or_default().to_owned()
}

/// What a script does to have its runner die as in a power cut.
const KILL_RUNNER: &str =
    "kill -9 \"$(sed -n 's/.*process //p' \"$FOLDER/nodes/cn001/state/lock\")\"";

#[test]
fn a_wish_that_is_no_file_stops_no_run() {
    let pipes = script("", "mkfifo \"$PROVOST_SKIP\" \"$PROVOST_REBOOT\"");
    let cluster =
        cluster("[\"pipes\", \"after\"]", &[("pipes", &pipes), ("after", &script("", ""))]);
    let node = cluster.node("cn001");
    let mut run = node.spawn(&["kickstart"]);
    let ended = until(Duration::from_secs(60), || run.try_wait().unwrap().is_some());
    if !ended {
        run.kill().unwrap();
    }
    assert!(ended, "the run waits for a pipe that nobody writes to");
    assert_eq!(ran(&cluster), ["pipes", "after"]);
}

#[test]
fn a_step_runs_when_its_policy_says() {
    let changes = "when = \"change\"\ninputs = [\"COLOUR\"]";
    let cluster = cluster(
        "[\"always\", \"once\", \"change a\", \"manual\"]",
        &[
            ("always", &script("when = \"always\"", "")),
            ("once", &script("when = \"once\"", "")),
            ("change", &script(changes, "")),
            ("manual", &script("when = \"manual\"", "")),
        ],
    );
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0).says(&["manual: skipped", "provost run manual"]);
    assert_eq!(ran(&cluster), ["always", "once", "change a"]);

    let out = node.provost(&["boot"]).expect(0);
    out.says(&["once: skipped: done on 20", "nothing has changed since"]);
    assert_eq!(ran(&cluster), ["always"]);
    assert!(skipped(&node, 2).contains("it runs once"));
    assert!(skipped(&node, 3).starts_with("done on 20"));
    assert!(skipped(&node, 4).contains("provost run manual"));
    assert_eq!(cluster.status("cn001")["status"], "booted");
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("nothing has changed since"), "{shown}");

    // Another value of a declared input, other arguments, another script: each is a change.
    let steps = "[\"always\", \"once\", \"change a\", \"manual\"]";
    site(&cluster, steps, "COLOUR = \"red\"\nOTHER = \"1\"\n");
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["always", "change a"]);
    site(&cluster, steps, "COLOUR = \"red\"\nOTHER = \"2\"\n");
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["always"]);
    cluster.script("change", &script(changes, ": new"));
    cluster.script("once", &script("when = \"once\"", ": new"));
    site(&cluster, "[\"once\", \"change a\", \"once b\"]", "COLOUR = \"red\"\n");
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["change a", "once b"]);

    // By hand each of them runs.
    node.provost(&["run", "-P", "once,change a,manual"]).expect(0);
    assert_eq!(ran(&cluster), ["once", "change a", "manual"]);
    node.provost(&["boot"]).expect(0);
    assert!(ran(&cluster).is_empty());

    // The site may say otherwise.
    let always = "[scripts.once]\nwhen = \"always\"\n";
    site(&cluster, "[\"once\"]", always);
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["once"]);
}

#[test]
fn what_failed_is_not_done() {
    let ignored = "when = \"once\"\non_failure = \"ignore\"";
    let works = script(ignored, "");
    let fails = script(ignored, "exit 3");
    let cluster = cluster("[\"step\"]", &[("step", &fails)]);
    let node = cluster.node("cn001");
    for _ in 0..2 {
        node.provost(&["boot"]).expect(0).says(&["ignored (on_failure"]);
        assert_eq!(ran(&cluster), ["step"]);
    }
    let publish = |text: &str| {
        cluster.script("step", text).publish().expect(0);
    };
    publish(&works);
    node.provost(&["boot"]).expect(0);
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["step"], "now it is done");
    // A rerun that fails may leave half of it; so does one that is killed.
    publish(&fails);
    node.provost(&["run", "step"]).expect(0);
    publish(&works);
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["step", "step"]);
    publish(&script(ignored, KILL_RUNNER));
    assert_eq!(node.provost(&["run", "step"]).code, None, "it was killed");
    publish(&works);
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["step", "step"]);
    node.provost(&["boot"]).expect(0);
    assert!(ran(&cluster).is_empty());
}

#[test]
fn no_step_begins_when_the_run_has_had_its_time() {
    let cluster = cluster(
        "[\"hangs\", \"next\", \"last\"]",
        &[
            ("hangs", &script("on_failure = \"continue\"", "sleep 1000")),
            ("next", &script("", "")),
            ("last", &script("", "")),
        ],
    );
    let node = cluster.node("cn001");
    node.configure(&format!(
        "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n[run]\ndeadline = \"4s\"\n",
        cluster.daemon().nodes(),
        cluster.key()
    ));
    for args in [&["boot"][..], &["run", "-P", "hangs,next,last"]] {
        node.provost(args).expect(1).says(&["before next", "`deadline` under [run]"]);
        assert_eq!(ran(&cluster), ["hangs"], "the rest is not begun");
        let journal = node.journal(args[0]);
        let hangs = journal.iter().rfind(|r| r["stage"] == "hangs").unwrap();
        assert_eq!(hangs["cause"], "timeout");
        let hint = |record: &Value| record["hint"].as_str().unwrap_or_default().to_owned();
        assert!(hint(hangs).contains("`deadline` under [run]"), "{hangs}");
        let end = journal.last().unwrap();
        assert_eq!((&end["cause"], &end["notRun"]), (&json!("timeout"), &json!(["next", "last"])));
        assert!(hint(end).contains("`deadline` under [run]"), "{end}");
    }
}

#[test]
fn a_kill_leaves_no_false_done_and_no_second_run_of_what_is_done() {
    let kill = format!("[ -e \"$FOLDER/well\" ] || {KILL_RUNNER}\n[ -e \"$FOLDER/well\" ]");
    let cluster = cluster(
        "[\"first\", \"second\"]",
        &[("first", &script("when = \"once\"", "")), ("second", &script("when = \"once\"", &kill))],
    );
    let node = cluster.node("cn001");
    assert_eq!(node.provost(&["boot"]).code, None, "it was killed");
    assert_eq!(ran(&cluster), ["first", "second"]);
    assert_eq!(node.provost(&["boot"]).code, None);
    assert_eq!(ran(&cluster), ["second"]);
    std::fs::write(cluster.path("well"), "").unwrap();
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["second"]);
    node.provost(&["boot"]).expect(0);
    assert!(ran(&cluster).is_empty());
}

#[test]
fn a_step_is_tried_again_as_often_as_it_says() {
    let tries = "n=$(wc -l <\"$NOTES\"); echo try $n; [ $n -gt 2 ]";
    let cluster =
        cluster("[\"flaky\"]", &[("flaky", &script("retries = 2\nwhen = \"once\"", tries))]);
    let node = cluster.node("cn001");
    let out = node.provost(&["boot"]).expect(0);
    out.says(&["flaky: FAILED (exit status 1", "retrying in", "2 retries left", "flaky: ok"]);
    assert_eq!(ran(&cluster).len(), 3);
    let journal = node.journal("boot");
    let starts = |e: &&Value| e["stage"] == "flaky" && e["phase"] == "stage start";
    let attempts: Vec<_> = journal.iter().filter(starts).map(|e| e["attempt"].clone()).collect();
    assert_eq!(attempts, [Value::Null, json!(2), json!(3)]);
    let status = node.status();
    assert_eq!(status["result"], "success");
    assert_eq!(status["stages"].as_array().unwrap().len(), 2, "{status}");
    assert_eq!(
        (&status["stages"][1]["result"], &status["stages"][1]["attempt"]),
        (&json!("success"), &json!(3))
    );
    let told = cluster.status("cn001");
    assert_eq!((&told["status"], &told["cause"]), (&json!("booted"), &Value::Null));
    // Each has a log of its own.
    let last = status["stages"][1]["log"].as_str().unwrap().to_owned();
    let folder = Path::new(&last).parent().unwrap();
    for (n, log) in ["01-flaky.log", "01-flaky.try2.log", "01-flaky.try3.log"].iter().enumerate() {
        let text = std::fs::read_to_string(folder.join(log)).unwrap();
        assert!(text.contains(&format!("try {}", n + 1)), "{log}: {text}");
    }
    assert!(node.provost(&["log", "flaky"]).expect(0).stdout.contains("try 3"));
    node.provost(&["boot"]).expect(0);
    assert!(ran(&cluster).is_empty(), "it is done once");

    cluster
        .script("flaky", &script("retries = 1", "echo nothing helps; exit 4"))
        .publish()
        .expect(0);
    node.provost(&["boot"]).expect(1);
    assert_eq!(ran(&cluster).len(), 2);
    let told = cluster.status("cn001");
    assert_eq!(
        (&told["status"], &told["stage"], &told["exitCode"]),
        (&json!("failed"), &json!("flaky"), &json!(4))
    );
    assert!(cluster.ctl(&["log", "cn001", "flaky"]).expect(0).stdout.contains("nothing helps"));
}

#[test]
fn a_signal_ends_the_wait_for_the_next_try() {
    let cluster = cluster(
        "[\"fails\", \"later\"]",
        &[("fails", &script("retries = 9", "exit 3")), ("later", &script("", ""))],
    );
    let node = cluster.node("cn001");
    let said = cluster.path("said");
    pipe(&said);
    let mut command = node.command(&["boot"]);
    let open = std::thread::spawn({
        let said = said.clone();
        move || std::fs::File::open(said).unwrap()
    });
    let stderr = std::fs::File::options().write(true).open(&said).unwrap();
    let mut child = command.stderr(stderr).spawn().unwrap();
    drop(command);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(open.join().unwrap()));
    lines.find(|line| line.as_ref().unwrap().contains("retrying in")).unwrap().unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(lines.map(Result::unwrap).filter(|l| l.contains("tried again")).count(), 0);
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let end = node.journal("boot").pop().unwrap();
    assert_eq!((&end["notRun"], &end["cause"]), (&json!(["later"]), &json!("interrupted")));
    assert_eq!(ran(&cluster), ["fails"]);
}

#[test]
fn a_script_says_itself_that_it_had_nothing_to_do() {
    let body = "printf 'the mount is there\\nsecond line\\n' >\"$PROVOST_SKIP\"";
    let cluster = cluster("[\"idle\"]", &[("idle", &script("", body))]);
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0).says(&["idle: ok", "the mount is there"]);
    assert_eq!(skipped(&node, 1), "the mount is there");
    cluster.script("idle", &script("", &format!("{body}\nexit 3"))).publish().expect(0);
    node.provost(&["boot"]).expect(1);
    assert_eq!(node.status()["stages"][1]["skipped"], Value::Null, "it failed");
}

#[test]
fn what_is_done_in_an_image_is_not_done_again_at_boot() {
    let changes = script("when = \"change\"\ninputs = [\"COLOUR\"]", "");
    let cluster = cluster(
        "[\"change a\", \"change b\", \"always\"]",
        &[("change", &changes), ("always", &script("", ""))],
    );
    let node = cluster.node("cn001");
    let image = cluster.path("image");
    let root = image.to_str().unwrap();
    node.provost(&["stamp", "--root", root]).expect(2).says(&["no such folder", "hint: "]);
    std::fs::create_dir(&image).unwrap();
    node.provost(&["stamp", "--root", root, "always"]).expect(2).says(&["each time", "hint: "]);
    node.provost(&["stamp", "--root", root, "nothing"]).expect(2).says(&["no such script"]);
    node.provost(&["stamp", "--root", root, "change", "a"]).expect(0).says(&["1 step stamped"]);
    assert!(!node.path("state").exists(), "the builder's own state stays as it is");
    // The node boots with what its image has.
    let state = image.join(node.path("state").strip_prefix("/").unwrap());
    std::fs::rename(state, node.path("state")).unwrap();
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["change b", "always"]);
    let list = ["stamp", "--root", root, "-P", "change a,change c"];
    node.provost(&list).expect(0).says(&["stamped: change c", "2 steps stamped"]);
    node.provost(&["stamp", "--root", root]).expect(0).says(&[
        "change a",
        "change b",
        "2 steps stamped",
    ]);
}
