//! What is kept for the diffs: the scripts of publications that a node still has, and of the newest ones.

use std::path::Path;

use provost_tests::Cluster;

/// So many publications are kept whatever nodes have, and a few more.
const PUBLICATIONS: usize = 20 + 4;

/// The content of all objects that are published, or were.
fn objects(www: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(www.join("objects")).unwrap().map(Result::unwrap);
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap());
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn a_script_is_kept_as_long_as_a_node_has_it_and_others_go() {
    let mut cluster = Cluster::new();
    let text = |generation: usize| {
        let end = if generation == PUBLICATIONS { "exit 3" } else { "true" };
        format!("#!/bin/sh\necho generation {generation}\n{end}\n")
    };
    cluster.site("[defaults]\npostscripts = [\"disk\"]\n[nodes.\"cn00[1-2]\"]\n");
    cluster.script("disk", &text(1)).publish().expect(0);
    cluster.start();
    let nodes = ["cn001", "cn002"].map(|name| cluster.node(name));
    for node in &nodes {
        node.provost(&["boot"]).expect(0);
    }
    for generation in 2..=PUBLICATIONS {
        cluster.script("disk", &text(generation)).publish().expect(0);
        if generation == 2 {
            nodes[1].provost(&["boot"]).expect(0);
        }
    }
    let kept = objects(&cluster.www());
    let has = |generation| kept.contains(&text(generation));
    assert!(has(1) && has(2), "each is the newest that a node has: {kept:?}");
    assert!(!has(3), "no node has it, and it is older than the newest 20: {kept:?}");
    assert!(has(PUBLICATIONS) && has(PUBLICATIONS - 19), "{kept:?}");

    // The diff is from what the node had when it last succeeded.
    nodes[0].provost(&["boot"]).expect(1);
    let told = cluster.ctl(&["why", "cn001"]).expect(0).stdout;
    let diff = format!(
        "--- disk (generation 1)\n+++ disk (generation {PUBLICATIONS})\n@@ -1,3 +1,3 @@\n #!/bin/sh\n\
         -echo generation 1\n-true\n+echo generation {PUBLICATIONS}\n+exit 3\n"
    );
    assert!(told.ends_with(&diff), "{told}");

    // No node has the first one any more.
    cluster.script("disk", &text(1_000)).publish().expect(0);
    let kept = objects(&cluster.www());
    assert!(!kept.contains(&text(1)) && kept.contains(&text(2)), "{kept:?}");
}
