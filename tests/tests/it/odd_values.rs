//! Values that are rare, and right.

use provost_tests::Cluster;

#[test]
fn a_password_that_repeats_itself_leaves_no_tail_in_the_log() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho \"x$DB_PASSWORD${DB_PASSWORD#ab}x\"\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\nenv = { DB_PASSWORD = \"abab\" }\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let log = node.provost(&["log", "one", "--output"]).expect(0).stdout;
    assert!(log.trim().ends_with("stdout F x[redacted:DB_PASSWORD]x"), "{log}");
}

#[test]
fn an_argument_with_a_carriage_return_reaches_the_script() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\nprintf '%s' \"$1\" | od -An -c\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one 'a\\rb'\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    // As it is shown, it can be given.
    node.provost(&["run", "-P", "one 'a\rb'"]).expect(0);
    let log = node.provost(&["log", "one", "--output"]).expect(0).stdout;
    let printed: Vec<_> = log.split_whitespace().skip(3).collect();
    assert_eq!(printed, ["a", "\\r", "b"], "{log}");
}

#[test]
fn an_interpreter_that_is_not_there_ends_with_127_as_every_shell_says() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/opt/freeware/bin/nowhere\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(1);
    let status = node.status();
    let stage = &status["stages"][1];
    assert_eq!((&stage["exitCode"], &stage["cause"]), (&127.into(), &"exec".into()), "{stage:#}");
}

#[test]
fn a_number_that_is_too_big_is_named_and_the_rest_of_its_file_counts() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let line = config.lines().count() + 2;
    let wrong = format!("{config}[guard]\nmax_attempts = 99999999999999999999\n");
    std::fs::write(node.path("provost.toml"), wrong).unwrap();
    let says = format!("provost.toml:{line}: max_attempts: the number 99999999999999999999");
    node.provost(&["boot"]).expect(2).says(&[&says]);
    let checked = node.provost(&["check"]).expect(2);
    assert!((checked.stdout + &checked.stderr).contains(&says));
    // It was reported: the file's servers are asked.
    assert_eq!(cluster.status("cn001")["cause"], "config");
}

#[test]
fn the_log_of_a_script_in_a_folder_is_shown_by_the_command_of_its_hint() {
    let mut cluster = Cluster::new();
    cluster.script("site/set up", "#!/bin/sh\necho here\nexit 3\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"'site/set up'\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"])
        .expect(1)
        .says(&["hint: see all its output", "provost log 'site/set up'; fix"]);
    let log = node.provost(&["log", "site/set up"]).expect(0).stdout;
    assert!(log.contains("here"), "{log}");
}

#[test]
fn a_folder_that_is_relative_is_refused_and_named() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let file = node.path("provost.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    let state = node.path("state");
    assert!(config.contains(state.to_str().unwrap()), "{config}");
    std::fs::write(&file, config.replace(state.to_str().unwrap(), "state")).unwrap();
    let checked = node.provost(&["check"]).expect(2);
    let all = checked.stdout + &checked.stderr;
    assert!(all.contains("paths.state: \"state\" isn't an absolute path"), "{all}");

    // Nor is another proxy than one of HTTP taken, or a date for a text.
    for (line, says) in [
        ("[fetch]\nproxy = \"unix:/x\"\n", "the proxy \"unix:/x\" can't be used: "),
        ("[log]\nsyslog = 2026-11-20\n", "log.syslog: a date without quotes isn't a text"),
    ] {
        std::fs::write(&file, format!("{config}{line}")).unwrap();
        node.provost(&["boot"]).expect(2).says(&[says]);
    }
}
