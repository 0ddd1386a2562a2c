//! `provost gather` and `provost analyze`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Cluster, Node};
use serde_json::Value;

const BAD: &str = "#!/bin/bash\necho \"the word is $DB_PASSWORD\"\ninstall() {\n    false\n}\n\
                   sleep 0.2\ninstall\n";

fn failed() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("fine", "#!/bin/sh\n(setsid sleep 2 >/dev/null 2>&1 &)\n");
    cluster.script("bad", BAD);
    cluster.site(
        "[nodes.cn001]\npostscripts = [\"fine\", \"bad\", \"later\"]\n\
         env = { DB_PASSWORD = \"hunter2-and-more\", MASTER = \"10.0.0.1\" }\n",
    );
    cluster.script("later", "#!/bin/sh\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(1);
    (cluster, node)
}

/// Gathers, and unpacks it by the system's tar. Returns the bundle and what was in it.
fn gathered(node: &Node) -> (PathBuf, PathBuf) {
    let to = node.path("gathered");
    std::fs::create_dir_all(&to).unwrap();
    let out = node.provost(&["gather", "--to", to.to_str().unwrap()]).expect(0);
    let bundle = PathBuf::from(out.stdout.trim());
    let name = bundle.file_name().unwrap().to_str().unwrap().to_owned();
    let id = name.strip_suffix(".tar.gz").unwrap();
    assert!(id.starts_with("log-bundle-cn001-"), "{id}");
    let tar = Command::new("tar").arg("-xzf").arg(&bundle).arg("-C").arg(&to).status();
    assert!(tar.unwrap().success());
    (bundle.clone(), to.join(id))
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn all_that_tells_what_went_wrong_is_in_one_file_and_nothing_secret() {
    let (_cluster, node) = failed();
    let (bundle, folder) = gathered(&node);
    let mode = std::fs::metadata(&bundle).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // As OpenShift's reader finds and judges it: by the last entry.
    let records: Vec<Value> =
        serde_json::from_str(&read(&folder, "bootstrap/services/boot.json")).unwrap();
    let last = records.last().unwrap();
    assert_eq!((&last["phase"], &last["result"]), (&"service end".into(), &"failure".into()));
    assert_eq!(records.len(), node.journal("boot").len());

    assert!(read(&folder, "published/plan.toml").contains("MASTER = \"10.0.0.1\""));
    assert!(read(&folder, "published/manifest.toml").contains("bad"));
    assert!(read(&folder, "config/provost.toml").contains("[trust]"));
    assert!(read(&folder, "log/provost.log").contains("FAILED"));
    for name in ["host/df.txt", "host/resolv.conf.txt", "host/ip-addr.txt", "unreported.txt"] {
        read(&folder, name);
    }
    let token = std::fs::read_to_string(node.path("token")).unwrap();
    let token = token.split_whitespace().last().unwrap();
    for secret in ["hunter2-and-more", token] {
        let grep = Command::new("grep").args(["-rlF", secret]).arg(&folder).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&grep.stdout), "", "{secret}");
    }
    assert!(read(&folder, "published/plan.toml").contains("[redacted:DB_PASSWORD]"));
}

/// As in a bundle of OpenShift's installer.
#[test]
fn failed_units_journals_and_the_network_are_where_openshift_has_them() {
    let (_cluster, node) = failed();
    let fake = |name: &str, text: &str| {
        let path = node.path("fakes").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    };
    let list = "a.service loaded failed failed The a";
    fake("systemctl", &format!("case $* in *--no-legend*) echo {list} ;; *) echo \"$*\" ;; esac"));
    fake("journalctl", "echo \"$*\"");
    std::fs::create_dir(node.path("openshift")).unwrap();
    std::fs::write(node.path("openshift/bootkube.json"), "[]").unwrap();
    let (_, folder) = gathered(&node);
    assert_eq!(read(&folder, "failed-units.txt"), format!("{list}\n"));
    assert!(read(&folder, "unit-status/a.service.txt").starts_with("status a.service"));
    assert!(read(&folder, "unit-status/a.service.log").contains("--unit=a.service"));
    let journal = read(&folder, "bootstrap/journals/bootkube.log");
    assert!(journal.contains("--unit=bootkube.service"), "{journal}");
    read(&folder, "bootstrap/journals/provost-boot.log");
    for name in ["ip-addr.txt", "ip-route.txt", "hostname.txt", "resolv.conf"] {
        read(&folder, &format!("bootstrap/network/{name}"));
    }
    assert_eq!(read(&folder, "bootstrap/services/bootkube.json"), "[]");
}

#[test]
fn the_cause_comes_first_then_where_the_time_went_then_what_else_looks_wrong() {
    let (_cluster, node) = failed();
    let here = node.provost(&["analyze"]).expect(1).stdout;
    let (bundle, _) = gathered(&node);
    let bundle = bundle.to_str().unwrap();
    let there = node.provost(&["analyze", bundle]).expect(1).stdout;
    for text in [&here, &there] {
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in\n{text}"));
        assert!(at("4 install ") < at("where the time went"), "{text}");
        assert!(at("where the time went") < at("what else looks wrong"), "{text}");
        assert!(at("%  bad") < at("what else"), "{text}");
        at("fine left processes behind: ");
    }
    let json = node.provost(&["analyze", bundle, "--format", "json"]).expect(1).json();
    assert_eq!(json["cause"]["stage"], "bad");
    assert_eq!(json["cause"]["exitCode"], 1);
    let slowest = &json["blame"][0];
    assert!(slowest["durationMs"].as_u64() >= Some(200), "{slowest}");

    std::fs::write(node.path("no-bundle"), "hello").unwrap();
    let out = node.provost(&["analyze", node.path("no-bundle").to_str().unwrap()]).expect(2);
    assert!(out.stderr.contains("hint: "), "{}", out.stderr);
}

/// What the log says, not what this machine can trace.
#[test]
fn slow_commands_and_ignored_failures_are_named() {
    let (_cluster, node) = failed();
    let log = node.status()["stages"][1]["log"].as_str().unwrap().to_owned();
    let lines = "2026-11-20T17:00:01.000Z exec F 11 9 systemctl is-active sshd\n\
                 2026-11-20T17:00:01.100Z exit F 11 3 100ms\n\
                 2026-11-20T17:00:01.100Z exec F 12 9 sleep 7\n\
                 2026-11-20T17:00:08.100Z exit F 12 0 7000ms\n";
    std::fs::write(log, lines).unwrap();
    let (bundle, _) = gathered(&node);
    for source in [&[][..], &[bundle.to_str().unwrap()]] {
        let text = node.provost(&[&["analyze"], source].concat()).expect(1).stdout;
        let parts = [
            "the slowest commands:\n       7.0 s  fine: sleep 7\n",
            "without ending the script:\n  - fine: systemctl is-active sshd: exit status 3\n",
        ];
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        let json = [&["analyze", "--format", "json"], source].concat();
        let json = node.provost(&json).expect(1).json();
        let slow = serde_json::json!({"stage": "fine", "command": "sleep 7", "durationMs": 7000});
        assert_eq!(json["slowest"][0], slow);
        assert_eq!(
            (&json["ignored"][0]["exitCode"], &json["ignored"][0]["times"]),
            (&3.into(), &1.into())
        );
    }
}
