//! OpenShift's interface of bootstrap services, `lib-sh/bootstrap-service-record.sh`: by `provost
//! record`, and by the shell alone. Each case is one in which OpenShift's own file goes wrong.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use provost_tests::program;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Provost,
    Shell,
}

const WAYS: [Way; 2] = [Way::Provost, Way::Shell];

/// A folder for scripts, and for the records of the service that they are.
struct Service {
    folder: TempDir,
    way: Way,
}

impl Service {
    fn new(way: Way) -> Self {
        Self { folder: TempDir::new().unwrap(), way }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn records(&self) -> PathBuf {
        self.path("records/svc.json")
    }

    /// The command that runs `body` after the library was sourced on line 3.
    fn command(&self, body: &str) -> Command {
        let library = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../lib-sh/bootstrap-service-record.sh")
            .canonicalize()
            .unwrap();
        let text = format!("#!/bin/bash\nset -euo pipefail\n. '{}'\n{body}", library.display());
        std::fs::write(self.path("svc.sh"), text).unwrap();
        let mut command = Command::new("bash");
        command.arg(self.path("svc.sh")).current_dir(&self.folder).stdin(Stdio::null());
        command.env_remove("INVOCATION_ID").env("SERVICE_NAME", "svc");
        command.env("SERVICE_RECORDS_DIR", self.path("records"));
        let none = PathBuf::from("/nonexistent/provost");
        let program = if self.way == Way::Provost { program("provost") } else { none };
        command.env("PROVOST_BIN", program);
        command
    }

    fn run(&self, body: &str) -> ExitStatus {
        self.command(body).status().unwrap()
    }

    /// Starts `body` in a process group of its own and waits until it prints `ready`.
    fn start(&self, body: &str) -> Child {
        let mut child = self.command(body).process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        child
    }

    fn entries(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.records()).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    /// Each entry as `phase stage result`.
    fn story(&self) -> Vec<String> {
        self.entries().iter().map(told).collect()
    }

    fn last(&self) -> Value {
        self.entries().pop().unwrap()
    }
}

fn told(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let phase = text("phase").to_owned();
    let words = [text("stage"), text("result")]
        .map(|w| if w.is_empty() { w.into() } else { format!(" {w}") });
    phase + &words.concat()
}

/// OpenShift's sample: a service, two stages, one of which is tried again, and a command that fails.
const SAMPLE: &str = "\
record_service_stage_start first
record_service_stage_success
record_service_stage_start second
record_service_stage_failure
record_service_stage_start second
attempt() {
    [ \"$1\" = right ]
}
attempt wrong
";

#[test]
fn the_sample_is_recorded_as_its_text_says() {
    let mut both = Vec::new();
    for way in WAYS {
        let service = Service::new(way);
        assert_eq!(service.run(SAMPLE).code(), Some(1));
        assert_eq!(
            service.story(),
            [
                "service start",
                "stage start first",
                "stage end first success",
                "stage start second",
                "stage end second failure",
                "stage start second",
                "stage end second failure",
                "service end failure",
            ],
            "{way:?}"
        );
        let mut entries = service.entries();
        let file = service.path("svc.sh").display().to_string();
        assert_eq!(entries[4]["errorLine"], format!("7 main {file}"), "{way:?}");
        for entry in &mut entries[6..] {
            assert_eq!(entry["errorLine"], format!("10 attempt {file}"), "{way:?}");
        }
        for entry in &mut entries {
            let entry = entry.as_object_mut().unwrap();
            assert!(!entry.remove("timestamp").unwrap().is_null());
            assert!(!entry.remove("run").unwrap().is_null());
            entry.remove("errorLine");
        }
        both.push(entries);
    }
    assert_eq!(both[0], both[1], "the shell alone writes what provost writes");
}

#[test]
fn keys_are_in_openshifts_order() {
    for way in WAYS {
        let service = Service::new(way);
        service.run("record_service_stage_start s\nfalse\n");
        let text = std::fs::read_to_string(service.records()).unwrap();
        let line = text.lines().find(|line| line.contains("stage end")).unwrap();
        let keys = ["timestamp", "stage", "phase", "result", "errorLine"];
        let at: Vec<usize> =
            keys.iter().map(|k| line.find(&format!("\"{k}\":")).unwrap()).collect();
        assert!(at.is_sorted(), "{way:?}: {line}");
    }
}

#[test]
fn a_sigterm_is_a_failure() {
    for way in WAYS {
        for whole_group in [true, false] {
            let service = Service::new(way);
            // Alone, bash heeds it once the foreground command has ended.
            let nap = if whole_group { "sleep 600" } else { "while :; do :; done" };
            let body = format!("record_service_stage_start s\necho ready\n{nap}\n");
            let mut child = service.start(&body);
            let pid = Pid::from_child(&child);
            let kill = if whole_group { kill_process_group } else { kill_process };
            kill(pid, Signal::TERM).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(15), "{way:?}");
            let ends = ["stage end s failure", "service end failure"];
            assert_eq!(service.story()[2..], ends, "{way:?}");
            assert_eq!(service.last()["signal"], "SIGTERM", "{way:?}");
        }
    }
}

#[test]
fn a_sigterm_that_the_script_handles_is_a_failure_too() {
    for way in WAYS {
        let service = Service::new(way);
        let mut child = service.start("trap 'exit 0' TERM\necho ready\nwhile :; do :; done\n");
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{way:?}: the status is the script's");
        assert_eq!(service.story()[1..], ["service end failure"], "{way:?}");
    }
}

#[test]
fn writers_at_once_lose_nothing() {
    for ways in [[Way::Provost; 2], [Way::Shell; 2], WAYS] {
        let first = Service::new(ways[0]);
        let body = "record_service_stage_start \"s$$\"\nrecord_service_stage_success\n";
        let mut commands: Vec<Command> = (0..20).map(|_| first.command(body)).collect();
        if ways[1] != ways[0] {
            for command in commands.iter_mut().step_by(2) {
                command.env("PROVOST_BIN", "/nonexistent");
            }
        }
        let children: Vec<Child> = commands.iter_mut().map(|c| c.spawn().unwrap()).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let story = first.story();
        assert_eq!(story.len(), 80, "{ways:?}");
        for (phase, count) in [("service start", 20), ("service end success", 20)] {
            assert_eq!(story.iter().filter(|s| *s == phase).count(), count, "{ways:?} {phase}");
        }
        assert!(!story.iter().any(|s| s.contains("failure")), "nobody was cut off: {story:?}");
    }
}

/// A folder with all programs that the library calls but `flock`, as in a small image.
fn programs_without_flock(service: &Service) -> PathBuf {
    let folder = service.path("programs");
    std::fs::create_dir(&folder).unwrap();
    let names = "awk bash cat cp date iconv ln mkdir mv rm sleep sync tr";
    for name in names.split(' ') {
        let from = ["/usr/bin", "/bin"].map(|f| Path::new(f).join(name));
        let from = from.iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(from, folder.join(name)).unwrap();
    }
    folder
}

#[test]
fn writers_at_once_lose_nothing_without_flock_either() {
    let service = Service::new(Way::Shell);
    let path = programs_without_flock(&service);
    let body = "record_service_stage_start s\nrecord_service_stage_success\n";
    let lock = service.path("records/svc.json.lock");
    std::fs::create_dir(service.path("records")).unwrap();
    // What a kill or a power cut may leave: no name, no such process, nothing that names one.
    for (round, left) in (1..).zip(["", "999999999.1.none\n", "garbage\n"]) {
        std::fs::write(&lock, left).unwrap();
        // All are made first, since each writes the script.
        let mut commands: Vec<Command> = (0..20).map(|_| service.command(body)).collect();
        let start = |command: &mut Command| command.env("PATH", &path).spawn().unwrap();
        let writers: Vec<Child> = commands.iter_mut().map(start).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        assert_eq!(service.entries().len(), round * 20 * 4, "{left:?}");
        let files = std::fs::read_dir(service.path("records")).unwrap().count();
        assert_eq!(files, 1, "{left:?}: locks are left");
    }
}

#[test]
fn what_is_no_record_makes_no_file_unreadable() {
    for way in WAYS {
        for text in ["[1,2]", "[[1]]", "[\n1,\n2\n]\n", "null"] {
            let service = Service::new(way);
            std::fs::create_dir(service.path("records")).unwrap();
            std::fs::write(service.records(), text).unwrap();
            assert!(service.run("").success());
            assert_eq!(service.story(), ["service start", "service end success"], "{text}");
            let kept = std::fs::read_to_string(service.path("records/svc.damaged")).unwrap();
            assert_eq!(kept, text);
        }
    }
}

#[test]
fn a_damaged_file_is_mended() {
    let entry = r#"{"timestamp":"2026-11-20T17:00:01Z","phase":"service start"}"#;
    let pretty = "[\n    {\n        \"timestamp\": \"2026-11-20T17:00:01Z\",\n        \"phase\": \"service start\"\n    }\n]\n";
    let cases: [(&str, String, usize); 7] = [
        ("empty", String::new(), 0),
        ("torn", format!("[\n{entry},\n{{\"timestamp\":\"2026-11-20T17:0"), 1),
        ("without an end", format!("[\n{entry}"), 1),
        ("NULs", format!("[\n{entry},\n\0\0\0\0"), 1),
        ("no array", "disk full".to_owned(), 0),
        ("jq's own layout", pretty.to_owned(), 1),
        ("an empty array", "[]".to_owned(), 0),
    ];
    for way in WAYS {
        for (what, text, kept) in &cases {
            let service = Service::new(way);
            std::fs::create_dir(service.path("records")).unwrap();
            std::fs::write(service.records(), text).unwrap();
            let status = service.run("record_service_stage_start s\n");
            assert!(status.success(), "{way:?} {what}");
            let story = service.story();
            assert_eq!(story.len(), kept + 4, "{way:?} {what}: {story:?}");
            assert_eq!(story[kept + 1..][..2], ["stage start s", "stage end s success"]);
        }
    }
}

#[test]
fn what_cannot_be_recorded_does_not_keep_the_script_from_running() {
    for way in WAYS {
        let service = Service::new(way);
        let body = "record_service_stage_start s\nrecord_service_stage_success\ntouch done\n";
        let mut command = service.command(body);
        let out = command.env("SERVICE_RECORDS_DIR", "/proc/no/such").output().unwrap();
        assert!(out.status.success(), "{way:?}");
        assert!(service.path("done").exists(), "{way:?}: the body ran");
        assert!(String::from_utf8_lossy(&out.stderr).contains("is not recorded"), "{way:?}");
    }
}

#[test]
fn a_full_disk_neither_stops_the_script_nor_damages_the_file() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: it takes root to mount a small file system");
        return;
    }
    for way in WAYS {
        let service = Service::new(way);
        let body = "record_service_stage_start s\nrecord_service_stage_success\ntouch done\n";
        service.command(body);
        let records = service.path("records");
        std::fs::create_dir(&records).unwrap();
        // One page is full of a record, the other of something else.
        let script = r#"mount -t tmpfs -o size=8k none records
            printf '[\n{"timestamp":"2026-11-20T17:00:01Z","phase":"service start"%4020s}\n]\n' '' \
                >records/svc.json
            head -c 100000 /dev/zero >records/fill 2>/dev/null
            bash ./svc.sh
            echo $? >status
            cp records/svc.json after"#;
        let mut command = service.command(body);
        let env: Vec<_> =
            command.get_envs().filter_map(|(k, v)| Some((k.to_owned(), v?.to_owned()))).collect();
        command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script]).envs(env).current_dir(&service.folder);
        let out = command.output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(std::fs::read_to_string(service.path("status")).unwrap(), "0\n", "{said}");
        assert!(service.path("done").exists(), "{way:?}: the body ran");
        assert!(said.contains("is not recorded"), "{way:?}: {said}");
        let after = std::fs::read_to_string(service.path("after")).unwrap();
        let entries: Vec<Value> = serde_json::from_str(&after).unwrap();
        assert_eq!(entries.len(), 1, "{way:?}: {after}");
    }
}

