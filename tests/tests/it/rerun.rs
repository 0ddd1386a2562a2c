//! `provostctl rerun` and `provostctl gather`, over a real sshd.

use std::time::{Duration, Instant};

use provost_tests::{Cluster, Network, processes};

/// Prints its arguments, one a line.
const ARGS: &str = "#!/bin/sh\nfor arg; do printf '<%s>\\n' \"$arg\"; done\n";

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("args", ARGS).script("bad", "#!/bin/bash\necho well\nfalse\n");
    cluster.script("hang", "#!/bin/sh\nsleep 600\n");
    cluster.site("[nodes.\"cn[001-003]\"]\n").publish().expect(0);
    cluster.start();
    cluster
}

#[test]
fn each_node_is_told_of_and_a_dead_one_holds_nobody_up() {
    let mut network = Network::new();
    let cluster = cluster();
    let [node, other] = ["cn001", "cn002"].map(|name| cluster.node(name));
    network.join(&node);
    network.join(&other);
    network.join_dead("cn003");
    let config = network.config();
    let rerun = |nodes: &str, more: &[&str]| {
        cluster.ctl(&[&["rerun", "--ssh-config", &config, nodes], more].concat())
    };

    let out = rerun("cn[001-003]", &["args", "a b", "-x", "it's", "$HOME;`id`", ""]).expect(1);
    assert!(out.stdout.contains("    2  ok           cn[001-002]\n"), "{}", out.stdout);
    assert!(out.stdout.contains("    1  unreachable  cn003\n"), "{}", out.stdout);
    assert!(out.stderr.contains("[3/3] ") && out.stderr.contains("hint: "), "{}", out.stderr);
    let log = node.provost(&["log", "args"]).expect(0).stdout;
    for line in ["<a b>", "<-x>", "<it's>", "<$HOME;`id`>", "<>"] {
        assert!(log.contains(line), "{line}\n{log}");
    }

    let out = rerun("cn[001-002]", &["-P", "args x,bad"]).expect(1);
    // Both failed in the same way, which is shown once, with what the script said.
    let failed =
        "    2  failed       cn[001-002]\n                    bad: exit status 1 at line 3 of ";
    assert!(out.stdout.contains(failed), "{}", out.stdout);
    assert_eq!(out.stdout.matches(" well\n").count(), 1, "{}", out.stdout);
    assert!(out.stdout.contains("hint: on the node: see all its output"), "{}", out.stdout);
    assert!(out.stderr.contains("provostctl show cn001"), "{}", out.stderr);
    assert_eq!(cluster.status("cn001")["updatestatus"], "failed");

    let out = rerun("cn001,cn003", &["args"]).expect(1);
    assert!(out.stderr.contains("ssh cn003 true"), "{}", out.stderr);
    assert_eq!(cluster.status("cn001")["updatestatus"], "synced");

    let json = cluster
        .ctl(&["rerun", "--ssh-config", &config, "--format", "json", "cn[002-003]", "bad"])
        .expect(1)
        .json();
    assert_eq!((&json[0]["node"], &json[0]["exitCode"]), (&"cn002".into(), &1.into()));
    assert_eq!((&json[0]["result"], &json[1]["result"]), (&"failed".into(), &"unreachable".into()));
    assert!(json[0]["detail"].as_str().unwrap_or_default().contains("bad"), "{json}");
}

#[test]
fn what_a_script_printed_is_shown_once_for_nodes_that_agree() {
    let mut network = Network::new();
    let cluster = cluster();
    cluster.script("name", "#!/bin/sh\necho \"on $NODE\"\n").publish().expect(0);
    for name in ["cn001", "cn002"] {
        network.join(&cluster.node(name));
    }
    let config = network.config();
    let rerun = |args: &[&str]| {
        cluster.ctl(&[&["rerun", "--ssh-config", &config, "cn[001-002]"], args].concat())
    };
    let out = rerun(&["args", "a", "b", "--output"]).expect(0);
    let (ok, shown) = out.stdout.split_once('\n').unwrap();
    assert_eq!(ok, "    2  ok           cn[001-002]");
    assert_eq!(shown, "\nargs on cn[001-002]:\n    <a>\n    <b>\n");
    // An option of the script's own.
    let out = rerun(&["--output", "args", "--", "--output"]).expect(0);
    assert!(out.stdout.ends_with("    <--output>\n"), "{}", out.stdout);
    let out = rerun(&["--output", "-P", "bad,name"]).expect(1);
    assert!(out.stdout.ends_with("\nbad on cn[001-002]:\n    well\n"), "{}", out.stdout);
    // Not what it printed in another run.
    rerun(&["name"]).expect(0);
    let json = rerun(&["--output", "--format", "json", "-P", "args,bad,name"]).expect(1).json();
    let printed =
        serde_json::json!([{"script": "args", "text": ""}, {"script": "bad", "text": "well\n"}]);
    assert_eq!(json[0]["output"], printed);
    let json = rerun(&["name", "--output", "--format", "json"]).expect(0).json();
    assert_ne!(json[0]["output"], json[1]["output"]);
    let dry = rerun(&["name", "--dry-run", "--output"]).expect(2);
    assert!(dry.stderr.contains("hint: "), "{}", dry.stderr);
}

