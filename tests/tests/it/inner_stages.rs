//! The stages that a postscript records itself, by the shell library or by `provost record`: on the
//! node and on the management node they belong to its step.

use std::process::Command;

use provost_tests::{Cluster, Node};
use serde_json::Value;

/// Boots a node whose only postscript is this, after its first line and the library's.
fn booted(name: &str, body: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    let head = "#!/bin/bash\nset -euo pipefail\n. bootstrap-service-record.sh\n";
    cluster.script(name, &format!("{head}{body}"));
    let records = cluster.path("nodes/cn001/openshift").display().to_string();
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"{name}\"]\n\
         env = {{ SERVICE_RECORDS_DIR = \"{records}\", DB_PASSWORD = \"hunter2-and-more\" }}\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// Each stage as `service stage result`.
fn told(inner: &Value) -> Vec<String> {
    let word = |entry: &Value, key: &str| entry[key].as_str().unwrap_or("-").to_owned();
    let entries = inner.as_array().into_iter().flatten();
    entries.map(|e| ["service", "stage", "result"].map(|key| word(e, key)).join(" ")).collect()
}

const MOUNT: &str = "\
record_service_stage_start prepare
record_service_stage_success
record_service_stage_start \"log in as $DB_PASSWORD\"
record_service_stage_success
record_service_stage_start apply
mount_it() {
    echo \"mount: wrong fs type for $DB_PASSWORD\" >&2
    (exit 32)
}
mount_it
";

#[test]
fn a_scripts_own_stages_are_shown_with_its_step_everywhere() {
    let (cluster, node) = booted("mount_scratch", MOUNT);
    let boot = node.provost(&["boot"]).expect(1);
    boot.says(&["error: mount_scratch: apply: exit status 32 at line 11 mount_it "]);
    let text = node.provost(&["status"]).expect(0).stdout;
    for part in [
        "\n    prepare                ok\n",
        "\n    apply                  FAILED (exit status 32)\n",
        "\nmount_scratch: apply: exit status 32\n  caller   13 main /",
        "/bundle/mount_scratch\n  line     11 mount_it /",
        "\n  command  ( exit 32 )\n",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let stage = &node.status()["stages"][1];
    let all = [
        "mount_scratch prepare success",
        "mount_scratch log in as [redacted:DB_PASSWORD] success",
        "mount_scratch apply failure",
    ];
    assert_eq!(told(&stage["inner"]), all);
    assert_eq!(stage["inner"][2]["exitCode"], 32);

    // As the record says it, which is what the management node gets.
    let journal = node.journal("boot");
    let end = journal.iter().rfind(|r| r["stage"] == "mount_scratch").unwrap();
    assert_eq!(told(&end["inner"]), all);
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("apply: exit status 32"), "{shown}");
    assert!(shown.contains("prepare  ok") && shown.contains("apply  FAILED"), "{shown}");
    let json = cluster.ctl_json(&["show", "cn001"]).to_string();
    assert!(json.contains("\"inner\":[") && !json.contains("hunter2"), "{json}");

    // All of it is in the node's bundle.
    let to = node.path("gathered");
    std::fs::create_dir(&to).unwrap();
    let mut gather = node.command(&["gather", "--to", to.to_str().unwrap()]);
    let bundle = String::from_utf8(gather.output().unwrap().stdout).unwrap();
    let tar = Command::new("tar").args(["-tzf", bundle.trim()]).output().unwrap();
    let names = String::from_utf8(tar.stdout).unwrap();
    for name in ["/bootstrap/services/mount_scratch.json\n", "/01-mount_scratch.records\n"] {
        assert!(names.contains(name), "{names}");
    }
    let there = node.provost(&["analyze", bundle.trim()]).expect(1).stdout;
    assert!(there.contains("\nmount_scratch: apply: exit status 32\n"), "{there}");
    assert!(there.contains("  mount_scratch            FAILED: the stage apply: "), "{there}");

    // And the service by itself, which is called as its script.
    let text = node.provost(&["analyze"]).expect(1).stdout;
    assert!(text.contains("\nmount_scratch: apply: exit status 32\n"), "{text}");
    let service = "  mount_scratch            FAILED: the stage apply: exit status 32\n";
    assert!(text.contains(service), "{text}");
}

#[test]
fn a_stage_that_succeeded_at_the_second_try_fails_nothing() {
    let body = "record_service_stage_start pull\nrecord_service_stage_failure\n\
                record_service_stage_start pull\n";
    let (_cluster, node) = booted("puller.sh", body);
    node.provost(&["boot"]).expect(0);
    let stage = &node.status()["stages"][1];
    assert_eq!(told(&stage["inner"]), ["puller pull failure", "puller pull success"]);
    let text = node.provost(&["status"]).expect(0).stdout;
    assert!(text.contains("\n    pull                   FAILED (failed)\n"), "{text}");
}

#[test]
fn the_line_and_command_are_the_scripts_own_in_spite_of_the_librarys_traps() {
    for (body, line, command) in [
        ("true\nfalse\n", "5 main", "false"),
        ("true\nexit 3\n", "5 main", "exit 3"),
        ("f() {\n    exit 3\n}\nf\n", "5 f", "exit 3"),
        ("f() {\n    ls /nowhere/at/all\n}\nf\n", "5 f", "ls /nowhere/at/all"),
        ("set +e\nrecord_service_stage_start a\nfalse\nexit 4\n", "7 main", "exit 4"),
    ] {
        let (_cluster, node) = booted("failing", body);
        node.provost(&["boot"]).expect(1);
        let stage = &node.status()["stages"][1];
        let found = stage["errorLine"].as_str().unwrap_or_default();
        assert!(found.starts_with(&format!("{line} /")), "{body}: {stage}");
        assert!(found.ends_with("/failing"), "{body}: {stage}");
        assert_eq!(stage["command"], command, "{body}: {stage}");
    }
}

#[test]
fn a_script_that_is_killed_leaves_the_stage_without_an_end() {
    let body = "record_service_stage_start apply\nkill -KILL $$\n";
    let (_cluster, node) = booted("killed", body);
    node.provost(&["boot"]).expect(1);
    let stage = &node.status()["stages"][1];
    assert_eq!(told(&stage["inner"]), ["killed apply -"]);
    let text = node.provost(&["status"]).expect(0).stdout;
    assert!(text.contains("\n    apply                  no end\n"), "{text}");
}
