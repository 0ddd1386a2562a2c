//! Where and as whom provost is run.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use provost_tests::{Ground, World, missing, skip, skip_if};

use crate::hostile::scripts::{LIMIT, LONG, script};

/// Somebody who isn't root.
const NOBODY: u32 = 65534;
/// Runs the rest of its arguments as they.
const AS_NOBODY: [&str; 6] = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
/// Runs the rest of its arguments where nothing is mounted on /proc.
const NO_PROC: [&str; 6] =
    ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"];
/// Runs the rest of its arguments where nothing that was fetched may be executed.
const NO_EXEC: [&str; 6] = [
    "unshare",
    "--mount",
    "sh",
    "-c",
    "state=$PROVOST_TEST/state; mkdir -p \"$state\" && mount --bind \"$state\" \"$state\" && \
     mount -o remount,bind,noexec \"$state\" && exec \"$@\"",
    "sh",
];
/// Runs the rest of its arguments where nothing is in /dev.
const NO_DEV: [&str; 6] =
    ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /dev && exec \"$@\"", "sh"];
/// Runs the rest of its arguments as the child of a process 1 that waits for nobody else, and
/// then names the processes that are there.
const CHILD_OF_1: [&str; 8] = [
    "unshare",
    "--pid",
    "--fork",
    "--mount-proc",
    "sh",
    "-c",
    "\"$@\"; code=$?; echo there are $(cd /proc && echo [0-9]*); exit $code",
    "sh",
];
/// Runs the rest of its arguments on a terminal.
const ON_A_TERMINAL: [&str; 4] =
    ["sh", "-c", "exec script -qec \"$(printf \"'%s' \" \"$@\")\" /dev/null", "sh"];

/// Gives `path` and all below it to [`NOBODY`].
fn give(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}

/// A node that is all theirs.
fn as_nobody(scripts: &[(&str, &str)]) -> Ground {
    let ground = Ground::new(scripts);
    let folder = ground.path("");
    for above in folder.ancestors().take_while(|path| *path != std::env::temp_dir()) {
        std::fs::set_permissions(above, PermissionsExt::from_mode(0o755)).unwrap();
    }
    give(&folder);
    ground
}

#[test]
fn an_ordinary_user_can_do_it() {
    skip_if(missing::other_users());
    for name in ["respawns", "fork_bomb"] {
        let ground = as_nobody(&[(name, &script(name))]);
        for world in World::all() {
            let run = ground.start_by(&AS_NOBODY, world, &["run", name]).end(LIMIT);
            ground.nobody_is_left(&run.said);
            assert_eq!(ground.end_of("run", name)["cause"], "timeout", "{}", run.said);
        }
    }
}

#[test]
fn without_proc_a_script_and_its_group_end() {
    skip_if(missing::mounts());
    for name in ["ignores_term", "stops_itself", "prints_for_ever", "exits_137"] {
        let ground = Ground::new(&[(name, &script(name))]);
        let run = ground.start_by(&NO_PROC, World::Walk, &["run", name]).end(LIMIT);
        ground.nobody_is_left(&run.said);
        let cause = if name == "exits_137" { "exit" } else { "timeout" };
        assert_eq!(ground.end_of("run", name)["cause"], cause, "{}", run.said);
    }
}

#[test]
fn without_proc_who_left_the_group_ends_as_well() {
    skip_if(missing::mounts());
    for name in ["setsid", "nohup", "other_user"] {
        let ground = Ground::new(&[(name, &script(name))]);
        let run = ground.start_by(&NO_PROC, World::Walk, &["run", name]).end(LONG);
        ground.nobody_is_left(&run.said);
        assert_eq!(ground.end_of("run", name)["cause"], "timeout", "{}", run.said);
    }
}

#[test]
fn without_proc_who_is_left_behind_is_told_and_goes_as_the_policy_says() {
    skip_if(missing::mounts());
    for (leak, code) in [("warn", 0), ("kill", 0), ("fail", 1)] {
        let leaves = format!(
            "#!/bin/sh\n# /// provost\n# leak = \"{leak}\"\n# ///\n\
             setsid sleep 1000 </dev/null >/dev/null 2>&1 &\n"
        );
        let ground = Ground::new(&[("leaves", &leaves)]);
        let run = ground.start_by(&NO_PROC, World::Walk, &["run", "leaves"]).end(LONG);
        let end = ground.end_of("run", "leaves");
        assert_eq!(run.code, Some(code), "{leak}: {}", run.said);
        assert_eq!(end["leaked"], serde_json::json!(["? unknown"]), "{leak}: {end:#}");
        if leak == "warn" {
            let sleep = ground.processes().iter().any(|p| p.comm == "sleep" && p.state != 'Z');
            assert!(sleep, "{leak}: it lives on");
        } else {
            ground.nobody_is_left(&run.said);
        }
    }
}

