//! Nodes named by groups, operators and files, as users of ClusterShell name them.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use provost_tests::{Cluster, Out, program};

const SITE: &str = r#"
[groups.all]
nodes = "@compute,@oss"
postscripts = ["hello"]
[groups.compute]
nodes = "cn[1-6]!@down"
[groups.down]
nodes = "cn6"
[groups.failed]
nodes = "cn1"
[nodes."@gpu"]
postscripts = ["gpu"]
"#;

const CONF: &str = "[Main]\ndefault: local\n[local]\nmap: sed -n 's/^$GROUP:\\(.*\\)/\\1/p' x\n";

struct World {
    cluster: Cluster,
}

impl World {
    /// A site that was published and names groups of ClusterShell's.
    fn new() -> Self {
        let mut cluster = Cluster::new();
        let script = "#!/bin/sh\nexit 0\n";
        cluster.script("hello", script).script("gpu", script).site(SITE);
        let world = Self {
            cluster: {
                cluster.start();
                cluster
            },
        };
        world.clustershell("groups.conf", CONF);
        world.clustershell("groups.d/local.cfg", "oss: oss1 oss2\ngpu: cn[1-2]\n");
        world.clustershell("groups.d/rack.yaml", "rack:\n  r1: ['cn[1-2]', 'oss1']\n");
        world.publish().expect(0);
        world
    }

    fn clustershell(&self, name: &str, text: &str) {
        let path = self.cluster.path("clustershell").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program("provostctl"));
        command
            .env("PROVOSTCTL_ADMIN", self.cluster.daemon().socket())
            .env("CLUSTERSHELL_CFGDIR", self.cluster.path("clustershell"))
            .args(args)
            .stdin(Stdio::null());
        command
    }

    fn ctl(&self, args: &[&str]) -> Out {
        self.command(args).output().unwrap().into()
    }

    fn ctl_with_input(&self, args: &[&str], input: &str) -> Out {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    fn path(&self, name: &str) -> String {
        self.cluster.path(name).display().to_string()
    }

    fn signed(&self, args: &[&str]) -> Out {
        let (key, www) = (self.path("key/provost.key"), self.path("www"));
        self.ctl(&[args, &["--key", &key, "--to", &www]].concat())
    }

    fn publish(&self) -> Out {
        let (site, scripts) = (self.path("site.toml"), self.path("scripts"));
        self.signed(&["publish", "--site", &site, "--scripts", &scripts])
    }

    /// The nodes that run a script by the published plans.
    fn run(&self, script: &str) -> Vec<String> {
        let plans = fs::read_dir(self.cluster.www().join("plans")).unwrap().flatten();
        let plans = plans.filter(|plan| plan.path().extension().is_some_and(|e| e == "toml"));
        let plans = plans.filter(|plan| !plan.file_name().to_str().unwrap().starts_with('.'));
        let runs = |plan: &fs::DirEntry| {
            fs::read_to_string(plan.path()).unwrap().contains(&format!("\"{script}\""))
        };
        let name = |plan: fs::DirEntry| {
            plan.file_name().to_str().unwrap().trim_end_matches(".toml").to_owned()
        };
        let mut names: Vec<String> = plans.filter(runs).map(name).collect();
        names.sort();
        names
    }

    /// The nodes that NODES stand for, by a command that names each.
    #[track_caller]
    fn stands_for(&self, nodes: &[&str]) -> String {
        let out = self.ctl(&[&["token", "--force"], nodes].concat()).expect(0).stdout;
        let names: Vec<&str> = out.lines().map(|line| line.split(' ').next().unwrap()).collect();
        names.join(" ")
    }
}

#[test]
fn a_site_names_groups_of_its_own_and_of_clustershell() {
    let world = World::new();
    assert_eq!(world.run("hello"), ["cn1", "cn2", "cn3", "cn4", "cn5", "oss1", "oss2"]);
    assert_eq!(world.run("gpu"), ["cn1", "cn2"]);
    let out = world.ctl(&["plan", "cn1", "--site", &world.path("site.toml")]).expect(0);
    assert!(out.stdout.contains("gpu    nodes.@gpu"), "{}", out.stdout);

    world.cluster.site(&SITE.replace("@down", "@dwn"));
    let out = world.publish().expect(1);
    out.says(&[
        "site.toml:3: groups.all.nodes: \"@compute\" names no nodes: \"@dwn\" names no nodes: there is",
        "near: @down",
        "hint: write one of @all, @compute, @down",
    ]);
    world.cluster.site(&SITE.replace("cn6", "@all"));
    world.publish().expect(1).says(&["the group contains itself"]);
}

