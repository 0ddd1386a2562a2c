//! Bash scripts.

use std::path::Path;

use crate::failure_location::Bench;

const LIB: &str = "in_lib() {\n  cat /nowhere 2>/dev/null\n}\n";

/// The cases have their script without its first line, and `LINE FUNCTION FILE | COMMAND`.
#[test]
fn of_an_exit() {
    let mut bench = Bench::new();
    bench.write("exits", "exit() {\n  echo library >&2\n  builtin exit \"$@\"\n}\n");
    bench.places(
        "/bin/bash",
        &[
            ("exit", "true\nif true; then\n  exit 3\nfi", "4 main x | exit 3"),
            ("exit in a function", "f() {\n  exit 3\n}\nf", "3 f x | exit 3"),
            ("exit without argument", "(exit 4) || exit", "2 main x | (exit 4)"),
            ("exit after a failure", "false\nexit", "2 main x | false"),
            ("exit of a variable", "rc=6\nexit $rc", "3 main x | exit 6"),
            ("exit beyond a byte", "exit 300", "2 main x | exit 300"),
            ("exit below zero", "exit -1", "2 main x | exit -1"),
            ("exit with a bad argument", "true\nexit abc", "3 main x | exit abc"),
            ("exit with two arguments", "true\nf() { exit 1 2; }\nf\nexit 7", "5 main x | exit 7"),
            ("exit in a subshell", "(\n exit 3\n)", "2 main x | ( exit 3 )"),
            ("exit in a substitution", "x=$(exit 3)\nexit $?", "2 main x | x=$(exit 3)"),
            ("exit in a pipe", "set -o pipefail\nexit 3 | cat", "3 main x | exit 3"),
            ("exit with lastpipe", "shopt -s lastpipe\ntrue | exit 3", "3 main x | exit 3"),
            (
                "exit in an EXIT trap",
                "trap 'rc=$?; echo bye; exit $rc' EXIT\nexit 3",
                "3 main x | exit 3",
            ),
            ("exit in a TERM trap", "trap 'echo term; exit 9' TERM\nkill $$\ntrue", " | exit 9"),
            (
                "exit, EXIT's arguments",
                "set -u -- a b\ntrap 'echo $1 ${2} $# \"$*\"' EXIT\nexit",
                " | ",
            ),
            ("exit, return in EXIT", "trap 'return 4' EXIT\nexit 3", "3 main x | exit 3"),
            (
                "exit, EXIT of many lines",
                "set -- a\ntrap '\n  echo $1\n' EXIT\nexit 3",
                "6 main x | exit 3",
            ),
            (
                "failure in an EXIT trap",
                "set -e\ntrap 'true; false; echo bye' EXIT\nls /nowhere 2>&-",
                "4 main x | ls /nowhere 2>&-",
            ),
            ("exit with -e", "set -e\nfalse || exit 5", "3 main x | exit 5"),
            ("exit with -x", "set -x\nf() { exit 3; }\nf", "3 f x | exit 3"),
            ("exit with -x, EXIT", "set -x\ntrap 'echo bye' EXIT\nexit 3", " | "),
            (
                "exit of its own",
                "exit() { echo mine; builtin exit 4; }\nexit 3",
                "3 main x | exit 3",
            ),
            ("exit of a library", "f() {\n  exit 3\n}\n. ./exits\ntrue\nf", "3 f x | exit 3"),
            (
                "exit of a library, in a condition",
                ". ./exits\nif true; then\n  false || exit 3\nfi",
                "4 main x | exit",
            ),
            (
                "exit of a library, a subshell",
                ". ./exits\n(exit 3)\ntrue\nexit 5",
                "5 main x | exit 5",
            ),
            ("exit unset", "unset -f exit\nexit 3", "3 main x | exit 3"),
        ],
    );
}

