//! The example hook by which admins act on nodes, and what its key may do there: names and commands that somebody
//! made up lead nowhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Cluster, Out};
use tempfile::TempDir;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("dist/examples/hooks")
}

/// Writes a program.
pub(crate) fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// `forced-command` as `path`, of a node that keeps its state in `state`.
pub(crate) fn forced_command(path: &Path, state: &Path) {
    let text = fs::read_to_string(examples().join("forced-command")).unwrap();
    let own = format!("state='{}'", state.display());
    assert!(text.contains("\nstate=/var/lib/provost\n"));
    write_program(path, &text.replace("state=/var/lib/provost", &own));
}

/// A folder with a program `name` that writes down how it was called, an argument a line.
fn fake(name: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let calls = folder.path().join("calls");
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >>'{}'\n", calls.display());
    write_program(&folder.path().join(name), &text);
    folder
}

/// How it was called since the last time.
fn calls(folder: &TempDir) -> Vec<String> {
    let path = folder.path().join("calls");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let _ = fs::remove_file(path);
    text.lines().map(str::to_owned).collect()
}

fn path_with(folder: &TempDir) -> String {
    format!("{}:/usr/bin:/bin", folder.path().display())
}

#[test]
fn the_hook_hands_on_no_hostile_name() {
    let ssh = fake("ssh");
    let hook = |node: &str, command: &str, script: &str| -> Out {
        let mut hook = Command::new(examples().join("continue"));
        hook.env_clear().env("PATH", path_with(&ssh)).current_dir(ssh.path());
        hook.env("PROVOST_NODES", node).env("PROVOST_COMMAND", command);
        hook.env("PROVOST_SCRIPT", script).output().unwrap().into()
    };
    for (command, script) in [
        ("provost boot --continue", ""),
        ("provost kickstart --continue", ""),
        ("provost boot", ""),
        ("provost run site/mount_scratch", "site/mount_scratch"),
        ("provost run mount_scratch /scratch -o ro,noatime", "mount_scratch"),
    ] {
        hook("cn001", command, script).expect(0);
        let called = calls(&ssh);
        assert_eq!(called[called.len() - 3..], ["--", "root@cn001", command], "{called:?}");
    }
    for node in [
        "",
        "-oProxyCommand=touch hacked",
        "cn001 cn002",
        "cn001;touch hacked",
        "$(touch hacked)",
        "cn[001-002]",
        "cn001\ntouch hacked",
        "../cn001",
        "x@cn001",
    ] {
        let out = hook(node, "provost boot", "").expect(1);
        assert!(out.stderr.contains("one node's name is expected"), "{node:?}: {}", out.stderr);
    }
    for (command, script) in [
        ("provost boot; touch hacked", ""),
        ("provost boot --continue --config /tmp/x", ""),
        ("provost run ", ""),
        ("provost run syslog", ""),
        ("provost run -P 'a,b'", "a"),
        ("provost run 'a;touch hacked'", "a;touch hacked"),
        ("provost run syslog; touch hacked", "syslog"),
        ("provost run syslog $(touch hacked)", "syslog"),
        ("provost run syslog `touch hacked`", "syslog"),
        ("provost run syslog\ntouch hacked", "syslog"),
        ("provost run syslog 'a b'", "syslog"),
        ("provost run syslog * ~", "syslog"),
        ("provost run -x", "-x"),
        ("provost run ä", "ä"),
        ("rm -rf /", "rm"),
    ] {
        hook("cn001", command, script).expect(1);
        assert_eq!(calls(&ssh), [""; 0], "{command:?}");
    }
    assert!(!ssh.path().join("hacked").exists());
}

#[test]
fn the_key_of_the_example_runs_what_is_published_alone() {
    let mut cluster = Cluster::new();
    cluster.script("syslog", "#!/bin/sh\n").script("site/mount", "#!/bin/sh\n");
    cluster.script("a b", "#!/bin/sh\n").script("unplanned", "#!/bin/sh\n");
    let steps = r#"["syslog", "site/mount /scratch -o ro", "site/mount '/b c'"]"#;
    cluster.site(&format!("[nodes.cn001]\npostscripts = {steps}\n")).publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let setsid = fake("setsid");
    let forced = setsid.path().join("forced-command");
    forced_command(&forced, &node.path("state"));
    let run = |command: &str| -> Out {
        let mut forced = Command::new(&forced);
        forced.env_clear().env("PATH", path_with(&setsid)).current_dir(setsid.path());
        forced.env("SSH_ORIGINAL_COMMAND", command).output().unwrap().into()
    };
    for command in [
        "provost boot --continue",
        "provost kickstart --continue",
        "provost boot",
        "provost run syslog",
        "provost run unplanned",
        "provost run site/mount",
        "provost run site/mount /scratch -o ro",
    ] {
        run(command).expect(0);
        let called = calls(&setsid).join(" ");
        assert_eq!(called, format!("-f {command}"));
    }
    for command in [
        "",
        "id",
        "provost",
        "provost run",
        "provost run ",
        "provost  boot",
        "provost boot ",
        "provost boot --continue; touch hacked",
        "provost boot --config /tmp/x",
        "provost kickstart",
        "provost run --dry-run syslog",
        "provost run -P syslog",
        "provost run syslog; touch hacked",
        "provost run syslog\ntouch hacked",
        "provost run syslog $(touch hacked)",
        "provost run syslog  ",
        "provost run syslog extra",
        "provost run site/mount /",
        "provost run site/mount /scratch -o",
        "provost run site/mount /scratch -o ro x",
        "provost run site/mount '/b c'",
        "provost run a b",
        "provost run 'a b'",
        "provost run ../published.json",
        "provost run site/../syslog",
        "provost run /bin/sh",
        "provost run site/-x",
        "provost run *",
        "provost run none",
        "provost status",
        "cat /etc/shadow",
    ] {
        let out = run(command).expect(1);
        assert_eq!((out.stderr.trim(), &calls(&setsid)[..]), ("refused", &[][..]), "{command:?}");
    }
    assert!(!setsid.path().join("hacked").exists());
}
