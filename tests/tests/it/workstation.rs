//! `provost try`: a script on a machine that isn't a node, with no management node.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use provost_tests::{Out, missing, program, skip_if, skip_part};
use tempfile::TempDir;

const SITE: &str = r#"
[groups.compute]
nodes = "cn[001-003]"
env = { MASTER = "10.0.0.1", ROOTPASSWD = "verysecret" }
postscripts = ["syslog", "show one 'two three'", "twice a"]
postbootscripts = ["twice b"]
[scripts.show]
timeout = "3m"
"#;

const SHOW: &str = "#!/bin/bash\n# for PROVOST_ROOT\necho \"$NODE of $MASTER: $# $2, $ROOTPASSWD\"\n\
    echo \"root $PROVOST_ROOT stage $PROVOST_STAGE left ${LEFT-nothing}\"\nid -u\n. ./helper\nhelp\n";

/// A workstation: a site, scripts, an empty root, and a folder for what is temporary.
struct Workstation(TempDir);

impl Workstation {
    fn new() -> Self {
        let station = Self(TempDir::new().unwrap());
        for folder in ["scripts", "root", "tmp"] {
            fs::create_dir(station.path(folder)).unwrap();
        }
        fs::write(station.path("site.toml"), SITE).unwrap();
        station
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn script(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path("scripts").join(name), text).unwrap();
        self
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(["try", "--site", "site.toml", "--node", "cn001"]).args(args);
        self.prepared(command)
    }

    /// Without a site.
    fn plain(&self, args: &[&str]) -> Out {
        let mut command = Command::new(program("provost"));
        command.arg("try").args(args);
        self.prepared(command).output().unwrap().into()
    }

    fn prepared(&self, mut command: Command) -> Command {
        // That of this machine, if it has one, may name a site.
        fs::write(self.path("provostctl.toml"), "").unwrap();
        command.env("PROVOSTCTL_CONFIG", self.path("provostctl.toml"));
        command.current_dir(self.0.path()).stdin(Stdio::null());
        // What configures a node that this machine may be.
        command.env("PROVOST_NODE", "cn999").env("PROVOST_SERVER", "http://192.0.2.1:9");
        command.env("TMPDIR", self.path("tmp")).env("LEFT", "over").env("LANG", "C");
        command
    }

    /// Runs `provost try ARGS` for cn001.
    fn attempt(&self, args: &[&str]) -> Out {
        self.command(&program("provost"), args).output().unwrap().into()
    }