/// A script that no node has is refused before any node is asked.
#[test]
fn a_script_that_is_not_published_is_refused_at_once() {
    let cluster = cluster();
    for args in [&["args x"][..], &["-P", "args x,agrs"], &["agrs", "args"]] {
        let out = cluster.ctl(&[&["rerun", "--ssh-config", "/dev/null", "cn001"], args].concat());
        let out = out.expect(2);
        assert!(out.stderr.contains(" is published\n"), "{}", out.stderr);
        assert!(
            out.stderr.contains("hint: publish it, or name one of: args, bad"),
            "{}",
            out.stderr
        );
        assert_eq!(out.stdout, "");
    }
}

/// `provostctl continue` finishes what failed, and `provostctl boot` does all again.
#[test]
fn nodes_whose_boot_failed_are_booted_by_one_command() {
    let mut network = Network::new();
    let cluster = cluster();
    let nodes = ["cn001", "cn002"].map(|name| cluster.node(name));
    nodes.iter().for_each(|node| network.join(node));
    let mark = cluster.path("fixed").display().to_string();
    cluster.script("later", &format!("#!/bin/sh\n[ -e '{mark}' ]\n"));
    let site = "[nodes.\"cn[001-002]\"]\npostscripts = [\"args a\", \"later\", \"args b\"]\n";
    cluster.site(site).publish().expect(0);
    let config = network.config();
    let on_both = |command: &str| cluster.ctl(&[command, "--ssh-config", &config, "cn[001-002]"]);
    let out = on_both("boot").expect(1);
    assert!(out.stdout.contains("    2  failed       cn[001-002]\n"), "{}", out.stdout);
    assert!(out.stdout.contains("then: provost boot --continue\n"), "{}", out.stdout);
    std::fs::write(&mark, "").unwrap();
    let failed = cluster.ctl(&["continue", "--ssh-config", &config, "@failed"]);
    assert!(failed.expect(0).stdout.contains("    2  ok           cn[001-002]\n"));
    for node in &nodes {
        assert_eq!(cluster.status(node.name())["status"], "booted");
        let skipped = node.status()["stages"][1]["skipped"].clone();
        assert_eq!(skipped, "it was done in the run before");
    }
    on_both("boot").expect(0);
    assert!(nodes[0].status()["stages"][1].get("skipped").is_none());
}

#[test]
fn what_a_node_had_before_it_was_sent_a_boot_is_not_the_outcome_of_that() {
    let mut network = Network::new();
    let cluster = cluster();
    let all = ["cn001", "cn002", "cn003"].map(|name| cluster.node(name));
    all.iter().for_each(|node| drop(node.provost(&["boot"]).expect(0)));
    network.join(&all[0]);
    let _mute = network.join_mute("cn002");
    network.join_dead("cn003");
    let (config, nodes) = (network.config(), "cn[001-003]");
    cluster.ctl(&["boot", "--ssh-config", &config, "--timeout", "5s", nodes]).expect(1);
    // The first has reported, nothing is known of the second, the third couldn't be reached.
    let sent = |node: &str| cluster.status(node)["bootSent"].is_string();
    assert_eq!(["cn001", "cn002", "cn003"].map(sent), [false, true, false]);
    let wait = ["wait-for", nodes, "--status", "booted", "--timeout", "1s"];
    let out = cluster.ctl(&wait).expect(124);
    assert!(out.stderr.contains("2 of 3 booted; 1 booted before\n"), "{}", out.stderr);
}

