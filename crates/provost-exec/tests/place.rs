//! Where scripts failed, and that they don't notice that somebody wants to know.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use provost_exec::{Ended, LeakPolicy, Limits, Orders, Outcome, Secrets, Step, Supervisor};
use tokio::sync::watch;

/// Runs scripts in one folder, with and without an executor.
struct Bench {
    /// A supervisor takes leave of any child of this process, another test's among them.
    dir: tempfile::TempDir,
    folder: PathBuf,
    env: Vec<(String, String)>,
    supervisor: Supervisor,
    runtime: tokio::runtime::Runtime,
    // The last to go: a supervisor that goes takes leave of every child of this process.
    _alone: std::sync::MutexGuard<'static, ()>,
}

#[derive(Debug, PartialEq)]
struct Seen {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Bench {
    fn new() -> Self {
        Self::in_folder("scripts")
    }

    fn in_folder(name: &str) -> Self {
        static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let alone = ONE.lock().unwrap_or_else(|e| e.into_inner());
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        let env = vec![("PATH".into(), format!("{}:/usr/bin:/bin", folder.display()))];
        let supervisor = Supervisor::start().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { _alone: alone, dir, folder, env, supervisor, runtime }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("01-x.log")
    }

    fn plainly(&self) -> Seen {
        // Whoever runs the tests may ignore signals, which programs inherit.
        let mut command = Command::new("/usr/bin/env");
        command.current_dir(&self.folder).env_clear().stdin(Stdio::null());
        command
            .args(["--default-signal", "./x", "one", "two words"])
            .envs(self.env.iter().map(|(k, v)| (k, v)));
        let output = command.output().unwrap();
        Seen {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn watched(&mut self) -> (Seen, Outcome) {
        let step = Step {
            name: "x".into(),
            args: vec!["one".into(), "two words".into()],
            folder: self.folder.clone(),
            env: self.env.clone(),
            log: self.log(),
            trace: Some(provost_exec::install_trace(self.dir.path()).unwrap()),
            limits: Limits {
                timeout: Duration::from_secs(60),
                slow: Duration::from_secs(60),
                grace: Duration::from_secs(1),
                leak: Duration::from_secs(5),
            },
            leak: LeakPolicy::Warn,
            xtrace: false,
            lines: false,
            secrets: Secrets::default(),
        };
        let (_order, mut orders) = watch::channel(Orders::default());
        let outcome = self.runtime.block_on(self.supervisor.execute(&step, &mut orders, |_| {}));
        let status = match &outcome.ended {
            Ended::Exit(status) => *status,
            Ended::Signal { .. } => -1,
            ended => panic!("{ended:?}"),
        };
        let log = String::from_utf8_lossy(&std::fs::read(self.log()).unwrap()).into_owned();
        let text = |stream: &str| {
            let lines =
                log.lines().filter_map(|l| l.split_once("Z ").unwrap().1.strip_prefix(stream));
            lines.map(|l| l[3..].to_owned() + if l.starts_with(" F") { "\n" } else { "" }).collect()
        };
        (Seen { status, stdout: text("stdout"), stderr: text("stderr") }, outcome)
    }

    /// Runs `./x` both ways; they must not differ. Returns `LINE FUNCTION FILE | COMMAND`.
    fn place(&mut self, text: &str) -> String {
        self.write("x", text);
        let plainly = self.plainly();
        let (watched, outcome) = self.watched();
        assert_eq!(watched, plainly, "{text}");
        assert!(!self.log().with_extension("notes").exists(), "the notes are gone");
        let place = outcome.place.unwrap_or_default();
        let folder = format!("{}/", self.folder.display());
        let line = place.line.unwrap_or_default().replace(&folder, "");
        format!("{line} | {}", place.command.unwrap_or_default())
    }

    fn places(&mut self, interpreter: &str, cases: &[(&str, &str, &str)]) {
        let mut wrong = Vec::new();
        for (name, text, expected) in cases {
            let place = self.place(&format!("#!{interpreter}\n{text}\n"));
            if place != *expected {
                wrong.push(format!("{name}:\n   expected {expected}\n   found    {place}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

const LIB: &str = "in_lib() {\n  cat /nowhere 2>/dev/null\n}\n";

#[test]
fn of_a_bash_script() {
    let mut bench = Bench::new();
    bench.write("lib.sh", LIB);
    bench.write("fails.sh", "true\nfalse\n");
    bench.write("broken.sh", "true\nif true\n");
    bench.places(
        "/bin/bash",
        &[
            ("exit", "true\nif true; then\n  exit 3\nfi", "4 main x | exit 3"),
            ("exit in a function", "f() {\n  exit 3\n}\nf", "3 f x | exit 3"),
            ("exit without argument", "(exit 4) || exit", "2 main x | exit"),
            ("exit after a failure", "false\nexit", "3 main x | exit"),
            ("exit of a variable", "rc=6\nexit $rc", "3 main x | exit 6"),
            ("exit beyond a byte", "exit 300", "2 main x | exit 300"),
            ("exit below zero", "exit -1", "2 main x | exit -1"),
            ("exit with a bad argument", "true\nexit abc", "3 main x | exit abc"),
            ("exit with two arguments", "true\nf() { exit 1 2; }\nf\nexit 7", "5 main x | exit 7"),
            ("exit in a subshell", "(\n exit 3\n)", "4 main x | ( exit 3 )"),
            ("exit in a substitution", "x=$(exit 3)\nexit $?", "3 main x | exit 3"),
            ("exit in a pipe", "set -o pipefail\nexit 3 | cat", "3 main x | exit 3 | cat"),
            ("exit with lastpipe", "shopt -s lastpipe\ntrue | exit 3", "3 main x | exit 3"),
            ("exit in an EXIT trap", "trap 'rc=$?; echo bye; exit $rc' EXIT\nexit 3", "3 main x | exit 3"),
            ("exit in a TERM trap", "trap 'echo term; exit 9' TERM\nkill $$\ntrue", " | exit 9"),
            ("exit, EXIT's arguments", "set -u -- a b\ntrap 'echo $1 ${2} $# \"$*\"' EXIT\nexit", " | "),
            ("exit, return in EXIT", "trap 'return 4' EXIT\nexit 3", " | "),
            ("exit, EXIT of many lines", "set -- a\ntrap '\n  echo $1\n' EXIT\nexit 3", " | "),
            ("failure in an EXIT trap", "set -e\ntrap 'true; false; echo bye' EXIT\nls /nowhere 2>&-", " | ls /nowhere 2>&-"),
            ("exit with -e", "set -e\nfalse || exit 5", "3 main x | exit 5"),
            ("exit with -x", "set -x\nf() { exit 3; }\nf", "3 f x | exit 3"),
            ("exit with -x, EXIT", "set -x\ntrap 'echo bye' EXIT\nexit 3", " | "),
            ("exit of its own", "exit() { echo mine; builtin exit 4; }\nexit 3", " | builtin exit 4"),
            ("exit unset", "unset -f exit\nexit 3", " | exit 3"),
            ("-e", "set -e\ntrue\nls /nowhere 2>/dev/null", "4 main x | ls /nowhere 2> /dev/null"),
            ("-e in a function", "set -e\nf() {\n false\n true\n}\nf\ntrue", "4 f x | false"),
            ("-e, EXIT", "set -e\ntrap 'rm -f /nowhere' EXIT\nfalse\ntrue", "4 main x | false"),
            ("-e, EXIT with exit", "set -e\ntrap 'exit $?' EXIT\ntrue\nfalse\ntrue", "5 main x | false"),
            ("-e, posix", "set -e\nset -o posix\nfalse\ntrue", "4 main x | false"),
            ("-e, own ERR", "set -e\ntrap 'echo $LINENO' ERR\nf() { false; }\nf\ntrue", " | false"),
            ("own ERR, inherited", "set -eE\ntrap 'echo $LINENO' ERR\nf() { false; }\nf", " | false"),
            ("own ERR, functions", "trap 'echo err' ERR\nf() { false; true; }\nf\nexit 2", "5 main x | exit 2"),
            ("own DEBUG", "trap 'echo $BASH_COMMAND' DEBUG\nfalse\nexit 2", " | "),
            ("own RETURN", "trap 'echo ret' RETURN\nf() { :; }\nf\nexit 2", " | "),
            ("traps listed", "trap\ntrap -p EXIT\nfalse", " | "),
            ("+E", "set +E\nset -e\nf() {\n false\n}\nf", " | false"),
            ("condition", "set -e\nif false; then :; fi\nwhile false; do :; done\n! true\nfalse || true\nfalse", "7 main x | false"),
            ("last && list", "[ -e /nowhere ] && true", " | [ -e /nowhere ]"),
            ("stale", "test -e /nowhere\ntrue\ntest -e /nowhere && true", " | test -e /nowhere"),
            ("last", "true\n(exit 9)\n\n# end", "3 main x | ( exit 9 )"),
            ("last, twice", "ls /nowhere 2>&-\ntrue\nls /nowhere 2>&-", "4 main x | ls /nowhere 2>&-"),
            ("last, own EXIT", "trap 'echo bye' EXIT\ntrue\nls /nowhere 2>&-", "4 main x | ls /nowhere 2>&-"),
            ("last in a function", "f() {\n true\n cat /nowhere 2>&-\n}\nf", "4 f x | cat /nowhere 2>&-"),
            ("two deep", "g() {\n false\n}\nf() {\n g\n}\nf", "3 g x | false"),
            ("return", "f() {\n false\n return 4\n}\nf", "6 main x | f"),
            ("sourced", ". ./lib.sh\nset -e\nin_lib", "2 in_lib lib.sh | cat /nowhere 2> /dev/null"),
            ("sourced, top", "set -e\n. ./fails.sh\ntrue", "2 main fails.sh | false"),
            ("sourced, syntax", "set -e\n. ./broken.sh", "2 main broken.sh | if true"),
            ("arithmetic", "set -e\nx=0\n((x))\ntrue", "4 main x | ((x))"),
            ("let", "set -e\nlet x=0", "3 main x | let x=0"),
            ("[[", "set -e\n[[ a == b ]]\ntrue", "3 main x | [[ a == b ]]"),
            ("pipefail", "set -eo pipefail\nfalse |\n cat\ntrue", "4 main x | cat"),
            ("inherit_errexit", "set -e\nshopt -s inherit_errexit\nx=$(false; true)\ntrue", "4 main x | x=$(false; true)"),
            ("wait", "set -e\n(exit 3) &\nwait $!\ntrue", "4 main x | wait $!"),
            ("coproc", "set -e\ncoproc { exit 3; }\nwait $!\ntrue", "4 main x | wait $!"),
            ("many lines", "set -e\nls \\\n /nowhere \\\n 2>/dev/null", "3 main x | ls /nowhere 2> /dev/null"),
            ("here document", "set -e\ncat - /nowhere 2>/dev/null <<X\na\nX\ntrue", "3 main x | cat - /nowhere 2> /dev/null <<X"),
            ("unbound", "set -u\ntrue\necho \"$NONE\"\ntrue", "4 main x | echo \"$NONE\""),
            ("unbound in a function", "set -u\nf() {\n echo $NONE\n}\nf", "4 - x | echo $NONE"),
            ("unbound, own EXIT", "set -u\ntrap 'echo bye >&2' EXIT\necho $NONE", " | "),
            ("needed", "true\n: ${NONE:?is needed}\ntrue", "3 main x | : ${NONE:?is needed}"),
            ("division", "true\necho $((1/0))", "3 main x | echo $((1/0))"),
            ("read-only", "set -e\nreadonly A=1\nA=2\ntrue", "4 main x | A=2"),
            ("syntax", "true\nif true; then\n  fi fi\nfi", "4 main x | fi fi"),
            ("end of file", "true\nif true; then\n  true", "4 main x | true"),
            ("open quote", "true\necho \"abc", "3 main x | echo \"abc"),
            ("not found", "true\nno_such arg", "3 main x | no_such arg"),
            ("not found, went on", "no_such\ntrue\n[ -e /nowhere ]", "4 main x | [ -e /nowhere ]"),
            ("not found by exec", "false\nexec no_such", "3 main x | exec no_such"),
            ("exec", "false\nexec sh -c 'exit 1'", " | "),
            ("exec of a group", "set -e\ntrue\nwhile read x; do :; done < /nowhere\ntrue", "4 main x | while read x; do :; done < /nowhere"),
            ("redirected", "set -e\ncat < /nowhere\ntrue", "3 main x | cat < /nowhere"),
            ("no directory", "set -e\ncd /nowhere\ntrue", "3 main x | cd /nowhere"),
            ("went on, then unbound", "false\nset -u\nx=$NONE", "4 main x | x=$NONE"),
            ("eval", "set -e\neval 'true; no_such'\ntrue", "3 main x | no_such"),
            ("its own stdin", "read x\nset -e\nread y\ntrue", "4 main x | read y"),
            ("arguments", "echo \"$@\" $# \"$0\"\nset -- a 'b c'\nset -e\n[ $# -eq 3 ]", "5 main x | [ $# -eq 3 ]"),
            ("what it sees", "false foo\necho \"$_\"\nfalse | true | false\necho ${PIPESTATUS[*]} $? ${#BASH_SOURCE[@]} $BASH_SUBSHELL\nexit 3", "6 main x | exit 3"),
            ("variables", "set -a\nx=1\nfalse\nenv | sort | grep -v '^_='\nexport -p\nexit 3", "7 main x | exit 3"),
            ("IFS", "IFS=\nset -e -o pipefail\nfalse | true", "4 main x | false | true"),
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
fn of_a_sh_script() {
    let mut bench = Bench::new();
    bench.write("lib.sh", "true\ntrue\ntrue\nno_such\n");
    bench.write("functions.sh", "in_lib() {\n  no_such\n}\n");
    bench.places(
        "/bin/sh",
        &[
            ("not found", "true\nno_such arg", "3 main x | no_such arg"),
            ("not found, -e", "set -e\nno_such arg\ntrue", "3 main x | no_such arg"),
            ("in a function", "f() {\n  no_such\n}\nf", "3 - x | no_such"),
            ("not executable", "/etc/passwd", "2 main x | /etc/passwd"),
            ("went on", "no_such\n[ -e /nowhere ]", " | "),
            ("went on to exit", "no_such\nexit 3", " | "),
            ("unset", "set -u\ntrue\necho \"$NONE\"", "4 main x | echo \"$NONE\""),
            ("needed", "true\n: ${NONE:?is needed}", "3 main x | : ${NONE:?is needed}"),
            ("syntax", "true\nfi\ntrue", "3 main x | fi"),
            ("end of file", "true\nif true; then\n  true", "4 main x | true"),
            ("no directory", "set -e\ncd /nowhere\ntrue", "3 main x | cd /nowhere"),
            ("no directory, went on", "cd /nowhere\nsh -c 'exit 2'\ntrue; sh -c 'exit 2'", " | "),
            ("condition", "set -e\ncd /nowhere || true\nsh -c 'exit 2'", " | "),
            ("no number", "[ '' -eq 1 ]\nsh -c 'exit 2'; exit 2", " | "),
            ("by exec", "exec no_such", "2 main x | exec no_such"),
            ("by eval", "true\ntrue\neval 'no_such'", " | "),
            ("in a trap", "trap no_such EXIT\nexit 127", " | "),
            ("sourced", ". ./lib.sh", "4 main lib.sh | no_such"),
            ("a sourced function", ". ./functions.sh\nin_lib", " | "),
            ("sourced, unknown", "F=lib.sh\n. ./$F", " | "),
            ("exit", "true\nexit 7", " | "),
            ("another's message", "echo './x: 2: no_such: not found' >&2; exit 1", " | "),
        ],
    );
}

/// What bash, busybox and dash say alike.
const COMMON: &[(&str, &str, &str)] = &[
    ("not found", "true\nno_such arg", "3 main x | no_such arg"),
    ("in a function", "f() {\n  no_such\n}\nf", "3 - x | no_such"),
    ("by exec", "true\nexec no_such", "3 main x | exec no_such"),
    ("unset", "set -u\ntrue\necho \"$NONE\"", "4 main x | echo \"$NONE\""),
    ("syntax", "true\nfi\ntrue", "3 main x | fi"),
    ("end of file", "true\nif true; then\n  true", "4 main x | true"),
    ("no directory", "set -e\ncd /nowhere\ntrue", "3 main x | cd /nowhere"),
    ("redirected", "set -e\n: < /nowhere\ntrue", "3 main x | : < /nowhere"),
    ("sourced", ". ./lib.sh", "4 main lib.sh | no_such"),
    ("went on", "no_such\n[ -e /nowhere ]", " | "),
    ("exit", "exit 7", " | "),
];

#[test]
fn of_a_sh_script_where_sh_is_another() {
    let mut bench = Bench::new();
    bench.write("lib.sh", "true\ntrue\ntrue\nno_such\n");
    let busybox = ["/bin/busybox", "/usr/bin/busybox", "/sbin/busybox"];
    let busybox = busybox.into_iter().find(|path| Path::new(path).exists());
    for (name, shell) in
        [("bash", Some("/bin/bash")), ("dash", Some("/bin/dash")), ("busybox", busybox)]
    {
        let Some(shell) = shell.filter(|shell| Path::new(shell).exists()) else {
            eprintln!("skipped: no {name} here");
            continue;
        };
        let folder = bench.dir.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(shell, folder.join("sh")).unwrap();
        bench.places(&folder.join("sh").display().to_string(), COMMON);
    }
}

#[test]
fn of_a_perl_script() {
    let mut bench = Bench::new();
    bench.write("Lib.pm", "package Lib;\nsub f {\n  die 'in lib';\n}\n1;\n");
    bench.places(
        "/usr/bin/perl",
        &[
            ("die", "print \"well\\n\";\ndie 'no disk';", "3 main x | die 'no disk';"),
            ("open", "open(F, '/nowhere')\n  or die \"no: $!\";", "2 main x | open(F, '/nowhere')"),
            ("in a sub", "sub f {\n  die 'no';\n}\nf();", "3 - x | die 'no';"),
            ("in a module", "use lib '.';\nuse Lib;\nLib::f();", "3 - Lib.pm | die 'in lib';"),
            ("no module", "use No::Such;", "2 main x | use No::Such;"),
            ("division", "my $x = 0;\nprint 1 / $x;", "3 main x | print 1 / $x;"),
            ("syntax", "use strict;\nmy $x = 1;\n$y = 2;", "4 main x | $y = 2;"),
            ("warn", "warn 'careful';\nexit 255;", " | "),
            ("warning", "use warnings;\nmy $x;\nprint \"$x\";\nexit 255;", " | "),
            ("caught", "eval { die 'no' };\nexit 3;", " | "),
            ("exit", "exit 3;", " | "),
        ],
    );
}

#[test]
fn of_a_python_script() {
    let mut bench = Bench::new();
    bench.write("lib.py", "def f():\n    raise ValueError('no')\n");
    bench.places(
        "/usr/bin/python3 -B",
        &[
            ("raise", "print('well')\nraise ValueError('no disk')", "3 main x | raise ValueError('no disk')"),
            ("in a function", "def f():\n    1 / 0\nf()", "3 f x | 1 / 0"),
            ("in a module", "import lib\nlib.f()", "2 f lib.py | raise ValueError('no')"),
            ("in the library", "import json\njson.loads('{')", "3 main x | json.loads('{')"),
            ("a command", "import subprocess\nsubprocess.run('false', check=True)", "3 main x | subprocess.run('false', check=True)"),
            ("chained", "try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('b') from e", "5 main x | raise ValueError('b') from e"),
            ("syntax", "x = 1\nif x\n    pass", "3 main x | if x"),
            ("no message", "assert False", "2 main x | assert False"),
            ("sys.exit", "import sys\nsys.exit('no')", " | "),
            ("printed, then went on", "import traceback, sys\ntry:\n    1 / 0\nexcept Exception:\n    traceback.print_exc()\nsys.stderr.write('so\\n')\nsys.exit(1)", " | "),
            ("a thread", "import threading, sys\ndef f(): 1 / 0\nt = threading.Thread(target=f, name='t')\nt.start()\nt.join()\nsys.exit(1)", " | "),
        ],
    );
}

#[test]
fn a_million_failures_don_t_fill_the_disk() {
    let mut bench = Bench::new();
    bench.write("x", "#!/bin/bash\nfor ((i = 0; i < 1000000; i++)); do\n  false\ndone\nls -s \"$NOTES\"\nexit 3\n");
    let notes = bench.log().with_extension("notes");
    bench.env.push(("NOTES".into(), notes.display().to_string()));
    let (seen, outcome) = bench.watched();
    let kib: u64 = seen.stdout.split(' ').next().unwrap().parse().unwrap();
    assert!((1..64).contains(&kib), "{seen:?}");
    let line = outcome.place.unwrap().line.unwrap();
    assert_eq!(Path::new(&line).file_name().unwrap(), "x");
    assert!(line.starts_with("6 main "), "{line}");
}
