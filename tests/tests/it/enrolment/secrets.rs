//! Secrets of `site.toml`: each node gets its own by TLS alone, and nothing shows them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_bundle::Digest;
use provost_plan::{Plan, secret};
use provost_tests::Cluster;

use crate::enrolment::client::{Client, join_token, run};

/// No name tells that it is secret.
const SECRET: &str = "corr3ct \"horse\" battery";
/// What would be found of it in any form.
const PART: &str = "corr3ct";
const CHANGED: &str = "corr3ct staple";

fn site(cluster: &Cluster, secret: &str) {
    cluster.site(&format!(
        "[groups.all]\nnodes = \"cn[001-003]\"\npostscripts = [\"one\"]\nenv.OPEN = \"open\"\n\
         [groups.db]\nnodes = \"cn[001-002]\"\nenv_secret.LOGIN = \"corr3ct of the group\"\n\
         [nodes.cn001]\nenv_secret = {{ LOGIN = {secret:?}, PIN = \"corr3ct pin\" }}\n"
    ));
}

/// A management node with secrets for cn001 and cn002, running, with TLS if that is named.
fn cluster_with(tls: bool) -> Cluster {
    let mut cluster = Cluster::new();
    let seen = cluster.path("seen").display().to_string();
    let prints = "echo \"it is $LOGIN\"\nprintenv\nset -x\ntrue \"$LOGIN\"\n";
    cluster.script("one", &format!("#!/bin/bash\nprintf %s \"$LOGIN\" >{seen}.$NODE\n{prints}"));
    site(&cluster, SECRET);
    cluster.publish().expect(0);
    cluster.start();
    if tls {
        cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    }
    cluster
}

/// The files below `folder` in which part of a secret stands.
fn leaks(folder: &Path) -> Vec<String> {
    let out = run("grep", &["-rlF", PART, folder.to_str().unwrap()]);
    out.stdout.lines().map(str::to_owned).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_node_gets_its_secrets_by_tls_and_keeps_and_shows_none() {
    let cluster = cluster_with(true);
    let node = cluster.node("cn001");
    let mut shown = String::new();
    // The second time nothing has changed; by hand the same holds.
    for args in [&["--verbose", "boot"][..], &["boot"], &["run", "one"], &["check"]] {
        fs::write(cluster.path("seen.cn001"), "").unwrap();
        let out = node.provost(args).expect(0);
        shown += &(out.stdout + &out.stderr);
        if args != ["check"] {
            assert_eq!(fs::read_to_string(cluster.path("seen.cn001")).unwrap(), SECRET);
        }
    }
    shown += &node.provost(&["log", "one"]).expect(0).stdout;
    assert!(shown.contains("it is [redacted:LOGIN]"), "{shown}");
    shown += &cluster.ctl(&["show", "cn001", "--format", "json"]).expect(0).stdout;
    assert!(!shown.contains(PART), "{shown}");
    assert_eq!(leaks(&node.path("")), [""; 0]);
    assert_eq!(leaks(&cluster.path("provostd")), [""; 0]);

    let www = cluster.www();
    let mut published = leaks(&www);
    published.retain(|file| !file.contains("/.provost/") && !file.contains("/secrets/"));
    assert_eq!(published, [""; 0]);
    assert_eq!(mode(&www.join("secrets/cn001.toml")), 0o640);
    assert_eq!((mode(&www.join(".provost")), mode(&www.join(".provost/salt"))), (0o700, 0o600));
    assert!(!www.join("secrets/cn003.toml").exists());

    // No server answers, and the secrets aren't here.
    let mut cluster = cluster;
    let address = cluster.kill_daemon();
    let limits =
        "[fetch]\noffline = \"last-good\"\ndeadline = \"2s\"\n[report]\ndeadline = \"1s\"\n";
    node.configure(&format!("{}{limits}", cluster.settings_for(&[&address])));
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("the plan has secrets, which aren't kept"), "{}", out.stderr);
}