/// An `exit` that passes on the status of a command before it.
#[test]
fn of_an_exit_that_passes_a_status_on() {
    let mut bench = Bench::new();
    let main = "main() {\n  ls /nowhere 2>&-\n}\n";
    bench.places(
        "/bin/bash",
        &[
            ("the line before", "ls /nowhere 2>&-\nexit $?", "2 main x | ls /nowhere 2>&-"),
            ("||", "false\nls /nowhere 2>&- || exit $?", "3 main x | ls /nowhere 2>&-"),
            (
                "function",
                &format!("{main}main\nexit $?"),
                "3 main x | ls /nowhere 2>&- or 5 main x | main",
            ),
            (
                "PIPESTATUS",
                &format!("{main}main 2>&1 | tee log\nexit ${{PIPESTATUS[0]}}"),
                "5 main x | main 2>&1",
            ),
            (
                "PIPESTATUS in a line, -e",
                "set -e\nsh -c 'exit 4' | cat; exit \"${PIPESTATUS[0]}\"",
                "3 main x | sh -c 'exit 4'",
            ),
            (
                "a variable",
                "rc=0\nls /nowhere 2>&- || rc=$?\n[ -z x ]\nexit $rc",
                "3 main x | ls /nowhere 2>&-",
            ),
            (
                "a group",
                "f() {\n  ls /nowhere 2>&- || {\n    rc=$?\n    echo no\n    exit $rc\n  }\n}\nf",
                "3 f x | ls /nowhere 2>&-",
            ),
            (
                "an earlier one",
                "ls /nowhere 2>&-\nsh -c 'exit 2' || exit",
                "3 main x | sh -c 'exit 2'",
            ),
            ("unknown", "if true; then\n  ls /nowhere 2>&-\nfi\nexit $?", "5 main x | exit 2"),
        ],
    );
}

/// Of a pipeline the first command that failed, of what is in brackets its first line.
#[test]
fn of_pipelines_and_brackets() {
    let mut bench = Bench::new();
    let pipes = |text: &str| format!("set -eo pipefail\n{text}");
    bench.places(
        "/bin/bash",
        &[
            ("first", &pipes("ls /nowhere 2>&- | sort | cat"), "3 main x | ls /nowhere 2>&-"),
            ("second", &pipes("echo a |\n grep b |\n cat"), "4 main x | grep b"),
            ("two of them", &pipes("false | sh -c 'exit 3' | cat"), "3 main x | false"),
            ("in a line", &pipes("f() { false | cat; }\nf"), "3 f x | false"),
            ("no pipefail", "set -e\nfalse | true | sh -c 'exit 3'", "3 main x | sh -c 'exit 3'"),
            (
                "loop in a line",
                &pipes("echo a | while read -r x; do exit 4; done"),
                "3 main x | echo a | while read -r x; do exit 4; done",
            ),
            ("loop", &pipes("echo a | while read -r x; do\n exit 4\ndone"), " | "),
            ("group", &pipes("{\n ls /nowhere 2>&-\n} | cat"), " | "),
            (
                "brackets",
                "set -e\n(\n cd / # away\n ls /nowhere 2>&-\n)",
                "3 main x | ( cd /; ls /nowhere 2>&- )",
            ),
            (
                "brackets, twice",
                "set -e\n(\n true\n)\n(\n if true; then\n  exit 4\n fi\n)",
                "6 main x | ( if true; then exit 4; fi )",
            ),
        ],
    );
}

/// Where the function was called that the line is in.
#[test]
fn of_a_function_the_caller_is_known() {
    let mut bench = Bench::new();
    bench.write("lib.sh", "die() {\n  echo \"$*\" >&2\n  exit 1\n}\n");
    let die = "die() { echo \"$*\" >&2; exit 1; }\n";
    for (text, expected) in [
        (format!("{die}[ -e /nowhere ] || die no"), "2 die 3 main x"),
        (format!("{die}f() {{\n  die no\n}}\nf"), "2 die 4 f x"),
        (". ./lib.sh\ndie no".into(), "3 die 3 main x"),
        ("set -e\nf() {\n  false\n}\ntrue\nf".into(), "4 f 7 main x"),
        (format!("{die}trap 'die no' TERM\nkill $$"), "2 die "),
        (format!("{die}eval $'true\\ndie no'"), "2 die "),
        ("exit 1".into(), "2 main "),
    ] {
        bench.write("x", &format!("#!/bin/bash\n{text}\n"));
        let place = bench.watched().1.place.unwrap();
        let line = place.line.unwrap().rsplit_once(' ').unwrap().0.to_owned();
        let caller = place.called_from.unwrap_or_default();
        let caller = caller.replace(&format!("{}/", bench.folder.display()), "");
        assert_eq!(format!("{line} {caller}"), expected, "{text}");
    }
}