#[test]
fn a_node_that_takes_too_long_is_ended_and_leaves_nothing_behind() {
    let mut network = Network::new();
    let cluster = cluster();
    let node = cluster.node("cn001");
    network.join(&node);
    let _mute = network.join_mute("cn002");
    let config = network.config();
    let begun = Instant::now();
    let args = ["rerun", "--ssh-config", &config, "--timeout", "3s", "cn[001-002]", "hang"];
    let out = cluster.ctl(&args).expect(124);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let late = "    2  timeout      cn[001-002]\n                    not finished within 3s";
    assert!(out.stdout.contains(late), "{}\n{}", out.stdout, out.stderr);
    // The run on the node has ended, too, and says why.
    let ended = || node.status()["stages"][1]["cause"] == "interrupted";
    assert!(processes::until(Duration::from_secs(30), ended), "{}", node.status());
    let mark = node.path("provost.toml").display().to_string();
    let left = processes::all_gone(&mark, Duration::from_secs(30));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn bundles_come_from_nodes_and_from_the_store_where_a_node_is_dead() {
    let mut network = Network::new();
    let cluster = cluster();
    let [node, dead] = ["cn001", "cn002"].map(|name| cluster.node(name));
    network.join(&node);
    network.join_dead("cn002");
    for node in [&node, &dead] {
        node.provost(&["run", "bad"]).expect(1);
    }
    let to = cluster.path("gathered");
    std::fs::create_dir(&to).unwrap();
    let (config, to) = (network.config(), to.to_str().unwrap());
    let out =
        cluster.ctl(&["gather", "--ssh-config", &config, "--to", to, "cn[001-002]"]).expect(1);
    assert!(out.stderr.contains("cn002: unreachable: "), "{}", out.stderr);
    let bundles: Vec<&str> = out.stdout.lines().collect();
    assert_eq!(bundles.len(), 2, "{}", out.stdout);
    assert!(bundles[0].contains("/log-bundle-cn001-") && bundles[1].contains("-cn002-"));
    for bundle in bundles {
        // The records, and where it was uploaded the log, tell the same of both.
        let json = node.provost(&["analyze", bundle, "--format", "json"]).expect(1).json();
        assert_eq!(json["cause"]["stage"], "bad", "{bundle}: {json}");
        let tar = std::process::Command::new("tar").args(["-tzf", bundle]).output().unwrap();
        let names = String::from_utf8(tar.stdout).unwrap();
        assert!(names.contains("/bootstrap/services/run.json"), "{names}");
        assert!(names.contains("/01-bad.log"), "{names}");
    }
    let left = std::fs::read_dir(to).unwrap().count();
    assert_eq!(left, 2);
}

/// The page's commands, those of `provostctl` with a way to the nodes of the test.
fn commands_of_the_page(ssh_config: &str) -> Vec<String> {
    let page = include_str!("../../../docs/rerun-and-gather.md");
    let is_command = |line: &&str| ["provost ", "provostctl "].iter().any(|p| line.starts_with(p));
    let lines = page.lines().filter(is_command);
    let with_way = |line: &str| {
        let way = format!("--ssh-config '{ssh_config}' ");
        ["rerun ", "gather "].iter().fold(line.to_owned(), |line, command| {
            let command = format!("provostctl {command}");
            line.replace(&command, &format!("{command}{way}"))
        })
    };
    lines.map(with_way).collect()
}

#[test]
fn the_commands_of_the_page_do_what_it_says() {
    let mut network = Network::new();
    let cluster = cluster();
    for name in ["otherpkgs", "mount_scratch", "syslog"] {
        cluster.script(name, "#!/bin/sh\n");
    }
    cluster.publish().expect(0);
    let nodes = ["cn001", "cn002", "cn003"].map(|name| cluster.node(name));
    nodes.iter().for_each(|node| network.join(node));
    let to = cluster.path("bundles").display().to_string();
    std::fs::create_dir(&to).unwrap();
    let commands = commands_of_the_page(&network.config());
    assert_eq!(commands.len(), 11, "{commands:#?}");
    for command in commands {
        let command = command.replace("--to /tmp", &format!("--to '{to}'"));
        let out = nodes[0].shell(&command, &cluster);
        assert_eq!(out.code, Some(0), "{command}\n{}\n{}", out.stdout, out.stderr);
    }
    // One of `provost gather`, three of `provostctl gather`.
    assert_eq!(std::fs::read_dir(to).unwrap().count(), 4);
}
