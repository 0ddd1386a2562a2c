//! `provostctl import ansible`.

use std::collections::BTreeMap;
use std::path::Path;

use provost_plan::{Plan, Site};
use tempfile::TempDir;

use crate::import::import_from;

const INI: &str = r#"# the cluster
mgmt ansible_host=10.0.0.1 role=management

[compute]
cn[001:003] rack=1
cn004:2222 rack="2 b" # moved

[gpu]
cn[003:004]

[gpu:vars]
driver = '550' # pinned
MASTER=10.0.0.9

[cluster:children]
compute
gpu
login

[cluster:vars]
MASTER=10.0.0.1
scratch=/scratch
packages=['a', 'b']

[login]
login[a:b]

[all:vars]
domain=cluster.example
ansible_user=root
greeting="{{ domain }}"
"#;

const YAML: &str = r"---
all:
  vars:
    domain: cluster.example
    ansible_user: root
    greeting: '{{ domain }}'
  hosts:
    mgmt:
      ansible_host: 10.0.0.1
      role: management
  children:
    cluster:
      vars:
        MASTER: 10.0.0.1
        scratch: /scratch
        packages: [a, b]
      children:
        compute:
          hosts:
            cn[001:003]: {rack: 1}
            cn004: {rack: 2 b}
        gpu:
          hosts:
            cn[003:004]:
          vars:
            driver: '550'
            MASTER: 10.0.0.9
        login:
          hosts:
            login[a:b]:
";

fn plans(files: &[(&str, &str)]) -> (BTreeMap<String, Plan>, String, String) {
    let folder = TempDir::new().unwrap();
    let out = import_from("ansible", &folder, files, &[]);
    let [text, said] = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(out.status.success(), "{said}");
    (Site::parse(&text, Path::new("site.toml")).unwrap().plans(), text, said)
}

fn refused(name: &str, text: &str) -> String {
    let folder = TempDir::new().unwrap();
    let out = import_from("ansible", &folder, &[(name, text)], &[]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0), "{text}");
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("hint: "), "{said}");
    said
}

#[test]
fn each_host_has_its_variables_by_ansibles_rules_in_either_form() {
    let (ini, text, said) = plans(&[("hosts", INI)]);
    let names: Vec<_> = ini.keys().map(String::as_str).collect();
    assert_eq!(names, ["cn001", "cn002", "cn003", "cn004", "logina", "loginb", "mgmt"]);
    let env = |plans: &BTreeMap<String, Plan>, node: &str| {
        let env = plans[node].env.iter();
        env.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    for (node, expected) in [
        ("cn001", "MASTER=10.0.0.1 domain=cluster.example rack=1 scratch=/scratch"),
        // A child of a group counts more than the group.
        ("cn003", "MASTER=10.0.0.9 domain=cluster.example driver=550 rack=1 scratch=/scratch"),
        ("cn004", "MASTER=10.0.0.9 domain=cluster.example driver=550 rack=2 b scratch=/scratch"),
        ("loginb", "MASTER=10.0.0.1 domain=cluster.example scratch=/scratch"),
        ("mgmt", "domain=cluster.example role=management"),
    ] {
        assert_eq!(env(&ini, node), expected, "{node}\n{text}");
    }
    let parts =
        ["[groups.cluster]\nnodes = \"cn[001-004],logina,loginb\"", "[nodes.\"cn[001-003]\"]"];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    for note in [
        "ansible_host of mgmt: it configures Ansible",
        "ansible_user of all: it configures Ansible",
        "greeting of all: it is a template",
        "the port of cn004: nothing here uses it",
        "packages of cluster: it is no text",
        "which scripts the nodes run",
        "7 nodes; 6 not carried over",
    ] {
        assert_eq!(said.matches(note).count(), 1, "{note}\n{said}");
    }

    for name in ["hosts.yml", "hosts"] {
        let (yaml, text, said) = plans(&[(name, YAML)]);
        for node in &names {
            assert_eq!(env(&yaml, node), env(&ini, node), "{node}\n{text}");
        }
        assert!(said.contains("packages of cluster: it is no text"), "{said}\n{text}");
    }
}

#[test]
fn what_ansible_inventory_lists_is_read_too() {
    let json = r#"{"_meta": {"hostvars": {"cn001": {"rack": 1, "on": true, "none": null}}},
        "all": {"children": ["ungrouped", "compute"]}, "compute": {"hosts": ["cn001", "cn002"]}}"#;
    let (plans, text, said) = plans(&[("list.json", json)]);
    assert_eq!(plans.len(), 2, "{text}");
    assert_eq!((&*plans["cn001"].env["rack"], &*plans["cn001"].env["on"]), ("1", "True"));
    assert!(said.contains("none of cn001: it has no value"), "{said}");
}

#[test]
fn groups_of_one_depth_count_by_priority_and_then_by_name() {
    let text = "[b]\nn1\n[b:vars]\nX=b\nY=b\n[a]\nn1\n[a:vars]\nX=a\nY=a\n[c]\nn1\n[c:vars]\nY=c\n\
        ansible_group_priority=0\n";
    let (plans, text, _) = plans(&[("hosts", text)]);
    assert_eq!((&*plans["n1"].env["X"], &*plans["n1"].env["Y"]), ("b", "b"), "{text}");
}

#[test]
fn what_is_no_inventory_is_refused_with_its_line() {
    for (name, text, says) in [
        ("hosts", "[a]\ncn[1-2]\n", "hosts:2: \"cn[1-2]\" is no range"),
        ("hosts", "[a:hosts]\n", "hosts:1: unknown section \"hosts\""),
        ("hosts", "[a]\nn1 rack\n", "hosts:2: \"rack\" is no variable"),
        ("hosts", "[a]\nn1 x='\n", "hosts:2: "),
        ("hosts", "[a:children]\nb\n[b:children]\na\n[c]\nn1\n", "contains itself"),
        ("hosts", "# nothing\n", "names a host"),
        ("hosts.yml", "all:\n  hosts: {a: [}\n", "hosts.yml:2: "),
        ("hosts.yml", "- a\n", "hosts.yml:1: expected groups"),
        ("hosts.yml", "plugin: aws_ec2\n", "ansible-inventory -i FILE --list --yaml"),
    ] {
        let said = refused(name, text);
        assert!(said.contains(says), "{text}: {said}");
    }
    let (_, text, said) =
        plans(&[("hosts", "n1\nfd00::5\n[none]\n[odd]\nn1 A-B=1 V=$ANSIBLE_VAULT;1\n")]);
    for note in
        ["\"fd00::5\": its name", "A-B of n1: it can't", "V of n1: it is encrypted", "group none"]
    {
        assert!(said.contains(note), "{note}: {said}\n{text}");
    }
}
