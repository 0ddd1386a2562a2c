//! A script that is ended from outside has failed, and the next start says so if it could not.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn a_sigterm_is_a_failure() {
    for way in WAYS {
        for whole_group in [true, false] {
            let service = Service::new(way);
            // Alone, and outside of a unit, bash handles it once the foreground command has ended.
            let nap = match whole_group {
                // It is there before the signal, which a child of bash that is none yet could lose.
                true => "sh -c 'echo ready; exec sleep 600'",
                false => "echo ready\nwhile :; do :; done",
            };
            let body = format!("record_service_stage_start s\n{nap}\n");
            let mut child = service.start(&body);
            let pid = Pid::from_child(&child);
            let kill = if whole_group { kill_process_group } else { kill_process };
            kill(pid, Signal::TERM).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(15), "{way:?}");
            let ends = ["stage end s failure", "service end failure"];
            assert_eq!(service.story()[2..], ends, "{way:?}");
            assert_eq!(service.last()["signal"], "SIGTERM", "{way:?}");
        }
    }
}

/// What systemd says of a unit decides: `systemctl stop` is no failure, a time-out is one.
#[test]
fn a_service_that_is_stopped_in_order_is_interrupted() {
    let cases = [
        ("Job=17\nResult=success", "interrupted"),
        ("Result=timeout", "signal"),
        ("Result=success", "signal"),
    ];
    // To bash alone as well (KillMode=mixed, process), whatever it waits for.
    let waits = [
        (true, "sh -c 'echo ready; exec sleep 600'"),
        (false, "sh -c 'echo ready; exec sleep 600'"),
        (false, "f() { x=$(sleep 600); }; echo ready; f"),
        (false, "echo ready; x=$(sleep 600)"),
        (false, "echo ready; while :; do :; done"),
    ];
    for (way, (whole_group, wait)) in WAYS.into_iter().flat_map(|way| waits.map(|w| (way, w))) {
        let of_bash_alone = |case: &&(&str, &str)| whole_group || case.1 == "interrupted";
        for (said, cause) in cases.iter().filter(of_bash_alone) {
            let service = Service::new(way);
            let fakes = service.path("fakes");
            std::fs::create_dir(&fakes).unwrap();
            let fake = |name: &str, text: &str| {
                let path = fakes.join(name);
                std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
            };
            fake("systemctl", &format!("[ \"$4\" = svc.service ] && echo '{said}'"));
            let lines = "one\\ntwo\\nthree\\nx.sh: line 9: 12 Terminated   sleep 600\\nhint: no";
            fake("journalctl", &format!("printf '{lines}\\n'"));
            let path = std::env::var("PATH").unwrap();
            let body = format!("record_service_stage_start s\n{wait}\n");
            let mut command = service.command_in_unit(&body, "svc.service");
            command.env("PATH", format!("{}:{path}", fakes.display())).env("INVOCATION_ID", "1");
            let mut child = service.start_command(command);
            let pid = Pid::from_child(&child);
            let kill = if whole_group { kill_process_group } else { kill_process };
            kill(pid, Signal::TERM).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(15), "{way:?}: {wait}");
            let _ = kill_process_group(pid, Signal::KILL);
            let ends = ["stage end s failure", "service end failure"];
            assert_eq!(service.story()[2..], ends, "{way:?}: {wait}");
            let last = service.last();
            assert_eq!((&last["cause"], &last["signal"]), (&(*cause).into(), &"SIGTERM".into()));
            assert_eq!(last["errorMessage"], "one\ntwo\nthree", "{way:?}");
        }
    }
}

#[test]
fn a_sigterm_that_the_script_handles_is_a_failure_too() {
    for way in WAYS {
        let service = Service::new(way);
        let mut child = service.start("trap 'exit 0' TERM\necho ready\nwhile :; do :; done\n");
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{way:?}: the status is the script's");
        assert_eq!(service.story()[1..], ["service end failure"], "{way:?}");
    }
}

