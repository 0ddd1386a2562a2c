//! A change for a few nodes first, for all nodes then, and back again.

use provost_tests::{Cluster, Node, Out, WebServer, skip_if, web_group};
use serde_json::{Value, json};

const SITE: &str = "[groups.all]\nnodes = \"cn[1-4]\"\npostscripts = [\"hello\"]\n";

/// Two nodes of the channel canary, and two others.
struct World {
    cluster: Cluster,
    canary: [Node; 2],
    others: [Node; 2],
}

impl World {
    fn new() -> Self {
        let mut cluster = Cluster::new();
        cluster.script("hello", &script("one")).script("old", &script("old")).site(SITE);
        cluster.publish().expect(0);
        cluster.start();
        let canary = ["cn1", "cn2"].map(|name| cluster.node(name));
        let others = ["cn3", "cn4"].map(|name| cluster.node(name));
        let world = Self { cluster, canary, others };
        world.set("canary", "cn[1-2]").expect(0);
        world
    }

    /// `provostctl ARGS` with the key and the published folder.
    fn signed(&self, args: &[&str]) -> Out {
        let path = |name: &str| self.cluster.path(name).display().to_string();
        let (key, www) = (path("key/provost.key"), path("www"));
        let mut args = [args, &["--key", &key, "--to", &www]].concat();
        if args[0] != "channel" {
            args.extend(["--group", web_group()]);
        }
        self.cluster.ctl(&args)
    }

    fn set(&self, channel: &str, nodes: &str) -> Out {
        self.signed(&["channel", "set", channel, nodes])
    }

    /// Publishes `hello` with this text to the channel canary.
    fn try_out(&self, text: &str) -> Out {
        self.cluster.script("hello", text);
        let path = |name: &str| self.cluster.path(name).display().to_string();
        let (site, scripts) = (path("site.toml"), path("scripts"));
        let args = ["--site", &site, "--scripts", &scripts, "--to-channel", "canary"];
        self.signed(&[&["publish"], &args[..]].concat())
    }

    fn history(&self) -> Value {
        let www = self.cluster.www().display().to_string();
        self.cluster.ctl_json(&["history", "--to", &www])
    }

    /// Boots a node: which text and which bundle it ran.
    #[track_caller]
    fn boots(&self, node: &Node) -> (String, u64) {
        node.provost(&["check"]).expect(0);
        node.provost(&["boot"]).expect(0);
        let text = std::fs::read_to_string(node.path("state/bundle/hello")).unwrap();
        let bundle = self.cluster.status(node.name())["bundle"].as_u64().unwrap();
        (text.lines().last().unwrap().replace("echo ", ""), bundle)
    }

    #[track_caller]
    fn all_boot(&self, nodes: &[Node], text: &str, bundle: u64) {
        for node in nodes {
            assert_eq!(self.boots(node), (text.to_owned(), bundle), "{}", node.name());
        }
    }
}

fn script(text: &str) -> String {
    format!("#!/bin/sh\necho {text}\n")
}

