//! Bash scripts of which bash names another command or another line than the one that failed, or none.

use std::path::Path;
use std::process::Command;

use crate::failure_location::Bench;

/// What bash names isn't always what failed, nor where.
#[test]
fn of_a_bash_script_that_bash_tells_little_of() {
    let mut bench = Bench::new();
    let there = bench.dir.path().join("there");
    std::fs::create_dir(&there).unwrap();
    for name in ["inner.sh", "other.sh"] {
        std::fs::write(there.join(name), "true\nls /nowhere 2>&-\n").unwrap();
    }
    bench.write("inner.sh", "true\ntrue\n");
    bench.write("list", "/nowhere\n");
    bench.env.push(("THERE".into(), there.display().to_string()));
    let other = format!("2 main {} | ls /nowhere 2>&-", there.join("other.sh").display());
    let run = "f() {\n \"$@\" && return 0\n return 1\n}\nf ls /nowhere 2>&- || true\nexit 3";
    bench.places(
        "/bin/bash",
        &[
            ("sourced elsewhere", "set -e\ncd \"$THERE\"\n. ./other.sh", &*other),
            ("sourced, which", "set -e\ncd \"$THERE\"\n. ./inner.sh", " | ls /nowhere 2>&-"),
            (
                "loop in a line",
                "while read -r x; do ls \"$x\" 2>&-; done < list",
                "2 main x | ls \"$x\" 2>&-",
            ),
            (
                "loop",
                "while read -r x; do\n ls \"$x\" 2>&-\ndone < list",
                "3 main x | ls \"$x\" 2>&-",
            ),
            (
                "loop, counting",
                "for ((i=0;i<2;i++)); do ls /nowhere$i 2>&-; done",
                "2 main x | ls /nowhere$i 2>&-",
            ),
            (
                "loop, stale",
                "for ((i=0;i<2;i++)); do\n test -e /nowhere$i\n [ -f /nowhere ] && true; done",
                " | ",
            ),
            ("loop, list", "while read -r x; do\n [ -e \"$x\" ] && true\ndone < list", " | "),
            (
                "substitution",
                "set -e\nx=$(\n ls /nowhere 2>&-\n)",
                "3 main x | x=$(ls /nowhere 2>&-) or 3 main x | x=$( ls /nowhere 2>&- )",
            ),
            (
                "pipeline",
                "set -eo pipefail\nls /nowhere 2>&- |\n sort |\n cat",
                "3 main x | ls /nowhere 2>&-",
            ),
            (
                "pipeline, backslash",
                "set -eo pipefail\nfalse \\\n | sort \\\n | cat\ntrue",
                "3 main x | false",
            ),
            (
                "quoted lines",
                "set -e\nls \\\n 2>&- \"/nowhere\n x\" \\\n y\ntrue",
                "3 main x | ls \"/nowhere x\" y 2>&-",
            ),
            ("retry", run, "7 main x | exit 3"),
            (
                "exit of nothing",
                "true\nrc=\nexit \"$rc\"",
                "4 main x | exit \"$rc\" or 4 main x | exit",
            ),
            (
                "exit of too much",
                "true\nexit 99999999999999999999",
                "3 main x | exit 99999999999999999999",
            ),
            ("last list", "true\nls /nowhere 2>&- && true\n", "3 main x | ls /nowhere 2>&-"),
            (
                "own ERR",
                "set -e\ntrap 'echo $LINENO' ERR\nls /nowhere 2>&-\ntrue",
                "4 main x | ls /nowhere 2>&-",
            ),
            ("own builtin", "builtin() { true; }\nexit 3", " | "),
        ],
    );
}

const LIBRARY: &str = "\
on_error() {
  echo \"error $? at $1: $2\" >&2
}
at_exit() {
  echo \"ends with $? in $PWD\"
}
";

