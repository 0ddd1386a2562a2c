//! What `provostctl` asks of the daemon.

use insta::assert_snapshot;
use provost_tests::{Cluster, Out, missing, skip_if};

use crate::cli_contract::{BROKEN, HELLO, site};

#[test]
fn of_a_daemon_that_is_not_there() {
    let cluster = Cluster::new();
    let socket = cluster.path("admin.sock").display().to_string();
    let admin = format!("unix:{socket}");
    for_each_command(&cluster, &admin);
    assert_snapshot!(cluster.ctl(&["--admin", "http://127.0.0.1:1", "nodes"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provostctl: asking provostd at http://127.0.0.1:1/: Connection refused (os error 111)
      hint: check that provostd runs (systemctl status provostd), or use --admin unix:DATA/admin.sock
    ");
}

fn for_each_command(cluster: &Cluster, admin: &str) {
    assert_snapshot!(cluster.ctl(&["--admin", admin, "nodes"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provostctl: asking provostd at unix:[DIR]/admin.sock: No such file or directory (os error 2)
      hint: check that provostd runs (systemctl status provostd), or use --admin unix:DATA/admin.sock
    ");
    assert_snapshot!(cluster.ctl(&["--admin", admin, "token", "cn001"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provostctl: asking provostd at unix:[DIR]/admin.sock: No such file or directory (os error 2)
      hint: check that provostd runs (systemctl status provostd), or use --admin unix:DATA/admin.sock
    ");
    let wait = ["wait-for", "cn001", "--status", "booted", "--timeout", "1s"];
    let args = [&["--admin", admin][..], &wait].concat();
    assert_snapshot!(cluster.ctl(&args).transcript(), @"
    exit status 124
    ----- stderr -----
    waiting until cn001 is booted, for at most 1s, until [TIME]
    asking provostd at unix:[DIR]/admin.sock: No such file or directory (os error 2); retrying every 1 s
      hint: check that provostd runs (systemctl status provostd), or use --admin unix:DATA/admin.sock
    provostctl: waiting for 1s: asking provostd at unix:[DIR]/admin.sock: No such file or directory (os error 2)
      hint: check that provostd runs (systemctl status provostd), or use --admin unix:DATA/admin.sock
    ");
}

#[test]
fn of_tokens() {
    let mut cluster = Cluster::new();
    cluster.start();
    assert_snapshot!(cluster.ctl(&["token", "cn[001-002]"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001 [HEX]
    cn002 [HEX]
    ----- stderr -----
    new: cn[001-002]
    ");
    assert_snapshot!(cluster.ctl(&["token", "cn[002-003]"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn002 [HEX]
    cn003 [HEX]
    ----- stderr -----
    new: cn003
    ");
    let admin = format!("http://{}", cluster.daemon().admin());
    assert_snapshot!(cluster.ctl(&["--admin", &admin, "token", "cn001"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provostctl: this listener is read-only, and token needs the socket
      hint: use the socket on the management node: provostctl --admin unix:DATA/admin.sock
    ");
}

#[test]
fn of_no_nodes() {
    let mut cluster = Cluster::new();
    cluster.start();
    assert_snapshot!(cluster.ctl(&["nodes"]).transcript(), @"
    exit status 0
    ----- stdout -----
    no nodes
    ----- stderr -----
      hint: let nodes join: provostctl join NODES
    ");
    assert_snapshot!(cluster.ctl(&["nodes", "cn[001-004]"]).transcript(), @"
    exit status 0
    ----- stdout -----
    no nodes
    ----- stderr -----
      hint: list all nodes: provostctl nodes
    ");
    assert_snapshot!(cluster.ctl(&["show", "cn001"]).transcript(), @r#"
    exit status 1
    ----- stderr -----
    provostctl: unknown node "cn001"
      hint: list all nodes: provostctl nodes
    "#);
    assert_snapshot!(cluster.ctl(&["log", "cn001", "hello"]).transcript(), @r#"
    exit status 1
    ----- stderr -----
    provostctl: unknown node "cn001"
      hint: list all nodes: provostctl nodes
    "#);
    assert_snapshot!(cluster.ctl(&["release", "cn001"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provostctl: no node was released: unknown cn001
      hint: list all nodes: provostctl nodes
    ");
    let wait = ["wait-for", "cn001", "--status", "booted", "--timeout", "1s"];
    assert_snapshot!(cluster.ctl(&wait).transcript(), @"
    exit status 2
    ----- stderr -----
    provostctl: unknown to provostd: cn001
      hint: list all nodes: provostctl nodes; or name them in site.toml, and publish
    ");
}

#[test]
fn of_a_node_that_booted() {
    let (cluster, node) = site(&[("hello", HELLO)]);
    node.provost(&["boot"]).expect(0);
    assert_snapshot!(cluster.ctl(&["nodes"]).transcript(), @"
    exit status 0
    ----- stdout -----
    NODE   STATUS  SINCE
    cn001  booted  [AGE]
    1 node: 1 booted
    1 node sent the token by plain HTTP: cn001
    ");
    assert_snapshot!(cluster.ctl(&["nodes", "--format", "json"]).transcript(), @r#"
    exit status 0
    ----- stdout -----
    [{"name":"cn001","status":"booted","since":"[TIME]","service":"boot","run":"[ID]","plainHttp":true,"lastSeen":"[TIME]","attempt":1,"bundle":1,"plan":1,"server":"http://127.0.0.1:[PORT]","program":"[VERSION]","facts":{[FACTS]}}]
    "#);
    assert_snapshot!(cluster.ctl(&["show", "cn001"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: booted since [TIME] ([AGE] ago), last report [AGE] ago
      last ran provost [VERSION], bundle 1, plan 1
               machine  [FACTS]
      its token came by plain HTTP, where others can read it

    boot [ID] of [TIME]: succeeded after [DURATION] (attempt 1, bundle 1, plan 1)
      ok       fetch  [DURATION]
      ok       hello  [DURATION]
    ");
    assert_snapshot!(cluster.ctl(&["release", "cn001"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: it had no attempts
    ");
    let wait = ["wait-for", "cn001", "--status", "booted"];
    assert_snapshot!(cluster.ctl(&wait).transcript(), @"
    exit status 0
    ----- stderr -----
    waiting until cn001 is booted, for at most 20m, until [TIME]
    1 of 1 booted
    ");
    let wait = ["wait-for", "cn001", "--status", "failed", "--timeout", "1s"];
    assert_snapshot!(cluster.ctl(&wait).transcript(), @"
    exit status 124
    ----- stderr -----
    waiting until cn001 is failed, for at most 1s, until [TIME]
    0 of 1 failed; 1 booted
    provostctl: after 1s not all are failed:
    cn001 booted
      hint: see what a node does: provostctl show NODE; or wait longer: --timeout D
    ");
}

#[test]
fn of_a_node_that_failed() {
    skip_if(missing::tracing());
    let (cluster, node) = site(&[("hello", HELLO), ("broken", BROKEN), ("later", HELLO)]);
    node.provost(&["boot"]).expect(1);
    assert_snapshot!(cluster.ctl(&["nodes"]).transcript(), @"
    exit status 0
    ----- stdout -----
    NODE   STATUS  SINCE  STAGE   CAUSE          WHAT
    cn001  failed  [AGE]  broken  exit status 7  line 4: no disk
    1 node: 1 failed
    1 node sent the token by plain HTTP: cn001
    details: provostctl show cn001
    ");
    assert_snapshot!(cluster.ctl(&["show", "cn001"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: failed since [TIME] ([AGE] ago), last report [AGE] ago
      last ran provost [VERSION], bundle 1, plan 1
               machine  [FACTS]
      its token came by plain HTTP, where others can read it

    boot [ID] of [TIME]: failed after [DURATION] (attempt 1, bundle 1, plan 1)
      ok       fetch  [DURATION]
      ok       hello  [DURATION]
      FAILED   broken  [DURATION]
               outcome   exit status 7
               caller    7 main [DIR]/nodes/cn001/state/bundle/broken
               line      4 setup [DIR]/nodes/cn001/state/bundle/broken
               command   sh -c 'echo no disk >&2; exit 7'
               commands  1, 1 failed
               output    setting up
                         no disk
               hint      on cn001: see all its output: provost log broken; fix it, then: provost boot --continue
               log       provostctl log cn001 broken
      not run  later
    ");
    assert_snapshot!(cluster.ctl(&["show", "cn001", "--format", "json"]).transcript());
    assert_snapshot!(cluster.ctl(&["log", "cn001", "broken"]).transcript(), @"
    exit status 0
    ----- stdout -----
    | setting up
    $ sh -c 'echo no disk >&2; exit 7'
      | no disk
    # sh -c 'echo no disk >&2; exit 7' FAILED: exit status 7, [DURATION]
    ");
    let wait = ["wait-for", "cn001", "--status", "booted", "--since", "1m"];
    assert_snapshot!(cluster.ctl(&wait).transcript(), @"
    exit status 1
    ----- stderr -----
    waiting until cn001 is booted, for at most 20m, until [TIME]
    0 of 1 booted; 1 failed
    provostctl: cn001 failed: broken: exit status 7: 4 setup [DIR]/nodes/cn001/state/bundle/broken
      hint: on the node: see all its output: provost log broken; fix it, then: provost boot --continue
      hint: provostctl show cn001
    ");
    assert_snapshot!(cluster.ctl(&["release", "cn001"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: 1 attempt forgotten
    ");
}

#[test]
fn of_a_node_that_is_held() {
    let (cluster, node) = site(&[("broken", BROKEN)]);
    for code in [1, 1, 1, 4] {
        node.provost(&["boot"]).expect(code);
    }
    assert_snapshot!(cluster.ctl(&["nodes"]).transcript(), @"
    exit status 0
    ----- stdout -----
    NODE   STATUS  SINCE  CAUSE  WHAT
    cn001  failed  [AGE]  held   held after 3 failures; the last: broken, exit status 7, no disk
    1 node: 1 failed
    1 node sent the token by plain HTTP: cn001
    details: provostctl show cn001
    ");
    assert_snapshot!(cluster.ctl(&["release", "cn[001-002]"]).transcript(), @"
    exit status 1
    ----- stderr -----
    provostctl: no node was released: unknown cn002
      hint: list all nodes: provostctl nodes
    ");
    assert_snapshot!(cluster.ctl(&["release", "cn001"]).transcript(), @"
    exit status 0
    ----- stdout -----
    cn001: 3 attempts forgotten
    ");
}

#[test]
fn of_nodes_that_are_waited_for() {
    let (cluster, node) = site(&[("hello", HELLO)]);
    node.provost(&["boot"]).expect(0);
    cluster.ctl(&["token", "--force", "cn[002-003]"]).expect(0);
    let wait = ["wait-for", "cn[001-003]", "--status", "booted", "--timeout", "1s"];
    assert_snapshot!(cluster.ctl(&wait).transcript(), @"
    exit status 124
    ----- stderr -----
    waiting until cn[001-003] are booted, for at most 1s, until [TIME]
    1 of 3 booted; 2 defined
    provostctl: after 1s not all are booted:
    cn[002-003] defined
      hint: see what a node does: provostctl show NODE; or wait longer: --timeout D
    ");
}

/// A node that sends its first record with a program of this version.
fn report_with(cluster: &Cluster, node: &str, version: &str) {
    let token = cluster.ctl(&["token", "--force", node]).expect(0).stdout;
    let token = format!("Authorization: Bearer {}", token.split_whitespace().last().unwrap());
    let record = format!(
        r#"[{{"timestamp":"2026-11-20T17:00:01Z","phase":"service start","service":"boot","node":"{node}","run":"01a20688-7483-775c-a77a-2ab58dcfbd19","seq":1}}]"#
    );
    let url = format!("http://{}/v1/nodes/{node}/records", cluster.daemon().nodes());
    let program = format!("provost/{version}");
    let args = ["-sSf", "-A", &program, "-H", &token, "--data-binary", &record, &url];
    Out::from(std::process::Command::new("curl").args(args).output().unwrap()).expect(0);
}

/// The version that many minor versions newer than today's.
fn newer(minors: u64) -> String {
    let mut numbers = env!("CARGO_PKG_VERSION").split('.');
    let mut number = || numbers.next().unwrap().parse::<u64>().unwrap();
    format!("{}.{}.0", number(), number() + minors)
}

#[test]
fn of_versions() {
    let mut cluster = Cluster::new();
    cluster.start();
    let (next, after_next) = (newer(1), newer(2));
    let compat = |cluster: &Cluster, args: &[&str]| {
        let text = cluster.ctl(&[&["compat"], args].concat()).transcript();
        text.replace(&next, "[NEXT]").replace(&after_next, "[AFTER NEXT]")
    };
    assert_snapshot!(compat(&cluster, &[]));
    cluster.script("hello", HELLO).site("[nodes.cn001]\npostscripts = [\"hello\"]\n");
    cluster.publish().expect(0);
    report_with(&cluster, "cn001", "0.0.9");
    report_with(&cluster, "cn002", &next);
    assert_snapshot!(compat(&cluster, &[]));
    assert_snapshot!(compat(&cluster, &["--format", "json"]));
    report_with(&cluster, "cn003", &after_next);
    assert_snapshot!(compat(&cluster, &[]));
}
