//! What is said besides records: syslog, the systemd journal, notices at the login prompt.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::{Duration, Instant};

use provost_tests::{Cluster, Node};

/// The longest that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A node with the scripts `good` and `bad`, of which it runs `script`.
fn cluster(script: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("good", "#!/bin/sh\necho fine\n");
    cluster.script("bad", "#!/bin/bash\nset -e\necho 'it is \\n so bad' >&2\nfalse\n");
    plan(&cluster, script);
    cluster.start();
    let node = cluster.node("cn001");
    std::fs::create_dir(node.path("etc")).unwrap();
    (cluster, node)
}

fn plan(cluster: &Cluster, script: &str) {
    cluster.site(&format!("[nodes.cn001]\npostscripts = [{script:?}]\n")).publish().expect(0);
}

fn configure(cluster: &Cluster, node: &Node, log: &str) {
    node.configure(&format!(
        "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n[log]\n{log}\n",
        cluster.daemon().nodes(),
        cluster.key()
    ));
}

#[test]
fn syslog_by_udp_tells_each_line_with_its_gravity_node_and_script() {
    let (cluster, node) = cluster("bad");
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    configure(&cluster, &node, &format!("syslog = \"udp://{}\"", server.local_addr().unwrap()));
    node.provost(&["boot"]).expect(1);
    let mut lines = Vec::new();
    while !lines.last().is_some_and(|line: &String| line.contains("boot FAILED")) {
        let mut bytes = [0; 4096];
        let n = server.recv(&mut bytes).expect("the last line comes, too");
        lines.push(String::from_utf8(bytes[..n].to_vec()).unwrap());
    }
    let begins = &lines[0];
    assert!(begins.starts_with("<166>1 20") && begins.contains("begins, run "), "{begins}");
    assert_eq!(begins.split(' ').nth(2), Some("cn001"));
    assert_eq!(begins.split(' ').nth(3), Some("provost"));
    let error = lines.iter().find(|line| line.contains("error: bad")).unwrap();
    assert!(error.starts_with("<163>1 ") && error.contains(" bad - error: bad: "), "{error}");
}

#[test]
fn syslog_by_tcp_is_framed_and_comes_whole() {
    let (cluster, node) = cluster("good");
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    configure(&cluster, &node, &format!("syslog = \"tcp://{}\"", server.local_addr().unwrap()));
    let took = std::thread::spawn(move || {
        let mut text = String::new();
        server.accept().unwrap().0.read_to_string(&mut text).unwrap();
        text
    });
    node.provost(&["boot"]).expect(0);
    let text = took.join().unwrap();
    let (mut rest, mut messages) = (text.as_str(), Vec::new());
    while let Some((length, more)) = rest.split_once(' ') {
        let (message, more) = more.split_at(length.parse().unwrap());
        messages.push(message);
        rest = more;
    }
    assert_eq!(rest, "");
    assert!(messages[0].contains("boot of cn001 begins"), "{messages:?}");
    assert!(messages.last().unwrap().contains("boot succeeded"), "{messages:?}");
}