/// A library's traps for ERR and EXIT take the place of ours.
#[test]
fn of_a_script_whose_library_traps_and_exits() {
    let mut bench = Bench::new();
    let err = "trap 'on_error \"$LINENO\" \"$BASH_COMMAND\"' ERR\n";
    let exit = "trap at_exit EXIT\n";
    let own = "exit() {\n  echo \"$? $#\"\n  builtin exit \"$@\"\n}\n";
    let fatal = "trap 'on_error $LINENO \"$BASH_COMMAND\"; exit 9' ERR\n";
    let multi = "trap '\n  at_exit\n  exit 7\n' EXIT\n";
    let begin = "begin() {\n  trap 'on_error \"$LINENO\" x' ERR\n  trap 'at_exit' INT EXIT TERM\n}\nbegin\n";
    let all = [
        ("ERR", err.to_owned()),
        ("EXIT", exit.to_owned()),
        ("exit()", own.to_owned()),
        ("ERR, EXIT", [err, exit].concat()),
        ("ERR, exit()", [err, own].concat()),
        ("EXIT, exit()", [exit, own].concat()),
        ("all", [err, exit, own].concat()),
        ("all, -E", ["set -E\n", err, exit, own].concat()),
        ("all, -eE", ["set -eEuo pipefail\n", err, exit, own].concat()),
        ("ERR ends", fatal.to_owned()),
        ("ERR ends, EXIT", [fatal, exit].concat()),
        ("ERR ends, all, -E", ["set -E\n", fatal, exit, own].concat()),
        ("EXIT ends", multi.to_owned()),
        ("in a function", begin.to_owned()),
        ("in one trap", "trap 'at_exit' ERR EXIT\n".to_owned()),
        ("ignored", "trap '' ERR EXIT\n".to_owned()),
        ("removed", [err, exit, "trap - ERR 0\n"].concat()),
        ("removed, without dash", [err, exit, "trap ERR\ntrap EXIT\n"].concat()),
        (
            "ERR, EXIT with its stack",
            [err, "trap 'on_error \"$(caller)\" \"${FUNCNAME[*]} ${BASH_LINENO[*]}\"' EXIT\n"]
                .concat(),
        ),
        ("by number", "trap -- 'echo \"$? $LINENO $_\"' 0 1 2 15\n".to_owned()),
    ];
    let scripts = [
        ("set -e\ntrue\nls /nowhere 2>&-\ntrue", "5 main x | ls /nowhere 2>&-"),
        (
            "set -e\nf() {\n  true\n  ls /nowhere 2>&-\n  true\n}\nf a\ntrue",
            "6 f x | ls /nowhere 2>&-",
        ),
        ("set -eu\ng() {\n  false $1\n}\nf() {\n  g \"$@\"\n  true\n}\nf a", "5 g x | false $1"),
        (
            "set -e\nif ! false; then\n  x=$(ls /nowhere 2>&-)\nfi",
            "5 main x | x=$(ls /nowhere 2>&-)",
        ),
        ("true\nls /nowhere 2>&-", "4 main x | ls /nowhere 2>&-"),
    ];
    let exits = [
        ("true\nif true; then\n  exit 3\nfi", "5 main x | exit 3"),
        ("f() {\n  exit 3\n}\nf\nexit 4", "4 f x | exit 3"),
    ];
    for (name, library) in &all {
        bench.write("library", &format!("{LIBRARY}{library}"));
        // Such a trap has another status, or sees that `exit` is a function.
        let has_exits = !name.contains("EXIT ends") && !library.contains("$_");
        let exits = exits.iter().filter(|_| has_exits);
        for (at, (text, expected)) in scripts.iter().chain(exits).enumerate() {
            let source = if at == 1 {
                "\"$(cd \"$(dirname \"$0\")\" && pwd)/library\""
            } else {
                "./library"
            };
            let text = format!(". {source}\n{text}");
            bench.places("/bin/bash", &[(&format!("{name}: {text}"), &text, expected)]);
        }
    }
}

/// Scripts that send their functions to another shell.
#[test]
fn of_a_script_that_shows_its_functions() {
    let mut bench = Bench::new();
    let own = "f() {\n  trap 'echo bye' EXIT\n  echo in f\n}\n";
    for (name, text, expected) in [
        ("to bash", "bash -euo pipefail -c \"$(declare -f); f\"\nexit 3", "7 main x | exit 3"),
        ("to sh", "sh -c \"$(declare -f); f\"\nexit 3", "7 main x | exit 3"),
        (
            "typeset",
            "bash -uc \"$(typeset -f)\"' ; f'\nls /nowhere 2>&-",
            "7 main x | ls /nowhere 2>&-",
        ),
        (
            "exported",
            "set -u\nexport -f $(declare -F | awk '{print $3}')\nbash -c f\nexit 3",
            "9 main x | exit 3",
        ),
        (
            "all variables",
            "declare | grep -c '^[a-z]* ()'\nset | grep '^exit\\|^trap'\nexit 3",
            "8 main x | exit 3",
        ),
        ("type", "type exit\ndeclare -f exit\nexit 3", "8 main x | exit 3"),
        ("in a function", "g() {\n  declare -F\n  false || exit 4\n}\ng", "8 g x | exit 4"),
        (
            "own traps",
            "trap 'echo err $BASH_COMMAND' ERR\ntrap 'echo end' EXIT\ndeclare -F\nset -e\nfalse",
            " | ",
        ),
        ("twice", "declare -F\n[ -e / ] || exit 3\nexit 3", " | exit 3"),
        (
            "one that it names",
            "declare -f f\nif false; then exit 3; fi\nexit 3",
            "8 main x | exit 3",
        ),
    ] {
        bench.places("/bin/bash", &[(name, &format!("{own}{text}"), expected)]);
    }
}