#[test]
fn nobody_else_gets_the_secrets_of_a_node() {
    let cluster = cluster_with(true);
    let [own, other, stranger] = ["cn001", "cn003", "no"].map(|name| Client::new(&cluster, name));
    for (client, node) in [(&own, "cn001"), (&other, "cn003")] {
        let (status, text) = client.join(node, &join_token(&cluster, node, &[]));
        assert_eq!(status, 200, "{text}");
    }
    let get = |client: &Client, node: &str| {
        let (cert, key) = (client.file("crt"), client.file("key"));
        client.curl(&format!("/secrets/{node}.toml"), &["-i", "--cert", &cert, "--key", &key])
    };
    let (status, text) = get(&own, "cn001");
    assert!(status == 200 && text.contains(PART), "{status} {text}");
    assert!(text.to_lowercase().contains("\ncache-control: no-store\r"), "{text}");
    let (status, text) = get(&other, "cn001");
    assert!(status == 403 && text.contains("the identity is cn003's"), "{status} {text}");
    assert_eq!(get(&other, "cn003").0, 404);
    let (status, text) = stranger.curl("/secrets/cn001.toml", &[]);
    assert!(status == 401 && text.contains("\"hint\""), "{status} {text}");
    assert_eq!(own.curl("/secrets/.%2e/manifest.toml", &[]).0, 404);

    let token = cluster.ctl(&["token", "--force", "cn001"]).expect(0).stdout;
    let token = format!("Authorization: Bearer {}", token.split_whitespace().last().unwrap());
    let (status, text) = own.curl("/secrets/cn001.toml", &["-H", &token]);
    assert!(status == 200 && text.contains(PART), "{status} {text}");
    let url = format!("http://{}/secrets/cn001.toml", cluster.daemon().nodes());
    let plain = run("curl", &["-sS", "-w", "%{http_code}", "-H", &token, &url]).expect(0).stdout;
    assert!(
        plain.contains("secrets are served over TLS only") && plain.ends_with("403"),
        "{plain}"
    );
    assert!(!plain.contains(PART));
}

/// A plan may go by plain HTTP, and names the digest of the document with its node's secrets.
#[test]
fn who_has_the_plan_cannot_try_short_secrets() {
    let sites = [(); 2].map(|()| {
        let cluster = Cluster::new();
        cluster.script("one", "#!/bin/sh\n");
        let site = "[nodes.cn001]\npostscripts = [\"one\"]\nenv_secret.PIN = \"042\"\n";
        cluster.site(site).publish().expect(0);
        let text = |name: &str| fs::read_to_string(cluster.www().join(name)).unwrap();
        let plan = Plan::parse(text("plans/cn001.toml").as_bytes()).unwrap();
        let public =
            vec![String::new(), cluster.key(), text("manifest.toml"), text("plans/cn001.toml")];
        (plan.secrets_sha256.unwrap(), text(".provost/salt"), public)
    });
    let guess = |digest: Digest, salt: &str| {
        let is_it = |pin: &String| {
            let secrets = BTreeMap::from([("PIN".to_owned(), pin.clone())]);
            digest == Digest::of(secret::document("cn001", &secrets, salt).unwrap().as_bytes())
        };
        (0..1000).map(|pin| format!("{pin:03}")).find(is_it)
    };
    let [(digest, salt, public), (another, anothers_salt, _)] = &sites;
    assert_eq!(guess(*digest, salt).as_deref(), Some("042"), "that is how it is made");
    for known in public.iter().chain([anothers_salt]) {
        assert_eq!(guess(*digest, known), None, "{known}");
    }
    assert_ne!(digest, another, "a table that was made once is of no use elsewhere");
}

#[test]
fn a_node_without_tls_runs_nothing_and_says_why() {
    let cluster = cluster_with(false);
    let said = cluster.publish().expect(0).stderr;
    assert!(said.contains("has secrets, and the manifest names no TLS"), "{said}");
    let node = cluster.node("cn001");
    let out = node.provost(&["boot"]).expect(2);
    assert!(
        out.stderr.contains("secrets (LOGIN, PIN) are fetched over TLS only"),
        "{}",
        out.stderr
    );
    assert!(out.stderr.contains("hint: publish with TLS: provostctl publish"), "{}", out.stderr);
    let entries = node.journal("boot");
    assert!(entries.iter().any(|entry| entry["cause"] == "config"), "{entries:#?}");
    assert!(!cluster.path("seen.cn001").exists());
    // Who has none isn't touched by it.
    cluster.node("cn003").provost(&["boot"]).expect(0);
}

#[test]
fn what_is_changed_on_the_way_is_refused() {
    let cluster = cluster_with(true);
    let node = cluster.node("cn001");
    let path = cluster.www().join("secrets/cn001.toml");
    let text = fs::read_to_string(&path).unwrap();
    for other in [text.replace("pin", "nip"), text.replacen("# ", "#  ", 1)] {
        fs::write(&path, other).unwrap();
        let out = node.provost(&["boot"]).expect(3);
        assert!(out.stderr.contains("it isn't what the signed plan names"), "{}", out.stderr);
        assert!(!cluster.path("seen.cn001").exists() && !out.stderr.contains(PART));
    }
    fs::write(&path, text).unwrap();
    node.provost(&["boot"]).expect(0);
}