#[test]
fn of_errexit_and_traps() {
    let mut bench = Bench::new();
    bench.places(
        "/bin/bash",
        &[
            ("-e", "set -e\ntrue\nls /nowhere 2>/dev/null", "4 main x | ls /nowhere 2> /dev/null"),
            ("-e in a function", "set -e\nf() {\n false\n true\n}\nf\ntrue", "4 f x | false"),
            ("-e, EXIT", "set -e\ntrap 'rm -f /nowhere' EXIT\nfalse\ntrue", "4 main x | false"),
            (
                "-e, EXIT with exit",
                "set -e\ntrap 'exit $?' EXIT\ntrue\nfalse\ntrue",
                "5 main x | false",
            ),
            ("-e, posix", "set -e\nset -o posix\nfalse\ntrue", "4 main x | false"),
            (
                "-e, own ERR",
                "set -e\ntrap 'echo $LINENO' ERR\nf() { false; }\nf\ntrue",
                "4 f x | false",
            ),
            (
                "own ERR, inherited",
                "set -eE\ntrap 'echo $LINENO' ERR\nf() { false; }\nf",
                "4 f x | false",
            ),
            (
                "own ERR, functions",
                "trap 'echo err' ERR\nf() { false; true; }\nf\nexit 2",
                "5 main x | exit 2",
            ),
            (
                "loop, own ERR, -e",
                "set -e\ntrap 'echo err' ERR\nf() {\n for x in a; do\n  [ -e /nowhere ] && true\n done\n}\nf",
                "9 main x | f",
            ),
            (
                "in two functions, own ERR, -e",
                "set -e\ntrap 'echo err' ERR\nf() {\n true\n}\nfunction g {\n true; ls /nowhere 2>&-\n}\n\
                 h() ( ls /nowhere 2>&- )\ng",
                "8 g x | ls /nowhere 2>&-",
            ),
            ("own DEBUG", "trap 'echo $BASH_COMMAND' DEBUG\nfalse\nexit 2", " | "),
            ("own RETURN", "trap 'echo ret' RETURN\nf() { :; }\nf\nexit 2", " | "),
            ("traps listed", "trap\ntrap -p EXIT\nfalse", " | "),
            ("+E", "set +E\nset -e\nf() {\n false\n}\nf", "5 f x | false"),
        ],
    );
}