#[test]
fn a_change_is_tried_on_a_few_nodes_and_then_promoted_to_all() {
    let world = World::new();
    world.all_boot(&world.canary, "one", 1);
    let out = world.try_out(&script("two")).expect(0);
    let head = format!(
        "published generation 2 to {} for channel canary: 2 files, 2 plans",
        world.cluster.www().display()
    );
    assert!(out.stdout.starts_with(&head), "{}", out.stdout);
    assert!(out.stdout.contains("1 changed (hello); generation 1 -> 2"), "{}", out.stdout);
    world.all_boot(&world.canary, "two", 2);
    world.all_boot(&world.others, "one", 1);
    assert!(world.try_out(&script("two")).expect(0).stdout.contains("is up to date"));
    world.try_out(&script("three")).expect(0);
    world.all_boot(&world.canary, "three", 3);
    world.all_boot(&world.others, "one", 1);

    let promoted = world.signed(&["promote", "canary"]).expect(0);
    assert!(!promoted.stderr.contains("this ends what"), "{}", promoted.stderr);
    world.all_boot(&world.canary, "three", 3);
    world.all_boot(&world.others, "three", 3);
    world.signed(&["promote", "canary"]).expect(1).says(&["nothing that isn't for all nodes"]);
    let manifests = std::fs::read_dir(world.cluster.www().join("manifests")).unwrap();
    let mut names: Vec<_> = manifests.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["3.toml", "3.toml.minisig"], "they are all the same again");

    let generations = |key: &str| -> Vec<Value> {
        world.history().as_array().unwrap().iter().map(|one| one[key].clone()).collect()
    };
    assert_eq!(generations("generation"), [3, 3, 2, 1]);
    assert_eq!(generations("action"), ["promote", "publish", "publish", "publish"]);
    assert_eq!(
        generations("channel"),
        [json!(null), json!("canary"), json!("canary"), json!(null)]
    );
    assert_eq!(world.history()[0]["nodes"]["booted"], json!(["cn1", "cn2", "cn3", "cn4"]));
    let www = world.cluster.www().display().to_string();
    let shown = world.cluster.ctl(&["history", "--to", &www]).expect(0).stdout;
    assert!(shown.contains("\n  the last run of 4 nodes: 4 booted (cn[1-4])\n"), "{shown}");
    // Those that booted with it have booted with a newer one since.
    let first = shown.split("\ngeneration 1, for all nodes").nth(1).unwrap();
    assert_eq!(first.lines().nth(1), Some("  the last run of no node"), "{shown}");
}

#[test]
fn a_bad_change_is_taken_back_and_no_node_is_locked_out() {
    let world = World::new();
    world.all_boot(&world.others, "one", 1);
    world.try_out("#!/bin/sh\nexit 7\n").expect(0);
    for node in &world.canary {
        node.provost(&["boot"]).expect(1);
    }
    assert_eq!(world.history()[0]["nodes"]["failed"], json!(["cn1", "cn2"]));
    world.signed(&["rollback"]).expect(0);
    world.all_boot(&world.canary, "one", 3);
    world.all_boot(&world.others, "one", 3);

    // Of what all nodes have, too: a script, and then site.toml alone.
    world.cluster.script("hello", &script("four")).publish().expect(0);
    world.all_boot(&world.canary, "four", 4);
    world.cluster.site(&SITE.replace("hello", "old")).publish().expect(0);
    world.all_boot(&world.canary, "four", 4);
    assert_eq!(world.canary[0].status()["stages"][1]["stage"], "old");
    world.signed(&["rollback"]).expect(0);
    world.all_boot(&world.canary, "four", 4);
    assert_eq!(world.canary[0].status()["stages"][1]["stage"], "hello");
    world.signed(&["rollback", "1"]).expect(0);
    world.all_boot(&world.canary, "one", 5);
    world.all_boot(&world.others, "one", 5);
    world.signed(&["rollback", "9"]).expect(1).says(&["the history doesn't have it"]);
}

#[test]
fn a_node_that_leaves_a_channel_gets_what_is_published_next_to_all() {
    let world = World::new();
    world.try_out(&script("two")).expect(0);
    world.all_boot(&world.canary, "two", 2);
    world.set("canary", "cn1").expect(0);
    world.try_out(&script("three")).expect(0);
    world.all_boot(&world.canary[..1], "three", 3);
    world.all_boot(&world.canary[1..], "two", 2);
    // What all have already is no news, and takes nothing from a channel.
    world.cluster.script("hello", &script("one"));
    world.cluster.publish().expect(0).says(&["2 nodes of a channel keep a newer bundle"]);
    world.all_boot(&world.canary[..1], "three", 3);
    world.cluster.script("hello", &script("four")).publish().expect(0).says(&["this ends what"]);
    world.all_boot(&world.canary, "four", 4);
    world.all_boot(&world.others, "four", 4);
}

#[test]
fn only_what_the_key_has_signed_is_published_again() {
    let world = World::new();
    world.try_out(&script("two")).expect(0);
    let records = world.cluster.www().join(".provost");
    let record = records.join("2.toml");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("hello", "old")).unwrap();
    world.signed(&["promote", "canary"]).expect(1).says(&["2.toml: it isn't what was written"]);
    std::fs::write(&record, text).unwrap();
    let channels = records.join("channels.toml");
    std::fs::write(&channels, "canary = [\"cn3\"]\n").unwrap();
    world.try_out(&script("three")).expect(1).says(&["channels.toml: it isn't what was written"]);
    world.all_boot(&world.canary, "two", 2);
    world.all_boot(&world.others, "one", 1);
}

