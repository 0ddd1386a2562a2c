//! provostd's own log names each failure of a node once, with its cause.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;

use provost_tests::{Cluster, Postgres};

/// Tries to clear the terminal of who reads the log, and to write to its title what has no end.
const HOSTILE: &str = "#!/bin/bash\nset -e\n\
     printf 'cannot \\033[2J mount \\033]0;2026-11-20T17:00:00Z  WARN cn999 failed' >&2\nexit 7\n";

/// The lines of a daemon's log that are about failures of nodes.
fn failures(folder: &Path) -> Vec<String> {
    let log = std::fs::read_to_string(folder.join("provostd.log")).unwrap();
    log.lines().filter(|line| line.contains(" cn001 failed")).map(str::to_owned).collect()
}

fn cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.script("bad", HOSTILE);
    cluster.site("[nodes.cn001]\npostscripts = [\"bad\"]\n").publish().expect(0);
    cluster
}

#[test]
fn a_failure_is_logged_once_and_its_output_steers_no_terminal() {
    let mut cluster = cluster();
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(1);
    // All was acknowledged: what is sent again is none of its records.
    std::fs::remove_file(node.path("log/services/boot.json")).unwrap();
    node.provost(&["report"]);
    let root = cluster.path("");
    let [line] = &failures(&root)[..] else { panic!("{:?}", failures(&root)) };
    assert!(line.contains(" WARN cn001 failed in bad: exit status 7: cannot "), "{line}");
    assert!(line.contains("stage=\"bad\" cause=\"exit\"") && line.contains("hint="), "{line}");
    assert!(line.contains(" \\u{1b}]0;2026") && !line.contains('\u{1b}'), "{line}");

    node.provost(&["run", "bad"]).expect(1);
    let lines = failures(&root);
    assert!(lines[1].contains("cn001 failed in a rerun: bad: exit status 7"), "{lines:?}");
    for _ in 0..3 {
        node.provost(&["boot"]);
    }
    let log = std::fs::read_to_string(root.join("provostd.log")).unwrap();
    let held: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("cn001 held after 3 failures; the last: bad"))
        .collect();
    assert_eq!((failures(&root).len(), held.len()), (4, 1), "{log}");
}

#[test]
fn of_two_daemons_over_one_database_the_one_that_took_the_report_logs_it() {
    let server = Postgres::start();
    let mut cluster = cluster();
    cluster.configure_daemon(&format!("store = {:?}\n", server.database("site")));
    cluster.start();
    let another = cluster.start_another("127.0.0.1:0");
    let node = cluster.node("cn001");
    node.configure(&cluster.settings_for(&[&another.nodes(), &cluster.daemon().nodes()]));
    node.provost(&["boot"]).expect(1);
    assert_eq!(failures(&cluster.path("another")).len(), 1);
    assert_eq!(failures(&cluster.path("")), [""; 0]);
}

#[test]
fn the_publishers_own_files_beside_the_plans_are_no_warning() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\n").site(
        "[nodes.cn001]\npostscripts = [\"one\"]\n[nodes.cn001.env]\nIPADDR = \"127.0.0.1\"\n",
    );
    cluster.publish().expect(0);
    let hidden = cluster.www().join("plans/.generations.toml");
    assert!(hidden.is_file(), "{}", hidden.display());
    cluster.configure_daemon("[xcat]\nmonitor = \"127.0.0.1:0\"\n");
    cluster.start();
    let stream = TcpStream::connect(cluster.daemon().address("monitor")).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let log = std::fs::read_to_string(cluster.path("provostd.log")).unwrap();
    assert!(!log.contains("plan can't be used"), "{log}");
}
