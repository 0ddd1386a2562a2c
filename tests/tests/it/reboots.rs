//! A step asks for a reboot, and the run goes on after it. No test reboots anything: the node's
//! programs for that are fakes.

use provost_tests::{Cluster, Node, missing, program, skip_if};
use serde_json::{Value, json};

const STEP: &str =
    "#!/bin/sh\necho \"$PROVOST_STAGE${PROVOST_RESUME:+ $PROVOST_RESUME}\" >>\"$NOTES\"\n";

fn asks(header: &str) -> String {
    let text = STEP.replacen('\n', &format!("\n# /// provost\n# {header}\n# ///\n"), 1);
    text + "\"$PROVOST\" reboot-request new firmware\n"
}

fn cluster(postscripts: &str, scripts: &[(&str, &str)]) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    for (name, text) in scripts {
        cluster.script(name, text);
    }
    publish(&cluster, postscripts);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

fn publish(cluster: &Cluster, postscripts: &str) {
    let (notes, provost) = (cluster.path("notes"), program("provost"));
    let site = format!(
        "[nodes.cn001]\npostscripts = {postscripts}\n\
         [nodes.cn001.env]\nNOTES = {notes:?}\nPROVOST = {provost:?}\n"
    );
    cluster.site(&site).publish().expect(0);
}

