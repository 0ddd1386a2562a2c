//! A site that moves from one store to another.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fastrand::Rng;
use provost_tests::{Cluster, Out, Postgres, processes, program, seed};

/// How often a copy is killed.
const KILLS: usize = 8;
/// How many records it copies: more than are copied until it is killed.
const RECORDS: u32 = 60_000;

fn copy(from: &str, to: &str) -> Command {
    let mut command = Command::new(program("provostctl"));
    command.args(["store", "copy", "--from", from, "--to", to]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn copied(from: &str, to: &str) -> Out {
    copy(from, to).output().unwrap().into()
}

fn sqlite(data: &Path) -> String {
    format!("sqlite:{}", data.display())
}

#[test]
fn a_site_moves_to_postgres_and_back_and_its_nodes_go_on() {
    let server = Postgres::start();
    let mut cluster = Cluster::new();
    cluster.script("fails", "#!/bin/sh\necho because\nexit 7\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"fails\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(1);
    let (data, url) = (cluster.path("provostd"), server.database("site"));
    let shown = |cluster: &Cluster| {
        let runs = cluster.ctl_json(&["show", "cn001"])["runs"].clone();
        (runs, cluster.ctl(&["log", "cn001", "fails"]).expect(0).stdout)
    };
    let before = shown(&cluster);
    let running = copied(&sqlite(&data), &url).expect(0);
    assert!(
        running.stdout.starts_with("copied 1 node, 1 run, 6 records and 1 log from "),
        "{running:?}"
    );
    running.says(&["isn't in the copy", "systemctl stop provostd"]);
    copied(&sqlite(&data), &url).expect(1).says(&["it has a store already", "createdb"]);

    let address = cluster.kill_daemon();
    cluster.configure_daemon(&format!("store = {url:?}\n"));
    cluster.start_at(&address);
    assert_eq!(shown(&cluster), before);
    // By the token that it has; and its attempts are known.
    node.provost(&["boot"]).expect(1);
    assert_eq!(cluster.status("cn001")["attempt"], 2);

    cluster.kill_daemon();
    let back = copied(&url, &sqlite(&data)).expect(1).says(&["it has a store already"]);
    // As the hint has it.
    let (_, line) = back.stderr.split_once("move the store aside: ").unwrap();
    let moved = Command::new("sh").args(["-c", line.trim_end()]).output().unwrap();
    Out::from(moved).expect(0);
    copied(&url, &sqlite(&data)).expect(0);
    cluster.configure_daemon("");
    cluster.start_at(&address);
    assert_eq!(cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len(), 2);
    node.provost(&["boot"]).expect(1);
    assert_eq!(cluster.status("cn001")["attempt"], 3);
}

#[test]
fn a_copy_that_is_killed_leaves_nothing_that_is_served_and_is_made_again() {
    let server = Postgres::start();
    let mut rng = Rng::with_seed(seed());
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    cluster.publish().expect(0);
    let url = server.database("site");
    cluster.configure_daemon(&format!("store = {url:?}\n"));
    cluster.start();
    cluster.node("cn001").provost(&["boot"]).expect(0);
    cluster.kill_daemon();
    let many = format!(
        "INSERT INTO provost.record SELECT run, n, n, 2, '{{}}' FROM provost.record,
         generate_series(100, {RECORDS}) AS n WHERE seq = 1"
    );
    server.sql("site", &many);
    let count = "SELECT sum(last - seq + 1) FROM provost.record";
    let all = server.sql("site", count);

    let (data, other) = (cluster.path("copy/provostd"), server.database("other"));
    let config = cluster.path("copy.toml");
    std::fs::write(&config, format!("data = {data:?}\nwww = {:?}\n", cluster.www())).unwrap();
    let mut cut_off = [0, 0];
    for (to, cut_off) in [sqlite(&data), other.clone()].iter().zip(&mut cut_off) {
        for _ in 0..KILLS {
            let mut child = copy(&url, to).spawn().unwrap();
            processes::until(Duration::from_millis(rng.u64(10..100)), || false);
            child.kill().unwrap();
            if child.wait().unwrap().success() {
                break;
            }
            *cut_off += 1;
            if data.join("provost.db.partial").exists() {
                let out = Command::new(program("provostd")).arg("--config").arg(&config).output();
                Out::from(out.unwrap()).expect(1).says(&["copy that was interrupted", "again"]);
            }
        }
        let last = copied(&url, to);
        if last.code != Some(0) {
            last.expect(1).says(&["it has a store already"]);
        }
    }
    assert!(cut_off.iter().all(|n| *n > 0), "{cut_off:?}");
    assert_eq!(server.sql("other", count), all);
    let back = server.database("back");
    let out = copied(&sqlite(&data), &back).expect(0);
    assert!(out.stdout.contains(&format!("{all} records")), "{}", out.stdout);
}
