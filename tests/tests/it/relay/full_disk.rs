//! A relay whose disk is full.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use provost_tests::{accounts, missing, processes, program, skip_if};

use crate::relay::{SOON, boots, cluster, node};

/// A relay whose data is on a small file system of its own.
struct Relay {
    child: Child,
    address: String,
    /// Its data, as others reach it.
    data: PathBuf,
}

impl Relay {
    fn start(folder: &Path, upstream: &str) -> Self {
        std::fs::create_dir(folder).unwrap();
        let (data, config) = (folder.join("data"), folder.join("relay.toml"));
        std::fs::create_dir(&data).unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let text = format!("data = {data:?}\nlisten = {address:?}\n[tls]\noff = true\n");
        std::fs::write(&config, text).unwrap();
        let own =
            "mount -t tmpfs -o size=2m none \"$1\" && chmod 700 \"$1\" && shift && exec \"$@\"";
        let child = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", own, "sh"])
            .arg(&data)
            .arg(program("provostd"))
            .args(["--relay", "--upstream", &format!("http://{upstream}"), "--config"])
            .arg(config)
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let data = format!("/proc/{}/root{}", child.id(), data.display()).into();
        let relay = Self { child, address, data };
        assert!(processes::until(SOON, || TcpStream::connect(&relay.address).is_ok()));
        relay
    }

    fn fill(&self) {
        let mut filler = std::fs::File::create(self.data.join("filler")).unwrap();
        let full = std::io::copy(&mut std::io::repeat(0), &mut filler);
        assert_eq!(full.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    }

    fn make_room(&self) {
        std::fs::remove_file(self.data.join("filler")).unwrap();
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn on_a_full_disk_nodes_get_from_the_management_node_what_the_relay_can_not_keep() {
    skip_if(missing::user_namespaces());
    let mut cluster = cluster();
    let relay = Relay::start(&cluster.path("relay"), &cluster.daemon().nodes());
    let [node, other] = ["cn1", "cn2"].map(|name| node(&cluster, name, &[&relay.address]));
    relay.fill();
    // All of it is passed on, and nothing is kept.
    boots(&node);
    let address = cluster.kill_daemon();
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("the management node behind this relay"), "{}", out.stderr);
    relay.make_room();
    cluster.start_at(&address);
    boots(&node);
    // What waits at the relay goes first, which takes room.
    let last = node.journal("boot").last().unwrap()["run"].clone();
    let is_told = || cluster.status("cn1")["run"] == last;
    assert!(processes::until(SOON, is_told), "{:#}", cluster.status("cn1"));
    // What is kept now is older than what is published: nodes get what is passed on.
    cluster.script("one", "#!/bin/sh\necho anew\n").publish().expect(0);
    relay.fill();
    for node in [&other, &node] {
        boots(node);
        let log = node.provost(&["log", "one"]).expect(0).stdout;
        assert!(log.contains("anew"), "{log}");
    }
    relay.make_room();
    boots(&node);
    for node in [&node, &other] {
        let is_told = || cluster.status(node.name())["status"] == "booted";
        assert!(processes::until(SOON, is_told), "{:#}", cluster.status(node.name()));
        accounts::all_is_told(&cluster, node, "boot");
    }
}