    fn temporary(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn a_script_runs_as_on_the_node_and_leaves_nothing() {
    let station = Workstation::new();
    station.script("show", SHOW).script("helper", "help() { echo helped; }\n");
    let out = station.attempt(&["scripts/show", "--root", "root"]).expect(0);
    let root = fs::canonicalize(station.path("root")).unwrap();
    for line in [
        "| cn001 of 10.0.0.1: 2 two three, [redacted:ROOTPASSWD]",
        &format!("| root {} stage show left nothing", root.display()),
        "| helped",
    ] {
        assert!(out.stdout.lines().any(|shown| shown == line), "{line}: {out:?}");
    }
    match missing::tracing() {
        None => assert!(out.stdout.contains("\n$ id -u\n"), "{out:?}"),
        Some(missing) => skip_part(&missing),
    }
    out.says(&["run of cn001 begins", "[1/1] show: ok", "run succeeded"]);
    assert_eq!(station.temporary(), [] as [PathBuf; 0]);

    let out = station.attempt(&["show", "--scripts", "scripts", "--keep", "--", "x"]).expect(0);
    assert!(out.stdout.contains("cn001 of 10.0.0.1: 1 ,"), "{out:?}");
    assert_eq!(station.temporary().len(), 1);
}

#[test]
fn a_failure_names_the_line_and_the_command_and_its_log_is_kept() {
    skip_if(missing::tracing());
    let station = Workstation::new();
    let text = "#!/bin/bash\nset -e\necho begin\nfail() {\n    cat /nonexistent\n}\nfail\n";
    station.script("bad", text);
    let out = station.attempt(&["scripts/bad"]).expect(1);
    let out = out.says(&[
        "note: the plan of cn001 doesn't run bad",
        "exit status 1 at line 5 fail ",
        "command: cat /nonexistent",
        "cat: /nonexistent: No such file or directory",
    ]);
    let place = |text: &str| out.stderr.find(text).unwrap_or_else(|| panic!("{text}: {out:?}"));
    assert!(place("run of cn001 begins") < place("bad: FAILED"));
    let [kept] = &station.temporary()[..] else { panic!("{:?}", station.temporary()) };
    let config = kept.join("provost.toml").display().to_string();
    let again = "hint: fix it, then: provost try --site site.toml --node cn001 scripts/bad\n";
    let out = out.says(&[&format!("provost --config {config} log bad"), again]);
    assert!(!out.stderr.contains("provost run"), "{out:?}");
    let log = Command::new(program("provost")).args(["--config", &config, "log", "bad"]).output();
    assert!(Out::from(log.unwrap()).expect(0).stdout.contains("cat /nonexistent FAILED"));

    // Its output was shown before that.
    assert!(out.stdout.starts_with("| begin\n$ cat /nonexistent\n"), "{out:?}");
}

/// The first line that the script prints.
fn first_printed(child: &mut Child) -> String {
    let mut shown = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    shown.find_map(|line| Some(line.strip_prefix("| ")?.to_owned())).unwrap()
}

#[test]
fn what_is_printed_is_shown_before_the_script_ends() {
    let station = Workstation::new();
    let gate = station.path("gate");
    provost_tests::pipe(&gate);
    station.script("waits", &format!("#!/bin/sh\necho early\nread -r _ <{}\n", gate.display()));
    let mut command = station.command(&program("provost"), &["scripts/waits", "--here"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(first_printed(&mut child), "early");
    fs::write(&gate, "go\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_signal_ends_the_script_and_removes_the_folder() {
    let station = Workstation::new();
    station.script("sleeps", "#!/bin/sh\necho $$\nexec sleep 600\n");
    let mut command = station.command(&program("provost"), &["scripts/sleeps", "--here"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let script: i32 = first_printed(&mut child).parse().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert!(!Path::new(&format!("/proc/{script}")).exists());
    assert_eq!(station.temporary(), [] as [PathBuf; 0]);
}

#[test]
fn what_cannot_be_tried_is_said_with_what_to_type() {
    let station = Workstation::new();
    station.script("plain", "#!/bin/sh\ntouch /tmp/changed-the-host\n").script("twice", SHOW);
    for (args, says) in [
        (&["scripts/nosuch"][..], &["reading scripts/nosuch", "--scripts DIR"][..]),
        (&["scripts/plain", "--root", "nodir"], &["using nodir: No such file"]),
        (&["scripts/plain", "--root", "site.toml"], &["it isn't a folder"]),
        (&["scripts/plain", "--root", "root"], &["plain doesn't mention PROVOST_ROOT"]),
        (&["scripts/twice"], &["cn001 runs `twice a` and `twice b`", "-- a"]),
        (&["scripts/plain", "--nosuch"], &["unexpected argument '--nosuch'"]),
    ] {
        station.attempt(args).expect(2).says(says);
    }
    assert!(!Path::new("/tmp/changed-the-host").exists());
    station.script("broken", "#!/bin/sh\n# /// provost\n# zork = 1\n# ///\n");
    station.attempt(&["scripts/broken"]).expect(2).says(&["broken:3: ", "zork"]);
    for folder in ["scripts", "scripts/", ".", "/tmp"] {
        let out = station.plain(&[folder]).expect(2);
        let out =
            out.says(&["is a folder, not a script", "hint: name a script in it: provost try "]);
        assert!(!out.stderr.contains("dry run"), "{out:?}");
    }
    fs::write(station.path("site.toml"), "[nodes.cn002]\n").unwrap();
    station.attempt(&["scripts/plain"]).expect(2).says(&["site.toml names no node cn001"]);
    assert_eq!(station.temporary(), [] as [PathBuf; 0]);

    // Where only the node's program is installed.
    let alone = station.path("provost");
    fs::copy(program("provost"), &alone).unwrap();
    let out = station.command(&alone, &["scripts/plain"]).env("PATH", "/nowhere").output();
    Out::from(out.unwrap()).expect(2).says(&["running provostctl", "the package provost-server"]);
}

#[test]
fn without_a_site_file_the_plan_is_empty() {
    let station = Workstation::new();
    station.script("show", "#!/bin/sh\necho \"$NODE, $#, ${MASTER-nothing}\"\n");
    let out = station.plain(&["scripts/show", "--", "x"]).expect(0);
    let out = out.says(&["note: no site file is named (--site FILE): the plan is empty\n"]);
    assert!(out.stdout.contains("| try, 1, nothing\n"), "{out:?}");
    let out = station.plain(&["--node", "cn001", "scripts/show"]).expect(2);
    out.says(&["no site file is named", "--site FILE; or leave out --node"]);
}

#[test]
fn what_stands_beside_a_script_may_be_private_or_huge_or_unreadable() {
    let station = Workstation::new();
    // Without `#!` and for its owner alone, as a script in a home.
    let text = "# plain sh\n. ./lib/helper\nhelp; cat empty; ls; cat id_rsa | wc -l\n";
    station.script("plain", text).script("empty", "").script("dos", "#!/bin/sh\r\n");
    station.script("id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n");
    let folder = station.path("scripts");
    fs::create_dir(folder.join("lib")).unwrap();
    station.script("lib/helper", "help() { echo helped; }\n");
    for private in ["plain", "id_rsa"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(folder.join(private), mode).unwrap();
    }
    provost_tests::pipe(&folder.join("pipe"));
    std::os::unix::fs::symlink("/etc", folder.join("away")).unwrap();
    fs::File::create(folder.join("huge.iso")).unwrap().set_len(1 << 40).unwrap();
    let out = station.plain(&["scripts/plain"]).expect(0);
    assert!(out.stdout.contains("| helped\n") && out.stdout.contains("| 2\n"), "{out:?}");
    assert!(!out.stdout.contains("huge.iso") && !out.stderr.contains("publish"), "{out:?}");
    let notes = out.stderr.lines().filter(|line| line.contains("beside it")).collect::<Vec<_>>();
    let [note] = notes[..] else { panic!("{out:?}") };
    assert!(note.starts_with("note: plain runs without 2 files beside it ("), "{note}");
    assert!(note.contains("huge.iso") && note.contains("away"), "{note}");
}

#[test]
fn of_a_folder_with_thousands_of_files_a_part_is_read() {
    let station = Workstation::new();
    station.script("one", "#!/bin/sh\ntrue\n");
    for n in 0..1_200 {
        station.script(&format!("other{n:04}"), "some text\n");
    }
    let out = station.plain(&["--keep", "scripts/one"]).expect(0);
    out.says(&["one runs without 200 files beside it (other1000, other1001, other1002, …)"]);
    let [kept] = &station.temporary()[..] else { panic!("{:?}", station.temporary()) };
    assert_eq!(fs::read_dir(kept.join("state/bundle")).unwrap().count(), 1_001);
    // Who names the folder has all of it.
    let out = station.plain(&["--scripts", "scripts", "one"]).expect(0);
    assert!(!out.stderr.contains("beside it"), "{out:?}");
}

#[test]
fn an_empty_file_is_made_without_a_word_of_secrets() {
    let station = Workstation::new();
    station.script("touches", "#!/bin/sh\ntouch /etc/provost-empty\n");
    let out = station.attempt(&["scripts/touches"]).expect(0);
    assert!(out.stdout.contains("made /etc/provost-empty: mode 0644\n"), "{out:?}");
    assert!(!out.stdout.contains("secret"), "{out:?}");
    let change = &station.attempt(&["--format", "json", "scripts/touches"]).json()["changes"][0];
    assert_eq!((&change["path"], change.get("diff")), (&"/etc/provost-empty".into(), None));
}

/// Runs `provost try ARGS` as an ordinary user, if he may.
fn as_user(station: &Workstation, args: &[&str]) -> Option<Out> {
    skip_if(missing::other_users());
    let by = |program: &Path, args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(program);
        command.args(args);
        Out::from(station.prepared(command).output().unwrap())
    };
    let folder = station.path("").display().to_string();
    let open = "chmod -R a+rX \"$1\" && chmod 1777 \"$1/tmp\"";
    let status = Command::new("sh").args(["-c", open, "sh", &folder]).status();
    assert!(status.unwrap().success());
    if by(Path::new("unshare"), &["--user", "--map-root-user", "true"]).code != Some(0) {
        skip_part("users can make no user namespaces");
        return None;
    }
    Some(by(&program("provost"), &[&["try"], args].concat()))
}

#[test]
fn a_folder_that_a_user_may_not_look_into_is_not_made() {
    let station = Workstation::new();
    station.script("nothing", "#!/bin/sh\ntrue\n");
    let Some(out) = as_user(&station, &["scripts/nothing"]) else { return };
    let out = out.expect(0);
    assert!(out.stdout.ends_with("nothing would change\n"), "{out:?}");
}

#[test]
fn a_user_keeps_what_changes_in_memory() {
    let station = Workstation::new();
    station.script("nothing", "#!/bin/sh\ntrue\n");
    let Some(out) = as_user(&station, &["--scratch", "/var/tmp", "scripts/nothing"]) else {
        return;
    };
    out.expect(2).says(&["only root can keep changes on a disk", "hint: leave out --scratch"]);
}
