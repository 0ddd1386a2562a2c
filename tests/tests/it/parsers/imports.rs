//! Files that `provostctl import` reads: tables, inventories and node lists of others.

use std::path::PathBuf;

use provost_tests::{Cluster, Out};

use super::survives;

const XCAT: &str = "#node,postscripts,postbootscripts,comments,disable\n\
    \"xcatdefaults\",\"syslog,remoteshell\",\"otherpkgs\",,\n\"cn[1-3]\",\"setupntp 'a b'\",,,\n";
const NODELIST: &str = "#node,groups,status,statustime,appstatus,appstatustime,primarysn,hidden,updatestatus,\
    updatestatustime,zonename,comments,disable\n\"cn1\",\"all,compute\",,,,,,,,,,,\n";
const ANSIBLE: &str = "all:\n  vars: {a: 1}\n  children:\n    compute:\n      hosts:\n        \
    cn[001:004]: {ansible_host: 10.0.0.1}\n";
const WAREWULF: &str = "nodeprofiles:\n  default:\n    runtime overlay: [generic]\nnodes:\n  cn001:\n    \
    profiles: [default]\n    network devices:\n      default: {ipaddr: 10.0.0.1}\n";

/// Runs an import of `input` in the file `name`: it ends with a result or an error, never a panic.
fn import(cluster: &Cluster, kind: &[&str], name: &str, input: &[u8]) -> Out {
    let path: PathBuf = cluster.path(name);
    std::fs::write(&path, input).unwrap();
    let out = cluster.ctl(&[kind, &[path.to_str().unwrap()]].concat());
    assert!(!out.stderr.contains("panicked"), "{}", out.stderr);
    out
}

#[test]
fn imports() {
    let cluster = Cluster::new();
    let nodelist = cluster.path("nodelist.csv");
    std::fs::write(&nodelist, NODELIST).unwrap();
    let xcat = &["import", "xcat", nodelist.to_str().unwrap()];
    let (ansible, warewulf) = (&["import", "ansible"], &["import", "warewulf"]);
    import(&cluster, xcat, "postscripts.csv", XCAT.as_bytes()).expect(0);
    import(&cluster, ansible, "hosts.yml", ANSIBLE.as_bytes()).expect(0);
    import(&cluster, warewulf, "nodes.conf", WAREWULF.as_bytes()).expect(0);
    survives(&[XCAT, ANSIBLE, WAREWULF], |input| {
        import(&cluster, xcat, "postscripts.csv", input);
        import(&cluster, ansible, "hosts.yml", input);
        import(&cluster, warewulf, "nodes.conf", input);
    });
}