#[test]
fn times_are_utc_wherever_the_machine_is() {
    for way in WAYS {
        let service = Service::new(way);
        let out = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().unwrap();
        assert!(service.command("").env("TZ", "Asia/Tokyo").status().unwrap().success());
        let now = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        let at = service.last()["timestamp"].as_str().unwrap().to_owned();
        assert!(at >= now && at[..13] <= *"9999", "{way:?}: {at} after {now}");
        // Nine hours ahead it would be if it were local.
        let hour = |t: &str| t[11..13].parse::<u32>().unwrap();
        assert!((hour(&at) + 24 - hour(&now)) % 24 <= 1, "{way:?}: {at} after {now}");
    }
}

#[test]
fn outside_of_a_unit_the_service_is_called_as_the_script() {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    if groups.contains(".service") {
        eprintln!("SKIPPED: this test itself runs in a unit");
        return;
    }
    for way in WAYS {
        let service = Service::new(way);
        assert!(service.command("").env_remove("SERVICE_NAME").status().unwrap().success());
        let names: Vec<_> = std::fs::read_dir(service.path("records")).unwrap().collect();
        assert_eq!(names.len(), 1);
        assert!(service.records().exists(), "{way:?}");
    }
}

#[test]
fn the_scripts_own_traps_run_and_the_end_is_recorded_all_the_same() {
    let cases = [
        ("trap 'echo $? >own' EXIT\n(exit 4)\n", Some(4), "4\n", "failure"),
        ("trap 'echo $? >own' EXIT\n", Some(0), "0\n", "success"),
        (
            "trap 'rc=$?; echo $rc >own; exit $rc' EXIT\nf() { exit 6; }\nf\n",
            Some(6),
            "6\n",
            "failure",
        ),
        ("trap 'echo $? >own; exit 9' EXIT\n", Some(9), "0\n", "failure"),
        ("trap 'echo $? >own; false' EXIT\n", Some(1), "0\n", "failure"),
        ("trap 'echo $? >own' ERR\nfalse\n", Some(1), "1\n", "failure"),
        ("trap 'echo no >own' EXIT\ntrap - EXIT\necho 0 >own\n", Some(0), "0\n", "success"),
        ("( trap 'echo 0 >own' EXIT )\n", Some(0), "0\n", "success"),
    ];
    for way in WAYS {
        for (body, status, own, result) in cases {
            let service = Service::new(way);
            assert_eq!(service.run(body).code(), status, "{way:?}: {body}");
            assert_eq!(std::fs::read_to_string(service.path("own")).unwrap(), own, "{body}");
            let story = service.story();
            assert_eq!(
                story,
                ["service start", &format!("service end {result}")],
                "{way:?}: {body}"
            );
        }
    }
}

