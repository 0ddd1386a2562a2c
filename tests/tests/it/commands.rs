//! What a script ran, and how that ended: from the tracer to what an admin reads.

use provost_tests::{Cluster, Node, missing, skip_if};
use serde_json::{Value, json};

/// A script whose commands are nested, killed, ignored and left behind.
const SCRIPT: &str = "#!/bin/bash
echo begin
mkdir \"$DIR\"
sh -c 'echo within; ls /nowhere/at/all; exit 3' || true
sh -c 'kill -9 $$' 2>/dev/null || true
setsid sleep 3 >/dev/null 2>&1 &
until read -r comm </proc/$!/comm && [ \"$comm\" = sleep ]; do :; done
printf 'no end of line'
env A=1 cat /nowhere/at/all
";

fn cluster(scripts: &[(&str, &str)]) -> (Cluster, Node) {
    skip_if(missing::tracing());
    let mut cluster = Cluster::new();
    for (name, text) in scripts {
        cluster.script(name, text);
    }
    let dir = cluster.path("made").display().to_string();
    let names: Vec<&str> = scripts.iter().map(|(name, _)| *name).collect();
    let env = format!("{{ DIR = {dir:?}, LANG = \"C\" }}");
    let site = format!("[nodes.cn001]\npostscripts = {names:?}\nenv = {env}\n");
    cluster.site(&site).publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// What a view shows but for pids and durations; bash names a pid where a signal has killed one.
fn same(text: &str, dir: &str) -> String {
    let line = |line: &str| match line.rsplit_once(", ") {
        Some((line, took)) if took.ends_with(" ms") => format!("{line}\n"),
        _ => format!("{line}\n"),
    };
    text.replace(dir, "DIR").lines().filter(|l| !l.contains("Killed")).map(line).collect()
}

#[test]
fn each_command_is_shown_with_its_output_and_its_end() {
    let (cluster, node) = cluster(&[("made", SCRIPT)]);
    let dir = cluster.path("made").display().to_string();
    node.provost(&["boot"]).expect(1);
    let expected = "\
| begin
$ mkdir DIR  # exit status 0
$ sh -c 'echo within; ls /nowhere/at/all; exit 3'
  | within
  $ ls /nowhere/at/all
    | ls: cannot access '/nowhere/at/all': No such file or directory
  # ls /nowhere/at/all FAILED: exit status 2
# sh -c 'echo within; ls /nowhere/at/all; exit 3' FAILED: exit status 3
$ sh -c 'kill -9 $$'  # FAILED: killed by SIGKILL
";
    let uploaded = |flags: &[&str]| {
        let flags = [&["log", "cn001", "made"], flags].concat();
        cluster.ctl(&flags).expect(0).stdout
    };
    for text in [node.provost(&["log", "made"]).expect(0).stdout, uploaded(&[])] {
        let text = same(&text, &dir);
        assert!(text.starts_with(expected), "{text}");
        // The script's own piece of a line, and the process that it leaves behind.
        for line in [
            "$ setsid sleep 3  # became the next command\n",
            "$ env A=1 cat /nowhere/at/all  # became the next command\n$ cat /nowhere/at/all\n",
            "| cat: /nowhere/at/all: No such file or directory\n# cat /nowhere/at/all FAILED: exit status 1\n",
            "# sleep 3: still running where the log ends\n",
            "| no end of line\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
    let json = node.provost(&["log", "made", "--format", "json"]).expect(0).json();
    let brief = |c: &Value| {
        let end = if c["signal"].is_null() { &c["exitCode"] } else { &c["signal"] };
        json!([c["command"].as_str().unwrap().replace(&dir, "DIR"), end])
    };
    let commands: Vec<Value> = json.as_array().unwrap().iter().map(brief).collect();
    for command in [
        json!(["mkdir DIR", 0]),
        json!(["sh -c 'echo within; ls /nowhere/at/all; exit 3'", 3]),
        json!(["ls /nowhere/at/all", 2]),
        json!(["sh -c 'kill -9 $$'", "SIGKILL"]),
        json!(["env A=1 cat /nowhere/at/all", null]),
        json!(["cat /nowhere/at/all", 1]),
        json!(["sleep 3", null]),
    ] {
        assert!(commands.contains(&command), "{command}: {commands:?}");
    }
    let failed = uploaded(&["--failed", "--commands"]);
    assert_eq!(failed.lines().count(), 1 + 4, "{failed}");
    let output = uploaded(&["--output"]);
    assert!(output.lines().all(|l| l.contains(" stdout ") || l.contains(" stderr ")), "{output}");

    let stage = &node.status()["stages"][1];
    assert_eq!((&stage["commands"], &stage["commandsFailed"]), (&json!(6), &json!(4)), "{stage}");
    let text = node.provost(&["status"]).expect(0).stdout;
    assert!(text.contains("\n  commands 6, 4 failed\n"), "{text}");
    let ignored = &node.provost(&["analyze", "--format", "json"]).expect(1).json()["ignored"];
    let ignored: Vec<_> = ignored.as_array().unwrap().iter().map(|i| &i["command"]).collect();
    let expected = [
        "ls /nowhere/at/all",
        "sh -c 'echo within; ls /nowhere/at/all; exit 3'",
        "sh -c 'kill -9 $$'",
    ];
    assert_eq!(ignored, expected);
}

#[test]
fn where_a_script_calls_die_is_shown_first() {
    let die = "#!/bin/bash\ndie() { echo \"$*\" >&2; exit 1; }\n\n\
               [ -e /nowhere/at/all ] || die 'no conf'\n";
    let (cluster, node) = cluster(&[("dies", die)]);
    let console = node.provost(&["boot"]).expect(1).stderr;
    assert!(console.contains("dies: exit status 1 at line 4 main "), "{console}");
    assert!(console.contains("command: exit 1 at line 2 die "), "{console}");
    let stage = &node.status()["stages"][1];
    let has = |key: &str, line: &str| stage[key].as_str().unwrap_or_default().starts_with(line);
    assert!(has("errorLine", "2 die ") && has("calledFrom", "4 main "), "{stage}");
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    for text in [shown, node.provost(&["status"]).expect(0).stdout] {
        let at = |row: &str| text.find(row).unwrap_or_else(|| panic!("no {row} in {text}"));
        assert!(at(" 4 main ") < at(" 2 die "), "{text}");
    }
    let nodes = cluster.ctl(&["nodes"]).expect(0).stdout;
    assert!(nodes.contains("line 4: no conf"), "{nodes}");
}

#[test]
fn a_script_chooses_how_closely_it_is_watched() {
    let script = |word: &str| {
        format!("#!/bin/bash\n# /// provost\n# trace = \"{word}\"\n# ///\necho one\ncat /nowhere\n")
    };
    let scripts = ["commands", "lines", "off"].map(|word| (word, script(word)));
    let scripts: Vec<_> = scripts.iter().map(|(name, text)| (*name, &**text)).collect();
    let (_cluster, node) = cluster(&scripts);
    for (word, traced, line) in
        [("commands", true, true), ("lines", false, true), ("off", false, false)]
    {
        node.provost(&["run", word]).expect(1);
        let log = node.provost(&["log", word]).expect(0).stdout;
        assert_eq!(log.contains("$ cat /nowhere"), traced, "{log}");
        assert!(log.starts_with("| one\n"), "{log}");
        let stage = &node.status()["stages"][1];
        assert_eq!(stage["commands"].is_u64(), traced, "{stage}");
        assert_eq!(stage["errorLine"].is_string(), line, "{stage}");
    }
}

#[test]
fn one_run_shows_builtins_and_functions_as_well() {
    let greet = "#!/bin/bash\ngreet() { echo \"hello $1\"; }\ngreet \"$1\"\ntrue\nls /nowhere\n";
    let (_cluster, node) = cluster(&[("greets", greet)]);
    for flag in ["-x", "--trace-lines"] {
        // What follows the script's name is the script's own.
        node.provost(&["run", flag, "greets", "-x"]).expect(1);
        let log = node.provost(&["log", "greets"]).expect(0).stdout;
        let traced = ["+ greet -x\n", "+ echo 'hello -x'\n", "+ true\n"];
        for line in [&traced[..], &["| hello -x\n", "$ ls /nowhere\n"]].concat() {
            assert!(log.contains(line), "{line}{log}");
        }
        assert_eq!(node.status()["stages"][1]["exitCode"], 2);
    }
    node.provost(&["run", "greets"]).expect(1);
    let log = node.provost(&["log", "greets"]).expect(0).stdout;
    assert!(log.starts_with("| hello \n$ ls /nowhere\n"), "{log}");
}
