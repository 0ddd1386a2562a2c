//! `provostctl key new` and `provostctl publish`.

use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;
use provost_tests::{Cluster, Out};

use crate::HELLO;

const SITE: &str = "[nodes.cn001]\npostscripts = [\"hello\"]\n";

/// Publishes the script `hello` for a node, and a file that something is wrong with.
fn publish_with(name: &str, text: &str) -> String {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).script(name, text).site(SITE);
    publish(&cluster)
}

fn publish(cluster: &Cluster) -> String {
    cluster.publish().transcript()
}

fn site(text: &str) -> String {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(text);
    publish(&cluster)
}

#[test]
fn of_a_key() {
    let cluster = Cluster::new();
    let to = cluster.path("keys").display().to_string();
    let new = |to: &str| cluster.ctl(&["key", "new", "--out", to]).transcript();
    assert_snapshot!(new(&to), @"
    exit status 0
    ----- stdout -----
    [KEY]
    ----- stderr -----
    wrote [DIR]/keys/provost.key (keep it secret) and [DIR]/keys/provost.pub; the line for [trust] keys on the nodes:
    ");
    assert_snapshot!(new(&to), @"
    exit status 1
    ----- stderr -----
    provostctl: writing the key [DIR]/keys/provost.pub: entity already exists
      hint: name another folder with --out; a key that nodes trust is never replaced
    ");
    assert_snapshot!(new(&cluster.path("key/provost.pub/new").display().to_string()), @"
    exit status 1
    ----- stderr -----
    provostctl: creating the folder [DIR]/key/provost.pub/new: Not a directory (os error 20)
      hint: check that this user may read and write [DIR]/key/provost.pub/new
    ");
}

#[test]
fn of_publishing() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(SITE);
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 1 to [DIR]/www: 1 file, 1 plan
      scripts: 1 added (hello); generation 1
      nodes: 1 new (cn001)
      steps: + hello (1 node)
      environment: no change
    ");
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    [DIR]/www is up to date: generation 1, 1 file, 1 plan
    ");
    cluster.site("[nodes.\"cn[001-002]\"]\npostscripts = [\"hello\", \"hello again\"]\n");
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 1 to [DIR]/www: 1 file, 2 plans
      scripts: no change; generation 1
      nodes: 1 changed (cn001), 1 new (cn002)
      steps: + hello again (2 nodes), + hello (1 node)
      environment: no change
    ");
    cluster.script("hello", "#!/bin/sh\n");
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 2 to [DIR]/www: 1 file, 2 plans
      scripts: 1 changed (hello); generation 1 -> 2
      nodes: no change
      steps: no change
      environment: no change
    ");
}

#[test]
fn of_files_that_cannot_be_published() {
    assert_snapshot!(publish_with("empty", ""), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/empty: it is empty
      hint: write it, or remove it
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("dos", "#!/bin/sh\r\n"), @r"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/dos: line 1 ends in CRLF, as under Windows
      hint: sed -i 's/\r$//' [DIR]/scripts/dos
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("bare", "echo\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/bare: its first line doesn't begin with #!
      hint: begin it with #!/bin/sh, or, if it is data: chmod a-x [DIR]/scripts/bare
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("bom", "\u{feff}#!/bin/sh\n"), @r"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/bom: its first line doesn't begin with #!
      hint: remove the byte-order mark: sed -i '1s/^\xEF\xBB\xBF//' [DIR]/scripts/bom
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("fetch", HELLO), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/fetch: this name is reserved for the stage that fetches the scripts
      hint: rename it
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(publish_with("-rf", HELLO), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/-rf: "-rf" can't be a script's name: a part of it begins with `-`, like an option
      hint: give the file a plain name, such as syslog or site/syslog
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(publish_with("new\nline", HELLO), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/new
    line: "new\nline" can't be a script's name: it has a control character
      hint: give the file a plain name, such as syslog or site/syslog
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
}

#[test]
fn of_wrong_headers() {
    let header = |line: &str| {
        publish_with("header", &format!("#!/bin/sh\n# /// provost\n# {line}\n# ///\n"))
    };
    assert_snapshot!(header("timout = \"5m\""), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: unknown field `timout`, expected one of `timeout`, `when`, `inputs`, `retries`, `on_failure`, `resume`, `leak`, `trace`
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("timeout = \"none\""), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: `none` isn't a time limit: every limit has to be finite
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("timeout = \"30\""), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: `30` isn't a time limit: the unit is missing
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("when = \"never\""), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: unknown variant `never`, expected one of `always`, `once`, `change`, `manual`
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("retries = -1"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: invalid value: integer `-1`, expected u32
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(header("= 3"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/header:3: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
    assert_snapshot!(publish_with("open", "#!/bin/sh\n# /// provost\n# retries = 1\necho\n"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/open:2: the header that begins here isn't closed by a line `# ///`
      hint: write `# /// provost`, then lines such as `# timeout = "20m"`, then `# ///`
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    "#);
}

#[test]
fn of_a_file_that_others_cannot_read() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).script("secret", HELLO).site(SITE);
    let mode = PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(cluster.scripts().join("secret"), mode).unwrap();
    assert_snapshot!(publish(&cluster), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/secret: others can't read it, and what is published is readable by all
      hint: remove it, or, if nothing in it is secret: chmod a+r [DIR]/scripts/secret
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
}

#[test]
fn of_links() {
    let link = |to: &str| {
        let cluster = Cluster::new();
        cluster.script("hello", HELLO).site(SITE);
        symlink(to, cluster.scripts().join("link")).unwrap();
        publish(&cluster)
    };
    assert_snapshot!(link("nowhere"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/link: the link leads to nowhere, which isn't there
      hint: put the file there, or remove the link
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(link("/etc/passwd"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/link: the link leaves the scripts' folder, to /etc/passwd
      hint: copy the file itself to its place
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(link("link"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/link: the link leads back to itself
      hint: remove the link
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
}

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
      hint: correct that line: keys as in docs/reference/site-toml.md, texts in quotes
    ");
    assert_snapshot!(site("[groups.all]\nnodes = \"cn[001-\"\n"), @r#"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml:2: groups.all.nodes: "cn[001-" names no nodes: its brackets don't match
      hint: write names and ranges such as cn001, cn[001-512,600] or r[1-4]n[01-32], with commas between
    "#);
    assert_snapshot!(site("[groups.all]\nnodes = \"cn[001-002]\"\n[nodes.cn003]\n[nodes.cn003]\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml:4: duplicate key
      hint: correct that line: keys as in docs/reference/site-toml.md, texts in quotes
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
      hint: correct that line: keys as in docs/reference/site-toml.md, texts in quotes
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

/// Publishes by hand, with further arguments.
fn publish_and(cluster: &Cluster, more: &[&str]) -> Out {
    let path = |name: &str| cluster.path(name).display().to_string();
    let (site, scripts, www) = (path("site.toml"), path("scripts"), path("www"));
    let key = path("key/provost.key");
    let args = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
    cluster.ctl(&[&args[..], more].concat())
}

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
    ");
    publish_and(&cluster, &[]).expect(0);
    assert_snapshot!(publish_and(&cluster, &["--diff"]).transcript(), @"
    exit status 0
    ----- stdout -----
    bundle: generation 1, no change
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
    "#);
    assert_snapshot!(publish_and(&cluster, &[]).transcript(), @"
    exit status 0
    ----- stdout -----
    published generation 2 to [DIR]/www: 3 files, 21 plans
      scripts: 1 added (mount_scratch), 1 changed (hello); generation 1 -> 2
      nodes: 20 changed (cn[001-020]), 1 new (login2), 1 without a plan now (login)
      steps: + mount_scratch /scratch (20 nodes), order of postscripts (20 nodes), + hello (1 node)
      environment: MASTER (20 nodes), ROOTPASSWD (20 nodes), NEW (1 node)
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
    warning: [DIR]/site.toml names no nodes, so that no node gets a plan
      hint: add a section such as [groups.compute] with nodes = "cn[001-512]"
    provostctl: publishing to [DIR]/www would take all scripts from 21 nodes: cn[001-020],login
      hint: see what changes: provostctl publish … --diff; if it is right, add --allow-removal
    "#);
    publish_and(&cluster, &["--check"]).expect(1).says(&["would take all scripts from 21 nodes"]);
    cluster.site(&COMPUTE.replace("postscripts = [\"hello\", \"motd\"]", ""));
    publish_and(&cluster, &[]).expect(1).says(&["from 20 nodes: cn[001-020]", "--allow-removal"]);
    publish_and(&cluster, &["--allow-removal"]).expect(0);
    cluster.site("[nodes.\"cn[001-020]\"]\n");
    publish_and(&cluster, &[]).expect(0);
}

#[test]
fn of_a_published_folder_that_is_lost_or_restored() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(SITE).publish().expect(0);
    let copy = cluster.path("backup").display().to_string();
    let www = cluster.www().display().to_string();
    let cp = |from: &str, to: &str| {
        let _ = std::fs::remove_dir_all(to);
        let status = std::process::Command::new("cp").args(["-a", from, to]).status().unwrap();
        assert!(status.success());
    };
    cp(&www, &copy);
    cluster.script("hello", "#!/bin/sh\necho two\n").publish().expect(0);
    cp(&copy, &www);
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 3 to [DIR]/www: 1 file, 1 plan
      scripts: 1 changed (hello); generation 1 -> 3
      nodes: no change
      steps: no change
      environment: no change
    ----- stderr -----
    note: [DIR]/www has generation 1, and 2 was published before: going on above it
    ");
    std::fs::remove_dir_all(&www).unwrap();
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 4 to [DIR]/www: 1 file, 1 plan
      scripts: 1 added (hello); generation 4
      nodes: 1 new (cn001)
      steps: + hello (1 node)
      environment: no change
    ----- stderr -----
    note: [DIR]/www has no generation, and 3 was published before: going on above it
    ");
    assert_snapshot!(publish_and(&cluster, &["--generation-above", "50"]).transcript(), @"
    exit status 0
    ----- stdout -----
    published generation 51 to [DIR]/www: 1 file, 1 plan
      scripts: no change; generation 4 -> 51
      nodes: no change
      steps: no change
      environment: no change
    ");
    std::fs::write(cluster.path("key/provost.published.toml"), "garbage[").unwrap();
    assert_snapshot!(publish(&cluster), @"
    exit status 1
    ----- stderr -----
    provostctl: reading [DIR]/key/provost.published.toml: key with no value, expected `=`
      hint: repair [DIR]/key/provost.published.toml, or remove it and publish with --generation-above N, where N is the newest generation that a node has seen
    ");
}

#[test]
fn of_mistakes_in_scripts() {
    assert_snapshot!(publish_with("broken", "#!/bin/bash\nif true; then\n    echo\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/broken: line 4: syntax error: unexpected end of file
      hint: correct that line; to look again: bash -n FILE
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again; where that is an error of the check: --no-lint
    ");
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(SITE).publish().expect(0);
    // What is right for one of the shells that sh may be.
    cluster.script("array", "#!/bin/sh\nlist=(a b)\necho \"${list[0]}\"\n");
    cluster.script("glob", "#!/bin/bash\nshopt -s extglob\necho !(*.txt)\n");
    publish_and(&cluster, &[]).expect(0);
    cluster.script("cut", "#!/bin/sh\ncut -d: -f1 /etc/passwd\n");
    cluster.script("far", "#!/opt/no/such/interpreter\n");
    cluster.script("inputs", "#!/bin/sh\n# /// provost\n# inputs = [\"A\"]\n# ///\n");
    cluster.script("long", "#!/bin/sh\n# /// provost\n# timeout = \"3h\"\n# ///\n");
    cluster.script("python", "#!/usr/bin/env python3\nprint(1)\nif:\n");
    assert_snapshot!(publish_and(&cluster, &["--no-lint"]).transcript(), @r#"
    exit status 0
    ----- stdout -----
    published generation 3 to [DIR]/www: 8 files, 1 plan
      scripts: 5 added (cut, far, inputs, long, python); generation 2 -> 3
      nodes: no change
      steps: no change
      environment: no change
    ----- stderr -----
    warning: [DIR]/scripts/cut: line 2 calls cut, which is this script itself: the scripts' folder is on PATH
      hint: rename the script, or call the command by its path (command -v cut)
    warning: [DIR]/scripts/far: its interpreter /opt/no/such/interpreter isn't on this machine: its syntax is unchecked
      hint: check that the nodes have it: command -v /opt/no/such/interpreter
    warning: [DIR]/scripts/inputs: inputs has no effect without when = "change"
      hint: add when = "change" to its header, or remove inputs
    warning: [DIR]/scripts/long: its timeout is longer than a whole run may take (2 h by default)
      hint: shorten it, or raise deadline under [run] on the nodes that run it
    warning: [DIR]/scripts/python: line 3: SyntaxError: invalid syntax
      hint: correct that line
    "#);
    let (site, scripts) = (cluster.path("site.toml"), cluster.scripts());
    let lint = |more: &[&str]| {
        let paths = [site.display().to_string(), scripts.display().to_string()];
        let args = ["publish", "--lint-only", "--site", &paths[0], "--scripts", &paths[1]];
        cluster.ctl(&[&args[..], more].concat())
    };
    lint(&[]).expect(1).says(&["far: its interpreter", "python: line 3", "1 problem to fix"]);
    let found = lint(&["--format", "json"]).expect(1).json();
    let levels: Vec<_> = found.as_array().unwrap().iter().map(|f| f["level"].clone()).collect();
    assert_eq!(levels, ["warning", "warning", "warning", "warning", "error"]);
    cluster.script("python", "#!/usr/bin/env python3\nprint(1)\n");
    assert_eq!(lint(&[]).expect(0).stdout, "8 files: no mistake found\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"none\"]\n");
    lint(&[]).expect(1).says(&["scripts/none", "it doesn't exist"]);
}

#[test]
fn of_a_plan() {
    let cluster = Cluster::new();
    cluster.site(COMPUTE);
    let site = cluster.path("site.toml").display().to_string();
    let plan =
        |args: &[&str]| cluster.ctl(&[&["plan", "--site", &site], args].concat()).transcript();
    assert_snapshot!(plan(&["cn001"]), @"
    exit status 0
    ----- stdout -----
    postscripts
      hello  groups.compute
      motd   groups.compute
    environment
      MASTER=10.0.0.1      groups.compute
      ROOTPASSWD=(hidden)  groups.compute
    ");
    assert_snapshot!(plan(&["cn999"]), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/site.toml names no node cn999
      hint: add it to the nodes of a group, or add a section [nodes.NAME]
    ");
    assert_snapshot!(plan(&["--script", "hello"]), @"
    exit status 0
    ----- stdout -----
    21 nodes: cn[001-020],login
    ");
}
