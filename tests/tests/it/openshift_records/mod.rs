//! OpenShift's interface of bootstrap services, `lib-sh/bootstrap-service-record.sh`: by `provost
//! record`, and by the shell alone. Each case is one in which OpenShift's own file goes wrong.

mod damage;
mod ends;

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use provost_tests::{missing, program, skip, skip_if};
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
        let library = library();
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

    /// The same, in the control group of a unit.
    fn command_in_unit(&self, body: &str, unit: &str) -> Command {
        let command = self.command(body);
        let group = self.path("cgroup");
        std::fs::write(&group, format!("0::/system.slice/{unit}\n")).unwrap();
        let text = std::fs::read_to_string(library()).unwrap();
        let copy = self.path("library.sh");
        let group = group.display().to_string();
        std::fs::write(&copy, text.replace("/proc/self/cgroup", &group)).unwrap();
        let script = std::fs::read_to_string(self.path("svc.sh")).unwrap();
        let [library, copy] = [library(), copy].map(|path| path.display().to_string());
        std::fs::write(self.path("svc.sh"), script.replace(&library, &copy)).unwrap();
        command
    }

    fn run(&self, body: &str) -> ExitStatus {
        self.command(body).status().unwrap()
    }

    /// Starts `body` in a process group of its own and waits until it prints `ready`.
    fn start(&self, body: &str) -> Child {
        self.start_command(self.command(body))
    }

    fn start_command(&self, mut command: Command) -> Child {
        let mut child = command.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
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

fn library() -> PathBuf {
    let library = "../lib-sh/bootstrap-service-record.sh";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(library).canonicalize().unwrap()
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
            assert_eq!(entry["calledFrom"], format!("13 main {file}"), "{way:?}");
        }
        for entry in &mut entries {
            let entry = entry.as_object_mut().unwrap();
            assert!(!entry.remove("timestamp").unwrap().is_null());
            assert!(!entry.remove("run").unwrap().is_null());
            entry.remove("errorLine");
            entry.remove("calledFrom");
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
        skip("this test itself runs in a unit")
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

/// `LINE FUNCTION | COMMAND | LINE FUNCTION of the caller`, after the script's third line.
#[test]
fn the_command_is_named_whose_status_ended_the_script() {
    let main = "set +e\nmain() {\n    ls /nowhere\n}\n";
    let cases = [
        ("ls /nowhere | sort | cat\n".into(), "4 main | ls /nowhere | "),
        ("echo a |\n    grep b |\n    cat\n".into(), "5 main | grep b | "),
        ("set +o pipefail\nfalse | sh -c 'exit 3'\n".into(), "5 main | sh -c 'exit 3' | "),
        ("f() { ls /nowhere | cat; }\nf\n".into(), "4 f | ls /nowhere | 5 main"),
        (
            "die() { echo \"$*\" >&2; exit 1; }\n[ -e /nowhere ] || die no\n".into(),
            "4 die | exit 1 | 5 main",
        ),
        ("set +e\nls /nowhere\nexit $?\n".into(), "5 main | ls /nowhere | "),
        (format!("{main}main\nexit $?\n"), "6 main | ls /nowhere | 8 main"),
        (format!("{main}main 2>&1 | tee log\nexit ${{PIPESTATUS[0]}}\n"), "8 main | main 2>&1 | "),
        ("ls /nowhere || exit $?\n".into(), "4 main | ls /nowhere | "),
        ("rc=0\nls /nowhere || rc=$?\n[ -z x ] || exit $rc\n".into(), "5 main | ls /nowhere | "),
        ("set +e\nif true; then\n    ls /nowhere\nfi\nexit $?\n".into(), "8 main | exit 2 | "),
        ("(\n    cd / # away\n    ls /nowhere\n)\n".into(), "4 main | ( cd /; ls /nowhere ) | "),
        ("x=$(\n    ls /nowhere\n)\n".into(), "4 main | x=$(ls /nowhere) | "),
        // It went on after the failure.
        ("set +e\nfalse\ntrue\n[ -e /nowhere ] && true\n".into(), " |  | "),
        ("set +e\nf() {\n    false\n}\nf\n".into(), "6 f | false | 8 main"),
    ];
    for way in WAYS {
        for (body, expected) in &cases {
            let service = Service::new(way);
            assert!(!service.run(body).success());
            let (last, file) = (service.last(), service.path("svc.sh").display().to_string());
            let text = |key: &str| last[key].as_str().unwrap_or_default();
            let line = |key| text(key).strip_suffix(&file).unwrap_or_default().trim_end();
            let found = [line("errorLine"), text("command"), line("calledFrom")].join(" | ");
            assert_eq!(found, *expected, "{way:?}: {body}");
        }
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
