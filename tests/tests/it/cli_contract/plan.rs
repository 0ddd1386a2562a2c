//! `provostctl plan`.

use insta::assert_snapshot;
use provost_tests::Cluster;

const COMPUTE: &str = r#"
[groups.compute]
nodes = "cn[001-020]"
env = { MASTER = "10.0.0.1", ROOTPASSWD = "old" }
postscripts = ["hello", "motd"]
[nodes.login]
env.OLD = "1"
postscripts = ["hello"]
"#;

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
    assert_snapshot!(plan(&["cn001", "--diff", "login"]), @"
    exit status 0
    ----- stdout -----
    --- cn001
    +++ login
    - postscript motd  groups.compute
    - env MASTER=10.0.0.1  groups.compute
    + env OLD=1  nodes.login
    - env ROOTPASSWD=(hidden)  groups.compute
    ");
    assert_eq!(
        cluster.ctl(&["plan", "cn001", "--diff", "cn002", "--site", &site]).expect(0).stdout,
        "cn001 and cn002 run the same\n"
    );
}

#[test]
fn of_what_is_published() {
    let cluster = Cluster::new();
    cluster.site(COMPUTE);
    cluster.script("hello", crate::cli_contract::HELLO).script("motd", crate::cli_contract::HELLO);
    cluster.publish().expect(0);
    // What is written and not published yet doesn't count.
    cluster.site("[nodes.cn001]\n");
    let www = cluster.www().display().to_string();
    let plan = |args: &[&str]| cluster.ctl(&[&["plan", "--to", &www], args].concat());
    let shown = plan(&["cn001"]).expect(0).stdout;
    let (head, rest) = shown.split_once('\n').unwrap();
    assert!(head.starts_with("plan 1 of bundle 1, to be used until 20"), "{head}");
    assert_snapshot!(rest, @"
    postscripts
      hello  groups.compute
      motd   groups.compute
    environment
      MASTER=10.0.0.1      groups.compute
      ROOTPASSWD=(hidden)  groups.compute
    ");
    assert_eq!(plan(&["--script", "motd"]).expect(0).stdout, "20 nodes: cn[001-020]\n");
    assert!(
        plan(&["cn001", "--diff", "login"]).expect(0).stdout.contains("+ env OLD=1  nodes.login")
    );
    // Who may not read the history sees the plan all the same.
    std::fs::remove_dir_all(cluster.www().join(".provost")).unwrap();
    assert!(plan(&["cn001"]).expect(0).stdout.contains("postscripts\n  hello\n  motd\n"));
    assert_snapshot!(plan(&["cn999"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provostctl: reading [DIR]/www/plans/cn999.toml: No such file or directory (os error 2)
      hint: name the published folder (--to WWW), and a node that has a plan there
    ");
    cluster.ctl(&["plan", "cn001"]).expect(2).says(&["missing --site FILE"]);
}
