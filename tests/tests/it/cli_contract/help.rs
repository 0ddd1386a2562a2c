//! Help texts and wrong usage.

use std::fs::File;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use provost_tests::{Out, program};

/// Runs a program by its name, as on a machine that has nothing set up.
fn run(line: &str) -> Out {
    let mut words = line.split(' ');
    let mut command = Command::new(program(words.next().unwrap()));
    command.args(words).env_remove("PROVOST_CONFIG").env_remove("PROVOSTCTL_ADMIN");
    command.stdin(Stdio::null()).output().unwrap().into()
}

#[test]
fn that_cannot_be_written_is_an_error() {
    for line in [
        "provost --help",
        "provost --version",
        "provost help boot",
        "provostctl nodes --help",
        "provostctl --version",
        "provostd --help",
        "provostd ca --help",
    ] {
        let mut words = line.split(' ');
        let mut command = Command::new(program(words.next().unwrap()));
        let full = File::options().write(true).open("/dev/full").unwrap();
        let out = Out::from(command.args(words).stdout(full).output().unwrap());
        assert!(out.code.is_some_and(|code| code > 0), "{line}: {:?}", out.code);
        out.says(&["No space left on device", "hint: check where"]);
    }
}

#[test]
fn of_each_program_and_command() {
    for line in [
        "provost",
        "provost boot",
        "provost kickstart",
        "provost run",
        "provost status",
        "provost log",
        "provost check",
        "provost gather",
        "provost analyze",
        "provost report",
        "provost record",
        "provost fetch",
        "provost sign-host-keys",
        "provost release",
        "provost stamp",
        "provost install",
        "provostctl",
        "provostctl key new",
        "provostctl key rotate",
        "provostctl key show",
        "provostctl publish",
        "provostctl channel set",
        "provostctl channel list",
        "provostctl channel remove",
        "provostctl promote",
        "provostctl rollback",
        "provostctl history",
        "provostctl plan",
        "provostctl import xcat",
        "provostctl token",
        "provostctl nodes",
        "provostctl show",
        "provostctl log",
        "provostctl compat",
        "provostctl release",
        "provostctl remove",
        "provostctl store copy",
        "provostctl backup",
        "provostctl restore",
        "provostctl gather",
        "provostctl rerun",
        "provostctl sync",
        "provostctl continue",
        "provostctl boot",
        "provostctl snippet",
        "provostctl wait-for",
        "provostctl try",
        "provostctl key",
        "provostctl watch",
        "provostd",
        "provostd check",
    ] {
        assert_snapshot!(line.replace(' ', "-"), run(&format!("{line} --help")).transcript());
    }
}

#[test]
fn of_each_program_fits_a_terminal_of_80_columns() {
    for program in ["provost", "provostctl", "provostd"] {
        let help = run(&format!("{program} --help")).expect(0).stdout;
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{program} --help: {line}");
        }
    }
}

