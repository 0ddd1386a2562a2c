//! What becomes of those that outlive their script.

use std::io::{Read, Write};

use provost_tests::processes::{look, until};
use provost_tests::{Ground, World};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::hostile::pipes::{SOON, line, open_pipe};
use crate::hostile::scripts::{LIMIT, LONG};

/// Leaves a process behind that holds neither of its outputs.
const QUIET: &str = "sleep 1000 </dev/null >/dev/null 2>&1 &\nexit 0\n";
/// Leaves a daemon behind that prints 1 MB when it is told to, and notes how that went.
const DAEMON: &str = r#"#!/bin/sh
(
    read -r _ <"$PROVOST_TEST/go"
    head -c 1000000 /dev/zero
    echo $? >"$PROVOST_TEST/went"
) &
exit 0
"#;
/// Leaves a daemon behind that makes an orphan when it is told to.
const ORPHANS: &str = r#"#!/bin/sh
(
    read -r _ <"$PROVOST_TEST/go"
    (exec sh -c 'echo there >"$PROVOST_TEST/went"; read -r _ <"$PROVOST_TEST/end"' &)
    sleep 1000
) &
exit 0
"#;
/// Leaves the same, but loses its keeper.
const LOST: &str = r#"#!/bin/sh
setsid sh -c 'while sleep 1000; do :; done' </dev/null >/dev/null 2>&1 &
kill -KILL $PPID
sleep 1000
"#;
/// Has a child in a session of its own, and is too slow.
const HANGS: &str = r#"#!/bin/sh
# /// provost
# timeout = "1s"
# ///
setsid sleep 1000 &
sleep 1000
"#;

/// Ends at once when it is told to, while a child of it has something to put in order first.
const TIDIES: &str = r#"#!/bin/bash
# /// provost
# timeout = "2s"
# ///
bash -c '
    trap "sleep 0.5; echo tidied >\"$PROVOST_TEST/tidied\"; exit" TERM
    echo begun >"$PROVOST_TEST/begun"
    while :; do sleep 0.1; done
' >/dev/null 2>&1
"#;
/// Ends when it is told to, late; a child that holds its output doesn't.
const CLINGS: &str = r#"#!/bin/bash
# /// provost
# timeout = "1s"
# ///
trap 'sleep 0.5; exit 0' TERM
sh -c 'trap "" TERM; while :; do sleep 1000; done' &
wait
"#;

fn with_policy(leak: &str) -> String {
    format!("#!/bin/sh\n# /// provost\n# leak = \"{leak}\"\n# ///\n{QUIET}")
}

fn alive(ground: &Ground, comm: &str) -> usize {
    ground.processes().iter().filter(|p| p.comm == comm && p.state != 'Z').count()
}

#[test]
fn warn_names_them_and_leaves_them_alone() {
    for world in World::all() {
        let ground = Ground::new(&[("leaves", &with_policy("warn"))]);
        let run = ground.start(world, &["run", "leaves"]).end(LIMIT);
        let end = ground.end_of("run", "leaves");
        assert_eq!((run.code, &end["result"]), (Some(0), &json!("success")), "{}", run.said);
        let sleeps = ground.processes();
        let sleep = sleeps.iter().find(|p| p.comm == "sleep").expect("it lives on");
        assert_eq!(end["leaked"], json!([format!("{} sleep", sleep.pid)]));
        assert!(run.said.contains("left processes behind"), "{}", run.said);
        let left = format!("left behind: {} sleep", sleep.pid);
        let status = ground.node().provost(&["status"]).expect(0).stdout;
        assert!(status.contains(&left), "{status}");
    }
}

#[test]
fn kill_names_and_kills_them_and_the_result_stands() {
    for world in World::all() {
        let ground = Ground::new(&[("leaves", &with_policy("kill"))]);
        let run = ground.start(world, &["run", "leaves"]).end(LIMIT);
        ground.nobody_is_left(&run.said);
        let end = ground.end_of("run", "leaves");
        assert_eq!((run.code, &end["result"]), (Some(0), &json!("success")), "{}", run.said);
        assert_eq!(end["leaked"].as_array().map(Vec::len), Some(1), "{end:#}");
    }
}

#[test]
fn fail_names_and_kills_them_and_the_step_has_failed() {
    for world in World::all() {
        let ground = Ground::new(&[("leaves", &with_policy("fail"))]);
        let run = ground.start(world, &["run", "leaves"]).end(LIMIT);
        ground.nobody_is_left(&run.said);
        let end = ground.end_of("run", "leaves");
        assert_eq!((run.code, &end["result"]), (Some(1), &json!("failure")), "{}", run.said);
        assert_eq!(end["leaked"].as_array().map(Vec::len), Some(1), "{end:#}");
        assert!(end["hint"].is_string() && end["cause"].is_string(), "{end:#}");
    }
}

/// As a package manager does whose script is ended.
#[test]
fn descendants_have_their_grace_as_well() {
    for world in World::all() {
        for cause in ["interrupted", "timeout"] {
            let ground = Ground::new(&[("tidies", TIDIES)]);
            ground.limits("grace = \"10m\"\n");
            let (begun, tidied) = (open_pipe(&ground, "begun"), open_pipe(&ground, "tidied"));
            let run = ground.start(world, &["run", "tidies"]);
            assert_eq!(line(&begun), "begun");
            if cause == "interrupted" {
                run.signal(Signal::TERM);
            }
            assert_eq!(line(&tidied), "tidied", "{cause}, {world:?}");
            let run = run.end(LONG);
            ground.nobody_is_left(&run.said);
            assert_eq!(ground.end_of("run", "tidies")["cause"], cause, "{}", run.said);
        }
    }
}

