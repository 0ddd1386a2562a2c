//! An admin's story, and the page docs/why.md: a script is changed, rehearsed and published to a few nodes first, they
//! fail, `why` names the script with its diff, and what was published before is published again.

use std::sync::LazyLock;

use provost_tests::{Cluster, Network, Node, Out, missing, skip_part, web_group};
use regex::Regex;

const PAGE: &str = include_str!("../../../../docs/why.md");
const SITE: &str = "[defaults]\npostscripts = [\"mount_scratch\", \"otherpkgs\"]\n\
                    [groups.compute]\nnodes = \"cn[01-16]\"\n\
                    [groups.login]\nnodes = \"login[1-8]\"\n";
const MOUNT: &str = "#!/bin/sh\necho mounting /scratch\n";
const PACKAGES: &str = "#!/bin/sh\nset -e\nfor package in slurm munge; do\n    echo installing $package\n\
                        done\n";
/// The mistake: there is no such package.
const CHANGED: &str = "#!/bin/sh\nset -e\nfor package in slurm munge slrumd; do\n    \
                       echo installing $package\n    if [ $package = slrumd ]; then\n        \
                       echo \"E: Unable to locate package $package\" >&2\n        exit 100\n    fi\ndone\n";

struct Story {
    cluster: Cluster,
    canary: Vec<Node>,
}

impl Story {
    /// All nodes have booted, and four of them are the channel canary.
    fn begin() -> Self {
        let mut cluster = Cluster::new();
        cluster.script("mount_scratch", MOUNT).script("otherpkgs", PACKAGES).site(SITE);
        cluster.publish().expect(0);
        cluster.start();
        let compute = (1..=16).map(|n| format!("cn{n:02}"));
        let login = (1..=8).map(|n| format!("login{n}"));
        let nodes: Vec<Node> = compute.chain(login).map(|name| cluster.node(&name)).collect();
        for node in &nodes {
            node.provost(&["boot"]).expect(0);
        }
        let canary = nodes.into_iter().take(4).collect();
        let story = Self { cluster, canary };
        story.signed(&["channel", "set", "canary", "cn[01-04]"]).expect(0);
        story
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

    /// Has the canary try the changed script, which changes nothing. It shows the mistake already.
    fn rehearse(&self) {
        if let Some(missing) = missing::mounts().or_else(missing::process_namespaces) {
            return skip_part(&missing);
        }
        let mut network = Network::new();
        self.canary.iter().for_each(|node| network.join(node));
        let runs = || self.cluster.ctl_json(&["show", "cn02"])["runs"].as_array().unwrap().len();
        let before = runs();
        let config = network.config();
        let out = self
            .cluster
            .publish_with(&["--ssh-config", &config, "--rehearse", "cn[01-04]"])
            .expect(1);
        let said = "rehearsing generation 2 on 4 nodes: otherpkgs; nothing is published\n";
        assert!(out.stderr.contains(said), "{out:?}");
        let result = "4 nodes cn[01-04]: FAILED otherpkgs: exit status 100";
        assert!(out.stdout.contains(result), "{out:?}");
        assert_eq!(runs(), before, "a rehearsal is no run");
        assert_eq!(self.told(&["why"]), "no node has failed\n");
    }

    fn told(&self, args: &[&str]) -> String {
        self.cluster.ctl(args).expect(0).stdout
    }
}

/// The output that the page has after a command, `provostctl ARGS`.
fn on_the_page(args: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("\n$ provostctl {args}\n")).expect(args);
    rest.split_once("```").unwrap().0
}

static WHO: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" by \S+ on \S+").unwrap());

/// Without what differs from run to run.
fn normal(text: &str) -> String {
    let rare = ["    took  ", "    time "];
    let lines = text.lines().filter(|line| !rare.iter().any(|start| line.starts_with(start)));
    let stdout = lines.map(|line| format!("{line}\n")).collect();
    let out = Out { code: Some(0), stdout, stderr: String::new() };
    WHO.replace_all(&out.transcript(), " by [WHO]").into_owned()
}

#[test]
fn a_changed_script_that_fails_on_the_canary_is_named_with_its_diff_and_taken_back() {
    let story = Story::begin();
    story.cluster.script("otherpkgs", CHANGED);
    story.rehearse();
    let path = |name: &str| story.cluster.path(name).display().to_string();
    let (site, scripts) = (path("site.toml"), path("scripts"));
    let publish = ["publish", "--site", &site, "--scripts", &scripts, "--to-channel", "canary"];
    story.signed(&publish).expect(0);
    for node in &story.canary {
        node.provost(&["boot"]).expect(1);
    }
    let (all, one) = (story.told(&["why"]), story.told(&["why", "cn02"]));
    assert!(
        all.contains("\n    script otherpkgs of generation 2: 4 of 4 failed have it, 0 of 20"),
        "{all}"
    );
    assert!(one.contains("\n+        exit 100\n"), "{one}");
    assert_eq!(normal(&all), normal(on_the_page("why")), "docs/why.md is as it was\n{all}");
    assert_eq!(normal(&one), normal(on_the_page("why cn02")), "docs/why.md is as it was\n{one}");

    story.signed(&["rollback"]).expect(0);
    for node in &story.canary {
        node.provost(&["boot"]).expect(0);
        assert_eq!(story.cluster.status(node.name())["status"], "booted");
    }
    assert_eq!(story.told(&["why"]), "no node has failed\n");
}
