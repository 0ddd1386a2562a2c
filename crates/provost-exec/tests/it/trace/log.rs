//! What stands in the log.

use provost_exec::{Secrets, Trace};

use crate::trace::Bench;

#[test]
fn what_a_command_printed_stands_between_its_lines() {
    let bench = Bench::new();
    let script = "#!/bin/sh\necho before\n/bin/echo one\necho between\n\
                  printf begin\nsh -c 'echo two >&2; exit 3'\necho ' end'\n";
    let ran = bench.run(Trace::Commands, script);
    let expected = [
        "stdout F before",
        "exec /bin/echo one",
        "stdout F one",
        "exit 0",
        "stdout F between",
        "stdout P begin",
        "exec sh -c 'echo two >&2; exit 3'",
        "stderr F two",
        "exit 3",
        "stdout F  end",
    ];
    assert_eq!(ran.lines(), expected);
    assert_eq!((ran.outcome.commands, ran.outcome.commands_failed), (2, 1));
}

#[test]
fn nothing_changes_places_however_quick_commands_are() {
    let bench = Bench::new();
    let once = "n=$((n + 1)); echo $n; n=$((n + 1)); /bin/echo $n >&2; n=$((n + 1)); echo $n";
    let script = format!("#!/bin/sh\nwhile [ ${{n:=0}} -lt 900 ]; do {once}; done\n");
    for _ in 0..5 {
        let ran = bench.run(Trace::Commands, &script);
        let mut expected = Vec::new();
        for n in (1..=900).step_by(3) {
            expected.push(format!("stdout F {n}"));
            expected.push(format!("exec /bin/echo {}", n + 1));
            expected.push(format!("stderr F {}", n + 1));
            expected.push("exit 0".to_owned());
            expected.push(format!("stdout F {}", n + 2));
        }
        let wrong = ran.lines().iter().zip(&expected).filter(|(a, b)| a != b).count();
        assert_eq!((ran.lines().len(), wrong), (expected.len(), 0));
    }
}

#[test]
fn arguments_are_quoted_cut_and_without_secrets() {
    let mut bench = Bench::new();
    bench.secrets = Secrets::new([("PW", "hunter2")]);
    let script = "#!/bin/bash\n/bin/true 'a b' '' \"it's\" -p=hunter2 $'x\\n2026-11-20T17:00:02.101Z exec F 1 2 rm'\n\
                  /bin/true $(printf '%05000d' 7)\n";
    let ran = bench.run(Trace::Commands, script);
    let lines = ran.lines();
    let forged = r"$'x\n2026-11-20T17:00:02.101Z exec F 1 2 rm'";
    let expected = format!(r"exec /bin/true 'a b' '' 'it'\''s' '-p=[redacted:PW]' {forged}");
    assert_eq!(lines[0], expected);
    assert!(lines[2].len() < 4200 && lines[2].ends_with('…'), "{}", lines[2].len());
}

#[test]
fn a_process_may_become_another_command() {
    let bench = Bench::new();
    let ran = bench.run(Trace::Commands, "#!/bin/sh\nenv A=1 nice true\nexec sh -c 'exit 4'\n");
    let expected = [
        "exec env A=1 nice true",
        "exec nice true",
        "exec true",
        "exit 0",
        "exec sh -c 'exit 4'",
        "exit 4",
    ];
    assert_eq!(ran.lines(), expected);
    assert_eq!((ran.outcome.commands, ran.outcome.commands_failed), (2, 1));
    assert_eq!(ran.command(), "sh -c 'exit 4'");
}

#[test]
fn parents_are_named() {
    let bench = Bench::new();
    let ran = bench.run(Trace::Commands, "#!/bin/sh\necho $$\nsh -c '/bin/true; echo $$'\n");
    let pids = |line: &str| {
        let rest = line.split_once(" F ").unwrap().1;
        rest.split(' ').map_while(|word| word.parse::<u32>().ok()).collect::<Vec<_>>()
    };
    let lines: Vec<_> = ran.log.lines().collect();
    let (script, outer, inner) = (pids(lines[0]), pids(lines[1]), pids(lines[2]));
    assert_eq!((outer[1], inner[1]), (script[0], outer[0]), "{}", ran.log);
    assert_eq!(pids(lines[4]), [outer[0]], "{}", ran.log);
}

#[test]
fn of_very_many_commands_the_first_and_the_last_are_kept() {
    let bench = Bench::new();
    let script = "#!/bin/bash\nfor ((i = 1; i <= 10500; i++)); do /bin/true $i; done\necho end\n";
    let ran = bench.run(Trace::Commands, script);
    let lines = ran.lines();
    let commands: Vec<_> = lines.iter().filter(|line| line.starts_with("exec ")).collect();
    assert_eq!(commands.len(), 10_000);
    assert_eq!(commands[4_999], "exec /bin/true 5000");
    assert_eq!(commands[5_000], "exec /bin/true 5501");
    assert_eq!(commands[9_999], "exec /bin/true 10500");
    assert_eq!(lines.iter().filter(|line| *line == "exit 0").count(), 10_000);
    assert!(lines.contains(&"trace F 500 commands left out".to_owned()));
    assert_eq!(ran.outcome.commands, 10_500);
}

#[test]
fn without_commands_there_are_none() {
    let bench = Bench::new();
    for trace in [Trace::Lines, Trace::Off] {
        let ran = bench.run(trace, "#!/bin/sh\n/bin/echo one\nexit 7\n");
        assert_eq!(ran.lines(), ["stdout F one"]);
        assert_eq!(ran.outcome.commands, 0);
    }
}

#[test]
fn bash_shows_builtins_and_functions_if_asked() {
    let mut bench = Bench::new();
    bench.trace_lines = true;
    bench.secrets = Secrets::new([("PW", "hunter2")]);
    let script = "#!/bin/bash\nf() { echo in >&2; }\nf hunter2\n/bin/echo out\nexit 3\n";
    let ran = bench.run(Trace::Commands, script);
    let lines = ran.lines();
    let of =
        |begin: &str| lines.iter().filter(|l| l.starts_with(begin)).cloned().collect::<Vec<_>>();
    let expected =
        ["line + f '[redacted:PW]'", "line + echo in", "line + /bin/echo out", "line + exit 3"];
    let shown = of("line ").join("\n").replace("f [redacted:PW]", "f '[redacted:PW]'");
    assert_eq!(shown, expected.join("\n"));
    assert_eq!(
        (of("stdout"), of("stderr")),
        (vec!["stdout F out".to_owned()], vec!["stderr F in".to_owned()])
    );
    assert_eq!(ran.seen().0, "3");
}
