//! What the management node shows of a node by ssh: the log of a script that uploaded none, and the
//! systemd journal.

use std::os::unix::fs::PermissionsExt;

use provost_tests::{Cluster, Network, missing, skip_if};

/// Prints its arguments, and ends with 1 for the unit "none".
const JOURNALCTL: &str = "#!/bin/sh\nprintf '[%s]' \"$@\"\necho\nprintf 'a \\033[31mline\\n'\n\
                          [ \"$2\" != --unit=none ] || { echo 'no such unit' >&2; exit 1; }\n";

#[test]
fn a_good_scripts_log_and_the_journal_are_read_by_ssh() {
    skip_if(missing::tracing());
    let mut network = Network::new();
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n/bin/false || :\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"hello\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    network.join(&node);
    network.join_dead("cn002");
    let config = network.config();
    let ctl = |args: &[&str]| cluster.ctl(&[args, &["--ssh-config", &config]].concat());

    let log = ctl(&["log", "cn001", "hello"]).expect(0).stdout;
    assert!(log.contains("hello") && log.contains("/bin/false"), "{log}");
    assert_eq!(log, node.provost(&["log", "hello"]).expect(0).stdout);
    for options in [&["--commands"][..], &["--output"], &["--failed"], &["--format=json"]] {
        let log = ctl(&[&["log", "cn001", "hello"], options].concat()).expect(0).stdout;
        let there = node.provost(&[&["log", "hello"], options].concat()).expect(0).stdout;
        assert_eq!(log, there, "{options:?}");
    }
    let none = ctl(&["log", "cn001", "none"]).expect(1).stderr;
    for part in [
        "provostctl: cn001 has uploaded no log of none; reading it by ssh: ",
        "there is none",
        "\n  hint: see what the node runs: ssh cn001 provost status\n",
    ] {
        assert!(none.contains(part), "no {part:?} in\n{none}");
    }

    std::fs::create_dir_all(node.path("fakes")).unwrap();
    let journalctl = node.path("fakes/journalctl");
    std::fs::write(&journalctl, JOURNALCTL).unwrap();
    std::fs::set_permissions(&journalctl, PermissionsExt::from_mode(0o755)).unwrap();
    for (args, given) in [
        (&["cn001"][..], "[--no-pager][--unit=provost*]\n"),
        (&["cn001", "a b; $(reboot).service"], "[--no-pager][--unit=a b; $(reboot).service]\n"),
        (&["cn001", "sshd", "-f"], "[--no-pager][--unit=sshd][--follow]\n"),
    ] {
        let out = ctl(&[&["journal"], args].concat()).expect(0).stdout;
        assert_eq!(
            out,
            format!("{given}a \u{1b}[31mline\n"),
            "as it is, where it isn't a terminal"
        );
    }
    let failed = ctl(&["journal", "cn001", "none"]).expect(1).stderr;
    let error = "provostctl: reading the journal of cn001 by ssh: no such unit\n  \
                 hint: see which units the node has: ssh cn001 systemctl list-units\n";
    assert_eq!(failed, error);
    std::fs::write(&journalctl, "#!/no/interpreter\n").unwrap();
    ctl(&["journal", "cn001"]).expect(1);
    let dead = ctl(&["journal", "cn002"]).expect(1).stderr;
    assert!(dead.contains("reading the journal of cn002 by ssh: "), "{dead}");
    assert!(dead.contains("\n  hint: check that this works: ssh cn002 true\n"), "{dead}");
}