/// Another user's processes can't be killed by an ordinary one.
#[test]
fn who_survives_a_kill_is_told() {
    skip_if(missing::other_users());
    let survives = "#!/bin/sh\n# /// provost\n# timeout = \"1s\"\n# ///\n\
         \"$PROVOST_TEST/setpriv\" --reuid 0 --regid 0 --clear-groups sleep 1000\n";
    let ground = as_nobody(&[("survives", survives)]);
    let setpriv = ground.path("setpriv");
    std::fs::copy("/usr/bin/setpriv", &setpriv).unwrap();
    std::fs::set_permissions(&setpriv, PermissionsExt::from_mode(0o4755)).unwrap();
    let run = ground.start_by(&AS_NOBODY, World::Walk, &["run", "survives"]).end(LONG);
    let end = ground.end_of("run", "survives");
    assert_eq!(end["cause"], "timeout", "{}", run.said);
    let sleep = ground.processes().into_iter().find(|p| p.comm == "sleep").unwrap();
    assert_eq!(end["leaked"], serde_json::json!([format!("{} sleep", sleep.pid)]), "{end:#}");
}

/// As in an installer's chroot that nobody has furnished.
#[test]
fn without_dev_a_script_runs() {
    skip_if(missing::mounts());
    let name = "reads_stdin";
    let ground = Ground::new(&[(name, &script(name))]);
    let run = ground.start_by(&NO_DEV, World::Walk, &["run", name]).end(LONG);
    ground.nobody_is_left(&run.said);
    let end = ground.end_of("run", name);
    assert_eq!((&end["cause"], &end["exitCode"]), (&"exit".into(), &3.into()), "{}", run.said);
}

#[test]
fn where_nothing_may_be_executed_it_is_said() {
    skip_if(missing::mounts());
    let ground = Ground::new(&[("script", "#!/bin/sh\n")]);
    let run = ground.start_by(&NO_EXEC, World::Walk, &["run", "script"]).end(LIMIT);
    let end = ground.end_of("run", "script");
    assert_eq!(end["cause"], "exec", "{}", run.said);
    let has = |key: &str, text| end[key].as_str().is_some_and(|found| found.contains(text));
    assert!(has("errorMessage", "noexec") && has("hint", "findmnt -T "), "{end:#}");
}

#[test]
fn a_child_of_process_1_leaves_nobody_to_it() {
    skip_if(missing::process_namespaces());
    for name in ["setsid", "respawns", "leaves_zombies", "double_fork"] {
        let ground = Ground::new(&[(name, &script(name))]);
        let run = ground.start_by(&CHILD_OF_1, World::Walk, &["run", name]).end(LIMIT);
        ground.nobody_is_left(&run.said);
        // Process 1 itself, and the shell that lists them.
        let there = run.said.lines().find_map(|l| l.strip_prefix("there are ")).unwrap();
        let others = there.split(' ').filter(|pid| *pid != "1").count();
        assert!(others <= 1, "{there}: {}", run.said);
    }
}

/// A daemon lives in the group of a keeper that had the process id that the next one gets.
#[test]
fn a_keeper_kills_nobody_who_had_its_number() {
    const SAME: &str = "\
        group=$(awk '$3 == \"cgroup2\" { print $2; exit }' /proc/mounts)\
        $(sed -n 's/^0:://p' /proc/self/cgroup)\n\
        last=$(($(cat /proc/sys/kernel/pid_max) - 100))\n\
        leaf=$group/provost-$((last + 2))\n\
        sleep 1000 &\n\
        mkdir \"$leaf\" && echo $! >\"$leaf/cgroup.procs\" || exit 99\n\
        echo $last >/proc/sys/kernel/ns_last_pid || exit 99\n\
        \"$@\"\n\
        echo expected keeper $((last + 2))\n\
        kill -0 $! && echo it lives\n\
        kill -KILL $!; wait; rmdir \"$leaf\"\n";
    skip_if(missing::process_namespaces());
    if !World::all().contains(&World::Cgroup) {
        skip("no cgroup v2 can be made that can kill")
    }
    let by = ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", SAME, "sh"];
    let keeper = "#!/bin/sh\n# /// provost\n# timeout = \"1s\"\n# ///\necho keeper $PPID\n\
         setsid sleep 1000 &\nsleep 1000\n";
    let ground = Ground::new(&[("hangs", keeper)]);
    let run = ground.start_by(&by, World::Cgroup, &["run", "hangs"]).end(LONG);
    assert!(run.said.contains("it lives"), "{}", run.said);
    let keeper = ground.end_of("run", "hangs")["errorMessage"].as_str().unwrap().to_owned();
    assert!(run.said.contains(&format!("expected {keeper}")), "{keeper}, {}", run.said);
    ground.nobody_is_left(&run.said);
}

/// The terminal is provost's, not the script's: a script that asks there would wait for ever.
#[test]
fn on_a_terminal_a_script_has_none() {
    skip_if(missing::program("script", "bsdutils"));
    let name = "reads_the_terminal";
    let ground = Ground::new(&[(name, &script(name))]);
    for world in World::all() {
        let run = ground.start_by(&ON_A_TERMINAL, world, &["run", name]).end(LIMIT);
        ground.nobody_is_left(&run.said);
        assert_eq!(ground.end_of("run", name)["cause"], "exit", "{}", run.said);
    }
}