#[test]
fn the_scripts_own_traps_run_and_the_end_is_recorded_all_the_same() {
    let cases = [
        ("trap 'echo $? >own' EXIT\n(exit 4)\n", Some(4), "4\n", "failure"),
        ("trap 'echo $? >own' EXIT\n", Some(0), "0\n", "success"),
        (
            "trap 'rc=$?; echo $rc >own; exit $rc' EXIT\nf() { exit 6; }\nf\n",
            Some(6),
            "6\n",
            "failure",
        ),
        ("trap 'echo $? >own; exit 9' EXIT\n", Some(9), "0\n", "failure"),
        ("trap 'echo $? >own; false' EXIT\n", Some(1), "0\n", "failure"),
        ("trap 'echo $? >own' ERR\nfalse\n", Some(1), "1\n", "failure"),
        ("trap 'echo no >own' EXIT\ntrap - EXIT\necho 0 >own\n", Some(0), "0\n", "success"),
        ("( trap 'echo 0 >own' EXIT )\n", Some(0), "0\n", "success"),
    ];
    for way in WAYS {
        for (body, status, own, result) in cases {
            let service = Service::new(way);
            assert_eq!(service.run(body).code(), status, "{way:?}: {body}");
            assert_eq!(std::fs::read_to_string(service.path("own")).unwrap(), own, "{body}");
            let story = service.story();
            assert_eq!(
                story,
                ["service start", &format!("service end {result}")],
                "{way:?}: {body}"
            );
        }
    }
}

#[test]
fn a_killed_script_is_recorded_as_interrupted_by_the_next_start() {
    for way in WAYS {
        let service = Service::new(way);
        let mut alive = service.start("echo ready\nread -r _ || sleep 600\n");
        let mut child = service.start("record_service_stage_start s\necho ready\nsleep 600\n");
        kill_process_group(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(service.run("").success());
        assert_eq!(
            service.story()[3..],
            ["stage end s failure", "service end failure", "service start", "service end success"],
            "{way:?}: who is alive isn't interrupted"
        );
        let entries = service.entries();
        for entry in &entries[3..5] {
            assert_eq!(entry["cause"], "interrupted", "{way:?}");
            assert_eq!(entry["run"], entries[2]["run"], "{way:?}");
        }
        let said = "the run was cut off during s; its end was never written";
        assert_eq!(entries[4]["errorMessage"], said, "{way:?}");
        kill_process_group(Pid::from_child(&alive), Signal::KILL).unwrap();
        alive.wait().unwrap();
    }
}

/// In the manner of bootkube.sh: stages that leave markers. It is killed in the stage `KILLED_IN`.
const STAGES: &str = "\
for stage in render etcd bootstrap; do
    if [ ! -f \"$stage.done\" ]; then
        record_service_stage_start \"$stage\"
        echo \"$stage\" >>log
        if [ \"${KILLED_IN-}\" = \"$stage\" ]; then
            kill -KILL $$
        fi
        touch \"$stage.done\"
        record_service_stage_success
    fi
done
";

#[test]
fn a_service_that_is_killed_in_each_stage_resumes_and_ends() {
    for way in WAYS {
        let service = Service::new(way);
        for stage in ["render", "etcd", "bootstrap"] {
            let status = service.command(STAGES).env("KILLED_IN", stage).status().unwrap();
            assert_eq!(status.signal(), Some(9), "{way:?}");
            assert_eq!(told(&service.last()), format!("stage start {stage}"), "{way:?}");
        }
        assert!(service.run(STAGES).success());
        let log = std::fs::read_to_string(service.path("log")).unwrap();
        assert_eq!(log, "render\nrender\netcd\netcd\nbootstrap\nbootstrap\n", "{way:?}");
        assert_eq!(
            service.story(),
            [
                "service start",
                "stage start render",
                "stage end render failure",
                "service end failure",
                "service start",
                "stage start render",
                "stage end render success",
                "stage start etcd",
                "stage end etcd failure",
                "service end failure",
                "service start",
                "stage start etcd",
                "stage end etcd success",
                "stage start bootstrap",
                "stage end bootstrap failure",
                "service end failure",
                "service start",
                "stage start bootstrap",
                "stage end bootstrap success",
                "service end success",
            ],
            "{way:?}"
        );
    }
}
