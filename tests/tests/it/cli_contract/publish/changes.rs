//! What a publication changes.

use insta::assert_snapshot;
use provost_tests::Cluster;

use super::publish_and;
use crate::cli_contract::HELLO;

const COMPUTE: &str = r#"
[groups.compute]
nodes = "cn[001-020]"
env = { MASTER = "10.0.0.1", ROOTPASSWD = "old" }
postscripts = ["hello", "motd"]
[nodes.login]
env.OLD = "1"
postscripts = ["hello"]
"#;

const COMPUTE_LATER: &str = r#"
[groups.compute]
nodes = "cn[001-020]"
env = { MASTER = "10.0.0.2", ROOTPASSWD = "new" }
postscripts = ["motd", "hello", "mount_scratch /scratch"]
[nodes.login2]
env.NEW = "1"
postscripts = ["hello"]
"#;

#[test]
fn of_keys_of_the_manifest() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site("[nodes.cn001]\npostscripts = [\"hello\"]\n");
    publish_and(&cluster, &[]).expect(0);
    let tls = format!("8483:{}", "ab".repeat(32));
    assert_snapshot!(publish_and(&cluster, &["--diff", "--tls", &tls]).transcript(), @"
    exit status 0
    ----- stdout -----
    bundle: generation 1, no change

    manifest: changed
      tls: none -> 8483:[HEX]
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    let checked = publish_and(&cluster, &["--check", "--tls", &tls]).expect(0).stdout;
    assert!(checked.ends_with("  environment: no change\n  manifest: tls\n"), "{checked}");
}

#[test]
fn of_what_would_change() {
    let cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho one\necho two\n").script("motd", HELLO).site(COMPUTE);
    assert_snapshot!(publish_and(&cluster, &["--check"]).transcript(), @"
    exit status 0
    ----- stdout -----
    would publish generation 1 to [DIR]/www: 21 plans; nothing was written
      scripts: 2 added (hello, motd); generation 1
      nodes: 21 new (cn[001-020],login)
      steps: + hello (21 nodes), + motd (20 nodes)
      environment: MASTER (20 nodes), ROOTPASSWD (20 nodes), OLD (1 node)
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    publish_and(&cluster, &[]).expect(0);
    assert_snapshot!(publish_and(&cluster, &["--diff"]).transcript(), @"
    exit status 0
    ----- stdout -----
    bundle: generation 1, no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    cluster.site(COMPUTE_LATER).script("mount_scratch", HELLO);
    cluster.script(
        "hello",
        "#!/bin/sh\n# /// provost\n# timeout = \"5m\"\n# ///\necho one\necho three\n",
    );
    assert_snapshot!(publish_and(&cluster, &["--check"]).transcript(), @"
    exit status 0
    ----- stdout -----
    would publish generation 2 to [DIR]/www: 21 plans; nothing was written
      scripts: 1 added (mount_scratch), 1 changed (hello); generation 1 -> 2
      nodes: 20 changed (cn[001-020]), 1 new (login2), 1 without a plan now (login)
      steps: + mount_scratch /scratch (20 nodes), order of postscripts (20 nodes), + hello (1 node)
      environment: MASTER (20 nodes), ROOTPASSWD (20 nodes), NEW (1 node)
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    assert_snapshot!(publish_and(&cluster, &["--diff"]).transcript(), @r#"
    exit status 0
    ----- stdout -----
    bundle: generation 1 -> 2

    script hello: changed
      timeout: default -> "5m"
    --- hello (generation 1)
    +++ hello (generation 2)
    @@ -1,3 +1,6 @@
     #!/bin/sh
    +# /// provost
    +# timeout = "5m"
    +# ///
     echo one
    -echo two
    +echo three

    script mount_scratch: added, 34 bytes

    cn[001-020]: 20 nodes, plan 1 -> 2
      + postscript mount_scratch /scratch
      postscripts in another order
      env MASTER: "10.0.0.1" -> "10.0.0.2"
      env ROOTPASSWD: changed, hidden

    login2: 1 node, new, plan 1
      + postscript hello
      + env NEW = "1"

    login: 1 node, no plan any more
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    "#);
    assert_snapshot!(publish_and(&cluster, &[]).transcript(), @"
    exit status 0
    ----- stdout -----
    published generation 2 to [DIR]/www: 3 files, 21 plans
      scripts: 1 added (mount_scratch), 1 changed (hello); generation 1 -> 2
      nodes: 20 changed (cn[001-020]), 1 new (login2), 1 without a plan now (login)
      steps: + mount_scratch /scratch (20 nodes), order of postscripts (20 nodes), + hello (1 node)
      environment: MASTER (20 nodes), ROOTPASSWD (20 nodes), NEW (1 node)
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
}

#[test]
fn of_a_change_that_takes_the_scripts_from_many_nodes() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).script("motd", HELLO).site(COMPUTE).publish().expect(0);
    cluster.site("");
    assert_snapshot!(publish_and(&cluster, &[]).transcript(), @r#"
    exit status 1
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    warning: [DIR]/site.toml names no nodes, so that no node gets a plan
      hint: add a section such as [groups.compute] with nodes = "cn[001-512]"
    provostctl: publishing to [DIR]/www would leave no script on 21 nodes: cn[001-020],login
      hint: see what changes: provostctl publish … --diff; if it is right, add --allow-removal
    "#);
    publish_and(&cluster, &["--check"]).expect(1).says(&["would leave no script on 21 nodes"]);
    cluster.site(&COMPUTE.replace("postscripts = [\"hello\", \"motd\"]", ""));
    publish_and(&cluster, &[]).expect(1).says(&["on 20 nodes: cn[001-020]", "--allow-removal"]);
    publish_and(&cluster, &["--allow-removal"]).expect(0);
    cluster.site("[nodes.\"cn[001-020]\"]\n");
    publish_and(&cluster, &[]).expect(0);
}
