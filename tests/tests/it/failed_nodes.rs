//! The page docs/failed-nodes.md: from many failed nodes, of three causes, to none in two commands.
//! And what goes on there: a boot, or in an installer a kickstart.

use std::os::unix::fs::PermissionsExt;

use provost_tests::{Cluster, Node};

/// How many nodes there are.
const NODES: usize = 24;

/// ssh to a node is a shell with the node's configuration here.
const SSH: &str = "#!/bin/sh
shift $(($# - 2))
PROVOST_CONFIG='NODES'/$1/provost.toml exec sh -c \"$2\"
";

/// Notes on each node that the script has run.
const NOTE: &str = "#!/bin/sh\necho \"${0##*/}\" >>\"$NOTES/$NODE\"\n";

fn nodes(cluster: &Cluster) -> Vec<Node> {
    let nodes: Vec<Node> = (1..=NODES).map(|n| cluster.node(&format!("cn{n:03}"))).collect();
    let ssh = nodes[0].path("fakes/ssh");
    let folder = cluster.path("nodes").display().to_string();
    std::fs::write(&ssh, SSH.replace("NODES", &folder)).unwrap();
    std::fs::set_permissions(ssh, PermissionsExt::from_mode(0o755)).unwrap();
    nodes
}

/// The nodes' status, each with how many have it.
fn count(cluster: &Cluster, status: &str) -> usize {
    let nodes = cluster.ctl_json(&["nodes"]);
    nodes.as_array().unwrap().iter().filter(|node| node["status"] == status).count()
}

/// The commands under the heading.
fn commands_after_the_fix() -> Vec<&'static str> {
    let page = include_str!("../../../docs/failed-nodes.md");
    let (_, rest) = page.split_once("\n## After the fix: two commands\n").unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    let (_, block) = section.split_once("```\n").unwrap();
    block.split_once("```").unwrap().0.lines().collect()
}

#[test]
fn all_nodes_are_booted_two_commands_after_the_fix() {
    let mut cluster = Cluster::new();
    let notes = cluster.path("notes");
    std::fs::create_dir(&notes).unwrap();
    // Three causes: a server that is down for some nodes, a package's name, a disk.
    let mount = "#!/bin/bash\n[ ! -e \"$NOTES/down-$NODE\" ] || { echo \"mount.nfs: Connection timed \
                 out for $NODE\" >&2; exit 32; }\n";
    let packages = "#!/bin/bash\ncase $NODE in cn00[5-9]) echo 'E: Unable to locate package slrumd' \
                    >&2; exit 100 ;; esac\n";
    let disk = "#!/bin/bash\n[ ! -e \"$NOTES/full-$NODE\" ] || { echo 'mkfs.xfs: no space' >&2; exit 1; }\n";
    for (name, text) in
        [("first", NOTE), ("mount", mount), ("packages", packages), ("disk", disk), ("last", NOTE)]
    {
        cluster.script(name, text);
    }
    cluster.site(&format!(
        "[defaults]\nenv = {{ NOTES = {notes:?} }}\n\
         postscripts = [\"first\", \"mount\", \"packages\", \"disk\", \"last\"]\n\
         [nodes.\"cn[001-{NODES:03}]\"]\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let nodes = nodes(&cluster);
    for node in ["cn001", "cn002", "cn003"] {
        std::fs::write(notes.join(format!("down-{node}")), "").unwrap();
    }
    std::fs::write(notes.join("full-cn010"), "").unwrap();
    let admin = |line: &str| nodes[0].shell(line, &cluster);

    let out = admin(&format!("provostctl boot 'cn[001-{NODES:03}]'")).expect(1);
    // The messages of a group differ in the node's name.
    for group in [
        "   15  ok           cn[004,011-024]",
        "    3  failed       cn[001-003]",
        "    5  failed       cn[005-009]",
        "    1  failed       cn010",
    ] {
        assert!(out.stdout.contains(&format!("{group}\n")), "{group}\n{}", out.stdout);
    }
    for message in
        ["mount.nfs: Connection timed out", "locate package slrumd", "mkfs.xfs: no space"]
    {
        assert_eq!(out.stdout.matches(message).count(), 1, "{message}\n{}", out.stdout);
    }
    assert_eq!((count(&cluster, "failed"), count(&cluster, "booted")), (9, 15));

    // The fix, of what is published and of what isn't.
    cluster.script("packages", &packages.replace("exit 100", ":"));
    for file in std::fs::read_dir(&notes).unwrap().map(|entry| entry.unwrap().path()) {
        if ["down", "full"].iter().any(|part| file.display().to_string().contains(part)) {
            std::fs::remove_file(file).unwrap();
        }
    }
    let commands = commands_after_the_fix();
    assert_eq!(commands.len(), 2, "{commands:?}");
    let file = cluster.path("provostctl.toml");
    let places =
        [("site", "site.toml"), ("scripts", "scripts"), ("key", "key/provost.key"), ("www", "www")];
    let lines = places.map(|(key, name)| format!("{key} = {:?}\n", cluster.path(name)));
    std::fs::write(&file, lines.concat()).unwrap();
    for command in commands {
        admin(&format!("PROVOSTCTL_CONFIG={} {command}", file.display())).expect(0);
    }
    assert_eq!(count(&cluster, "booted"), NODES);
    for node in &nodes {
        let ran = std::fs::read_to_string(notes.join(node.name())).unwrap();
        assert_eq!(ran, "first\nlast\n", "{}: each script once", node.name());
        assert_eq!(node.status().get("unfinished"), None);
    }
}

#[test]
fn a_node_in_its_installer_goes_on_with_its_kickstart_and_the_others_with_their_boots() {
    let mut cluster = Cluster::new();
    let notes = cluster.path("notes");
    std::fs::create_dir(&notes).unwrap();
    cluster.script("first", NOTE);
    cluster.script("broken", "#!/bin/sh\n[ -e \"$NOTES/fixed\" ] || exit 3\n");
    cluster.site(&format!(
        "[defaults]\nenv = {{ NOTES = {notes:?} }}\npostscripts = [\"first\", \"broken\"]\n\
         [nodes.\"cn[001-{NODES:03}]\"]\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let nodes = nodes(&cluster);
    nodes[0].provost(&["kickstart"]).expect(1);
    nodes[1].provost(&["kickstart"]).expect(1);
    nodes[1].provost(&["run", "broken"]).expect(1);
    nodes[2].provost(&["boot"]).expect(1);
    std::fs::write(notes.join("fixed"), "").unwrap();
    let admin = |line: &str| nodes[0].shell(line, &cluster);

    let out = admin("provostctl continue @failed").expect(0);
    assert!(out.stdout.contains("    3  ok           cn[001-003]\n"), "{}", out.stdout);
    let status = ["cn001", "cn002", "cn003"].map(|node| cluster.status(node)["status"].clone());
    assert_eq!(status, ["booting", "booting", "booted"]);
    for node in &nodes[..3] {
        let ran = std::fs::read_to_string(notes.join(node.name())).unwrap();
        assert_eq!(ran, "first\n", "{}: once", node.name());
    }
}
