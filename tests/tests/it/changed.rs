//! What an earlier step may do to a later one: change its script, or what tells where it fails.

use std::time::Duration;

use provost_tests::{Ground, World, missing, skip_if};
use serde_json::json;

/// More than anything here takes, on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// Notes that it ran.
const TWO: &str = "#!/bin/sh\necho two >>\"$PROVOST_TEST/ran\"\n";

#[test]
fn a_script_that_an_earlier_step_has_changed_is_not_run() {
    let ways = [
        (
            "one byte, times and length as before",
            "touch -r two $PROVOST_TEST/time; printf X | dd of=two bs=1 seek=20 conv=notrunc; touch -r $PROVOST_TEST/time two",
        ),
        ("another file in its place", "cp two new; echo 'echo more' >>new; mv new two"),
        (
            "a link in its place",
            "cp two $PROVOST_TEST/new; echo >>$PROVOST_TEST/new; ln -sf $PROVOST_TEST/new two",
        ),
        ("a byte less", "truncate -s -1 two"),
        ("a program in its place", "rm two; cp /bin/true two"),
    ];
    for (story, way) in ways {
        let one = format!("#!/bin/sh\nset -e\n{way}\n");
        let ground = Ground::new(&[("one", &one), ("two", TWO)]);
        let run = ground.start(World::Walk, &["boot"]).end(LONG);
        assert_eq!(run.code, Some(1), "{story}: {}", run.said);
        let end = ground.end_of("boot", "two");
        assert_eq!(
            (&end["result"], &end["cause"]),
            (&json!("failure"), &json!("verify")),
            "{story}"
        );
        assert!(end["errorMessage"].as_str().unwrap().contains("changed"), "{story}: {end:#}");
        assert!(end["hint"].as_str().unwrap().contains("ls -lc "), "{story}: {end:#}");
        assert!(!ground.path("ran").exists(), "{story}: it ran");
        // The next run has it as it was published.
        let run = ground.start(World::Walk, &["run", "two"]).end(LONG);
        assert_eq!(run.code, Some(0), "{story}: {}", run.said);
        assert!(ground.path("ran").exists(), "{story}");
    }
}

