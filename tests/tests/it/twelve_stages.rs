//! A postscript of twelve stages of its own: wherever it fails, is killed or is stopped, the node
//! and the management node show that stage, those before it as done, and none after it.

use std::fmt::Write;
use std::process::Child;

use provost_tests::{Cluster, Node, pipe};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const STAGES: [&str; 12] = [
    "find-disk",
    "partition",
    "format",
    "label",
    "mount",
    "fstab",
    "folders",
    "rights",
    "quota",
    "swap",
    "links",
    "tell",
];
/// A few of them.
const SOME: [usize; 3] = [0, 5, 11];

/// Each stage calls `work`, which does what the file `how` says: `fail mount`, `kill mount`, `wait
/// mount`, or `nothing`.
const HEAD: &str = "\
#!/bin/bash
set -euo pipefail
. bootstrap-service-record.sh
read -r how where <\"$CASE/how\"
work() {
    echo \"$1\" >>\"$CASE/ran\"
    [[ $1 == \"$where\" ]] || return 0
    case $how in
    fail)
        echo \"no space left for $1\" >&2
        (exit 32)
        ;;
    kill) kill -KILL $$ ;;
    wait) sh -c 'echo >\"$CASE/begun\" && exec cat \"$CASE/go\"' ;;
    esac
}
";
/// The line of `(exit 32)`.
const FAILS_AT: usize = 11;

/// The line on which the stage at `index` calls `work`.
fn calls_at(index: usize) -> usize {
    HEAD.lines().count() + 3 * index + 2
}

/// A node whose postscripts are that script and another.
struct Ground {
    cluster: Cluster,
    node: Node,
}

/// How a stage ended: its `result`, and in words; and its step in words.
struct End {
    result: Option<&'static str>,
    words: &'static str,
    step: &'static str,
}

const FAILED: End =
    End { result: Some("failure"), words: "FAILED (exit status 32)", step: "exit status 32" };
const KILLED: End = End { result: None, words: "no end", step: "killed by SIGKILL" };
const STOPPED: End = End {
    result: Some("failure"),
    words: "stopped (interrupted by SIGTERM)",
    step: "interrupted by SIGTERM",
};

/// The stages of the script in a text for people, each with what is said of it.
fn stages(text: &str) -> Vec<(&str, &str)> {
    let words = text.lines().filter_map(|line| line.trim_start().split_once(' '));
    let of_stages = words.filter(|(stage, _)| STAGES.contains(stage));
    of_stages.map(|(stage, words)| (stage, words.trim_start())).collect()
}

/// The stages before `index`, which are ok, and that one with `words`.
fn with_last(index: usize, words: &str) -> Vec<(&str, &str)> {
    let words = std::iter::repeat_n("ok", index).chain([words]);
    STAGES.into_iter().zip(words).collect()
}

impl Ground {
    fn new() -> Self {
        let mut cluster = Cluster::new();
        let mut script = HEAD.to_owned();
        for stage in STAGES {
            writeln!(script, "record_service_stage_start {stage}\nwork {stage}").unwrap();
            script += "record_service_stage_success\n";
        }
        cluster.script("scratch", &script).script("later", "#!/bin/sh\n");
        let case = cluster.path("case");
        std::fs::create_dir(&case).unwrap();
        for name in ["begun", "go"] {
            pipe(&case.join(name));
        }
        let records = cluster.path("nodes/cn001/openshift");
        cluster.site(&format!(
            "[nodes.cn001]\npostscripts = [\"scratch\", \"later\"]\n\
             env = {{ CASE = {case:?}, SERVICE_RECORDS_DIR = {records:?}, LANG = \"C\" }}\n"
        ));
        cluster.publish().expect(0);
        cluster.start();
        let node = cluster.node("cn001");
        Self { cluster, node }
    }

    /// What the script does from now on.
    fn will(&self, how: &str) {
        std::fs::write(self.cluster.path("case/how"), format!("{how}\n")).unwrap();
        let _ = std::fs::remove_file(self.cluster.path("case/ran"));
    }

    /// Boots until the script waits in the stage at `index`, which the node shows.
    fn boot_until(&self, index: usize) -> Child {
        let child = self.node.spawn(&["boot"]);
        std::fs::read(self.cluster.path("case/begun")).unwrap();
        let text = self.node.provost(&["status"]).expect(0).stdout;
        assert_eq!(stages(&text), with_last(index, "running"), "{text}");
        child
    }

