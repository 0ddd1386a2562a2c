//! What a store costs after 100 boots of 1,000 nodes, beside one that has had one boot: to take another
//! boot, to list all nodes, and to show each of them, first of the store alone, then as `provostctl`. The
//! rows alone, which SQLite takes in one thread with nothing else to do, are the floor of the first.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use provost_store::{Postgres, PostgresFiles, Quotas, Report, RunQuery, Sqlite, Store};
use provost_tests::{Daemon, Postgres as Server, program};
use serde_json::json;
use tokio::task::JoinSet;

const NODES: u32 = 1_000;
const BOOTS: u32 = 100;
/// Records of a boot, and how many of them come at once: half a second of a node with quick scripts.
const RECORDS: u64 = 60;
const BATCH: u64 = 10;
/// As many nodes report at the same moment.
const AT_ONCE: u32 = 100;
/// As often each figure is taken of both stores, in turn.
const ROUNDS: u32 = 5;
/// As often a command is run of both.
const COMMANDS: u32 = 100;

/// The records of one boot of a node.
fn boot(node: u32, boot: u32) -> Vec<Report> {
    let run = format!("01980000-0000-7{:03x}-8000-{node:012x}", boot % 4096);
    let record = |seq: u64| {
        let mut record = json!({
            "timestamp": "2026-11-20T17:00:09Z", "service": "boot", "node": name(node), "run": run, "seq": seq,
        });
        let more = match seq {
            1 => json!({"phase": "service start", "attempt": 1}),
            RECORDS => json!({"phase": "service end", "result": "success", "durationMs": 8203}),
            _ if seq.is_multiple_of(2) => {
                json!({"phase": "stage start", "stage": format!("script{seq}")})
            }
            _ => {
                json!({"phase": "stage end", "stage": format!("script{}", seq - 1), "result": "success",
                        "durationMs": 130, "exitCode": 0})
            }
        };
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Report::parse(&serde_json::value::to_raw_value(&record).unwrap()).unwrap()
    };
    (1..=RECORDS).map(record).collect()
}

fn name(node: u32) -> String {
    format!("cn{node:04}")
}

/// Boots all nodes. Returns how long the store took.
async fn boot_all(store: &Arc<dyn Store>, number: u32) -> Duration {
    let mut took = Duration::ZERO;
    for first in (0..NODES).step_by(AT_ONCE as usize) {
        let nodes = first..first + AT_ONCE;
        let boots: Vec<_> = nodes.map(|node| (name(node), boot(node, number))).collect();
        let begun = Instant::now();
        let mut reports = JoinSet::new();
        for (node, mut records) in boots {
            let store = Arc::clone(store);
            reports.spawn(async move {
                while !records.is_empty() {
                    let rest = records.split_off(records.len().min(BATCH as usize));
                    store.ingest(&node, records, Timestamp::now()).await.unwrap();
                    records = rest;
                }
            });
        }
        reports.join_all().await;
        took += begun.elapsed();
    }
    took
}

async fn list(store: &Arc<dyn Store>) -> Duration {
    let begun = Instant::now();
    assert_eq!(store.nodes().await.unwrap().len(), NODES as usize);
    begun.elapsed()
}

/// Shows each node as `provostctl show` asks for it.
async fn show_all(store: &Arc<dyn Store>) -> Duration {
    let begun = Instant::now();
    for node in 0..NODES {
        let query = RunQuery { whole: 1, brief: 10, also: None };
        assert!(!store.runs(&name(node), query).await.unwrap().runs.is_empty());
    }
    begun.elapsed()
}

/// The rows of one boot of all nodes in a table of SQLite, with an index by what they are known by.
fn floor() -> Duration {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut db = rusqlite::Connection::open(folder.path().join("floor.db")).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE record (node TEXT, run TEXT, seq INTEGER, json TEXT, PRIMARY KEY (node, run, seq)) WITHOUT ROWID",
    )
    .unwrap();
    let boots: Vec<Report> = (0..NODES).flat_map(|node| boot(node, 0)).collect();
    let begun = Instant::now();
    for rows in boots.chunks((AT_ONCE * BATCH as u32) as usize) {
        let change = db.transaction().unwrap();
        let mut add = change.prepare_cached("INSERT INTO record VALUES (?, ?, ?, ?)").unwrap();
        for Report { record, json, .. } in rows {
            add.execute((&record.node, &record.run, record.seq as i64, json.get())).unwrap();
        }
        drop(add);
        change.commit().unwrap();
    }
    begun.elapsed()
}

