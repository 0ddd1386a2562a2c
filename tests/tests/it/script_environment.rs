//! A script's environment is the same however the run was started.

use std::collections::BTreeMap;
use std::process::Command;

use provost_tests::{Cluster, Node, Out, missing, program, skip_if};

/// What an admin's shell, or an ssh of his, has set.
const OF_CALLER: [(&str, &str); 9] = [
    ("HOME", "/home/adm"),
    ("USER", "adm"),
    ("LOGNAME", "adm"),
    ("SHELL", "/bin/zsh"),
    ("LANG", "de_DE.UTF-8"),
    ("LC_ALL", "de_DE.UTF-8"),
    ("TZ", "Asia/Tokyo"),
    ("SSH_CONNECTION", "10.0.0.1 22 10.0.0.2 22"),
    ("OTHER", "x"),
];

/// What PATH begins with; then come folders of the bundle and of the library.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The environment of the script, without what differs from run to run.
fn environment(cluster: &Cluster, command: &mut Command) -> BTreeMap<String, String> {
    let file = cluster.path("environment");
    let _ = std::fs::remove_file(&file);
    Out::from(command.output().unwrap()).expect(0);
    let text = std::fs::read_to_string(file).unwrap();
    let variables = text.lines().filter_map(|line| line.split_once('='));
    let own = ["PROVOST_", "PWD", "OLDPWD", "SHLVL", "_"];
    let shown = variables.filter(|(name, _)| !own.iter().any(|own| name.starts_with(own)));
    let mut shown: BTreeMap<_, _> =
        shown.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let path = shown.get_mut("PATH").unwrap();
    assert!(path.starts_with(&format!("{PATH}:/")), "{path}");
    path.truncate(PATH.len());
    shown
}

#[test]
fn a_script_has_the_same_at_boot_by_hand_by_ssh_in_an_installer_and_when_it_is_tried() {
    skip_if(missing::root("have root's environment"));
    let mut cluster = Cluster::new();
    let file = cluster.path("environment").display().to_string();
    let script = format!("#!/bin/sh\nenv >{file}\necho \"PATH $PATH\" >&2\n");
    cluster.script("show", &script);
    cluster
        .site("[nodes.cn001]\npostscripts = [\"show\"]\nenv.SITE = \"a b\"\n")
        .publish()
        .expect(0);
    cluster.start();
    let node: Node = cluster.node("cn001");
    let bare = |args: &[&str]| {
        let mut command = node.command(args);
        command.env_clear();
        command
    };
    let rich = |args: &[&str]| {
        let mut command = node.command(args);
        command.envs(OF_CALLER);
        command
    };
    // As systemd starts it.
    let at_boot = environment(&cluster, &mut bare(&["boot"]));
    let wanted = [
        ("HOME", "/root"),
        ("LANG", "C"),
        ("LOGNAME", "root"),
        ("NODE", "cn001"),
        ("PATH", PATH),
        ("SHELL", "/bin/sh"),
        ("SITE", "a b"),
        ("USER", "root"),
    ];
    let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(at_boot, wanted.into());
    for args in [&["boot"][..], &["run", "show"], &["kickstart"]] {
        assert_eq!(environment(&cluster, &mut rich(args)), at_boot, "{args:?}");
    }
    let mut tried = Command::new(program("provost"));
    let (site, script) = (cluster.path("site.toml"), cluster.path("scripts/show"));
    tried.args(["try", "--site"]).arg(site).args(["--node", "cn001", "--here"]).arg(script);
    assert_eq!(environment(&cluster, tried.envs(OF_CALLER)), at_boot);

    // The plan's own values are the script's.
    let own = "env.HOME = \"/srv\"\nenv.LANG = \"C.UTF-8\"\n";
    let site = format!("[nodes.cn001]\npostscripts = [\"show\"]\n{own}");
    cluster.site(&site).publish().expect(0);
    let own = environment(&cluster, &mut rich(&["run", "show"]));
    assert_eq!((&*own["HOME"], &*own["LANG"]), ("/srv", "C.UTF-8"));
}