#[test]
fn commands_name_the_groups_of_what_is_published_and_of_clustershell() {
    let world = World::new();
    assert_eq!(world.stands_for(&["@compute!cn3"]), "cn1 cn2 cn4 cn5");
    assert_eq!(world.stands_for(&["@compute&@gpu, cn[8-9] oss1"]), "cn1 cn2 cn8 cn9 oss1");
    assert_eq!(world.stands_for(&["cn[1-3]^@rack:r1"]), "cn3 oss1");
    // provostd's own word comes first; nothing has failed.
    world.ctl(&["token", "@failed"]).expect(1).says(&["@failed stands for no nodes"]);
    assert_eq!(world.stands_for(&["@site:failed"]), "cn1");
    let out = world.ctl(&["token", "@computer"]).expect(2);
    out.says(&["there is no such group; near: @compute", "or @failed, @held, @status:STATUS"]);
    world.ctl(&["boot", "@slurm:up"]).expect(2).says(&["nodeset -e @slurm:up | provostctl"]);
    // What isn't published yet isn't known.
    world.cluster.site(&SITE.replace("groups.down", "groups.dead").replace("@down", "@dead"));
    world.ctl(&["token", "@dead"]).expect(2);
    world.publish().expect(0);
    assert_eq!(world.stands_for(&["@dead"]), "cn6");
    world.ctl(&["token", "@down"]).expect(2);
}

#[test]
fn a_file_or_standard_input_names_nodes_on_each_line() {
    let world = World::new();
    let list = "# spare\ncn[1-4]!cn2\n\n  cn2,cn9 # and two\n@gpu\n";
    fs::write(world.cluster.path("list"), list).unwrap();
    let file = world.path("list");
    assert_eq!(world.stands_for(&["-f", &file]), "cn1 cn3 cn4 cn2 cn9");
    for args in [["token", "--force", "-"], ["token", "--force", "-f-"]] {
        let out = world.ctl_with_input(&args, list).expect(0);
        assert_eq!(out.stdout.lines().count(), 5, "{}", out.stdout);
    }
    let out = world.ctl(&["nodes", "-f", &file, "-o", "nodes"]).expect(0);
    assert_eq!(out.stdout, "cn[1-4,9]\n");
    // The word after a file is a script's name.
    let out = world.ctl(&["rerun", "-f", &file, "missing", "cn1"]).expect(2);
    out.says(&["no script \"missing\" is published"]);
    world.ctl(&["rerun", "-f", &file]).expect(2).says(&["a rerun is of one script"]);
    world.ctl(&["rerun", "cn1"]).expect(2).says(&["a rerun is of one script"]);

    world.ctl(&["token", "-f", &file, "cn1"]).expect(2).says(&["NODES and -f FILE are both there"]);
    world
        .ctl(&["token", "-f", "/nonexistent"])
        .expect(1)
        .says(&["reading nodes from /nonexistent"]);
    world.ctl_with_input(&["token", "-"], "# none\n").expect(1).says(&["standard input names no"]);
    let out = world.ctl_with_input(&["token", "-"], "cn1\ncn[1-\n").expect(2);
    out.says(&["standard input:2: \"cn[1-\" names no nodes: its brackets don't match"]);
    world.ctl(&["token"]).expect(2).says(&["<NODES>"]);
}

#[test]
fn a_channel_is_named_by_groups_that_were_signed() {
    let world = World::new();
    world.signed(&["channel", "set", "canary", "@compute!cn[3-5],@rack:r1"]).expect(0);
    let list = world.ctl(&["channel", "list", "--to", &world.path("www")]).expect(0).stdout;
    assert_eq!(list, "canary: cn[1-2],oss1\n");
    world.signed(&["channel", "set", "canary", "@held"]).expect(2).says(&["@held changes all the"]);
    let groups = world.cluster.www().join("plans/.groups.toml");
    let text = fs::read_to_string(&groups).unwrap();
    fs::write(&groups, text.replace("cn[1-5]", "cn[1-9]")).unwrap();
    let out = world.signed(&["channel", "set", "canary", "@compute"]).expect(1);
    out.says(&["groups.toml"]);
}

#[test]
fn a_rollback_has_the_groups_as_they_were() {
    let world = World::new();
    world.clustershell("groups.d/local.cfg", "oss: oss1 oss3\ngpu: cn3\n");
    world.publish().expect(0);
    assert_eq!(world.run("gpu"), ["cn3"]);
    world.signed(&["rollback"]).expect(0);
    assert_eq!(world.run("gpu"), ["cn1", "cn2"]);
    assert_eq!(world.run("hello"), ["cn1", "cn2", "cn3", "cn4", "cn5", "oss1", "oss2"]);
}

#[test]
fn a_file_of_groups_that_is_damaged_is_named() {
    let world = World::new();
    world.clustershell("groups.d/rack.yaml", "rack:\n  r1: ['cn[1-2]', 'oss1'\n");
    let file = "clustershell/groups.d/rack.yaml: unclosed bracket '[' at line 2, column 7";
    for group in ["@rack:r1", "@r1"] {
        let out = world.command(&["nodes", group]).output().unwrap();
        let hint = "hint: correct the file of ClusterShell's groups: ";
        Out::from(out).expect(2).says(&[hint, file]);
    }
}
