//! What is refused, and named, before anything runs.

use provost_tests::Cluster;
use serde_json::json;

use super::{OK, cluster};

#[test]
fn what_was_changed_on_its_way_is_refused_and_named_and_nothing_runs() {
    let mark = "#!/bin/sh\ntouch \"$MARK\"\n";
    let many: Vec<String> = (0..20).map(|n| format!("data/file{n}")).collect();
    for (case, pack) in [("an object", false), ("the pack", true)] {
        let cluster = Cluster::new();
        cluster.script("mark", mark);
        for name in many.iter().filter(|_| pack) {
            cluster.script(name, &format!("#!/bin/sh\necho {name}\n"));
        }
        let marked = cluster.path("marked");
        cluster.site(&format!(
            "[nodes.cn001]\npostscripts = [\"mark\"]\n[nodes.cn001.env]\nMARK = {marked:?}\n"
        ));
        cluster.publish().expect(0);
        let mut cluster = cluster;
        cluster.start();
        let folder = cluster.www().join(if pack { "packs" } else { "objects" });
        let file = first_file(&folder);
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let node = cluster.node("cn001");
        let out = node.provost(&["boot"]).expect(3);
        let name = if pack { "packs/" } else { "mark" };
        out.says(&["fetch: FAILED", name, "hint: "]);
        assert!(!marked.exists(), "{case}: it ran");
        let told = cluster.status("cn001");
        assert_eq!(
            (&told["status"], &told["cause"]),
            (&json!("failed"), &json!("verify")),
            "{case}"
        );
        assert_eq!(told["stage"], "fetch");
        assert!(told["errorMessage"].as_str().unwrap().contains(name), "{case}: {told}");
        cluster.publish().expect(0);
        node.provost(&["boot"]).expect(0);
        assert!(marked.exists(), "{case}: publishing again repairs it");
    }
}

fn first_file(folder: &std::path::Path) -> std::path::PathBuf {
    let entry = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    if entry.is_dir() { first_file(&entry) } else { entry }
}

#[test]
fn what_others_cannot_read_is_not_published() {
    use std::os::unix::fs::PermissionsExt;
    let cluster = Cluster::new();
    cluster.script("one", OK).script("secret", OK);
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    let secret = cluster.scripts().join("secret");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("nowhere", cluster.scripts().join("dangling")).unwrap();
    let out = cluster.publish();
    assert_ne!(out.code, Some(0));
    out.says(&["secret", "chmod a+r", "dangling", "nowhere"]);
    assert!(!cluster.www().exists(), "nothing was written");
}

#[test]
fn a_wrong_configuration_is_told_with_its_line_and_its_mend() {
    let cluster = cluster("[nodes.cn001]\npostscripts = [\"one\"]\n", &[("one", OK)]);
    let node = cluster.node("cn001");
    let server = format!("servers = [\"http://{}\"]\n", cluster.daemon().nodes());
    let key = cluster.key();
    node.configure("serverz = []\n");
    node.provost(&["boot"]).expect(2).says(&["provost.toml:3", "serverz", "hint: "]);
    node.configure("");
    node.provost(&["boot"]).expect(2).says(&["no server is configured", "hint: "]);
    let journal = node.journal("boot");
    assert_eq!(journal[journal.len() - 2]["cause"], "config", "it is in the journal, too");
    node.configure(&server);
    node.provost(&["boot"]).expect(2).says(&["[trust] is empty", "unsigned", "hint: "]);
    node.configure(&format!("{server}[trust]\nunsigned = true\n"));
    // Each of these was an attempt.
    node.provost(&["release"]).expect(0);
    cluster.ctl(&["release", "cn001"]).expect(0);
    node.provost(&["boot"]).expect(0).says(&["WARNING", "unsigned"]);
    std::fs::write(node.path("token"), "cn001 wrong\n").unwrap();
    node.configure(&format!("{server}[trust]\nkeys = [\"{key}\"]\n[report]\ndeadline = \"1s\"\n"));
    node.provost(&["boot"]).expect(3).says(&["401", "provostctl token", "hint: "]);
}
