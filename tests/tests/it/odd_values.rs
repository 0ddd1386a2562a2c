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
