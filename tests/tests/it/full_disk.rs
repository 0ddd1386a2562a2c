//! On a full disk, what makes room or takes rights away works: an admin needs it then.

use std::collections::HashMap;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use provost_tests::{Cluster, Out, Postgres, SmallDisk};
use serde_json::Value;
use tempfile::TempDir;

/// How many nodes there are.
const NODES: usize = 300;

/// The nodes' tokens, by their names.
type Tokens = HashMap<String, String>;

/// Starts a daemon for nodes that all have tokens.
fn start(cluster: &mut Cluster, config: &str) -> Tokens {
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    let all = format!("cn[1-{NODES}]");
    let site = format!("[groups.all]\nnodes = \"{all}\"\npostscripts = [\"hello\"]\n");
    cluster.site(&site).publish().expect(0);
    cluster.configure_daemon(config);
    cluster.start();
    let made = cluster.ctl(&["token", &all]).expect(0).stdout;
    let pair = |line: &str| line.split_once(' ').map(|(node, token)| (node.into(), token.into()));
    made.lines().filter_map(pair).collect()
}

/// Runs provostctl with what `args` makes of 1, 2 and so on, until it is refused. Returns where, and what it says.
fn first_refused(cluster: &Cluster, args: impl Fn(usize) -> String) -> (usize, Out) {
    let run = |n| {
        let out = cluster.ctl(&args(n).split(' ').collect::<Vec<_>>());
        (out.code != Some(0)).then_some((n, out))
    };
    (1..=NODES).find_map(run).expect("the disk is never full")
}

/// What the daemon answers when a node asks for its plan.
fn asks_for_plan(cluster: &Cluster, tokens: &Tokens, node: &str) -> String {
    let mut stream = TcpStream::connect(cluster.daemon().nodes()).unwrap();
    let token = &tokens[node];
    let request = format!(
        "GET /plans/{node}.toml HTTP/1.0\r\nHost: provostd\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn a_full_disk_takes_prune_remove_revoke_and_admin_remove() {
    let mut cluster = Cluster::new();
    let data = cluster.path("provostd");
    let disk = SmallDisk::mount(&data, "24m");
    let tokens = start(&mut cluster, "[quota]\nreserve_mib = 4\n[retention]\nruns = 1\n");
    let node = cluster.node("cn1");
    for _ in 0..3 {
        node.provost(&["boot"]).expect(0);
    }
    cluster.ctl(&["admin", "add", "lee", "--role", "operate", "--for", "30d"]).expect(0);

    disk.fill();
    let (_, refused) = first_refused(&cluster, |n| format!("token --force x{n}n[1-500]"));
    refused.expect(1).says(&["make room on the file system of"]);
    for n in 2..100 {
        let node = format!("cn{n}");
        assert_eq!(asks_for_plan(&cluster, &tokens, &node), "200");
        cluster.ctl(&["revoke", &node]).expect(0);
        assert_eq!(asks_for_plan(&cluster, &tokens, &node), "401");
    }
    let pruned = cluster.ctl(&["prune"]).expect(0).stdout;
    assert!(pruned.starts_with("removed 2 runs"), "{pruned}");

    // A daemon that starts on a full disk has it, too.
    disk.fill();
    let address = cluster.kill_daemon();
    cluster.start_at(&address);
    cluster.ctl(&["revoke", "cn100"]).expect(0);
    cluster.ctl(&["remove", "--yes", "cn101"]).expect(0);
    cluster.ctl(&["admin", "remove", "lee"]).expect(0);
    // What was removed has left room within the database, which a few more tokens fill.
    let (_, refused) = first_refused(&cluster, |n| format!("token --force y{n}n[1-500]"));
    refused.expect(1).says(&["make room on the file system of"]);
    for action in ["prune", "revoke", "remove", "admin remove"] {
        let audit = cluster.ctl_json(&["audit"]);
        let is_done = |entry: &Value| entry["action"] == action && entry["result"] == "done";
        assert!(audit.as_array().unwrap().iter().any(is_done), "{action}: {audit}");
    }

    disk.make_room();
    cluster.ctl(&["token", "cn102"]).expect(0);
    let reserve = fs::metadata(data.join("reserve")).unwrap();
    assert_eq!(reserve.len(), 4 << 20, "it is whole again");
    assert!(reserve.blocks() * 512 >= reserve.len(), "and has its room");
}

#[test]
fn a_daemon_makes_no_store_without_tables_on_a_full_disk() {
    let mut cluster = Cluster::new();
    let data = cluster.path("provostd");
    let disk = SmallDisk::mount(&data, "24m");
    cluster.configure_daemon("[quota]\nreserve_mib = 4\n");
    cluster.start();
    let address = cluster.kill_daemon();
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("provost.db") || name == "reserve" {
            fs::remove_file(path).unwrap();
        }
    }
    disk.fill();
    for _ in 0..2 {
        let out = cluster.daemon_command(&[]).expect(1);
        out.says(&["opening ", "provost.db: ", "hint: make room on the file system of"]);
    }
    disk.make_room();
    cluster.start_at(&address);
    assert_eq!(cluster.ctl_json(&["nodes"]), serde_json::json!([]));
}

#[test]
fn a_revocation_that_a_full_database_cannot_store_is_refused_until_there_is_room() {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let tablespace = folder.path().join("tablespace");
    let disk = SmallDisk::mount(&tablespace, "24m");
    chown(&tablespace, Some(Postgres::USER), Some(Postgres::USER)).unwrap();
    let server = Postgres::start();
    server.sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", tablespace.display()));
    let url = server.database_in("site", "small");
    let mut cluster = Cluster::new();
    let tokens = start(&mut cluster, &format!("store = {url:?}\n"));

    disk.fill();
    let (n, refused) = first_refused(&cluster, |n| format!("revoke cn{n}"));
    refused.expect(1).says(&["No space left on device", "make room on the disk of the database"]);
    for before in 1..n {
        assert_eq!(asks_for_plan(&cluster, &tokens, &format!("cn{before}")), "401");
    }
    let node = format!("cn{n}");
    assert_eq!(asks_for_plan(&cluster, &tokens, &node), "200", "as it was said");

    disk.make_room();
    cluster.ctl(&["revoke", &node]).expect(0);
    assert_eq!(asks_for_plan(&cluster, &tokens, &node), "401");
}

#[test]
fn a_key_that_a_full_disk_cannot_store_is_refused_with_a_hint_about_the_disk() {
    let cluster = Cluster::new();
    let folder = cluster.path("small");
    let disk = SmallDisk::mount(&folder, "1m");
    disk.fill();
    let out = cluster.ctl(&["key", "new", "--out", folder.to_str().unwrap()]).expect(1);
    out.says(&["No space left on device", "hint: make room where "]);
}
