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
    ");
    cluster.script("hello", "#!/bin/sh\n");
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 2 to [DIR]/www: 1 file, 2 plans
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
      hint: chmod a+r [DIR]/scripts/secret, or remove it
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
      hint: correct that line: keys as in the manual, texts in quotes
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
      hint: correct that line: keys as in the manual, texts in quotes
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
      hint: correct that line: keys as in the manual, texts in quotes
    "#);
    assert_snapshot!(site("[scripts.unheard-of]\ntimeout = \"5m\"\n[nodes.cn001]\n"), @"
    exit status 1
    ----- stderr -----
    provostctl: [DIR]/scripts/unheard-of: scripts.unheard-of names it, but it doesn't exist
      hint: put it into [DIR]/scripts, or remove its name there
    provostctl: 1 problem to fix; nothing was published
      hint: fix them and publish again
    ");
    assert_snapshot!(site(""), @"
    exit status 0
    ----- stdout -----
    published generation 1 to [DIR]/www: 1 file, 0 plans
    ");
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
