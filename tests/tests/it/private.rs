//! STATE and LOG are root's alone, or a group's to read as well; so nobody else can lock what runs wait
//! for.

use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Cluster, Node, Out, missing, skip_if};

const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
/// A group without a name, and a user who is in it.
const GROUP: u32 = 54321;
const MEMBER: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--groups=54321"];

/// A node with a step that succeeds, one that records stages of its own, and one that fails.
fn site() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("once", "#!/bin/sh\n# /// provost\n# when = \"once\"\n# ///\necho hello\n");
    let stages = "#!/bin/bash\n. bootstrap-service-record.sh\nrecord_service_stage_start one\n\
                  record_service_stage_success\n";
    cluster.script("stages", stages).script("fails", "#!/bin/sh\nexit 3\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"once\", \"stages\", \"fails\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    for path in [cluster.path(""), cluster.path("nodes"), node.path("")] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    (cluster, node)
}

/// Every folder and file of STATE and LOG but the published scripts, which keep their modes.
fn kept(node: &Node) -> Vec<(PathBuf, Metadata)> {
    let mut found = Vec::new();
    let mut folders = vec![node.path("state"), node.path("log")];
    while let Some(folder) = folders.pop() {
        found.push((folder.clone(), fs::metadata(&folder).unwrap()));
        if folder == node.path("state/bundles") {
            continue;
        }
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => found.push((entry.path(), entry.metadata().unwrap())),
                _ => {}
            }
        }
    }
    found
}

#[track_caller]
fn all_have(node: &Node, folders: u32, files: u32) {
    let all = kept(node);
    assert!(all.len() > 20, "{all:?}");
    for (path, is) in all {
        let expected = if is.is_dir() { folders } else { files };
        assert_eq!(is.mode() & 0o777, expected, "{}", path.display());
    }
}

/// What every version before has left, or an installer, or a shell with an open umask.
fn open_all(node: &Node) {
    for name in ["state", "log"] {
        let mut chmod = Command::new("chmod");
        assert!(chmod.args(["-R", "a+rX"]).arg(node.path(name)).status().unwrap().success());
    }
}

fn by(who: &[&str], node: &Node, args: &[&str]) -> Out {
    node.command_by(who, args).output().unwrap().into()
}

#[test]
fn all_that_a_node_keeps_is_root_s_alone_whichever_command_made_it() {
    let (cluster, node) = site();
    for args in [&["kickstart"][..], &["boot"], &["run", "fails"]] {
        node.provost(args).expect(1);
    }
    for args in [&["report"][..], &["release"], &["run", "once"]] {
        node.provost(args).expect(0);
    }
    let journal = node.path("log/services/own.json");
    let record = ["record", "service-start", "--file", journal.to_str().unwrap()];
    node.provost(&record).expect(0);
    let by_shell = "export SERVICE_NAME=by-shell SERVICE_RECORDS_DIR=$1; \
                    . \"$2/bootstrap-service-record.sh\"";
    let mut shell = Command::new("bash");
    shell.args(["-c", by_shell, "sh"]).arg(node.path("log/shell")).arg(node.path("state/lib"));
    assert!(shell.env("PATH", "/usr/bin:/bin").status().unwrap().success());
    assert!(node.path("log/shell/by-shell.json").exists());
    all_have(&node, 0o700, 0o600);

    // In an image, where what is above STATE is the image's.
    let image = cluster.path("image");
    fs::create_dir(&image).unwrap();
    node.provost(&["stamp", "--root", image.to_str().unwrap(), "once"]).expect(0);
    let stamped = image.join(node.path("state").strip_prefix("/").unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&stamped), 0o700);
    assert_ne!(mode(stamped.parent().unwrap()), 0o700);

    // The next run corrects what was left otherwise; the scripts keep the modes that were published.
    open_all(&node);
    fs::write(node.path("log/post.log"), "an installer's\n").unwrap();
    node.provost(&["boot"]).expect(1);
    all_have(&node, 0o700, 0o600);
    assert_eq!(mode(&node.path("state/bundle/once")), 0o755);
}

#[test]
fn no_other_user_can_lock_what_a_run_waits_for() {
    skip_if(missing::other_users());
    let (_cluster, node) = site();
    node.provost(&["boot"]).expect(1);
    let held = |name: &str| {
        let path = node.path(name);
        assert!(path.exists(), "{name}");
        let mut flock = Command::new(NOBODY[0]);
        flock.args(&NOBODY[1..]).arg("flock").arg("-n").arg(path).arg("true");
        flock.stderr(std::process::Stdio::null()).status().unwrap().success()
    };
    let names = ["state/lock", "state/report/lock", "log/services/boot.json", "log/provost.log"];
    assert_eq!(names.map(held), [false; 4]);
}

#[test]
fn a_group_may_read_what_a_node_keeps_but_no_secret() {
    skip_if(missing::other_users());
    let (_cluster, node) = site();
    // From a version that knew no group.
    node.provost(&["boot"]).expect(1);
    open_all(&node);
    fs::write(node.path("state/id"), "a key").unwrap();
    fs::write(node.path("state/of-a-later-version"), "").unwrap();
    let config = fs::read_to_string(node.path("provost.toml")).unwrap();
    fs::write(node.path("provost.toml"), format!("{config}group = \"{GROUP}\"\n")).unwrap();
    for args in [&["boot"][..], &["run", "fails"]] {
        node.provost(args).expect(1);
    }
    node.provost(&["report"]).expect(0);
    let secret = ["state/id", "state/published.json", "state/of-a-later-version"];
    for (path, is) in kept(&node) {
        if secret.iter().any(|name| node.path(name) == path) {
            assert_eq!(is.mode() & 0o7777, 0o600, "{}", path.display());
        } else {
            let expected = if is.is_dir() { 0o750 } else { 0o640 };
            assert_eq!((is.mode() & 0o777, is.gid()), (expected, GROUP), "{}", path.display());
        }
    }
    let log = by(&MEMBER, &node, &["log", "once"]).expect(0);
    assert!(log.stdout.contains("hello"), "{}", log.stdout);
    let status = by(&MEMBER, &node, &["status", "--format", "json"]).expect(0).json();
    assert_eq!(status, node.status());
    by(&NOBODY, &node, &["log", "once"]).expect(2).says(&["Permission denied"]);

    // And no more, once the configuration names none.
    fs::write(node.path("provost.toml"), config).unwrap();
    node.provost(&["boot"]).expect(1);
    all_have(&node, 0o700, 0o600);
}

#[test]
fn a_group_that_is_not_known_or_a_folder_of_others_is_said_and_stops_no_run() {
    let (_cluster, node) = site();
    let config = fs::read_to_string(node.path("provost.toml")).unwrap();
    fs::write(node.path("provost.toml"), format!("{config}group = \"no such group\"\n")).unwrap();
    let said = ["no group \"no such group\" is in /etc/group", "`group` under [paths]"];
    node.provost(&["run", "once"]).expect(0).says(&said);
    // Without a group, nothing is shared.
    all_have(&node, 0o700, 0o600);
    let shown = node.provost(&["check"]);
    assert!(shown.stdout.contains(said[0]), "{}", shown.stdout);
}
