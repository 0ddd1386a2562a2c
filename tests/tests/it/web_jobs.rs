//! What an admin has nodes do on the web page is known to every daemon that shares the store, and after the end of the
//! one that does it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use provost_tests::{Cluster, Daemon, Postgres, pipe, processes};

use crate::order_hooks::write_program;

/// The longest that a daemon's end may stay unseen, and anything else.
const SOON: Duration = Duration::from_secs(60);

/// A program of the site that reaches cn001, not cn002, and of the others never comes back until the test ends.
struct Hook {
    held: PathBuf,
}

impl Hook {
    fn new(cluster: &Cluster) -> (Self, String) {
        let (hook, held) = (cluster.path("hook"), cluster.path("held"));
        pipe(&held);
        let program = format!(
            "#!/bin/sh\ncase $PROVOST_NODES in\ncn001) ;;\ncn002) echo 'No route to host' >&2; exit 255 ;;\n\
             *) read line <{held:?} ;;\nesac\n"
        );
        write_program(&hook, &program);
        cluster.script("syslog", "#!/bin/sh\n");
        cluster.site("[groups.all]\nnodes = \"cn[001-003]\"\npostscripts = [\"syslog\"]\n");
        cluster.publish().expect(0);
        (Self { held }, format!("[hooks]\non_boot = {hook:?}\n"))
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        // Opened for both, it waits for nobody.
        let both = File::options().read(true).write(true).open(&self.held);
        let _ = both.and_then(|mut pipe| pipe.write_all(b"\n\n\n"));
    }
}

/// Has `daemon` do something, as root on its machine. Returns the path of the page that follows it.
fn order(daemon: &Daemon, action: &str, nodes: &str) -> String {
    let body = format!("nodes={nodes}");
    let socket = daemon.socket();
    let mut stream = UnixStream::connect(socket.strip_prefix("unix:").unwrap()).unwrap();
    let head = format!(
        "POST /act/{action} HTTP/1.0\r\nHost: localhost\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
    location.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[track_caller]
fn until(daemon: &Daemon, path: &str, parts: &[&str]) {
    let has = || {
        let page = daemon.answer(path);
        parts.iter().all(|part| page.contains(part))
    };
    assert!(processes::until(SOON, has), "{parts:?}: {}", daemon.answer(path));
}

/// What the page says of a job whose daemon is gone.
const INTERRUPTED: [&str; 4] =
    ["Interrupted</h2>", "1 of 3 have no result", "<dt>no result</dt>", "provostctl boot cn003"];
const GOES_ON: [&str; 4] = ["1 of 3 sent", "1 failed", "1 to go", "No route to host"];

#[test]
fn another_daemon_shows_a_job_and_says_that_it_was_interrupted() {
    let server = Postgres::start();
    let mut cluster = Cluster::new();
    let (_hook, config) = Hook::new(&cluster);
    cluster.configure_daemon(&format!("store = {:?}\n{config}", server.database("site")));
    cluster.start();
    let another = cluster.start_another("127.0.0.1:0");
    let job = order(cluster.daemon(), "boot", "cn[001-003]");
    until(&another, &job, &GOES_ON);
    until(cluster.daemon(), &job, &GOES_ON);
    // While its daemon lives, it goes on for as long as it takes.
    assert!(!another.get(&job).contains("Interrupted"));
    cluster.kill_daemon();
    until(&another, &job, &INTERRUPTED);
    assert!(another.get(&job).contains("1 of 3 sent, <b class=\"bad\">1 failed</b></p>"));
    let audit = || cluster.ctl(&["--admin", &another.socket(), "audit"]).expect(0).stdout;
    let is_noted = || audit().contains("interrupted: its provostd stopped; no result of 1 node");
    assert!(processes::until(SOON, is_noted), "{}", audit());
}

#[test]
fn a_job_is_there_after_a_restart() {
    let mut cluster = Cluster::new();
    let (_hook, config) = Hook::new(&cluster);
    cluster.configure_daemon(&config);
    cluster.start();
    cluster.ctl(&["token", "cn[001-002]"]).expect(0);
    let done = order(cluster.daemon(), "release", "cn[001-002]");
    let cut_off = order(cluster.daemon(), "boot", "cn[001-003]");
    until(cluster.daemon(), &cut_off, &GOES_ON);
    cluster.kill_daemon();
    cluster.start();
    let page = cluster.daemon().get(&done);
    assert!(page.contains("Release 2 nodes") && page.contains("2 of 2 done"), "{page}");
    until(cluster.daemon(), &cut_off, &INTERRUPTED);
    let log = fs::read_to_string(cluster.path("provostd.log")).unwrap();
    assert!(log.contains("boot by root was interrupted: its provostd stopped"), "{log}");
}