/// Before bash 5.1, `[[` and the like in a trap take the place of BASH_COMMAND.
#[test]
fn of_a_script_whose_trap_shows_the_command() {
    let mut bench = Bench::new();
    let err = "report() { echo \"$1 at $2: $?\"; }\ntrap 'report \"$BASH_COMMAND\" $LINENO' ERR\n";
    let again = "trap 'trap - ERR EXIT; echo \"$BASH_COMMAND\"' ERR EXIT\n";
    bench.places(
        "/bin/bash",
        &[
            (
                "ERR",
                &format!("{err}false x\nset -e\nls /nowhere 2>&-"),
                "6 main x | ls /nowhere 2>&-",
            ),
            (
                "ERR, many",
                &format!("{err}for i in {{1..210}}; do false $i; done\nexit 3"),
                "5 main x | exit 3",
            ),
            (
                "ERR, traps",
                &format!("{again}set -e\nls /nowhere 2>&-"),
                "4 main x | ls /nowhere 2>&-",
            ),
            (
                "EXIT",
                "trap 'echo \"$BASH_COMMAND $?\"' EXIT\nls /nowhere 2>&-",
                "3 main x | ls /nowhere 2>&-",
            ),
            (
                "command in EXIT",
                "trap 'echo \"failed: $BASH_COMMAND\"' EXIT\nexit 4",
                "3 main x | exit 4",
            ),
        ],
    );
}

/// What `eval` runs has lines that count on from that of the `eval`.
#[test]
fn of_a_script_that_evaluates_text() {
    let mut bench = Bench::new();
    bench.write("modules", "module() { eval \"$(cat ./loads)\"; }\n\n\nfalse() { :; }\n");
    bench.write("loads", "true\ntrue\nls /nowhere 2>&-\n");
    bench.write("defines", "f() {\n true\n ls /nowhere 2>&-\n true\n}\n");
    let exits = "eval \"$(echo true; echo exit 3)\"\nexit 1\nexit 3";
    bench.places(
        "/bin/bash",
        &[
            (
                "several lines",
                "set -e\neval $'\\nx=1\\ny=2\\nls /nowhere 2>&-\\n'\necho one\necho two\necho three",
                "3 main x | ls /nowhere 2>&-",
            ),
            (
                "several lines, in two",
                "set -e\neval \"$(echo true; echo true)\"\neval \"$(cat ./loads)\"\necho 1\necho 2",
                "4 main x | ls /nowhere 2>&-",
            ),
            (
                "the same in two",
                "set -e\neval \"$X\"\nX=$(cat ./loads)\neval \"$X\"\ntrue\ntrue\ntrue",
                " | ls /nowhere 2>&-",
            ),
            (
                "one that follows itself",
                "set -e\neval \"$(cat ./loads)\"\neval \"$(cat)\"\neval \"$(cat x)\"",
                "3 main x | ls /nowhere 2>&-",
            ),
            ("one line", "set -e\neval true\neval 'ls /nowhere 2>&-'", "4 main x | ls /nowhere 2>&-"),
            ("exit", exits, "2 main x | exit 3"),
            ("exit of a variable", "eval \"$(echo)\"\nrc=3\nexit $rc", "4 main x | exit 3"),
            (
                "quoted lines",
                "set -e\neval '\ntrue\nls /nowhere 2>&-\n'\necho one\necho two\necho three",
                "3 main x | ls /nowhere 2>&- or 5 main x | ls /nowhere 2>&-",
            ),
            (
                "function in a line",
                "set -e\n. ./modules\nmodule load x\ntrue\nls /dev/null",
                "1 module modules | ls /nowhere 2>&-",
            ),
            (
                "defined function",
                "set -e\ncode=$(cat ./defines)\neval \"$code\"\ntrue\ntrue\nf\ntrue",
                " | ls /nowhere 2>&-",
            ),
            (
                "defined function, called so",
                "set -e\ncode=$(cat ./defines)\neval \"$code\"\ntrue\ntrue\neval f\ntrue",
                " | eval f",
            ),
            (
                "function called so",
                "set -e\ng() {\n true\n ls /nowhere 2>&-\n true\n}\neval 'true; g'\ntrue",
                "5 g x | ls /nowhere 2>&-",
            ),
            (
                "before",
                "set -e\neval \"$(echo true; echo true)\"\ntrue\nls /nowhere 2>&-\ntrue",
                "5 main x | ls /nowhere 2>&-",
            ),
            (
                "stale",
                "eval $'\\nfalse\\ntrue'\n[ -e /nowhere ] && true",
                "3 main x | [ -e /nowhere ]",
            ),
            ("own ERR", "set -e\ntrap 'echo err' ERR\neval \"$(cat ./loads)\"\ntrue\ntrue", "4 main x | ls /nowhere 2>&-"),
            ("own EXIT", "set -e\ntrap 'echo end' EXIT\neval \"$(cat ./loads)\"\ntrue\ntrue", "4 main x | ls /nowhere 2>&-"),
            ("from a pipe", "set -e\n. <(cat ./loads)\ntrue", " | ls /nowhere 2>&-"),
            ("from stdin", "set -e\nsource /dev/stdin <loads\ntrue", " | ls /nowhere 2>&-"),
            (
                "in a trap",
                "set -e\ntrap '\n\n\n\n\nls /nowhere 2>&-' USR1\nkill -USR1 $$\ntrue",
                " | ",
            ),
        ],
    );
}

