//! Programs that provostd runs when something happens to nodes.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use provost_tests::{Cluster, processes};
use serde_json::Value;

/// The longest that anything here is waited for.
const SOON: Duration = Duration::from_secs(60);

/// A site of three nodes whose script fails where the file `broken` is in the cluster's folder.
fn cluster() -> Cluster {
    let cluster = Cluster::new();
    let broken = cluster.path("broken");
    let text = format!(
        "#!/bin/sh\n[ ! -e {broken:?} ] || {{ echo \"no 'disk'; \\$(touch /x) \\\"here\\\"\" >&2; exit 7; }}\n"
    );
    cluster.script("mount_scratch", &text);
    let site = "[groups.all]\nnodes = \"cn[001-003]\"\npostscripts = [\"mount_scratch\"]\n";
    cluster.site(site).publish().expect(0);
    cluster
}

/// Writes a program. Returns its path.
fn program(path: PathBuf, text: &str) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[track_caller]
fn wait(path: &Path, holds: impl Fn(&str) -> bool) -> String {
    assert!(processes::until(SOON, || holds(&read(path))), "{}: {}", path.display(), read(path));
    read(path)
}

#[test]
fn a_hook_runs_once_for_many_nodes_and_again_only_where_it_failed() {
    let mut cluster = cluster();
    let notes = cluster.path("notes");
    let hook = program(
        cluster.path("hook"),
        &format!(
            "#!/bin/sh\ncat >>{0}.json\nenv | grep ^PROVOST_ >>{0}\nprintf 'red \\033[31m\\n'\n\
             [ $PROVOST_TRY -ge 2 ] || exit 3\necho done >>{0}\n",
            notes.display()
        ),
    );
    cluster.configure_daemon(&format!("[hooks]\non_failed = {hook:?}\nwindow = \"15s\"\n"));
    cluster.start();
    std::fs::write(cluster.path("broken"), "").unwrap();
    for name in ["cn001", "cn002"] {
        cluster.node(name).provost(&["boot"]).expect(1);
    }
    // A rerun is an admin's own.
    cluster.node("cn002").provost(&["run", "mount_scratch"]).expect(1);
    let text = wait(&notes, |text| text.contains("done"));
    for line in [
        "PROVOST_EVENT=failed",
        "PROVOST_NODES=cn[001-002]",
        "PROVOST_COUNT=2",
        "PROVOST_TRY=1",
        "PROVOST_TRY=2",
        "PROVOST_CAUSE=exit",
        "PROVOST_STAGE=mount_scratch",
        "PROVOST_REASON=mount_scratch: exit status 7: no 'disk'; $(touch /x) \"here\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    let json = read(&cluster.path("notes.json"));
    let stdin: Vec<Value> =
        serde_json::Deserializer::from_str(&json).into_iter().map(Result::unwrap).collect();
    assert_eq!((stdin.len(), &stdin[1]["count"]), (2, &2.into()), "{json}");
    let log = cluster.path("provostd.log");
    let log = wait(&log, |log| log.contains("hooks took the message at try 2"));
    assert!(log.contains("hook: exit status 3; retrying in"), "{log}");
    assert!(log.contains("on_failed: red \\u{1b}[31m") && !log.contains('\u{1b}'), "{log}");

    // Not again after a restart, and the next ones are those of the next event alone.
    let address = cluster.kill_daemon();
    cluster.start_at(&address);
    cluster.node("cn003").provost(&["boot"]).expect(1);
    let text = wait(&notes, |text| text.matches("done").count() == 2);
    assert!(text.contains("PROVOST_NODES=cn003"), "{text}");
    assert_eq!(text.matches("PROVOST_NODES=cn[001-002]").count(), 2, "{text}");
}

#[test]
fn a_hook_that_hangs_is_killed_with_all_that_it_has_started() {
    let mut cluster = cluster();
    let mark = format!("{}", cluster.path("hang").display());
    // In its session, in another one, and of nobody who is there any more.
    let text = format!(
        "#!/bin/sh\n[ $PROVOST_TRY = 1 ] || exit 1\nexport MARK={mark}\nsh -c 'sleep 1000; :' &\n\
         setsid sh -c 'sleep 1000; :' &\nsh -c 'setsid sleep 1000 &'\nsleep 1000\n"
    );
    let hook = program(cluster.path("hook"), &text);
    let config = format!("[hooks]\non_booted = {hook:?}\nwindow = \"10ms\"\ntimeout = \"500ms\"\n");
    cluster.configure_daemon(&config);
    cluster.start();
    cluster.node("cn001").provost(&["boot"]).expect(0);
    wait(&cluster.path("provostd.log"), |log| log.contains("hook: killed after 500 ms"));
    let left = processes::all_gone(&mark, SOON);
    assert!(left.is_empty(), "{left:?}");
}

/// What Slurm has of a node, and the commands of Slurm that the example uses; all others fail.
fn slurm(folder: &Path) {
    program(
        folder.join("scontrol"),
        r#"#!/bin/sh
here=${0%/*}
echo "scontrol $*" >>"$here/calls"
case "$*" in
"show hostnames cn[001-002]") printf 'cn001\ncn002\n' ;;
"show hostnames cn[001-003]") printf 'cn001\ncn002\ncn003\n' ;;
"show hostnames "cn00?) echo "$3" ;;
"update nodename="*" state=resume" | "update nodename="*" state=drain reason="*)
    [ $# -le 4 ] || exit 1
    # As slurmctld says of a reason that it can't take.
    case $4 in *[\"\'\`]*) exit 1 ;; esac
    ;;
*) echo "scontrol: invalid: $*" >&2; exit 1 ;;
esac
"#,
    );
    program(
        folder.join("sinfo"),
        r#"#!/bin/sh
here=${0%/*}
echo "sinfo $*" >>"$here/calls"
[ "$1" = --noheader ] || exit 1
case "$2 $3" in
"--nodes=cn001 --format=%T" | "--nodes=cn003 --format=%T") echo drained ;;
"--nodes=cn002 --format=%T") echo idle ;;
"--nodes=cn001 --format=%E") echo "provost: mount_scratch: exit status 7" ;;
"--nodes=cn002 --format=%E") echo none ;;
"--nodes=cn003 --format=%E") echo "bad fan, lee" ;;
*) exit 1 ;;
esac
"#,
    );
}

/// The example `name`, as a hook that finds the stand-ins in `folder`.
fn example(folder: &Path, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let example = root.join("dist/examples/hooks").join(name);
    let text = format!("#!/bin/sh\nPATH={}:$PATH exec {}\n", folder.display(), example.display());
    program(folder.join(format!("hook-{name}")), &text)
}

#[test]
fn slurm_drains_what_failed_and_resumes_what_it_has_drained_for_that() {
    let mut cluster = cluster();
    let folder = cluster.path("slurm");
    slurm(&folder);
    let hook = example(&folder, "slurm");
    let config = format!("[hooks]\non_booted = {hook:?}\non_failed = {hook:?}\nwindow = \"15s\"\n");
    cluster.configure_daemon(&config);
    cluster.start();
    let nodes = ["cn001", "cn002"].map(|name| cluster.node(name));
    std::fs::write(cluster.path("broken"), "").unwrap();
    nodes.iter().for_each(|node| drop(node.provost(&["boot"]).expect(1)));
    let calls = folder.join("calls");
    let drained = "scontrol update nodename=cn[001-002] state=drain reason=provost: mount_scratch: \
                   exit status 7: no disk; (touch /x) here\n";
    wait(&calls, |calls| calls == drained);
    std::fs::remove_file(cluster.path("broken")).unwrap();
    nodes.iter().for_each(|node| drop(node.provost(&["boot"]).expect(0)));
    cluster.node("cn003").provost(&["boot"]).expect(0);
    let resumed = "scontrol update nodename=cn001 state=resume\n";
    let log = cluster.path("provostd.log");
    wait(&calls, |calls| calls.contains(resumed) && calls.contains("--nodes=cn003 --format=%E"));
    let calls = read(&calls);
    assert_eq!(calls.matches("state=resume").count(), 1, "{calls}\n{}", read(&log));
    assert!(!read(&log).contains("didn't take"), "{}", read(&log));
}

#[test]
fn mail_says_what_happened() {
    let mut cluster = cluster();
    let folder = cluster.path("mail");
    program(
        folder.join("sendmail"),
        "#!/bin/sh\n[ \"$*\" = '-i -t' ] || exit 64\ncat >\"${0%/*}/mail.new\"\n\
         mv \"${0%/*}/mail.new\" \"${0%/*}/mail\"\n",
    );
    let hook = example(&folder, "mail");
    cluster.configure_daemon(&format!("[hooks]\non_failed = {hook:?}\nwindow = \"10ms\"\n"));
    cluster.start();
    std::fs::write(cluster.path("broken"), "").unwrap();
    cluster.node("cn001").provost(&["boot"]).expect(1);
    let mail = wait(&folder.join("mail"), |mail| !mail.is_empty());
    let (head, body) = mail.split_once("\n\n").unwrap();
    assert!(head.starts_with("To: root\nSubject: cn001: failed\n"), "{head}");
    assert!(body.starts_with("cn001 failed in mount_scratch: exit status 7: no 'disk'"), "{body}");
    assert!(body.ends_with("More: provostctl nodes cn001\n"), "{body}");
}