#[test]
fn of_topics() {
    for topic in ["exit-status", "node-sets", "environment"] {
        let name = format!("provostctl-help-{topic}");
        assert_snapshot!(name, run(&format!("provostctl help {topic}")).transcript());
    }
    for line in ["", " key rotate", " snippet"] {
        let (named, own) = (format!("provostctl help{line}"), format!("provostctl{line} --help"));
        assert_eq!(run(&named).transcript(), run(&own).transcript());
    }
    assert_snapshot!(run("provostctl help key turn").transcript(), @r#"
    exit status 2
    ----- stderr -----
    provostctl: unknown command or help topic "key turn"
      hint: list all: provostctl help
    "#);
}

#[test]
fn of_versions() {
    assert_snapshot!(run("provost --version").transcript(), @"
    exit status 0
    ----- stdout -----
    provost [VERSION]
    ");
    assert_snapshot!(run("provostctl --version").transcript(), @"
    exit status 0
    ----- stdout -----
    provostctl [VERSION]
    ");
    assert_snapshot!(run("provostd --version").transcript(), @"
    exit status 0
    ----- stdout -----
    provostd [VERSION]
    ");
}

#[test]
fn of_wrong_usage_of_provost() {
    assert_snapshot!(run("provost").transcript().lines().next().unwrap(), @"exit status 2");
    assert_snapshot!(run("provost bot").transcript(), @"
    exit status 2
    ----- stderr -----
    error: unrecognized subcommand 'bot'

      tip: some similar subcommands exist: 'reboot-request', 'boot'

    Usage: provost [OPTIONS] <COMMAND>

      hint: see provost --help
    ");
    assert_snapshot!(run("provost boot --config").transcript(), @"
    exit status 2
    ----- stderr -----
    error: a value is required for '--config <FILE>' but none was supplied

      hint: see provost boot --help
    ");
    assert_snapshot!(run("provost run").transcript(), @"
    exit status 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <-P <LIST>|SCRIPT [ARGS]…>

    Usage: provost run <-P <LIST>|SCRIPT [ARGS]…>

      hint: see provost run --help
    ");
}

#[test]
fn of_wrong_usage_of_provostctl() {
    assert_snapshot!(run("provostctl frobnicate").transcript(), @"
    exit status 2
    ----- stderr -----
    error: unrecognized subcommand 'frobnicate'

    Usage: provostctl <COMMAND>

      hint: see provostctl --help
    ");
    assert_snapshot!(run("provostctl show").transcript(), @"
    exit status 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <NODE>

    Usage: provostctl show <NODE>

      hint: see provostctl show --help
    ");
    assert_snapshot!(run("provostctl nodes cn[001-").transcript(), @r#"
    exit status 2
    ----- stderr -----
    error: invalid value 'cn[001-' for '[NODES]': "cn[001-" names no nodes: its brackets don't match
      hint: write names and ranges such as cn001, cn[001-512,600] or r[1-4]n[01-32], with commas between; ! excludes: cn[001-512]!cn007
    "#);
    assert_snapshot!(run("provostctl token @status:up").transcript(), @r#"
    exit status 2
    ----- stderr -----
    error: invalid value '@status:up' for '[NODES]': unknown status "up"; expected one of defined, installing, booting, netbooting, postbooting, booted, failed, syncing, synced

      hint: see provostctl token --help
    "#);
    assert_snapshot!(run("provostctl show ../x").transcript(), @"
    exit status 2
    ----- stderr -----
    error: invalid value '../x' for '<NODE>': not a node's name
      hint: name one node, such as cn001
    ");
    assert_snapshot!(run("provostctl --admin ftp://x nodes").transcript(), @"
    exit status 2
    ----- stderr -----
    error: invalid value 'ftp://x' for '--admin <URL>': expected unix:PATH, https://HOST:PORT or http://ADDRESS:PORT

      hint: see provostctl nodes --help
    ");
    assert_snapshot!(run("provostctl wait-for cn001 --status happy").transcript(), @r#"
    exit status 2
    ----- stderr -----
    error: invalid value 'happy' for '--status <STATUS>': unknown status "happy"; expected one of defined, installing, booting, netbooting, postbooting, booted, failed, syncing, synced

      hint: see provostctl wait-for --help
    "#);
    assert_snapshot!(
        run("provostctl wait-for cn001 --status booted --timeout 20").transcript(), @"
    exit status 2
    ----- stderr -----
    error: invalid value '20' for '--timeout <TIMEOUT>': `20` isn't a time limit: the unit is missing

      hint: see provostctl wait-for --help
    "
    );
}

#[test]
fn each_wrong_usage_ends_with_a_hint() {
    for (line, hint) in [
        ("provostctl nodes --since foo", "hint: see provostctl nodes --help"),
        ("provostctl --admin unix:/x nodes --zork", "hint: see provostctl nodes --help"),
        ("provostctl key new --zork", "hint: see provostctl key new --help"),
        ("provostctl key", "hint: name a command: provostctl key COMMAND"),
        ("provostctl admin add me --role zork", "hint: see provostctl admin add --help"),
        ("provost log --zork", "hint: see provost log --help"),
        ("provost", "hint: name a command: provost COMMAND"),
        ("provostd ca zork", "hint: see provostd ca --help"),
    ] {
        let out = run(line).expect(2);
        assert_eq!(out.stderr.lines().last().unwrap().trim(), hint, "{line}");
        assert!(!out.stderr.contains("For more information"), "{line}: {}", out.stderr);
    }
    let out = run("provostctl admin add me --role zork");
    assert!(out.stderr.contains("expected read, operate or publish"), "{out:?}");
}

#[test]
fn of_wrong_usage_of_provostd() {
    assert_snapshot!(run("provostd serve").transcript(), @"
    exit status 2
    ----- stderr -----
    error: unrecognized subcommand 'serve'

    Usage: provostd [OPTIONS] [COMMAND]

      hint: see provostd --help
    ");
}