#[test]
fn mistakes_with_channels_are_named() {
    let world = World::new();
    world.signed(&["channel", "set", "a b", "cn1"]).expect(2).says(&["use letters"]);
    // Metrics and lists of what expires call all nodes so.
    world.set("all", "cn1").expect(2).says(&["can't be a channel", "choose another name"]);
    world.signed(&["channel", "remove", "none"]).expect(1).says(&["no such channel"]);
    world.set("canary", "cn[1-2],typo").expect(0);
    world.try_out(&script("two")).expect(1).says(&["doesn't name typo", "channel set canary"]);
    world.set("beta", "cn2,typo").expect(0);
    let www = world.cluster.www().display().to_string();
    let listed = world.cluster.ctl(&["channel", "list", "--to", &www]).expect(0).stdout;
    assert_eq!(listed, "beta: cn2,typo\ncanary: cn1\n", "a node is in one channel");
    world.signed(&["channel", "remove", "canary"]).expect(0);
    world.try_out(&script("two")).expect(1).says(&["there is no such channel"]);
}

#[test]
fn a_plain_web_server_is_enough_and_keeps_the_history_to_itself() {
    skip_if(WebServer::missing());
    let world = World::new();
    let own = world.cluster.path("web");
    std::fs::create_dir_all(&own).unwrap();
    // nobody has to get through.
    for folder in world.cluster.www().ancestors().skip(1).take(1).chain([own.as_path()]) {
        std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    let daemon = world.cluster.daemon().nodes();
    let server = WebServer::start(&own, &world.cluster.www(), &daemon);
    for node in world.canary.iter().chain(&world.others) {
        node.configure(&world.cluster.settings_for(&[server.address()]));
    }
    world.try_out(&script("two")).expect(0);
    world.all_boot(&world.canary, "two", 2);
    world.all_boot(&world.others, "one", 1);
    let get = |path: &str| {
        let url = format!("http://{}/{path}", server.address());
        let out =
            std::process::Command::new("curl").args(["-s", "-w", "%{http_code}", &url]).output();
        String::from_utf8(out.unwrap().stdout).unwrap()
    };
    assert!(get("manifests/2.toml").ends_with("200"));
    assert!(get(".provost/2.toml").ends_with("403"));
    world.signed(&["promote", "canary"]).expect(0);
    world.all_boot(&world.others, "two", 2);
}

#[test]
fn a_publish_that_is_killed_leaves_all_nodes_with_something_whole() {
    let world = World::new();
    world.try_out(&script("two")).expect(0);
    for number in 0..400 {
        world.cluster.script(&format!("data{number}"), &format!("#!/bin/sh\necho {number}\n"));
    }
    let mut generation = 2;
    for kill_at in ["", "packs", "manifests", "objects", "plans/cn2.toml"] {
        let path = |name: &str| world.cluster.path(name).display().to_string();
        world.cluster.script("hello", &script(&format!("killed at {kill_at:?}")));
        let (site, scripts, key, www) =
            (path("site.toml"), path("scripts"), path("key/provost.key"), path("www"));
        let mut publish = std::process::Command::new(provost_tests::program("provostctl"))
            .args(["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www])
            .args(["--to-channel", "canary", "--group", web_group()])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let is_there = || {
            let mut folders = std::fs::read_dir(world.cluster.path("")).unwrap().flatten();
            folders.any(|folder| {
                folder.file_name().to_string_lossy().starts_with(".www.publish-")
                    && folder.path().join(kill_at).exists()
            })
        };
        while publish.try_wait().unwrap().is_none() && !is_there() {
            std::hint::spin_loop();
        }
        let _ = publish.kill();
        publish.wait().unwrap();
        world.all_boot(&world.others, "one", 1);
        let (_, now) = world.boots(&world.canary[0]);
        assert!(now == generation || now == generation + 1, "{now} after {generation}");
        generation = now;
    }
    world.try_out(&script("last")).expect(0);
    world.all_boot(&world.canary, "last", generation + 1);
    world.signed(&["promote", "canary"]).expect(0);
    world.all_boot(&world.others, "last", generation + 1);
}
