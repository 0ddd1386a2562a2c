//! units/provost-boot-retry.timer, by systemd's own reading of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Out, missing, skip_if};

fn unit(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../units").join(name)
}

/// The values of `key` in a unit, in seconds.
fn seconds(text: &str, key: &str) -> Vec<u64> {
    let values = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let read = |value: &str| {
        let out = Command::new("systemd-analyze").args(["timespan", value]).output().unwrap();
        let said = Out::from(out).expect(0).stdout;
        let microseconds = said.lines().find_map(|line| line.trim().strip_prefix("μs: "));
        microseconds.unwrap_or_else(|| panic!("{said}")).parse::<u64>().unwrap() / 1_000_000
    };
    values.map(read).collect()
}

#[test]
fn a_boot_that_could_not_fetch_runs_again_after_1_2_5_and_then_every_10_minutes() {
    skip_if(missing::program("systemd-analyze", "systemd"));
    let path = unit("provost-boot-retry.timer");
    let text = std::fs::read_to_string(&path).unwrap();
    // From when the timer starts: with the first failure. A run that is going on is no second one.
    let begins = seconds(&text, "OnActiveSec");
    let pauses: Vec<u64> =
        begins.iter().scan(0, |last, at| Some(at - std::mem::replace(last, *at))).collect();
    assert_eq!(pauses, [60, 120, 300]);
    assert_eq!(seconds(&text, "OnUnitInactiveSec"), [600]);
    // Nodes that failed together come apart, but keep their order.
    assert!(seconds(&text, "RandomizedDelaySec")[0] < 60);
    assert!(text.contains("\nUnit=provost-boot.service\n"), "{text}");

    // What starts it and stops it, with exit status 3 and with another.
    let boot = std::fs::read_to_string(unit("provost-boot.service")).unwrap();
    let after = boot.split_once("ExecStopPost=-/bin/sh -c '").unwrap().1.split_once("'\n").unwrap();
    let script = after.0.replace("\\\n", "").replace("$$", "$").replace("exec ", "echo ");
    for (status, word) in [("3", "start"), ("0", "stop"), ("1", "stop"), ("TERM", "stop")] {
        let mut sh = Command::new("/bin/sh");
        let out: Out = sh.args(["-c", &script]).env("EXIT_STATUS", status).output().unwrap().into();
        let said = out.expect(0).stdout;
        let words: Vec<&str> = said.split_whitespace().collect();
        assert_eq!(words, ["systemctl", "--no-block", word, "provost-boot-retry.timer"]);
    }

    // With the service beside it, whose program isn't here.
    let folder = tempfile::tempdir().unwrap();
    for name in ["provost-boot-retry.timer", "provost-boot.service", "provost-renew.timer"] {
        let text = std::fs::read_to_string(unit(name)).unwrap();
        std::fs::write(folder.path().join(name), text.replace("/usr/bin/provost", "/bin/true"))
            .unwrap();
    }
    let timer = folder.path().join("provost-boot-retry.timer");
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no", "--recursive-errors=no"]).arg(&timer);
    let said = Out::from(
        verify.env("SYSTEMD_UNIT_PATH", format!("{}:", folder.path().display())).output().unwrap(),
    );
    let said = said.expect(0).stderr;
    assert!(!said.contains("provost"), "{said}");
}
