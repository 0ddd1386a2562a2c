use std::time::Duration;

use provost_tests::{Ground, World, missing, skip_if};
use serde_json::{Value, json};

/// A time-out and a grace of a second each, two seconds for the end, and the time of a start
/// next to other tests, on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);
/// For those that need longer by themselves.
pub(crate) const LONG: Duration = Duration::from_secs(30);
/// For 100 MB, on a busy machine.
pub(crate) const LONGEST: Duration = Duration::from_mins(3);

/// Defines a test for each script of `tests/hostile`: how `provost run` exits, and what the
/// record of the script's end has to say.
macro_rules! hostile {
    ($($name:ident: $code:literal $facts:tt)*) => { $(
        #[test]
        fn $name() {
            holds(stringify!($name), $code, &json!($facts));
        }
    )* };
}

hostile! {
    setsid: 1 {"cause": "timeout"}
    double_fork: 0 {"result": "success", "leaked": ["sleep"]}
    closed_stdio: 1 {"cause": "timeout"}
    stops_itself: 1 {"cause": "timeout"}
    stops_its_child: 1 {"cause": "timeout"}
    ignores_term: 1 {"cause": "timeout"}
    respawns: 1 {"cause": "timeout"}
    fork_bomb: 1 {"cause": "timeout"}
    runs_away: 1 {"cause": "timeout"}
    nohup: 1 {"cause": "timeout"}
    execs: 1 {"cause": "timeout"}
    crowd_that_execs: 1 {"cause": "timeout"}
    new_namespaces: 1 {"cause": "timeout"}
    other_user: 1 {"cause": "timeout"}
    leaves_its_cgroup: 1 {"cause": "timeout"}
    adopts_orphans: 1 {"cause": "timeout"}
    hides_its_environment: 1 {"cause": "timeout"}
    holds_the_pipe: 0 {"result": "success", "leaked": ["sleep"]}
    holds_stderr: 0 {"result": "success", "leaked": ["sleep"]}
    child_prints_for_ever: 0 {"result": "success", "leaked": ["yes"]}
    prints_for_ever: 1 {"cause": "timeout"}
    trickles: 1 {"cause": "timeout"}
    long_line: 1 {"cause": "exit", "exitCode": 3}
    binary: 1 {"cause": "exit", "exitCode": 3}
    kills_its_group: 1 {"cause": "signal", "signal": "SIGTERM", "leaked": ["sleep"]}
    terminates_its_parent: 1 {"cause": "exit", "exitCode": 3}
    signals_its_parent_late: 0 {"result": "success", "leaked": []}
    kills_its_parent: 5 {"cause": "interrupted"}
    stops_its_parent: 1 {"cause": "timeout"}
    stops_the_runner: 1 {"cause": "exit", "exitCode": 3}
    stops_runner_and_keeper: 1 {"cause": "timeout"}
    terminates_the_runner: 5 {"cause": "interrupted", "signal": "SIGTERM"}
    reads_stdin: 1 {"cause": "exit", "exitCode": 3}
    reads_the_terminal: 1 {"cause": "exit"}
    becomes_a_pipe: 1 {"cause": "verify"}
    changes_its_log: 1 {"cause": "exit", "exitCode": 3}
    removes_its_log: 1 {"cause": "exit", "exitCode": 3}
    locks_its_folder: 1 {"cause": "exit", "exitCode": 3}
    dies_forking: 1 {"cause": "timeout"}
    leaves_zombies: 1 {"cause": "timeout"}
    uses_up_its_time: 1 {"cause": "signal", "signal": "SIGXCPU"}
    segfaults: 1 {"cause": "signal", "signal": "SIGSEGV"}
    exits_263: 1 {"cause": "exit", "exitCode": 7}
    exits_137: 1 {"cause": "exit", "exitCode": 137}
    traps_everything: 1 {"cause": "timeout"}
}

/// Runs the script in each world, on one node, so that the second run starts from what the first
/// one left.
#[track_caller]
fn holds(name: &str, code: i32, facts: &Value) {
    skip_if(missing_for(name));
    let ground = Ground::new(&[(name, &script(name))]);
    let limit = match name {
        "long_line" => LONGEST,
        "uses_up_its_time" => LONG,
        _ => LIMIT,
    };
    for world in World::all() {
        let run = ground.start(world, &["run", name]).end(limit);
        let context = format!("{name}, {world:?}, {:?}, it said\n{}", run.took, run.said);
        ground.nobody_is_left(&context);
        let end = ground.end_of("run", name);
        assert_eq!(run.code, Some(code), "{context}");
        for (key, value) in facts.as_object().unwrap() {
            let told = if key == "leaked" { names(&end[key]) } else { end[key].clone() };
            assert_eq!(told, *value, "{key} of {end:#}\n{context}");
        }
    }
}

/// The text of a script of `tests/hostile`.
pub(crate) fn script(name: &str) -> String {
    let path = format!("{}/hostile/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// The names of `PID COMM` entries, each once.
fn names(leaked: &Value) -> Value {
    let entries = leaked.as_array().into_iter().flatten();
    let mut names: Vec<&str> =
        entries.map(|entry| entry.as_str().unwrap().split_once(' ').unwrap().1).collect();
    names.sort_unstable();
    names.dedup();
    json!(names)
}

/// What the script needs and this machine doesn't have.
fn missing_for(name: &str) -> Option<String> {
    match name {
        "new_namespaces" => missing::user_namespaces(),
        "other_user" => missing::other_users(),
        _ => None,
    }
}
