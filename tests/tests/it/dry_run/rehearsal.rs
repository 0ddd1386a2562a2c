//! `provostctl publish --rehearse`: nodes try what isn't published, and take it for nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_tests::{Cluster, Faketime, Network, Out, missing, program, skip_if, web_group};

const SITE: &str = "[nodes.\"cn[001-003]\"]\npostscripts = [\"conf\", \"other\"]\n";

fn conf(text: &str, folder: &Path) -> String {
    format!("#!/bin/sh\necho {text} >{}/$NODE/conf\n", folder.display())
}

/// All files, with what is in them.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    all.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap()))
                }
            }
        }
    }
    all.sort();
    all
}

#[test]
fn nodes_try_what_is_not_published_and_remember_nothing_of_it() {
    skip_if(missing::mounts());
    skip_if(missing::process_namespaces());
    let mut network = Network::new();
    let mut cluster = Cluster::new();
    let folder = cluster.path("nodes");
    cluster.script("conf", &conf("one", &folder)).script("other", "#!/bin/sh\ntrue\n");
    cluster.site(SITE).publish().expect(0);
    cluster.start();
    let nodes = ["cn001", "cn002", "cn003"].map(|name| cluster.node(name));
    for node in &nodes {
        node.provost(&["boot"]).expect(0);
        network.join(node);
    }
    // This one keeps what it gets.
    let kept = cluster.path("kept");
    let keeps = format!("#!/bin/sh\ncp -r . {}\n", kept.display());
    let program = nodes[2].path("fakes/provost");
    fs::write(&program, keeps).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();

    let config = network.config();
    let rehearse = |more: &[&str]| {
        let args = ["--ssh-config", &config, "--rehearse", "cn[001-003]"];
        cluster.publish_with(&[&args, more].concat())
    };
    let out = rehearse(&[]).expect(0);
    assert_eq!(out.stdout, "");
    assert!(out.stderr.contains("note: nothing changes for 3 nodes: cn[001-003]"), "{out:?}");

    cluster.script("conf", &conf("two", &folder));
    let (www, state) = (content(&cluster.www()), content(&nodes[0].path("state")));
    let out = rehearse(&[]).expect(1);
    let said = "rehearsing generation 2 on 3 nodes: conf; nothing is published\n";
    assert!(out.stderr.contains(said), "{}", out.stderr);
    let path = folder.join("cn001/conf").display().to_string();
    let begin = format!("2 nodes cn[001-002]: {path} +1 -1\n");
    assert!(out.stdout.starts_with(&begin), "{}\n{}", out.stdout, out.stderr);
    assert!(out.stdout.contains("    -one\n    +two\n"), "{}", out.stdout);
    assert!(out.stdout.contains("1 node cn003: FAILED it printed no result of a dry run\n"));
    assert_eq!(content(&cluster.www()), www);
    assert_eq!(content(&nodes[0].path("state")), state);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");

    // Only a dry run takes it, and only from its publisher.
    let dry = |bundle: &Path| {
        nodes[2].provost(&["run", "--dry-run", "--bundle", bundle.to_str().unwrap(), "conf"])
    };
    dry(&kept).expect(0);
    let plan = kept.join("plan.toml");
    let text = fs::read_to_string(&plan).unwrap();
    fs::write(&plan, text.replace("other", "conf")).unwrap();
    let out = dry(&kept).expect(3);
    assert!(out.stderr.contains("it is not what key"), "{}", out.stderr);
    fs::write(&plan, text).unwrap();
    for (from, to) in [("manifest.toml", "manifest.toml"), ("plan.toml", "plans/cn003.toml")] {
        for end in ["", ".minisig"] {
            fs::copy(kept.join(format!("{from}{end}")), cluster.www().join(format!("{to}{end}")))
                .unwrap();
        }
    }
    let out = nodes[2].provost(&["run", "conf"]).expect(3);
    assert!(out.stderr.contains("it is a rehearsal, which is for dry runs alone"), "{out:?}");
    assert_eq!(fs::read_to_string(folder.join("cn003/conf")).unwrap(), "one\n");
}

#[test]
fn a_node_takes_a_rehearsal_for_an_hour() {
    skip_if(missing::mounts());
    skip_if(missing::process_namespaces());
    let faketime = Faketime::new();
    let mut network = Network::new();
    let mut cluster = Cluster::new();
    let folder = cluster.path("nodes");
    cluster.script("conf", &conf("one", &folder)).script("other", "#!/bin/sh\ntrue\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"conf\", \"other\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    network.join(&node);
    cluster.script("conf", &conf("two", &folder));
    let config = network.config();
    // The admin's clock says when it was signed.
    let signed = |ago: &str| -> Out {
        let path = |name: &str| cluster.path(name).display().to_string();
        let (site, scripts, www) = (path("site.toml"), path("scripts"), path("www"));
        let (key, admin) = (path("key/provost.key"), cluster.daemon().socket());
        let mut command = std::process::Command::new(program("provostctl"));
        command.args(["--admin", &admin, "publish", "--site", &site, "--scripts", &scripts]);
        command.args(["--key", &key, "--to", &www, "--group", web_group()]);
        command.args(["--ssh-config", &config, "--rehearse", "cn001"]);
        faketime.load(&mut command).env("FAKETIME", ago).output().unwrap().into()
    };
    let out = signed("-50m").expect(0);
    assert!(out.stdout.contains("cn001/conf +1 -1\n"), "{out:?}");
    let out = signed("-70m").expect(1);
    assert!(out.stdout.contains("1 node cn001: FAILED"), "{out:?}");
    assert!(out.stdout.contains("and has expired at "), "{out:?}");
    let hint = "\n    hint: send it again: provostctl publish --rehearse NODES …\n";
    assert!(out.stdout.contains(hint), "{}", out.stdout);
    let path = folder.join("cn001/conf");
    assert_eq!(fs::read_to_string(path).unwrap(), "one\n");
}