/// Exchanges the good script and another one all the time, until it is killed.
const ATTACK: &str = "#!/bin/sh
(echo '#!/bin/sh'; echo 'echo evil >>\"$PROVOST_TEST/evil\"'; echo 'sleep 60') >evil
chmod 755 evil
cp -p two good
setsid python3 -c '
import os, time
# A sync of the file system meanwhile may take seconds.
end = time.monotonic() + 20
while time.monotonic() < end:
    for name in (\"evil\", \"good\"):
        os.link(name, \"next\")
        os.rename(\"next\", \"two\")
' >/dev/null 2>&1 &
sleep 0.2
";

#[test]
fn a_script_that_is_changed_while_it_starts_never_succeeds_with_what_was_not_verified() {
    let mut refused = 0;
    for _ in 0..8 {
        let ground = Ground::new(&[("one", ATTACK), ("two", TWO)]);
        let run = ground.start(World::Walk, &["boot"]).end(LONG);
        let end = ground.end_of("boot", "two");
        // It may have begun before it was seen, and is ended then.
        let is_good = ground.path("ran").exists() && !ground.path("evil").exists();
        match run.code {
            Some(0) => assert!(is_good, "{end:#}"),
            _ => {
                assert_eq!(end["cause"], "verify", "{end:#}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "the attack never came in time");
}

/// Has the next script's interpreter wait until another file is in the script's place.
const SLOW_INTERPRETER: &str = "#!/bin/sh
cat >slow <<'END'
#!/bin/sh
touch \"$PROVOST_TEST/started\"
until [ -e \"$PROVOST_TEST/exchanged\" ]; do sleep 0.01; done
exec sh \"$@\"
END
(echo '#!/bin/sh'; echo 'sleep 2') >evil
chmod 755 slow evil
setsid sh -c '
until [ -e \"$PROVOST_TEST/started\" ]; do sleep 0.01; done
WAY
touch \"$PROVOST_TEST/exchanged\"
' >/dev/null 2>&1 &
";

#[test]
fn a_script_that_is_changed_before_its_interpreter_opens_it_never_succeeds() {
    for way in ["mv evil two", "ln -s evil new && mv -T new two", "cat evil >two"] {
        let one = SLOW_INTERPRETER.replace("WAY", way);
        let two = "#!./slow\necho two >>\"$PROVOST_TEST/ran\"\n";
        let ground = Ground::new(&[("one", &one), ("two", two)]);
        let run = ground.start(World::Walk, &["boot"]).end(LONG);
        assert_eq!(run.code, Some(1), "{way}: {}", run.said);
        assert_eq!(ground.end_of("boot", "two")["cause"], "verify", "{way}");
    }
}

#[test]
fn a_script_may_change_its_mode_and_its_folder_and_remove_itself() {
    let two = "#!/bin/bash\nset -e\nchmod -R go-w .\ntouch two\nfor i in {1..20000}; do : >file$i\n\
               done\ncp two three\necho more >>three\nrm two file*\necho two >>\"$PROVOST_TEST/ran\"\n";
    let ground = Ground::new(&[("two", two)]);
    let run = ground.start(World::Walk, &["boot"]).end(LONG);
    assert_eq!(run.code, Some(0), "{}", run.said);
    assert!(ground.path("ran").exists());
}

#[test]
fn a_script_can_t_hide_the_failure_of_the_next_one() {
    let one = "#!/bin/bash\n\
               for state in \"$PROVOST_TEST/state\"; do echo 'exit 0' >\"$state/trace.bash\"; done\n\
               for fd in /proc/$PPID/fd/*; do\n\
               case $(readlink \"$fd\") in *provost-trace*)\n\
               echo \"found it\"\n\
               if echo 'exit 0' >\"$fd\"; then echo \"changed it\"; fi ;; esac\ndone 2>/dev/null\n";
    let two = "#!/bin/bash\nset -e\nfalse\ntrue\n";
    let ground = Ground::new(&[("one", one), ("two", two)]);
    let run = ground.start(World::Walk, &["boot"]).end(LONG);
    assert_eq!(run.code, Some(1), "{}", run.said);
    let end = ground.end_of("boot", "two");
    assert_eq!((&end["result"], &end["exitCode"]), (&json!("failure"), &json!(1)), "{end:#}");
    assert!(end["errorLine"].as_str().unwrap().starts_with("3 main "), "{end:#}");
    let log = ground.node().provost(&["log", "one"]).expect(0).stdout;
    assert!(log.contains("found it") && !log.contains("changed it"), "{log}");
}

/// Runs the rest of its arguments where LOG has 256 KB.
const SMALL_LOG: [&str; 6] = [
    "unshare",
    "--mount",
    "sh",
    "-c",
    "mkdir -p \"$PROVOST_TEST/log\" && mount -t tmpfs -o size=256k none \"$PROVOST_TEST/log\" && \
     \"$@\"; code=$?; cp -r \"$PROVOST_TEST/log\" \"$PROVOST_TEST/seen\"; exit $code",
    "sh",
];

#[test]
fn a_right_script_succeeds_though_the_disk_with_its_log_is_full() {
    skip_if(missing::mounts());
    // What its end notes finds the disk full.
    let right = "#!/bin/bash\nset -euo pipefail\ndd if=/dev/zero of=\"$PROVOST_TEST/log/filler\" \
                 2>/dev/null || true\nhandled() { false; }\nif handled; then exit 1; fi\n\
                 handled || true\necho \"all went well\"\n";
    let ground = Ground::new(&[("right", right)]);
    let run = ground.start_by(&SMALL_LOG, World::Walk, &["boot"]).end(LONG);
    assert_eq!(run.code, Some(0), "{}", run.said);
    let journal = std::fs::read(ground.path("seen/services/boot.json")).unwrap();
    let journal: Vec<serde_json::Value> = serde_json::from_slice(&journal).unwrap();
    let ends = |e: &&serde_json::Value| e["stage"] == "right" && e["phase"] == "stage end";
    let end = journal.iter().find(ends).unwrap();
    assert_eq!(end["result"], "success", "{end:#}");
    assert!(end["hint"].as_str().unwrap().contains("its log is incomplete"), "{end:#}");
}