#[test]
fn a_syslog_server_that_is_dead_or_takes_nothing_costs_next_to_nothing() {
    let stuck = TcpListener::bind("127.0.0.1:0").unwrap();
    let stuck = format!("tcp://{}", stuck.local_addr().unwrap());
    for server in ["udp://127.0.0.1:1", "tcp://127.0.0.1:1", "tcp://192.0.2.1:514", &stuck] {
        let (cluster, node) = cluster("good");
        configure(&cluster, &node, &format!("syslog = {server:?}"));
        let begun = Instant::now();
        node.provost(&["boot"]).expect(0);
        assert!(begun.elapsed() < Duration::from_secs(10), "{server}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_syslog_server_by_name_is_refused_with_a_hint() {
    let (cluster, node) = cluster("good");
    configure(&cluster, &node, "syslog = \"udp://mgmt\"");
    node.provost(&["boot"]).expect(2).says(&["\"udp://mgmt\"", "hint: write it as udp://ADDRESS"]);
    assert_eq!(node.journal("boot").last().unwrap()["result"], "failure");
}

#[test]
fn the_systemd_journal_gets_each_line_with_its_fields_unless_it_has_stderr_already() {
    let (cluster, node) = cluster("bad");
    let path = cluster.path("journal.sock");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    configure(&cluster, &node, &format!("journal = {path:?}"));
    node.provost(&["boot"]).expect(1);
    let mut entries = Vec::new();
    while !entries.last().is_some_and(|e: &String| e.contains("MESSAGE=boot FAILED")) {
        let mut bytes = [0; 65536];
        let n = socket.recv(&mut bytes).expect("the last line comes, too");
        entries.push(String::from_utf8(bytes[..n].to_vec()).unwrap());
    }
    let run = node.status()["run"].as_str().unwrap().to_owned();
    let error = entries.iter().find(|e| e.contains("MESSAGE=error: bad")).unwrap();
    for field in ["PRIORITY=3", "SYSLOG_IDENTIFIER=provost", "PROVOST_NODE=cn001"] {
        assert!(error.lines().any(|line| line == field), "{field}: {error}");
    }
    assert!(error.contains("PROVOST_STAGE=bad\n") && error.contains(&format!("PROVOST_RUN={run}")));

    let stderr = std::fs::File::create(cluster.path("stderr")).unwrap();
    let stat = rustix::fs::fstat(&stderr).unwrap();
    let mut command = node.command(&["boot"]);
    command.env("JOURNAL_STREAM", format!("{}:{}", stat.st_dev, stat.st_ino));
    command.stderr(stderr).status().unwrap();
    socket.set_nonblocking(true).unwrap();
    assert!(socket.recv(&mut [0; 100]).is_err(), "each line would be there twice");
}

#[test]
fn a_failed_run_is_told_at_the_login_until_one_ends_well() {
    let (cluster, node) = cluster("bad");
    node.provost(&["boot"]).expect(1);
    let script = node.path("state/bundle/bad").display().to_string();
    for place in ["issue.d/provost.issue", "motd.d/provost"] {
        let path = node.path("etc").join(place);
        let text = std::fs::read_to_string(&path).unwrap();
        let head = "provost: boot of cn001 failed: bad: exit status 1 at line 4 of ";
        assert!(text.starts_with(head) && text.ends_with("; see: provost status\n"), "{text}");
        assert!(text.contains(&script), "{text}");
        assert_eq!(text.lines().count(), 1);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
    plan(&cluster, "good");
    node.provost(&["boot"]).expect(0);
    assert!(!node.path("etc/issue.d/provost.issue").exists());
    assert!(!node.path("etc/motd.d/provost").exists());
}

#[test]
fn notices_can_be_turned_off_and_do_no_harm_where_there_is_no_etc() {
    let (cluster, node) = cluster("bad");
    configure(&cluster, &node, "notices = false");
    node.provost(&["boot"]).expect(1);
    assert_eq!(std::fs::read_dir(node.path("etc")).unwrap().count(), 0);
    configure(&cluster, &node, "");
    std::fs::remove_dir(node.path("etc")).unwrap();
    node.provost(&["boot"]).expect(1);
    assert!(!node.path("etc").exists());
}

#[test]
fn a_console_that_takes_nothing_does_not_hold_up_a_run() {
    let (cluster, node) = cluster("good");
    let (_reader, writer) = std::io::pipe().unwrap();
    // Full: a writer waits for a reader, and there is none.
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).unwrap();
    while (&writer).write(&[b'x'; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::empty()).unwrap();
    let mut child = node.command(&["boot"]).stdout(Stdio::null()).stderr(writer).spawn().unwrap();
    let end = std::thread::spawn(move || child.wait().unwrap());
    assert!(provost_tests::processes::until(PATIENCE, || end.is_finished()), "it hangs");
    assert!(end.join().unwrap().success());
    assert_eq!(cluster.status("cn001")["status"], "booted");
    let log = std::fs::read_to_string(node.path("log/provost.log")).unwrap();
    assert!(log.contains("boot succeeded"), "{log}");
}

#[test]
fn a_node_that_is_held_says_so_at_the_login_and_how_to_release_it() {
    let (cluster, node) = cluster("bad");
    node.configure(&format!(
        "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n[guard]\nmax_attempts = 1\n",
        cluster.daemon().nodes(),
        cluster.key()
    ));
    node.provost(&["boot"]).expect(1);
    node.provost(&["boot"]).expect(4);
    for place in ["issue.d/provost.issue", "motd.d/provost"] {
        let text = std::fs::read_to_string(node.path("etc").join(place)).unwrap();
        assert!(text.starts_with("provost: boot of cn001 is held: "), "{text}");
        assert!(text.ends_with("; then: provost release\n"), "{text}");
    }
}