    /// Boots until the script waits, and then ends the run as a shutdown does.
    fn stop(&self, index: usize) {
        let mut child = self.boot_until(index);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(5));
    }

    /// The stages that really ran since `will`.
    fn ran(&self) -> Vec<String> {
        let ran = std::fs::read_to_string(self.cluster.path("case/ran")).unwrap();
        ran.lines().map(str::to_owned).collect()
    }

    /// Sees that both show the boot so: the stages before `index` done, that one as `end` says,
    /// and none after it. Returns the step.
    #[track_caller]
    fn ended(&self, index: usize, end: &End) -> Value {
        assert_eq!(self.ran(), STAGES[..=index]);
        let status = self.node.status();
        let step = &status["stages"][1];
        assert_eq!((&status["result"], &step["result"]), (&json!("failure"), &json!("failure")));
        assert_eq!((&step["stage"], &status["notRun"]), (&json!("scratch"), &json!(["later"])));
        self.has_inner(step, index, Some(json!(end.result)));
        let node = &self.cluster.ctl_json(&["nodes", "cn001"])[0];
        assert_eq!((&node["status"], &node["stage"]), (&json!("failed"), &json!("scratch")));
        for key in ["cause", "exitCode", "signal", "errorLine"] {
            assert_eq!(node[key], step[key], "{key}: {node:#}");
        }

        let [text, show] = self.texts(index, end.words);
        let analysis = self.node.provost(&["analyze"]).expect(1).stdout;
        let nodes = self.cluster.ctl(&["nodes"]).expect(0).stdout;
        let (stage, how) = (STAGES[index], end.step);
        for (shown, parts) in [
            (text, [format!("\nscratch: {stage}: {how}\n"), format!("{:<24} not run\n", "later")]),
            (analysis, [format!("\nscratch: {stage}: {how}\n"), format!("the stage {stage}")]),
            (show, [format!("outcome   {stage}: {how}\n"), "not run  later\n".to_owned()]),
            (nodes, ["failed".to_owned(), format!("scratch  {how}")]),
        ] {
            for part in parts {
                assert!(shown.contains(&part), "no {part:?} in\n{shown}");
            }
        }
        step.clone()
    }

    /// Sees that both show the last run, `service`, as a success of all stages.
    #[track_caller]
    fn succeeded(&self, service: &str) {
        assert_eq!(self.ran(), STAGES);
        let status = self.node.status();
        let step = &status["stages"][1];
        assert_eq!((&status["service"], &status["result"]), (&json!(service), &json!("success")));
        self.has_inner(step, STAGES.len(), None);
        self.texts(STAGES.len(), "");
    }

    /// The own stages of `step`: `done` successes, and then what `last` is. The management node has
    /// the same.
    #[track_caller]
    fn has_inner(&self, step: &Value, done: usize, last: Option<Value>) {
        let inner = step["inner"].as_array().unwrap();
        let told: Vec<_> =
            inner.iter().map(|i| (i["stage"].clone(), i["result"].clone())).collect();
        let results = std::iter::repeat_n(json!("success"), done).chain(last);
        let expected: Vec<_> = STAGES.iter().map(|stage| json!(stage)).zip(results).collect();
        assert_eq!(told, expected, "{step:#}");
        assert!(inner.iter().all(|i| i["service"] == "scratch"), "{step:#}");

        let run = &self.cluster.ctl_json(&["show", "cn001"])["runs"][0];
        let records = run["records"].as_array().unwrap();
        let is_end = |r: &&Value| r["stage"] == "scratch" && r["phase"] == "stage end";
        assert_eq!(records.iter().find(is_end).unwrap()["inner"], step["inner"], "{run:#}");
    }

    /// What `provost status` and `provostctl show` say: the stages before `index` are ok, that one is
    /// as `words` say, and the others aren't there.
    #[track_caller]
    fn texts(&self, index: usize, words: &str) -> [String; 2] {
        let texts = [
            self.node.provost(&["status"]).expect(0).stdout,
            self.cluster.ctl(&["show", "cn001"]).expect(0).stdout,
        ];
        for (at, text) in texts.iter().enumerate() {
            // `show` has below the last run the one that the node's status is about.
            let run = if at == 0 { text } else { text.split("\n\n").nth(1).unwrap() };
            assert_eq!(stages(run), with_last(index, words), "{text}");
        }
        texts
    }

    /// Fixes it, and goes on: the node is booted, and nothing is wrong any more.
    #[track_caller]
    fn goes_on(&self) {
        self.will("nothing");
        self.node.provost(&["boot", "--continue"]).expect(0);
        self.succeeded("boot");
        assert_eq!(self.cluster.status("cn001")["status"], "booted");
        let analysis = self.node.provost(&["analyze"]).expect(0).stdout;
        assert!(analysis.contains("\n  scratch                  succeeded"), "{analysis}");
    }
}

