//! What a script finds is the same, whatever provost itself was given.

use provost_tests::{Ground, World, missing, skip_if};

use crate::hostile::scripts::LIMIT;

/// Prints what it finds.
const LOOKS: &str = r#"#!/bin/sh
printf 'descriptors '
ls -m /proc/$$/fd
echo "umask $(umask)"
echo "stdin $(readlink /proc/$$/fd/0)"
echo "oom $(cat /proc/$$/oom_score_adj)"
echo "files $(ulimit -Sn)"
# Not by a command: dash blocks all signals while it starts one.
while read -r key mask; do
    case $key in SigBlk: | SigIgn:) echo "$key $mask" ;; esac
done </proc/$$/status
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

/// As a unit with `OOMScoreAdjust=` does. To lower the real score takes a privilege that tests
/// seldom have, so that a file stands in for it.
#[test]
fn a_score_that_is_low_already_is_not_raised() {
    const LOW: &str = "echo -900 >\"$PROVOST_TEST/score\" && mount --bind \"$PROVOST_TEST/score\" \
         /proc/$$/oom_score_adj && exec \"$@\"";
    skip_if(missing::mounts());
    let ground = Ground::new(&[("looks", LOOKS)]);
    let by = ["unshare", "--mount", "sh", "-c", LOW, "sh"];
    let run = ground.start_by(&by, World::Walk, &["run", "looks"]).end(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.said);
    assert_eq!(std::fs::read_to_string(ground.path("score")).unwrap(), "-900\n");
}

/// What a unit sets would be the scripts' as well, and their daemons'.
#[test]
fn no_unit_sets_a_score() {
    let units = concat!(env!("CARGO_MANIFEST_DIR"), "/../units");
    for unit in std::fs::read_dir(units).unwrap() {
        let unit = unit.unwrap().path();
        let text = std::fs::read_to_string(&unit).unwrap();
        assert!(!text.contains("OOMScoreAdjust"), "{}", unit.display());
    }
}

fn found(world: World) -> String {
    let ground = Ground::new(&[("looks", LOOKS)]);
    let by = ["sh", "-c", CARELESS, "sh"];
    let out = ground.command_by(&by, world, &["run", "looks"]).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let log = ground.node().provost(&["log", "looks", "--output"]).expect(0).stdout;
    log.lines().map(|l| l.split_once(" F ").unwrap().1.to_owned() + "\n").collect()
}