#[test]
fn the_failing_line_is_named() {
    let cases = [
        ("true\nfalse\n", "5 main"),
        ("f() {\n    false\n}\nf\n", "5 f"),
        ("f() {\n    exit 3\n}\nf\n", "5 f"),
        ("set +e\nfalse\ntrue\nexit 3\n", "7 main"),
        ("x=$(false)\n", "4 main"),
        ("true | false\n", "4 main"),
        ("trap 'rc=$?; exit $rc' EXIT\nfalse\n", "5 main"),
        ("record_service_stage_success\n", "4 main"),
    ];
    for way in WAYS {
        for (body, place) in cases {
            let service = Service::new(way);
            assert!(!service.run(body).success());
            let file = service.path("svc.sh").display().to_string();
            assert_eq!(service.last()["errorLine"], format!("{place} {file}"), "{way:?}: {body}");
        }
    }
}

#[test]
fn a_killed_script_is_recorded_as_interrupted_by_the_next_start() {
    for way in WAYS {
        let service = Service::new(way);
        let mut alive = service.start("echo ready\nread -r _ || sleep 600\n");
        let mut child = service.start("record_service_stage_start s\necho ready\nsleep 600\n");
        kill_process_group(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(service.run("").success());
        assert_eq!(
            service.story()[3..],
            ["stage end s failure", "service end failure", "service start", "service end success"],
            "{way:?}: who is alive isn't interrupted"
        );
        let entries = service.entries();
        for entry in &entries[3..5] {
            assert_eq!(entry["cause"], "interrupted", "{way:?}");
            assert_eq!(entry["run"], entries[2]["run"], "{way:?}");
        }
        let said = "the run was cut off during s; its end was never written";
        assert_eq!(entries[4]["errorMessage"], said, "{way:?}");
        kill_process_group(Pid::from_child(&alive), Signal::KILL).unwrap();
        alive.wait().unwrap();
    }
}

#[test]
fn misuse_ends_the_script() {
    for way in WAYS {
        for (body, story) in [
            (
                "record_service_stage_start a\nrecord_service_stage_start b\n",
                &["service start", "stage start a", "stage end a failure", "service end failure"][..],
            ),
            ("record_service_stage_failure\n", &["service start", "service end failure"][..]),
        ] {
            let service = Service::new(way);
            let out = service.command(body).output().unwrap();
            assert_eq!(out.status.code(), Some(1), "{way:?}: {body}");
            assert!(String::from_utf8_lossy(&out.stderr).contains("hint: "), "{way:?}: {body}");
            assert_eq!(service.story(), story, "{way:?}: {body}");
        }
    }
}

#[test]
fn commands_before_and_after_a_service_have_phases_of_their_own() {
    for way in WAYS {
        for (variable, key, phase) in [
            ("PRE_COMMAND", "preCommand", "pre-command"),
            ("POST_COMMAND", "postCommand", "post-command"),
        ] {
            let service = Service::new(way);
            assert!(service.command("").env(variable, "tidy up").status().unwrap().success());
            let want = [format!("{phase} start"), format!("{phase} end success")];
            assert_eq!(service.story(), want, "{way:?}");
            assert!(service.entries().iter().all(|e| e[key] == "tidy up"), "{way:?}");
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let name = "a \"b\" \\ $(touch pwned) `touch pwned` 'x' \u{1}\u{7f} \u{fc}\n- {\"phase\":\"service end\"}";
    for way in WAYS {
        let service = Service::new(way);
        let mut command = service.command("record_service_stage_start \"$HOSTILE\"\n");
        assert!(command.env("HOSTILE", name).status().unwrap().success(), "{way:?}");
        assert_eq!(service.entries().len(), 4, "{way:?}");
        assert_eq!(service.entries()[1]["stage"], name, "{way:?}");
        assert!(!service.path("pwned").exists(), "{way:?}");
    }
}

/// In the manner of bootkube.sh: stages that leave markers. It is killed in the stage `KILLED_IN`.
const STAGES: &str = "\
for stage in render etcd bootstrap; do
    if [ ! -f \"$stage.done\" ]; then
        record_service_stage_start \"$stage\"
        echo \"$stage\" >>log
        if [ \"${KILLED_IN-}\" = \"$stage\" ]; then
            kill -KILL $$
        fi
        touch \"$stage.done\"
        record_service_stage_success
    fi
done
";

#[test]
fn a_service_that_is_killed_in_each_stage_resumes_and_ends() {
    for way in WAYS {
        let service = Service::new(way);
        for stage in ["render", "etcd", "bootstrap"] {
            let status = service.command(STAGES).env("KILLED_IN", stage).status().unwrap();
            assert_eq!(status.signal(), Some(9), "{way:?}");
            assert_eq!(told(&service.last()), format!("stage start {stage}"), "{way:?}");
        }
        assert!(service.run(STAGES).success());
        let log = std::fs::read_to_string(service.path("log")).unwrap();
        assert_eq!(log, "render\nrender\netcd\netcd\nbootstrap\nbootstrap\n", "{way:?}");
        assert_eq!(
            service.story(),
            [
                "service start",
                "stage start render",
                "stage end render failure",
                "service end failure",
                "service start",
                "stage start render",
                "stage end render success",
                "stage start etcd",
                "stage end etcd failure",
                "service end failure",
                "service start",
                "stage start etcd",
                "stage end etcd success",
                "stage start bootstrap",
                "stage end bootstrap failure",
                "service end failure",
                "service start",
                "stage start bootstrap",
                "stage end bootstrap success",
                "service end success",
            ],
            "{way:?}"
        );
    }
}