#[test]
fn a_failure_in_any_stage_is_shown_there_and_the_boot_goes_on_once_it_is_fixed() {
    let ground = Ground::new();
    for (index, stage) in STAGES.iter().enumerate() {
        ground.will(&format!("fail {stage}"));
        let called = format!("error: scratch: {stage}: exit status 32 at line {FAILS_AT} work ");
        ground.node.provost(&["boot"]).expect(1).says(&[&called]);
        let step = ground.ended(index, &FAILED);
        assert_eq!(step["errorMessage"], format!("no space left for {stage}"));
        let called_from = format!("{} main ", calls_at(index));
        for failed in [&step, &step["inner"][index]] {
            assert_eq!((&failed["exitCode"], &failed["cause"]), (&json!(32), &json!("exit")));
            let text = |key: &str| failed[key].as_str().unwrap().to_owned();
            assert!(text("errorLine").starts_with(&format!("{FAILS_AT} work ")), "{failed:#}");
            assert!(text("calledFrom").starts_with(&called_from), "{called_from} {failed:#}");
            assert_eq!(text("command"), "( exit 32 )");
        }
        ground.goes_on();
    }
}

#[test]
fn a_script_that_is_killed_in_a_stage_has_failed_there() {
    let ground = Ground::new();
    for index in SOME {
        ground.will(&format!("kill {}", STAGES[index]));
        ground.node.provost(&["boot"]).expect(1);
        let step = ground.ended(index, &KILLED);
        assert_eq!((&step["signal"], &step["cause"]), (&json!("SIGKILL"), &json!("signal")));
        ground.goes_on();
    }
}

#[test]
fn a_run_that_is_stopped_in_a_stage_was_interrupted_there_and_nothing_failed() {
    let ground = Ground::new();
    for index in SOME {
        ground.will(&format!("wait {}", STAGES[index]));
        ground.stop(index);
        let step = ground.ended(index, &STOPPED);
        assert_eq!(step["errorMessage"], "it printed nothing");
        let analysis = ground.node.provost(&["analyze"]).expect(1).stdout;
        let service = format!("  {:<24} stopped", "scratch");
        assert!(analysis.contains(&service), "{analysis}");
        for stopped in [&step, &step["inner"][index]] {
            let how = (&stopped["signal"], &stopped["cause"]);
            assert_eq!(how, (&json!("SIGTERM"), &json!("interrupted")), "{step:#}");
        }
        ground.goes_on();
    }
}

#[test]
fn a_run_that_a_power_cut_ended_in_a_stage_shows_how_far_it_came() {
    let ground = Ground::new();
    for index in SOME {
        ground.will(&format!("wait {}", STAGES[index]));
        let mut child = ground.boot_until(index);
        // The keeper goes with its runner, and the script with both.
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        let text = ground.node.provost(&["status"]).expect(0).stdout;
        assert_eq!(stages(&text), with_last(index, "no end"), "{text}");
        ground.goes_on();
        let shown = ground.cluster.ctl_json(&["show", "cn001", "--runs", "2"]);
        let records = shown["runs"][1]["records"].as_array().unwrap();
        let is_end = |r: &&Value| r["stage"] == "scratch" && r["phase"] == "stage end";
        let inner = records.iter().find(is_end).unwrap()["inner"].as_array().unwrap();
        let told: Vec<_> = inner.iter().map(|i| (&i["stage"], &i["result"])).collect();
        assert_eq!(told.len(), index + 1, "{shown:#}");
        assert_eq!(told[index], (&json!(STAGES[index]), &Value::Null));
    }
}

#[test]
fn a_script_that_is_fixed_and_run_by_hand_shows_its_stages_anew() {
    let ground = Ground::new();
    for index in SOME {
        ground.will(&format!("fail {}", STAGES[index]));
        ground.node.provost(&["boot"]).expect(1);
        ground.ended(index, &FAILED);
        ground.will("nothing");
        ground.node.provost(&["run", "scratch"]).expect(0);
        ground.succeeded("run");
        // The boot is still the one that failed.
        assert_eq!(ground.cluster.status("cn001")["status"], "failed");
        assert_eq!(ground.node.status()["unfinished"]["notRun"], json!(["later"]));
        ground.goes_on();
    }
}