#[test]
fn descendants_have_no_more_than_their_grace() {
    for world in World::all() {
        let ground = Ground::new(&[("clings", CLINGS)]);
        ground.limits("grace = \"1s\"\nleak = \"10m\"\n");
        let run = ground.start(world, &["run", "clings"]).end(LIMIT);
        ground.nobody_is_left(&run.said);
        assert_eq!(ground.end_of("run", "clings")["cause"], "timeout", "{}", run.said);
    }
}

#[test]
fn a_daemon_can_print_after_its_run() {
    for world in World::all() {
        let ground = Ground::new(&[("daemon", DAEMON)]);
        let (mut go, went) = (open_pipe(&ground, "go"), open_pipe(&ground, "went"));
        let run = ground.start(world, &["run", "daemon"]).end(LIMIT);
        assert_eq!(run.code, Some(0), "{}", run.said);
        go.write_all(b"go\n").unwrap();
        assert_eq!(line(&went), "0", "it neither blocks nor gets SIGPIPE");
        ground.nobody_is_left("the daemon has ended, so its keeper has, too");
    }
}

/// As sshd does, which ends a session when nobody holds its pipes any more.
#[test]
fn whoever_waits_for_the_output_of_a_run_does_not_wait_for_daemons() {
    for world in World::all() {
        let ground = Ground::new(&[("daemon", DAEMON)]);
        let (_go, _went) = (open_pipe(&ground, "go"), open_pipe(&ground, "went"));
        let (mut ours, theirs) = std::io::pipe().unwrap();
        let mut command = ground.command(world, &["run", "daemon"]);
        command.stdin(theirs.try_clone().unwrap());
        command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let mut child = command.spawn().unwrap();
        drop(command);
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            ours.read_to_string(&mut text).unwrap();
            tell.send(text)
        });
        let said = told.recv_timeout(LIMIT).expect("the end of the output");
        assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
        assert_eq!(alive(&ground, "daemon"), 1, "{:#?}", ground.processes());
    }
}

#[test]
fn a_daemon_outlives_the_failure_of_a_later_step() {
    for world in World::all() {
        // One holds its pipes, one doesn't.
        let ground =
            Ground::new(&[("daemon", DAEMON), ("leaves", &with_policy("warn")), ("hangs", HANGS)]);
        let (mut go, went) = (open_pipe(&ground, "go"), open_pipe(&ground, "went"));
        let run = ground.start(world, &["boot"]).end(LIMIT + LIMIT);
        assert_eq!(run.code, Some(1), "{}", run.said);
        let end = ground.end_of("boot", "hangs");
        assert_eq!((&end["cause"], &end["leaked"]), (&json!("timeout"), &Value::Null), "{end:#}");
        assert_eq!((alive(&ground, "daemon"), alive(&ground, "sleep")), (1, 1), "{}", run.said);
        go.write_all(b"go\n").unwrap();
        assert_eq!(line(&went), "0");
    }
}

#[test]
fn a_daemon_outlives_the_keeper_of_a_later_step() {
    for world in World::all() {
        // One holds its pipes, one doesn't.
        let steps = [("daemon", DAEMON), ("leaves", &with_policy("warn")), ("lost", LOST)];
        let ground = Ground::new(&steps);
        let (mut go, went) = (open_pipe(&ground, "go"), open_pipe(&ground, "went"));
        let run = ground.start(world, &["boot"]).end(LIMIT + LIMIT);
        assert_eq!(ground.end_of("boot", "lost")["cause"], "interrupted", "{}", run.said);
        let others = ground.processes();
        let names: Vec<&str> = others.iter().map(|p| p.comm.as_str()).collect();
        assert_eq!((alive(&ground, "daemon"), alive(&ground, "sleep")), (1, 1), "{names:?}");
        assert_eq!(alive(&ground, "sh"), 0, "{names:?}");
        go.write_all(b"go\n").unwrap();
        assert_eq!(line(&went), "0");
    }
}

#[test]
fn a_later_step_answers_for_its_own_daemons_alone() {
    for world in World::all() {
        let second = with_policy("fail").replace(QUIET, "exit 0\n");
        let ground = Ground::new(&[("leaves", &with_policy("warn")), ("second", &second)]);
        let run = ground.start(world, &["boot"]).end(LIMIT);
        assert_eq!(run.code, Some(0), "{}", run.said);
        assert_eq!(ground.end_of("boot", "second")["leaked"], Value::Null);
        assert_eq!(alive(&ground, "sleep"), 1);
    }
}

/// The keeper that stays with a daemon is the parent of its orphans, and has to do what init
/// would.
#[test]
fn orphans_of_a_daemon_do_not_stay_as_zombies() {
    for world in World::all() {
        let ground = Ground::new(&[("daemon", ORPHANS)]);
        let (mut go, went) = (open_pipe(&ground, "go"), open_pipe(&ground, "went"));
        let mut end = open_pipe(&ground, "end");
        let run = ground.start(world, &["run", "daemon"]).end(LIMIT);
        assert_eq!(run.code, Some(0), "{}", run.said);
        go.write_all(b"go\n").unwrap();
        assert_eq!(line(&went), "there");
        let all = ground.processes();
        let orphan = all.iter().find(|p| p.comm == "sh").unwrap().pid;
        end.write_all(b"end\n").unwrap();
        let gone = until(SOON, || look(orphan).is_none());
        assert!(gone, "{:#?} in {:#?}", look(orphan), ground.processes());
    }
}
