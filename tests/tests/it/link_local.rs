//! A management node that nodes know by a link-local address, which needs an interface.

use std::process::Command;

use provost_tests::{Cluster, Out, enter_own_network};

/// An interface with a capital letter, as those of POWER have, and an address that is there at once.
const MAKE: &str = "ip link add enP1 type veth peer name other && ip link set other up && \
                    ip link set enP1 up && ip -6 address add fe80::41/64 dev enP1 nodad";

#[test]
fn a_link_local_address_serves_nodes_and_admins() {
    enter_own_network("10.0.0.1/8");
    Out::from(Command::new("sh").args(["-c", MAKE]).output().unwrap()).expect(0);
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.publish().expect(0);
    cluster.start_at("[fe80::41%enP1]:0");
    let node = cluster.node("cn001");
    let port = cluster.daemon().nodes().rsplit_once(':').unwrap().1.to_owned();
    let config = |zone: &str| {
        let server = format!("http://[fe80::41%{zone}]:{port}");
        format!(
            "servers = [\"{server}\"]\n[trust]\nkeys = [\"{}\"]\n[fetch]\ndeadline = \"2s\"\n",
            cluster.key()
        )
    };
    for zone in ["enP1", "25enP1"] {
        node.configure(&config(zone));
        node.provost(&["boot"]).expect(0);
        assert_eq!(cluster.status("cn001")["status"], "booted");
    }
    node.configure(&config("eth9"));
    let refused = node.provost(&["boot"]).expect(3);
    refused.says(&[
        "[fe80::41%eth9]",
        "no interface eth9",
        "hint: name an interface of this machine",
    ]);
    let server = format!("http://[fe80::41%enP1]:{port}");
    let script = cluster.ctl(&["snippet", "sh", "cn001", "--server", &server]).expect(0).stdout;
    assert!(script.contains(&format!("http://[fe80::41%25enP1]:{port}")), "{script}");
}

#[test]
fn a_report_that_no_interface_takes_names_the_interface() {
    enter_own_network("10.0.0.1/8");
    Out::from(Command::new("sh").args(["-c", MAKE]).output().unwrap()).expect(0);
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    // Which one that is, only an address with an interface says.
    for (server, hint) in [("192.0.2.7", "192.0.2.7"), ("[fe80::41%enP1]", "ip link set enP1 up")] {
        node.configure(&format!(
            "servers = [\"http://{server}:8480\"]\n[trust]\nkeys = [\"{}\"]\n[fetch]\ndeadline = \"1s\"\n\
             [report]\ndeadline = \"1s\"\n",
            cluster.key()
        ));
        node.provost(&["boot"]).expect(3);
        Out::from(Command::new("ip").args(["link", "set", "enP1", "down"]).output().unwrap())
            .expect(0);
        let said = node.provost(&["report"]);
        let told = said.stderr.lines().find_map(|line| line.split_once("hint: "));
        assert!(told.is_some_and(|(_, told)| told.contains(hint)), "{server}: {said:?}");
    }
}
