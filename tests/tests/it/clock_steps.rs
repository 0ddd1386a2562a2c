//! The wall clock is stepped while a script runs, as the first exchange with a time server does.

use provost_tests::{Cluster, Faketime};
use serde_json::Value;

fn stage<'a>(journal: &'a [Value], name: &str, phase: &str) -> &'a Value {
    let it = |r: &&Value| r["stage"] == name && r["phase"] == phase;
    journal.iter().find(it).unwrap_or_else(|| panic!("{phase} of {name}: {journal:#?}"))
}

fn day(record: &Value) -> &str {
    record["timestamp"].as_str().and_then(|text| text.get(..10)).unwrap_or_default()
}

#[test]
fn a_step_of_the_wall_clock_neither_ends_a_script_nor_keeps_one_running() {
    let faketime = Faketime::new();
    let mut cluster = Cluster::new();
    let clock = cluster.path("clock");
    let set = |to: &str| format!("echo {to} >'{}'\n", clock.display());
    let hangs =
        "#!/bin/sh\n# /// provost\n# timeout = \"2s\"\n# on_failure = \"continue\"\n# ///\n";
    cluster.script("back", &format!("{hangs}{}exec sleep 600\n", set("-10d")));
    cluster.script("ahead", &format!("#!/bin/sh\n{}sleep 1\n", set("+10d")));
    cluster.site("[nodes.cn001]\npostscripts = [\"back\", \"ahead\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    std::fs::write(&clock, "+0\n").expect("the clock is set");
    let mut boot = node.command(&["boot"]);
    let boot = faketime.load(&mut boot).env("FAKETIME_NO_CACHE", "1");
    let out = boot.env("FAKETIME_TIMESTAMP_FILE", &clock).output().expect("it runs");
    assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));

    let journal = node.journal("boot");
    let (back, ahead) =
        (stage(&journal, "back", "stage end"), stage(&journal, "ahead", "stage end"));
    assert!(day(back) < day(stage(&journal, "back", "stage start")), "the clock was stepped back");
    assert!(day(ahead) > day(back), "and then ahead");
    assert_eq!(back["cause"], "timeout", "{back}");
    assert_eq!(ahead["result"], "success", "{ahead}");
    for (record, least) in [(back, 2000), (ahead, 1000)] {
        let took = record["durationMs"].as_u64().unwrap_or_default();
        assert!((least..600_000).contains(&took), "{record}");
    }
    let end = journal.last().expect("there are records");
    assert!(
        end["durationMs"].as_u64().is_some_and(|took| (3000..600_000).contains(&took)),
        "{end}"
    );
}
