//! `provostctl import warewulf`.

use std::collections::BTreeMap;
use std::path::Path;

use provost_plan::{Plan, Site};
use tempfile::TempDir;

use crate::import::import_from;

const NODES: &str = r#"wwinternal: 45
nodeprofiles:
  default:
    comment: This profile is automatically included for each node
    image name: rockylinux-9
    runtime overlay: [hosts, ssh.authorized_keys]
    kernel:
      args: [quiet, crashkernel=no]
    tags:
      MASTER: 10.0.0.1
      scratch: /scratch
    network devices:
      default:
        device: eno1
        netmask: 255.255.252.0
        gateway: 10.0.0.1
  gpu:
    profiles: [base]
    tags:
      scratch: /local
    nodegroups: [gpu-nodes]
  base:
    tags: {level: "1", scratch: /base}
  unused: {}
nodes:
  n001:
    profiles: [default]
    ipmi: {ipaddr: 10.9.0.1}
    network devices:
      default: {hwaddr: "00:00:00:00:00:01", ipaddr: 10.0.2.1}
      ib: {device: ib0, type: InfiniBand, ipaddr: 10.1.2.1, netmask: 255.255.0.0, mtu: 4092}
  n002:
    profiles: [default, gpu]
    tags: {rack: "7", fields: [a]}
    network devices:
      default: {ipaddr: 10.0.2.2}
      bond0: {type: Bond, device: bond0, ipaddr: 10.2.2.2/24}
      en1: {device: en1, tags: {master: bond0}}
      en2: {device: en2, tags: {master: bond0, route1: "x"}}
  n003:
    profiles: [gpu, default]
  n004:
    profiles: [default, gpu, ~gpu, nosuch]
nodegroups:
  rack1: ["n[001-002]", n009]
"#;

fn plans(text: &str) -> (BTreeMap<String, Plan>, String, String) {
    let folder = TempDir::new().unwrap();
    let out = import_from("warewulf", &folder, &[("nodes.conf", text)], &[]);
    let [text, said] = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(out.status.success(), "{said}");
    (Site::parse(&text, Path::new("site.toml")).unwrap().plans(), text, said)
}

#[test]
fn profiles_tags_and_network_devices_become_groups_and_variables() {
    let (plans, text, said) = plans(NODES);
    let env = |node: &str| {
        let env = plans[node].env.iter();
        env.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        env("n001"),
        "IPADDR=10.0.2.1 MACADDRESS=00:00:00:00:00:01 MASTER=10.0.0.1 NICEXTRAPARAMS=ib0!mtu=4092 \
         NICIPS=eno1!10.0.2.1/22,ib0!10.1.2.1/16 NICTYPES=ib0!infiniband PRIMARYNIC=eno1 \
         scratch=/scratch"
    );
    assert_eq!(
        env("n002"),
        "IPADDR=10.0.2.2 MASTER=10.0.0.1 NICDEVICES=bond0!en1|en2 \
         NICIPS=bond0!10.2.2.2/24,eno1!10.0.2.2/22 NICTYPES=bond0!bond PRIMARYNIC=eno1 level=1 rack=7 \
         scratch=/local"
    );
    // The last profile counts, also where another node has them the other way round.
    assert_eq!(env("n003"), "MASTER=10.0.0.1 PRIMARYNIC=eno1 level=1 scratch=/scratch");
    // What a profile brings stays when the profile is taken out again.
    assert_eq!(env("n004"), "MASTER=10.0.0.1 PRIMARYNIC=eno1 level=1 scratch=/base", "{text}");
    for part in [
        "[groups.default]\nnodes = \"n[001-004]\"",
        "[groups.gpu]\nnodes = \"n[002-003]\"",
        "[groups.gpu-nodes]\nnodes = \"n[002-003]\"",
        "[groups.rack1]\nnodes = \"n[001-002]\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for note in [
        "image name of default: it says how Warewulf boots",
        "ipmi of n001: it says",
        "kernel of default: it says",
        "the gateway of network devices of default: set the networks as NETWORKS_LINES",
        "the tag route1 of network devices of n002",
        "fields of n002: it is no text",
        "n009 of the node group rack1: no such nodes",
        "the profile nosuch",
        "the group unused: it has no nodes",
        "which scripts the nodes run",
    ] {
        assert_eq!(said.matches(note).count(), 1, "{note}\n{said}");
    }
}

#[test]
fn what_is_no_nodes_conf_is_refused() {
    for (text, says) in [
        ("a: [}", "nodes.conf:1: "),
        ("all: {hosts: {}}", "nodes.conf:1: it has no `nodes:`"),
        ("- a", "nodes.conf:1: expected"),
        ("nodes: {}", "names no node"),
    ] {
        let folder = TempDir::new().unwrap();
        let out = import_from("warewulf", &folder, &[("nodes.conf", text)], &[]);
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0), "{text}: {said}");
        assert!(said.contains(says) && said.contains("hint: "), "{text}: {said}");
    }
}