fn ran(cluster: &Cluster) -> Vec<String> {
    let text = std::fs::read_to_string(cluster.path("notes")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Only root may reboot a machine, fake or not.
fn needs_root() {
    skip_if(missing::root("ask for a reboot"));
}

fn fake(node: &Node, text: &str) {
    for name in ["systemctl", "reboot"] {
        std::fs::write(node.path("fakes").join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
    }
}

#[test]
fn a_run_goes_on_after_its_reboot_at_the_next_step() {
    needs_root();
    let (cluster, node) = cluster(
        "[\"one\", \"asks\", \"two\"]",
        &[("one", STEP), ("asks", &asks("when = \"once\"")), ("two", STEP)],
    );
    let out = node.provost(&["boot"]).expect(0);
    out.says(&["asks: requests a reboot: new firmware", "continues after that"]);
    assert_eq!(node.reboots(), ["systemctl reboot"]);
    let journal = node.journal("boot");
    let end = journal.last().unwrap();
    assert_eq!(
        (&end["phase"], &end["result"], &end["cause"]),
        (&json!("stage end"), &json!("success"), &json!("reboot"))
    );
    assert_eq!(node.status()["result"], Value::Null, "the run isn't over");
    let said = node.provost(&["status"]).expect(0).stdout;
    assert!(said.contains("waits for a reboot"), "{said}");
    assert_eq!(cluster.status("cn001")["status"], "netbooting");

    node.provost(&["boot"]).expect(0).says(&["continues, run", "[3/3] two: ok", "boot succeeded"]);
    assert_eq!(ran(&cluster), ["one", "asks", "two"]);
    let journal = node.journal("boot");
    let run = &journal[0]["run"];
    for (n, record) in journal.iter().enumerate() {
        assert_eq!((&record["run"], record["seq"].as_u64()), (run, Some(n as u64 + 1)));
    }
    assert_eq!(journal.last().unwrap()["result"], "success");
    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["node"]["status"], "booted");
    assert_eq!(shown["runs"].as_array().unwrap().len(), 1, "it is one run");
    assert_eq!(shown["runs"][0]["records"], json!(journal));
    let status = node.status();
    let stages: Vec<_> = status["stages"].as_array().unwrap().iter().map(|s| &s["stage"]).collect();
    assert_eq!(stages, ["fetch", "one", "asks", "two"]);

    // The next boot is another run; what asked is done.
    node.provost(&["boot"]).expect(0).says(&["asks: skipped: done on"]);
    assert_eq!(node.reboots().len(), 1);
}

#[test]
fn a_step_that_says_so_runs_again_after_its_reboot() {
    needs_root();
    let again = asks("resume = \"again\"")
        .replace("\"$PROVOST\"", "[ \"${PROVOST_RESUME:-0}\" -ge 2 ] || \"$PROVOST\"");
    let (cluster, node) = cluster("[\"asks\", \"two\"]", &[("asks", &again), ("two", STEP)]);
    for _ in 0..3 {
        node.provost(&["boot"]).expect(0);
    }
    assert_eq!(ran(&cluster), ["asks", "asks 1", "asks 2", "two"]);
    assert_eq!(node.reboots().len(), 2);
    let status = node.status();
    assert_eq!(status["result"], "success");
    let stages: Vec<_> = status["stages"].as_array().unwrap().iter().map(|s| &s["stage"]).collect();
    assert_eq!(stages, ["fetch", "asks", "two"]);
    assert!(status["stages"][2]["log"].as_str().unwrap().ends_with("02-two.log"), "{status}");
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_run_goes_on_by_what_its_steps_are_though_the_plan_has_changed() {
    needs_root();
    let scripts = [("one", STEP), ("asks", &asks("leak = \"warn\""))];
    let scripts: Vec<_> = scripts.into_iter().chain([("two", STEP), ("three", STEP)]).collect();
    let (cluster, node) = cluster("[\"one\", \"asks\", \"two\"]", &scripts);
    node.provost(&["boot"]).expect(0);
    cluster.script("one", &format!("{STEP}# changed\n"));
    publish(&cluster, "[\"three\", \"one\", \"two\", \"asks\", \"one x\"]");
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["one", "asks", "three", "two", "one"]);
    let journal = node.journal("boot");
    let plans: Vec<_> = journal.iter().filter_map(|e| e["plan"].as_u64()).collect();
    assert_eq!(plans.len(), 2, "the new plan is recorded: {plans:?}");
}

#[test]
fn a_script_that_always_reboots_ends_in_held() {
    needs_root();
    let (cluster, node) =
        cluster("[\"asks\", \"never\"]", &[("asks", &asks("resume = \"again\"")), ("never", STEP)]);
    for attempt in 1..=3 {
        for _ in 0..3 {
            node.provost(&["boot"]).expect(0);
        }
        let out = node.provost(&["boot"]).expect(1);
        out.says(&["requests another reboot", "of at most 3", "max_reboots"]);
        assert_eq!(node.reboots().len(), 3 * attempt);
        let told = cluster.status("cn001");
        assert_eq!((&told["status"], &told["cause"]), (&json!("failed"), &json!("reboot")));
        assert_eq!((&told["stage"], &told["attempt"]), (&json!("asks"), &json!(attempt)));
    }
    node.provost(&["boot"]).expect(4).says(&["held", "provost release"]);
    assert_eq!(node.reboots().len(), 9);
    assert!(!ran(&cluster).contains(&"never".to_owned()));
}

#[test]
fn a_runner_that_dies_before_the_reboot_loses_nothing_and_does_nothing_twice() {
    needs_root();
    let (cluster, node) =
        cluster("[\"asks\", \"two\"]", &[("asks", &asks("when = \"once\"")), ("two", STEP)]);
    let (good, kill) = (node.path("fakes/systemctl"), "kill -9 $PPID; sleep 5");
    let good = std::fs::read_to_string(good).unwrap();
    fake(&node, kill);
    assert_eq!(node.provost(&["boot"]).code, None, "it was killed");
    fake(&node, good.trim_start_matches("#!/bin/sh\n"));
    // It may not have reboooted: so it asks, and runs nothing.
    node.provost(&["boot"]).expect(0).says(&["rebooting the machine"]);
    assert_eq!((ran(&cluster), node.reboots().len()), (vec!["asks".to_owned()], 1));
    node.provost(&["boot"]).expect(0);
    assert_eq!((ran(&cluster).join(" "), node.reboots().len()), ("asks two".to_owned(), 1));
    assert_eq!(node.journal("boot").last().unwrap()["result"], "success");
}

#[test]
fn what_a_power_cut_took_of_the_last_record_is_put_back() {
    needs_root();
    let (cluster, node) =
        cluster("[\"asks\", \"two\"]", &[("asks", &asks("when = \"once\"")), ("two", STEP)]);
    node.provost(&["boot"]).expect(0);
    let whole = node.journal("boot");
    let cut: Vec<String> = whole[..whole.len() - 1].iter().map(Value::to_string).collect();
    let path = node.path("log/services/boot.json");
    std::fs::write(path, format!("[\n{}\n]\n", cut.join(",\n"))).unwrap();
    std::fs::remove_dir_all(node.path("state/done")).unwrap();
    node.provost(&["boot"]).expect(0);
    let journal = node.journal("boot");
    assert_eq!(journal[whole.len() - 1], whole[whole.len() - 1]);
    node.provost(&["boot"]).expect(0).says(&["asks: skipped"]);
    assert_eq!(ran(&cluster), ["asks", "two", "two"]);
}

#[test]
fn a_machine_that_does_not_reboot_is_told_of_and_the_run_goes_on_later() {
    needs_root();
    let (cluster, node) =
        cluster("[\"asks\", \"two\"]", &[("asks", &asks("leak = \"warn\"")), ("two", STEP)]);
    fake(&node, "echo no bus >&2; exit 1");
    node.provost(&["boot"]).expect(1).says(&["rebooting the machine: ", "no bus", "by hand"]);
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), ["asks", "two"]);
}

#[test]
fn neither_an_installer_nor_an_admin_is_rebooted_under_the_hand() {
    let again = asks("resume = \"again\"");
    let (cluster, node) = cluster(
        "[\"asks\", \"two\"]",
        &[("asks", &asks("leak = \"warn\"")), ("two", STEP), ("again", &again)],
    );
    node.provost(&["kickstart"]).expect(0).says(&["the installer reboots at its end"]);
    assert_eq!(ran(&cluster), ["asks", "two"]);
    node.provost(&["run", "asks"]).expect(0).says(&["reboot this node"]);
    let out = node.provost(&["run", "-P", "asks,two x"]).expect(1);
    out.says(&["requests a reboot before", "provost run -P \"two x\""]);
    let end = node.journal("run").pop().unwrap();
    assert_eq!((&end["cause"], &end["notRun"]), (&json!("reboot"), &json!(["two"])));
    publish(&cluster, "[\"again\", \"two\"]");
    node.provost(&["kickstart"]).expect(1).says(&["postbootscript", "hint: "]);
    assert!(node.reboots().is_empty());
    node.provost(&["reboot-request"]).expect(2).says(&["PROVOST_REBOOT", "hint: "]);
}
