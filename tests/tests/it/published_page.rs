//! The page of what is published: who published what when, what changed, and how long it is valid.

use provost_tests::Cluster;

#[test]
fn each_publication_says_what_it_changed_and_until_when_the_last_is_valid() {
    let mut cluster = Cluster::new();
    cluster.script("stays", "#!/bin/sh\ntrue\n").script("goes", "#!/bin/sh\ntrue\n");
    cluster.script("changes", "#!/bin/sh\ntrue\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"stays\"]\n").publish().expect(0);
    std::fs::remove_file(cluster.scripts().join("goes")).unwrap();
    cluster.script("changes", "#!/bin/sh\nfalse\n").script("comes", "#!/bin/sh\ntrue\n");
    cluster.publish().expect(0);
    cluster.start();
    let page = cluster.daemon().get("/published");
    let newest = page.split("<article").nth(1).unwrap();
    let line = |sign: &str, what: &str, name: &str| {
        format!(
            "<b aria-hidden=\"true\">{sign}</b> <span class=\"hidden\">{what}:</span> <code>{name}</code>"
        )
    };
    for (sign, what, name) in
        [("+", "added", "comes"), ("\u{2212}", "removed", "goes"), ("~", "changed", "changes")]
    {
        assert!(newest.contains(&line(sign, what, name)), "{what}: {newest}");
    }
    assert!(newest.contains(" ago</span> by ") && !newest.contains("<code>stays"), "{newest}");
    assert!(page.contains("Valid for all nodes until 20"), "{page}");
}