#[test]
fn a_secret_that_changes_is_published_to_its_node_alone_and_shown_by_its_name() {
    let cluster = cluster_with(true);
    let all = || -> Vec<[String; 2]> {
        let text = |file: String| fs::read_to_string(cluster.www().join(file)).unwrap_or_default();
        let of = |node| ["plans", "secrets"].map(|folder| text(format!("{folder}/{node}.toml")));
        ["cn001", "cn002", "cn003"].map(of).into()
    };
    let first = all();
    let out = cluster.publish().expect(0).stdout;
    assert!(out.contains("is up to date"), "{out}");

    site(&cluster, CHANGED);
    let file = |name: &str| cluster.path(name).to_str().unwrap().to_owned();
    let (site_file, www) = (file("site.toml"), file("www"));
    let mut shown = cluster.publish_with(&["--diff"]).expect(0).stdout;
    assert!(shown.contains("cn001: 1 node, plan"), "{shown}");
    assert!(shown.contains("env LOGIN: changed (secret)") && !shown.contains("PIN"), "{shown}");
    let out = cluster.publish().expect(0);
    assert!(out.stdout.contains("environment: LOGIN (1 node)"), "{}", out.stdout);
    assert!(out.stderr.contains("others can read the secrets of"), "{}", out.stderr);
    let second = all();
    assert_ne!(second[0], first[0]);
    assert_eq!(second[1..], first[1..]);
    shown += &(out.stdout + &out.stderr);
    for args in [
        &["plan", "cn001", "--site", &site_file][..],
        &["plan", "cn001", "--to", &www],
        &["plan", "cn001", "--diff", "cn002", "--site", &site_file],
        &["plan", "cn001", "--diff", "cn002", "--to", &www],
        &["history", "--to", &www],
    ] {
        let out = cluster.ctl(args).expect(0).stdout;
        assert!(args[0] == "history" || out.contains("LOGIN=(secret)"), "{args:?}: {out}");
        shown += &out;
    }
    assert!(!shown.contains(PART), "{shown}");

    // What it was before is the same document again: nobody learns more by comparing.
    let key = file("key/provost.key");
    cluster.ctl(&["rollback", "--key", &key, "--to", &www]).expect(0);
    assert_eq!(all()[0][1], first[0][1]);
    // Without secrets there are no documents.
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    cluster.publish_with(&["--allow-removal"]).expect(0);
    assert!(!cluster.www().join("secrets").exists());
}

#[test]
fn a_backup_has_them_and_a_trial_has_them_and_both_as_private() {
    let mut cluster = cluster_with(true);
    let file = |name: &str| cluster.path(name).to_str().unwrap().to_owned();
    let (script, site, seen) = (file("scripts/one"), file("site.toml"), cluster.path("seen.cn001"));
    let out = cluster
        .ctl(&["try", &script, "--site", &site, "--node", "cn001", "--keep", "--here"])
        .expect(0);
    assert_eq!(fs::read_to_string(seen).unwrap(), SECRET);
    assert!(!(out.stdout + &out.stderr).contains(PART));
    let kept = out.stderr.lines().find_map(|line| line.strip_prefix("kept ")).unwrap();
    assert_eq!(leaks(Path::new(kept)), [""; 0]);
    fs::remove_dir_all(kept).unwrap();

    let (config, backup) = (file("provostd.toml"), file("site.backup"));
    cluster.ctl(&["backup", "--to", &backup, "--config", &config]).expect(0);
    let document = cluster.www().join("secrets/cn001.toml");
    let text = fs::read(&document).unwrap();
    assert_eq!(mode(Path::new(&backup)), 0o600);
    cluster.kill_daemon();
    fs::remove_dir_all(cluster.path("provostd")).unwrap();
    fs::remove_dir_all(cluster.www()).unwrap();
    cluster.ctl(&["restore", "--from", &backup, "--config", &config]).expect(0);
    assert_eq!((fs::read(&document).unwrap(), mode(&document)), (text, 0o640));
    assert_eq!(mode(&cluster.www().join(".provost/salt")), 0o600);
}
