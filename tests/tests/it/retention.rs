//! What of the nodes' history is kept, as an admin sees it.

use provost_tests::Cluster;

#[test]
fn the_newest_runs_are_kept_and_an_admin_sees_what_goes() {
    let mut cluster = Cluster::new();
    cluster.script("fails", "#!/bin/sh\nexit 1\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"fails\"]\n").publish().expect(0);
    cluster.configure_daemon("[retention]\nruns = 2\n[guard]\nmax_attempts = 100\n");
    cluster.start();
    let node = cluster.node("cn001");
    let guard = "[guard]\nmax_attempts = 100\n";
    node.configure(&format!("{}{guard}", cluster.settings_for(&[&cluster.daemon().nodes()])));
    for _ in 0..4 {
        node.provost(&["boot"]).expect(1);
    }
    let runs = || cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len();
    assert_eq!(runs(), 4);
    let prune = |args: &[&str]| cluster.ctl(&[&["prune"], args].concat()).expect(0).stdout;
    let would = prune(&["--dry-run"]);
    assert!(would.starts_with("would remove 2 runs with 12 records ("), "{would}");
    assert!(would.contains("and 2 logs ("), "{would}");
    assert_eq!(runs(), 4, "it only looked");
    assert_eq!(prune(&[]), would.replace("would remove", "removed"));
    assert_eq!(runs(), 2);
    assert!(prune(&["--dry-run"]).starts_with("would remove 0 runs"));
    let read_only = format!("http://{}", cluster.daemon().admin());
    let refused = cluster.ctl(&["--admin", &read_only, "prune"]).expect(1);
    assert!(refused.stderr.contains("read-only"), "{}", refused.stderr);
}