#[test]
fn of_the_last_command_and_what_it_is_in() {
    let mut bench = Bench::new();
    bench.write("lib.sh", LIB);
    bench.write("fails.sh", "true\nfalse\n");
    bench.write("broken.sh", "true\nif true\n");
    bench.places(
        "/bin/bash",
        &[
            ("condition", "set -e\nif false; then :; fi\nwhile false; do :; done\n! true\nfalse || true\nfalse", "7 main x | false"),
            ("last && list", "[ -e /nowhere ] && true", "2 main x | [ -e /nowhere ]"),
            ("stale", "test -e /nowhere\ntrue\ntest -e /nowhere && true", " | test -e /nowhere"),
            ("last", "true\n(exit 9)\n\n# end", "3 main x | ( exit 9 )"),
            ("last, twice", "ls /nowhere 2>&-\ntrue\nls /nowhere 2>&-", "4 main x | ls /nowhere 2>&-"),
            ("last, own EXIT", "trap 'echo bye' EXIT\ntrue\nls /nowhere 2>&-", "4 main x | ls /nowhere 2>&-"),
            ("last in a function", "f() {\n true\n cat /nowhere 2>&-\n}\nf", "4 f x | cat /nowhere 2>&-"),
            ("two deep", "g() {\n false\n}\nf() {\n g\n}\nf", "3 g x | false"),
            ("return", "f() {\n false\n return 4\n}\nf", "6 main x | f"),
            ("sourced", ". ./lib.sh\nset -e\nin_lib", "2 in_lib lib.sh | cat /nowhere 2> /dev/null"),
            ("sourced, top", "set -e\n. ./fails.sh\ntrue", "2 main fails.sh | false"),
            ("sourced, syntax", "set -e\n. ./broken.sh", "2 main broken.sh | "),
            ("arithmetic", "set -e\nx=0\n((x))\ntrue", "4 main x | ((x))"),
            ("let", "set -e\nlet x=0", "3 main x | let x=0"),
            ("[[", "set -e\n[[ a == b ]]\ntrue", "3 main x | [[ a == b ]]"),
            ("pipefail", "set -eo pipefail\nfalse |\n cat\ntrue", "3 main x | false"),
            ("inherit_errexit", "set -e\nshopt -s inherit_errexit 2>&- || set -o posix\nx=$(false; true)\ntrue", "4 main x | x=$(false; true)"),
            ("wait", "set -e\n(exit 3) &\nwait $!\ntrue", "4 main x | wait $!"),
            ("coproc", "set -e\ncoproc { exit 3; }\nwait $!\ntrue", "4 main x | wait $!"),
            ("many lines", "set -e\nls \\\n /nowhere \\\n 2>/dev/null", "3 main x | ls /nowhere 2> /dev/null"),
            ("here document", "set -e\ncat - /nowhere 2>/dev/null <<X\na\nX\ntrue", "3 main x | cat - /nowhere 2> /dev/null <<X"),
        ],
    );
}

#[test]
fn of_what_ends_a_shell() {
    let mut bench = Bench::new();
    bench.places(
        "/bin/bash",
        &[
            ("unbound", "set -u\ntrue\necho \"$NONE\"\ntrue", "4 main x | echo \"$NONE\""),
            ("unbound in a function", "set -u\nf() {\n echo $NONE\n}\nf", "4 - x | echo $NONE"),
            (
                "unbound, own EXIT",
                "set -u\ntrap 'echo bye >&2' EXIT\necho $NONE",
                "4 main x | echo $NONE",
            ),
            ("needed", "true\n: ${NONE:?is needed}\ntrue", "3 main x | : ${NONE:?is needed}"),
            ("division", "true\necho $((1/0))", "3 main x | echo $((1/0))"),
            ("read-only", "set -e\nreadonly A=1\nA=2\ntrue", "4 main x | A=2"),
            ("syntax", "true\nif true; then\n  fi fi\nfi", "4 main x | fi fi"),
            ("end of file", "true\nif true; then\n  true", "4 main x | "),
            ("open quote", "true\necho \"abc", "3 main x | echo \"abc"),
            ("open quote, before others", "echo \"abc\ntrue\ntrue", "2 main x | echo \"abc"),
            ("not found", "true\nno_such arg", "3 main x | no_such arg"),
            ("not found, went on", "no_such\ntrue\n[ -e /nowhere ]", "4 main x | [ -e /nowhere ]"),
            ("not found by exec", "false\nexec no_such", "3 main x | exec no_such"),
            ("exec", "false\nexec sh -c 'exit 1'", " | "),
            (
                "exec of a group",
                "set -e\ntrue\nwhile read x; do :; done < /nowhere\ntrue",
                // Before 5.1 such a script goes on.
                "4 main x | while read x; do :; done < /nowhere or  | ",
            ),
            ("redirected", "set -e\ncat < /nowhere\ntrue", "3 main x | cat < /nowhere"),
            ("no directory", "set -e\ncd /nowhere\ntrue", "3 main x | cd /nowhere"),
            ("went on, then unbound", "false\nset -u\nx=$NONE", "4 main x | x=$NONE"),
            ("eval", "set -e\neval 'true; no_such'\ntrue", "3 main x | no_such"),
            ("its own stdin", "read x\nset -e\nread y\ntrue", "4 main x | read y"),
            (
                "arguments",
                "echo \"$@\" $# \"$0\"\nset -- a 'b c'\nset -e\n[ $# -eq 3 ]",
                "5 main x | [ $# -eq 3 ]",
            ),
        ],
    );
}

