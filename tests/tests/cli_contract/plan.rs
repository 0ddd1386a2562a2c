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
