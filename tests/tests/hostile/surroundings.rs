//! What a script finds is the same, whatever provost itself was given.

use provost_tests::{Ground, World};

/// Prints what it finds.
const LOOKS: &str = r#"#!/bin/sh
printf 'descriptors '
ls -m /proc/$$/fd
echo "umask $(umask)"
echo "stdin $(readlink /proc/$$/fd/0)"
echo "oom $(cat /proc/$$/oom_score_adj)"
echo "files $(ulimit -Sn)"
awk '/^Sig(Blk|Ign)/ { print $1, $2 }' /proc/$$/status
awk '{ sub(/.*\) /, ""); print "session", $4, "terminal", $5 }' /proc/$$/stat
echo "self $$"
echo "cgroup $(grep '^0::' /proc/$$/cgroup)"
"#;
/// What a careless caller leaves to whom it starts.
const CARELESS: &str = r#"umask 077; ulimit -Sn 99; exec 7</dev/null; trap "" HUP QUIT USR1
    exec env --block-signal=USR2,RTMIN+1 "$@""#;
/// The signals that have names; those of the C library itself are its own affair.
const NAMED: u64 = (1 << 31) - 1;

#[test]
fn a_script_inherits_nothing() {
    for world in World::all() {
        let found = found(world);
        let line = |key: &str| {
            let line = found.lines().find_map(|l| l.strip_prefix(key));
            line.unwrap_or_else(|| panic!("no {key} in\n{found}")).trim()
        };
        // 10 is the shell's own, on the script.
        assert_eq!(line("descriptors").replace("10, ", ""), "0, 1, 2", "{found}");
        assert_eq!(line("umask"), "0022");
        assert_eq!(line("stdin"), "/dev/null");
        assert_eq!(line("files"), "99", "a limit that was set is kept");
        let oom = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
        assert_eq!(line("oom"), oom.trim());
        let signals = |key| u64::from_str_radix(line(key), 16).unwrap() & NAMED;
        assert_eq!((signals("SigBlk:"), signals("SigIgn:")), (0, 0), "{found}");
        let own = format!("{} terminal 0", line("self"));
        assert_eq!(line("session"), own, "its own session, without a terminal");
        assert_eq!(line("cgroup").contains("/provost-"), world == World::Cgroup, "{found}");
    }
}

fn found(world: World) -> String {
    let ground = Ground::new(&[("looks", LOOKS)]);
    let by = ["sh", "-c", CARELESS, "sh"];
    let out = ground.command_by(&by, world, &["run", "looks"]).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let log = ground.node().provost(&["log", "looks"]).expect(0).stdout;
    log.lines().map(|l| l.split_once(" F ").unwrap().1.to_owned() + "\n").collect()
}