/// Boots the nodes of one store once and of the other 100 times, and prints what each figure is of both.
async fn compare(what: &str, stores: [Arc<dyn Store>; 2]) {
    for number in 0..BOOTS {
        boot_all(&stores[1], number).await;
    }
    boot_all(&stores[0], 0).await;
    let mut figures: [[Vec<Duration>; 2]; 3] = Default::default();
    for round in 0..ROUNDS {
        for (i, store) in stores.iter().enumerate() {
            figures[1][i].push(list(store).await);
            figures[2][i].push(show_all(store).await);
            // Each has had some more, then.
            figures[0][i].push(boot_all(store, BOOTS + round).await);
        }
    }
    for (name, figures) in
        ["take a boot of all nodes", "list all nodes", "show each node"].iter().zip(figures)
    {
        let one = print(what, name, figures);
        if name.starts_with("take") && what == "SQLite" {
            let floor = floor().as_secs_f64() * 1000.0;
            println!(
                "{what:<11} {:<25} {floor:>9.1} ms: {:.2} of what the store took",
                "the rows alone",
                floor / one
            );
        }
    }
}

/// Prints the median of what something took of both stores, in milliseconds. Returns that of the first.
fn print(what: &str, name: &str, mut figures: [Vec<Duration>; 2]) -> f64 {
    let [one, many] = figures.each_mut().map(|times| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1000.0
    });
    println!(
        "{what:<11} {name:<25} {one:>9.1} ms after 1 boot {many:>9.1} ms after {BOOTS}: {:.2}",
        many / one
    );
    one
}

/// The same of commands, which ask a daemon. It keeps all runs.
fn commands(what: &str, folders: [&Path; 2], stores: [&str; 2]) {
    let daemons = [0, 1].map(|i| {
        let text = format!("{}[retention]\nruns = 1000\n", stores[i]);
        std::fs::write(folders[i].join("provostd.more.toml"), text).unwrap();
        Daemon::start(folders[i], &folders[i].join("www"), "127.0.0.1:0")
    });
    for (name, args) in
        [("provostctl nodes --long", ["nodes", "--long"]), ("provostctl show", ["show", "cn0001"])]
    {
        let mut figures: [Vec<Duration>; 2] = Default::default();
        for _ in 0..COMMANDS {
            for (daemon, times) in daemons.iter().zip(&mut figures) {
                let mut command = Command::new(program("provostctl"));
                command.args(args).env("PROVOSTCTL_ADMIN", daemon.socket()).stdout(Stdio::null());
                let begun = Instant::now();
                assert!(command.status().unwrap().success());
                times.push(begun.elapsed());
            }
        }
        print(what, name, figures);
    }
}

#[tokio::main]
async fn main() {
    let folders = [0, 1].map(|_| tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let folders = folders.each_ref().map(tempfile::TempDir::path);
    let data = folders.map(|folder| folder.join("provostd"));
    data.iter().for_each(|data| std::fs::create_dir(data).unwrap());
    let open = |i: usize| Arc::new(Sqlite::open(&data[i]).unwrap()) as Arc<dyn Store>;
    compare("SQLite", [open(0), open(1)]).await;
    commands("SQLite", folders, [""; 2]);
    if let Some(missing) = Server::missing() {
        return println!("PostgreSQL isn't measured: {missing}");
    }
    let server = Server::start_synced();
    let urls = ["one", "many"].map(|name| server.database(name));
    let open = async |url: &str| {
        let store =
            Postgres::open(&url.parse().unwrap(), &PostgresFiles::default(), Quotas::default())
                .await;
        Arc::new(store.unwrap()) as Arc<dyn Store>
    };
    compare("PostgreSQL", [open(&urls[0]).await, open(&urls[1]).await]).await;
    let stores = urls.map(|url| format!("store = {url:?}\n"));
    commands("PostgreSQL", folders, stores.each_ref().map(String::as_str));
}
