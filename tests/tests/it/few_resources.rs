//! A limit that leaves a run no room is an error that names it, and no crash.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use provost_tests::{Ground, World, skip};

/// More than anything here takes, on a busy machine.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn too_few_descriptors_are_an_error_with_a_hint_and_no_abort() {
    let ground = Ground::new(&[("one", "#!/bin/sh\necho one\n")]);
    for most in [6, 7, 8, 9, 10, 12, 14] {
        let line = format!("ulimit -n {most}; exec \"$@\"");
        let by = ["sh", "-c", line.as_str(), "sh"];
        let run = ground.start_by(&by, World::Walk, &["boot"]).end(LONG);
        assert_eq!(run.code, Some(2), "{most}: {}", run.said);
        assert!(run.said.contains("hint: "), "{most}: {}", run.said);
    }
}

/// A cgroup that limits how many processes and threads there are in it.
struct Pids(PathBuf);

impl Pids {
    /// One in cgroup v1 or v2. It skips the test where none can be made.
    fn new(name: &str) -> Self {
        let roots = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];
        let folder = format!("provost-{name}-{}", std::process::id());
        let made = roots.into_iter().find_map(|root| {
            let cgroup = Path::new(root).join(&folder);
            fs::create_dir(&cgroup).ok()?;
            let cgroup = Self(cgroup);
            cgroup.0.join("pids.max").exists().then_some(cgroup)
        });
        made.unwrap_or_else(|| skip("no cgroup can be made that limits processes"))
    }

    fn set(&self, most: u32) {
        fs::write(self.0.join("pids.max"), most.to_string()).unwrap();
    }
}

impl Drop for Pids {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn too_few_processes_are_an_error_with_a_hint_and_no_abort() {
    let pids = Pids::new("few");
    let script = "#!/bin/sh\n/bin/true | /bin/true\necho one\n";
    let mut succeeded = 0;
    for most in 1..=16 {
        let ground = Ground::new(&[("one", script)]);
        pids.set(most);
        let line = format!("echo $$ >{}/cgroup.procs; exec \"$@\"", pids.0.display());
        let by = ["sh", "-c", line.as_str(), "sh"];
        let run = ground.start_by(&by, World::Walk, &["boot"]).end(LONG);
        match run.code {
            // The script itself got no process.
            Some(1) => assert!(run.said.contains("Cannot fork"), "{most}: {}", run.said),
            Some(0) => succeeded += 1,
            code => {
                assert_eq!(code, Some(2), "{most}: {}", run.said);
                assert!(run.said.contains("error: starting a"), "{most}: {}", run.said);
                assert!(run.said.contains("hint: check ulimit"), "{most}: {}", run.said);
                assert!(run.said.contains("reported to the"), "{most}: {}", run.said);
            }
        }
        ground.nobody_is_left(&format!("{most}"));
    }
    assert!(succeeded > 0, "none was enough");
}

/// Python leaves no processes for anybody else, and takes longer than tokio keeps an idle thread.
const HOG: &str = "#!/usr/bin/python3
import os, time
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
except OSError:
    pass
time.sleep(12)
print('it had them all')
raise SystemExit(7)
";

#[test]
fn a_script_that_takes_every_process_is_reported_like_another() {
    let pids = Pids::new("hog");
    let ground = Ground::new(&[("hog", HOG)]);
    pids.set(40);
    let line = format!("echo $$ >{}/cgroup.procs; exec \"$@\"", pids.0.display());
    let by = ["sh", "-c", line.as_str(), "sh"];
    let run = ground.start_by(&by, World::Walk, &["boot"]).end(LONG);
    assert_eq!(run.code, Some(1), "{}", run.said);
    assert!(run.said.contains("it had them all"), "{}", run.said);
    assert!(!run.said.contains("panicked"), "{}", run.said);
    ground.node().provost(&["report"]).expect(0);
}

#[test]
fn too_small_a_stack_is_an_error_with_a_hint_and_no_abort() {
    let ground = Ground::new(&[("one", "#!/bin/sh\necho one\n")]);
    for kib in [128, 256, 512, 2047] {
        let line = format!("ulimit -s {kib}; exec \"$@\"");
        let by = ["sh", "-c", line.as_str(), "sh"];
        let run = ground.start_by(&by, World::Walk, &["boot"]).end(LONG);
        assert_eq!(run.code, Some(2), "{kib}: {}", run.said);
        assert!(run.said.contains("hint: allow more: ulimit -s"), "{kib}: {}", run.said);
    }
    let run =
        ground.start_by(&["sh", "-c", "ulimit -s 2048; exec \"$@\"", "sh"], World::Walk, &["boot"]);
    assert_eq!(run.end(LONG).code, Some(0));
}
