//! No shell or program writes a secret so that it isn't found.

use std::process::{Command, Stdio};

use provost_exec::Secrets;
use provost_tests::{missing, skip_part};

use crate::failure_location::bashes;

/// Secrets with what shells quote, each in two parts that would be found of it.
const SECRETS: [(&str, [&str; 2]); 11] = [
    ("O'Brien77", ["Brien77", "Brien77"]),
    ("left77'right88", ["left77", "right88"]),
    ("left77''right88'", ["left77", "right88"]),
    ("left77 \"right88\" it's", ["left77", "right88"]),
    ("left77\\right88\\\\'", ["left77", "right88"]),
    ("left77$right88`'", ["left77", "right88"]),
    ("left77!#~{}[]*?&;|<>()^,=right88", ["left77", "right88"]),
    ("~left77:~/right88#", ["left77", "right88"]),
    ("left77\tright88'", ["left77", "right88"]),
    ("left77é☃'😀right88", ["left77", "right88"]),
    ("left77+/right88@%", ["left77", "right88"]),
];

/// Writes `$PW` in all the ways that every shell has.
const SHELL: &str = "set -x\n: \"--password=$PW\"\n: \"$PW\"\n: $PW\nX=$PW\n[ \"$PW\" = x ]\n\
                     case $PW in x) ;; esac\nset +x\nset\nexport -p\ntrap \"$PW\" USR1\ntrap\n\
                     trap - USR1\nalias a=\"$PW\"\nalias\n";
/// The same for those that bash alone has.
const BASH: &str = "printf '%q\\n' \"$PW\" \"--password=$PW\"\ndeclare -p PW\nA=(\"$PW\" \"u:$PW\")\n\
                    declare -p A\ndeclare -A B=([k]=\"$PW\")\ndeclare -p B\n\
                    set -x\n[[ \"$PW\" == x ]]\nA+=(\"$PW\")\nset +x\n\
                    (eval 'echo \"${PW@Q} ${PW@A}\"') 2>/dev/null\nf() { echo \"$PW\"; }\n";

/// What `program` writes, with `PW` in its environment.
fn output(program: &[&str], value: &str, locale: &str) -> String {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("PW", value).env("LC_ALL", locale).env("HOME", "/").stdin(Stdio::null());
    let out = command.output().unwrap();
    String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned()
}

#[track_caller]
fn is_hidden(program: &[&str], times: usize) {
    for (value, parts) in SECRETS {
        let secrets = Secrets::new([("PW", value)]);
        for locale in ["C", "C.UTF-8"] {
            let written = output(program, value, locale);
            let hidden = secrets.hide(&written);
            let shown: Vec<&str> = hidden
                .lines()
                .filter(|line| parts.iter().any(|part| line.contains(part)))
                .collect();
            assert_eq!(shown, [""; 0], "{value} by {program:?} in {locale}");
            let count = hidden.matches("[redacted:PW]").count();
            assert!(count >= times, "{value} by {program:?} in {locale}: {count}\n{written}");
        }
    }
}

#[test]
fn no_shell_quotes_a_secret_so_that_it_is_shown() {
    for bash in bashes() {
        is_hidden(&[bash.to_str().unwrap(), "-c", &format!("{SHELL}{BASH}")], 15);
    }
    let others: [(&str, &[&str]); 3] = [
        ("dash", &["dash", "-c", SHELL]),
        ("busybox", &["busybox", "ash", "-c", SHELL]),
        ("ksh", &["ksh", "-c", SHELL]),
    ];
    for (name, program) in others {
        match missing::program(name, name) {
            Some(missing) => skip_part(&missing),
            None => is_hidden(program, 6),
        }
    }
}

#[test]
fn no_program_writes_a_secret_so_that_it_is_shown() {
    let base64 = "printf %s \"$PW\" | base64; printf '%s\\n' \"$PW\" | base64 -w0; \
                  printf %s \"me:$PW\" | base64; printf %s \"you:$PW.\" | base64";
    let python = "import json, os, shlex, urllib.parse as u, xml.sax.saxutils as x, html, base64\n\
                  v = os.environ['PW']\n\
                  print(json.dumps(v), json.dumps(v, ensure_ascii=False), json.dumps(json.dumps(v)))\n\
                  print(json.dumps(shlex.quote(v)), shlex.quote(v), repr(v), ascii(v), repr(v.encode()))\n\
                  print(u.quote(v), u.quote(v, safe=''), u.quote_plus(v), x.quoteattr(v), html.escape(v))\n\
                  print(base64.urlsafe_b64encode(v.encode()).decode(), ['--password=' + v])\n";
    let programs: [(&str, &[&str], usize); 4] = [
        ("base64", &["sh", "-c", base64], 4),
        ("env", &["sh", "-c", "env printf '%q\\n' \"$PW\" \"u:$PW\"; env -0"], 3),
        (
            "jq",
            &["jq", "-n", "$ENV.PW, ($ENV.PW|@sh, @uri, @json, @html, @base64, @csv \"\\([.])\")"],
            6,
        ),
        ("python3", &["python3", "-c", python], 14),
    ];
    for (name, program, times) in programs {
        match missing::program(name, name) {
            Some(missing) => skip_part(&missing),
            None => is_hidden(program, times),
        }
    }
}

#[test]
fn base64_of_a_key_of_many_lines_is_hidden_whole() {
    let line = |n: u8| (0..64).map(|at| char::from(b'A' + (n * 7 + at) % 26)).collect::<String>();
    let key: Vec<String> = (0..20).map(line).collect();
    let key = format!("-----BEGIN KEY-----\n{}\n-----END KEY-----\n", key.join("\n"));
    let secrets = Secrets::new([("KEY", key.as_str())]);
    for program in ["base64", "base64 -w0", "base64 -w64"] {
        let text = output(&["sh", "-c", &format!("printf '%s' \"$PW\" | {program}")], &key, "C");
        let hidden = secrets.hide(&text).replace("[redacted:KEY]", "");
        assert!(hidden.trim().len() < 8, "{program}: {hidden}");
    }
}
