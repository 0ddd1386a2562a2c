//! A `site.toml`, a key or a folder that can't be used.

use insta::assert_snapshot;
use provost_tests::{Cluster, Out};

use super::{SITE, publish, site};
use crate::cli_contract::HELLO;

#[test]
fn of_wrong_sites() {
    assert_snapshot!(site("[nodes.cn001]\npostscripts = [\"helo\"]\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/helo: nodes.cn001.postscripts ([DIR]/site.toml:2) names it, but it doesn't exist
      hint: write hello, if you mean that; or put helo into [DIR]/scripts
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(site("[nodes.cn001]\npostscripts = [\"unheard-of\"]\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/unheard-of: nodes.cn001.postscripts ([DIR]/site.toml:2) names it, but it doesn't exist
      hint: put it into [DIR]/scripts, or remove its name there
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(site("[nodes.cn001]\npostscripts = [\"hello 'one\"]\n"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml:2: nodes.cn001.postscripts: "hello 'one" can't be run: a quote isn't closed
      hint: close it, or put a \ before it
    "#);
    assert_snapshot!(site("[node.cn001]\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml:1: node: unknown field `node`, expected one of `defaults`, `groups`, `nodes`, `scripts`, `resplit`
      hint: correct that line: keys as in man provost-site.toml, texts in quotes
    ");
    assert_snapshot!(site("[groups.all]\nnodes = \"cn[001-\"\n"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml:2: groups.all.nodes: "cn[001-" names no nodes: its brackets don't match
      hint: write names and ranges such as cn001, cn[001-512,600] or r[1-4]n[01-32], with commas between; ! excludes: cn[001-512]!cn007
    "#);
    assert_snapshot!(site("[groups.all]\nnodes = \"cn[001-002]\"\n[nodes.cn003]\n[nodes.cn003]\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml:4: duplicate key
      hint: correct that line: keys as in man provost-site.toml, texts in quotes
    ");
    assert_snapshot!(site("[defaults]\nenv = { \"A B\" = \"1\" }\n[nodes.cn001]\n"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml:2: defaults.env.A B: "A B" can't be the name of an environment variable
      hint: use letters, digits and _ in the name, and no digit first
    "#);
    assert_snapshot!(site("[nodes.cn001]\npostscripts = \"hello\"\n"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml:2: nodes.cn001.postscripts: invalid type: string "hello", expected a sequence
      hint: correct that line: keys as in man provost-site.toml, texts in quotes
    "#);
    assert_snapshot!(site("[scripts.unheard-of]\ntimeout = \"5m\"\n[nodes.cn001]\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/unheard-of: scripts.unheard-of names it, but it doesn't exist
      hint: put it into [DIR]/scripts, or remove its name there
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(site(""), @r#"
    exit status 0
    ----- stdout -----
    published generation 1 to [DIR]/www: 1 file, 0 plans
      scripts: 1 added (hello); generation 1
      nodes: no change
      steps: no change
      environment: no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    warning: [DIR]/site.toml names no nodes, so that no node gets a plan
      hint: add a section such as [groups.compute] with nodes = "cn[001-512]"
    "#);
}

#[test]
fn of_files_that_are_missing() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(SITE);
    let path = |name: &str| cluster.path(name).display().to_string();
    let publish = |site: &str, scripts: &str, key: &str| -> String {
        let (site, scripts, key, www) = (path(site), path(scripts), path(key), path("www"));
        let args = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
        cluster.ctl(&args).transcript()
    };
    assert_snapshot!(publish("missing", "scripts", "key/provost.key"), @"
    exit status 1
    ----- stderr -----
    provostctl: reading [DIR]/missing: No such file or directory (os error 2)
      hint: name a readable site.toml: --site FILE
    ");
    assert_snapshot!(publish("site.toml", "missing", "key/provost.key"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/missing: No such file or directory (os error 2)
      hint: name the folder that holds the scripts
    provostctl: [DIR]/missing/hello: nodes.cn001.postscripts ([DIR]/site.toml:2) names it, but it doesn't exist
      hint: put it into [DIR]/missing, or remove its name there
    provostctl: 2 problems to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish("site.toml", "scripts", "missing"), @"
    exit status 1
    ----- stderr -----
    provostctl: reading the key [DIR]/missing: No such file or directory (os error 2)
      hint: create a key: provostctl key new --out DIR
    ");
    assert_snapshot!(publish("site.toml", "scripts", "site.toml"), @"
    exit status 1
    ----- stderr -----
    provostctl: reading the key [DIR]/site.toml: it isn't a minisign secret key
      hint: name the secret key: the file provost.key, or the one that minisign -G -W -s wrote
    ");
    assert_snapshot!(publish("site.toml", "scripts", "key/provost.pub"), @"
    exit status 1
    ----- stderr -----
    provostctl: reading the key [DIR]/key/provost.pub: it is a public key
      hint: name the secret key: the file provost.key, or the one that minisign -G -W -s wrote
    ");
}

#[test]
fn of_a_folder_that_holds_something_else() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(SITE);
    std::fs::create_dir(cluster.www()).unwrap();
    std::fs::write(cluster.www().join("index.html"), "x").unwrap();
    assert_snapshot!(publish(&cluster), @"
    exit status 1
    ----- stderr -----
    provostctl: publishing to [DIR]/www: it holds index.html, which isn't published by provostctl
      hint: give a new or empty folder, or one that only provostctl publish writes to
    ");
}

#[test]
fn of_all_problems_at_once() {
    let cluster = Cluster::new();
    cluster.script("empty", "").script("dos", "#!/bin/sh\r\n").site(SITE);
    let out: Out = cluster.publish();
    assert!(!cluster.www().exists(), "nothing was written");
    assert_snapshot!(out.transcript(), @r"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/hello: nodes.cn001.postscripts ([DIR]/site.toml:2) names it, but it doesn't exist
      hint: put it into [DIR]/scripts, or remove its name there
    provostctl: [DIR]/scripts/dos: line 1 ends in CRLF, as under Windows
      hint: sed -i 's/\r$//' [DIR]/scripts/dos
    provostctl: [DIR]/scripts/empty: it is empty
      hint: write it, or remove it
    provostctl: 3 problems to fix; nothing was published
      hint: fix them and publish again
    ");
}
