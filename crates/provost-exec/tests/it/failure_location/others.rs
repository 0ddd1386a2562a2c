//! Scripts of other languages.

use std::path::Path;

use provost_tests::skip_part;

use crate::failure_location::Bench;

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
            ("in a line", "f() { true; no_such x; }\nf", "2 - x | true; no_such x"),
            ("not executable", "/etc/passwd", "2 main x | /etc/passwd"),
            ("went on", "no_such\n[ -e /nowhere ]", " | "),
            ("went on to exit", "no_such\nexit 3", " | "),
            ("unset", "set -u\ntrue\necho \"$NONE\"", "4 main x | echo \"$NONE\""),
            ("needed", "true\n: ${NONE:?is needed}", "3 main x | : ${NONE:?is needed}"),
            ("syntax", "true\nfi\ntrue", "3 main x | fi"),
            ("end of file", "true\nif true; then\n  true", "4 main x | "),
            ("open quote", "echo \"abc\ntrue", "3 main x | "),
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
    ("end of file", "true\nif true; then\n  true", "4 main x | "),
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
            skip_part(&format!("with {name}: there is none"));
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
            ("of many lines", "def f():\n    raise ValueError('a\\nDetail: b\\n  c')\nf()", "3 f x | raise ValueError('a\\nDetail: b\\n  c')"),
            ("printed, then went on", "import traceback, sys\ntry:\n    1 / 0\nexcept Exception:\n    traceback.print_exc()\nsys.stderr.write('so\\n')\nsys.exit(1)", " | "),
            ("a thread", "import threading, sys\ndef f(): 1 / 0\nt = threading.Thread(target=f, name='t')\nt.start()\nt.join()\nsys.exit(1)", " | "),
        ],
    );
}