#[test]
fn of_a_script_that_sees_its_surroundings() {
    let mut bench = Bench::new();
    bench.places(
        "/bin/bash",
        &[
            ("what it sees", "false foo\necho \"$_\"\nfalse | true | false\necho ${PIPESTATUS[*]} $? ${#BASH_SOURCE[@]} $BASH_SUBSHELL\nexit 3", "6 main x | exit 3"),
            ("variables", "set -a\nx=1\nfalse\nenv | sort | grep -v '^_='\nexport -p\nexit 3", "7 main x | exit 3"),
            ("IFS", "IFS=\nset -e -o pipefail\nfalse | true", "4 main x | false"),
            ("noclobber", "set -Ceuo pipefail\nset -f\nfalse", "4 main x | false"),
            ("verbose", "set -v\nfalse\nexit 3", " | "),
            ("xtrace", "set -x\nfalse\n(exit 4) || true\nset -e\nf() { false; }\nf", "6 f x | false"),
            ("restricted", "set -r\nfalse\nexit 3", " | "),
            ("stderr closed", "exec 2>&-\nset -e\nfalse", "4 main x | false"),
            ("output in one", "exec 2>&1\nset -u\necho $NONE", "4 main x | echo $NONE"),
            ("killed", "set -e\nkill -KILL $$", " | "),
            ("killed child", "exec 2>/dev/null\nset -e\nsh -c 'kill -KILL $$'\ntrue", "4 main x | sh -c 'kill -KILL $$'"),
            ("well", "false\ntrue", " | "),
        ],
    );
}

#[test]
fn of_a_bash_script_with_options() {
    let mut bench = Bench::new();
    for (first, expected) in [
        ("/bin/bash -eu", "3 main x | false"),
        ("/bin/bash -x", "3 main x | false"),
        ("/usr/bin/env -S bash -e -u", "3 main x | false"),
        ("/usr/bin/env bash", "3 main x | false"),
        ("/bin/bash --posix", " | "),
        ("/bin/bash -p", " | "),
        ("/bin/bash -r", " | "),
        ("/bin/bash -v", " | "),
        ("/bin/bash -a", " | "),
    ] {
        let text = "case $(env) in *[Pp]rovost*|*PROVOST*|*BASH_ENV*|*FUNC*) echo;; esac\nfalse";
        bench.places(first, &[(first, text, expected)]);
    }
    bench.write("env.sh", "echo \"read first: $BASH_ENV\"\nset -e\n");
    bench.env.push(("BASH_ENV".into(), "./env.sh".into()));
    let text = "echo \"$BASH_ENV\"\nbash -c 'echo \"$BASH_ENV\"'\nfalse\ntrue";
    bench.places("/bin/bash", &[("its own BASH_ENV", text, "4 main x | false")]);
    bench.env.push(("POSIXLY_CORRECT".into(), "1".into()));
    bench.places("/bin/bash", &[("posix by the environment", text, " | ")]);
}

#[test]
fn of_a_script_in_an_odd_folder() {
    let mut bench = Bench::in_folder("a b\nc'\"$x");
    let place = bench.place("#!/bin/bash\nset -e\nfalse\n");
    assert_eq!(place, "3 main x | false");
}

#[test]
fn a_million_failures_don_t_fill_the_memory() {
    let mut bench = Bench::new();
    let notes = "for fd in /proc/$PPID/fd/*; do [[ $(readlink $fd) != *provost-notes* ]] || \
                 stat -Lc %s $fd; done";
    bench.write(
        "x",
        &format!(
            "#!/bin/bash\nfor ((i = 0; i < 1000000; i++)); do\n  false\ndone\n{notes}\nexit 3\n"
        ),
    );
    let (seen, outcome) = bench.watched();
    let bytes: u64 = seen.stdout.trim().parse().unwrap();
    assert!((1..64 * 1024).contains(&bytes), "{seen:?}");
    let line = outcome.place.unwrap().line.unwrap();
    assert_eq!(Path::new(&line).file_name().unwrap(), "x");
    assert!(line.starts_with("6 main "), "{line}");
}
