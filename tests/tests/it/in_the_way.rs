//! Something else stands where a node keeps a file or a folder of its own.

use std::fs;

use provost_tests::{Cluster, Node};

fn node() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("step", "#!/bin/sh\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"step\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

#[test]
fn a_folder_in_the_place_of_a_file_is_named_with_what_to_do() {
    for name in ["published.json", "bundle", "keys.toml", "generations.toml"] {
        let (_cluster, node) = node();
        fs::create_dir_all(node.path("state").join(name)).unwrap();
        let path = node.path("state").join(name).display().to_string();
        let out = node.provost(&["boot"]);
        assert_ne!(out.code, Some(0), "{name}: {}", out.stderr);
        let error = out.stderr.lines().find(|line| line.contains("error: ")).unwrap_or_default();
        assert!(error.contains(&path), "{name}: {}", out.stderr);
        let hint = out.stderr.split_once(error).unwrap().1;
        assert!(hint.contains("hint: ") && hint.contains("move"), "{name}: {}", out.stderr);
    }
}

#[test]
fn a_file_in_the_place_of_the_library_is_named_with_what_to_do() {
    let (_cluster, node) = node();
    fs::create_dir_all(node.path("state")).unwrap();
    fs::write(node.path("state/lib"), "").unwrap();
    let path = node.path("state/lib").display().to_string();
    node.provost(&["boot"]).expect(2).says(&[&path, "hint: move away (mv) what is in its place"]);
}

#[test]
fn a_file_in_the_place_of_state_is_named_with_what_to_do() {
    let (_cluster, node) = node();
    fs::write(node.path("state"), "").unwrap();
    let path = node.path("state").display().to_string();
    node.provost(&["boot"]).expect(2).says(&[&path, "hint: move away (mv) what is in its place"]);
}

#[test]
fn a_folder_in_the_place_of_a_journal_beside_an_earlier_one_is_named() {
    let (_cluster, node) = node();
    let journal = node.path("log/services/run.json");
    fs::create_dir_all(&journal).unwrap();
    fs::write(journal.with_extension("damaged"), "").unwrap();
    let hint = format!("hint: move it away: mv {0} {0}.old", journal.display());
    node.provost(&["run", "step"]).expect(2).says(&["it is a folder", &hint]);
    fs::rename(&journal, node.path("old")).unwrap();
    node.provost(&["run", "step"]).expect(0);
}

#[test]
fn a_folder_in_the_place_of_a_configuration_is_a_mistake_in_it() {
    let (_cluster, node) = node();
    fs::create_dir_all(node.path("provost.d/10.toml")).unwrap();
    node.provost(&["boot"]).expect(2).says(&["10.toml: it is a folder"]);
    let journal = node.journal("boot");
    assert_eq!(journal.iter().find_map(|record| record["cause"].as_str()), Some("config"));
}
