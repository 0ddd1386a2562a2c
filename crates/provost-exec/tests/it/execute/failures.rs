//! What is known of a failure, and that the script doesn't see how.

use provost_exec::EndCause;

use crate::execute::{Bench, command};

#[test]
fn the_failing_line_of_a_bash_script_is_named() {
    let bench = Bench::new();
    let cases = [
        ("exit 3 at its line", "true\nfalse\nif true; then\n  exit 3\nfi\n", 3, "5 main", "exit 3"),
        (
            "set -e",
            "set -e\ntrue\nls /nowhere 2>/dev/null\necho no\n",
            2,
            "4 main",
            "ls /nowhere 2> /dev/null",
        ),
        ("the last command", "true\n(exit 9)\n", 9, "3 main", "( exit 9 )"),
        (
            "in a function",
            "f() {\n  true\n  cat /nowhere 2>/dev/null\n}\ntrue\nf\n",
            1,
            "4 f",
            "cat /nowhere 2> /dev/null",
        ),
        (
            "in a function, -e",
            "set -e\nf() {\n  cat /nowhere 2>/dev/null\n  true\n}\nf\n",
            1,
            "4 f",
            "cat /nowhere 2> /dev/null",
        ),
        ("exit with the last status", "(exit 4) || exit\n", 4, "2 main", "(exit 4)"),
        ("pipefail", "set -euo pipefail\nfalse | true\n", 1, "3 main", "false"),
    ];
    for (name, script, status, place, text) in cases {
        let outcome = bench.run(&format!("#!/bin/bash\n{script}"));
        assert!(matches!(outcome.end, EndCause::Exit(s) if s == status), "{name}: {outcome:?}");
        assert_eq!(bench.line(&outcome), format!("{place} DIR/script"), "{name}");
        assert_eq!(command(&outcome), text, "{name}");
    }
}

#[test]
fn no_line_is_named_where_it_would_be_a_guess() {
    let bench = Bench::new();
    // What failed first is not why the script ended.
    let stale = "false\n[ -e /nowhere ] && true\n[ -e /nowhere ] && true\n";
    let outcome = bench.run(&format!("#!/bin/bash\n{stale}"));
    assert_eq!(bench.line(&outcome), "");
    assert_eq!(command(&outcome), "[ -e /nowhere ]");
    let outcome = bench.run("#!/bin/bash\nfalse\nexec sh -c 'exit 1'\n");
    assert_eq!(bench.line(&outcome), "", "{outcome:?}");
    let outcome = bench.run("#!/bin/bash\nfalse\nfalse\ntrue\n");
    assert!(matches!(outcome.end, EndCause::Exit(0)) && outcome.place.is_none());
    assert_eq!(std::fs::read_dir(bench.path()).unwrap().count(), 2, "the script and its log");
}

#[test]
fn the_trace_changes_nothing_that_the_script_sees() {
    let bench = Bench::new();
    let outcome = bench.run(
        "#!/bin/bash\ntrap 'echo my exit trap $?' EXIT\ntrap 'echo my err trap' ERR\nfalse\n\
         echo \"[${BASH_ENV-unset}][${PROVOST_NOTES-unset}]\"\nbash -c 'type -t e\"x\"it'\nexit 5\n",
    );
    assert!(matches!(outcome.end, EndCause::Exit(5)));
    let script = bench.path().join("script").display().to_string();
    let end = format!("the script ended with exit status 5 at line 7 main {script}: exit 5");
    let expected = ["my err trap", "[unset][unset]", "builtin", "my exit trap 5", &end];
    let log = bench.log();
    assert_eq!(log.lines().map(|l| l.split_once("F ").unwrap().1).collect::<Vec<_>>(), expected);
    assert_eq!(bench.line(&outcome), "7 main DIR/script");
}

#[test]
fn what_a_script_says_in_its_own_exit_trap_is_heard() {
    let bench = Bench::new();
    let in_function = "set -euo pipefail\nfalse() { ls /nowhere 2>/dev/null || return 1; }\n";
    let of_command = "set -eu\nfalse() { cat /nowhere 2>/dev/null; }\n";
    for flags in ["", "set -e\n", in_function, of_command] {
        let outcome = bench.run(&format!(
            "#!/bin/bash\n{flags}trap 'echo \"hint: after $?\" >&2' EXIT\necho go\nfalse\n"
        ));
        assert!(matches!(outcome.end, EndCause::Exit(1)), "{outcome:?}");
        assert_eq!(outcome.last_lines, ["go", "hint: after 1"], "{flags}");
    }
}