/// Bash's own messages are read in the language that it speaks. Only the system's bash has catalogues.
#[test]
fn of_a_script_in_another_language() {
    for (locale, folder) in [("de_DE", "de"), ("ja_JP", "ja")] {
        if !Path::new("/usr/share/locale").join(folder).join("LC_MESSAGES/bash.mo").exists() {
            provost_tests::skip("no message catalogues of bash");
        }
        let mut bench = Bench::new();
        let name = format!("{locale}.UTF-8");
        let made = bench.dir.path().join(&name);
        let mut localedef = Command::new("localedef");
        localedef.args(["-i", locale, "-f", "UTF-8", "--no-archive"]).arg(&made);
        if !localedef.output().is_ok_and(|output| output.status.success()) {
            provost_tests::skip("no locales to make");
        }
        bench.env.push(("LOCPATH".into(), bench.dir.path().display().to_string()));
        bench.env.push(("LANG".into(), name));
        bench.write("broken.sh", "true\nif true\n");
        let said = bench.plainly_said("#!/bin/bash\nno_such\n");
        assert!(!said.contains("line") && said.contains("no_such"), "bash speaks English: {said}");
        for (name, text, expected) in [
            (
                "loop",
                "set -e\nfor i in 1; do\n  :\ndone >/nowhere/x\ntrue",
                "5 main x | done >/nowhere/x",
            ),
            ("end of file", "set -e\nif true; then\n  true", "4 main x | "),
            ("syntax", "set -e\nif true; then\n  fi fi\nfi", "4 main x | fi fi"),
            ("open quote", "true\necho \"abc", "3 main x | echo \"abc"),
            ("sourced, syntax", "set -e\n. ./broken.sh", "2 main broken.sh | "),
            ("unbound", "set -u\ntrue\necho \"$NONE\"", "4 main x | echo \"$NONE\""),
            ("not found", "true\nno_such arg", "3 main x | no_such arg"),
            ("not found by exec", "false\nexec no_such", "3 main x | exec no_such"),
            ("cannot run", "true\nexec /tmp", "3 main x | exec /tmp"),
            ("no directory", "set -e\ncd /nowhere\ntrue", "3 main x | cd /nowhere"),
            ("read-only", "readonly A=1\ntrue\nA=2", "4 main x | A=2"),
            ("needed", "true\n: ${NONE:?}\ntrue", "3 main x | : ${NONE:?}"),
            ("bad argument", "true\nexit abc", "3 main x | exit abc"),
            ("two arguments", "true\nf() { exit 1 2; }\nf\nexit 7", "5 main x | exit 7"),
            ("its own", "export LANG=C\nno_such arg", "3 main x | no_such arg"),
            ("closed", "exec 2>&-\nset -e\nif true; then", " | "),
        ] {
            let found = bench.place(&format!("#!/bin/bash\n{text}\n"));
            assert_eq!(found, expected, "{locale}: {name}");
        }
    }
}

/// What bash says isn't seen: the command that it ran before is no guess.
#[test]
fn of_a_script_whose_shell_isn_t_understood() {
    let mut bench = Bench::new();
    let closed = "exec 2>/dev/null\nset -e\n";
    bench.write("broken.sh", "true\nif true\n");
    for (name, text, expected) in [
        ("loop", "for i in 1; do\n  :\ndone >/nowhere/x\ntrue", " | "),
        ("loop, last", "ls /dev/null\nfor i in 1; do\n  :\ndone >/nowhere/x", " | "),
        ("group after a failure", "ls /nowhere || true\n{ true; } </nowhere", " | "),
        ("group after a pipeline", "true | true\n{ true; } </nowhere", " | "),
        ("end of file", "if true; then\n  true", " | "),
        ("syntax", "if true; then\n  fi fi\nfi", " | "),
        ("sourced, syntax", "true\n. ./broken.sh", "5 main x | . ./broken.sh or  | "),
        ("not found", "true\nno_such arg", "5 main x | no_such arg"),
    ] {
        bench.places("/bin/bash", &[(name, &format!("{closed}{text}"), expected)]);
    }
}
