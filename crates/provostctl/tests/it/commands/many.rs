//! A hundred thousand nodes. Measure with
//! `cargo nextest run --release -p provostctl --run-ignored only --no-capture many::`.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};

use super::*;

const NODES: usize = 100_000;

/// A store in which each twentieth node failed, for one of a few causes.
async fn fill(folder: &TempDir) {
    let data = folder.path().join("data");
    fs::create_dir_all(&data).unwrap();
    let store = Sqlite::open(&data).unwrap();
    let ingest = |number: usize| {
        let node = format!("cn{number:06}");
        let run = format!("01980000-0000-7000-8000-{number:012}");
        let batch = match number.is_multiple_of(20) {
            true => {
                let why = ["no space on", "no route to", "access denied by"][number / 20 % 3];
                let message = format!("step {number}\n{why} 10.0.0.{}\nmount failed", number % 250);
                json!([
                    record("boot", &run, 1, json!({"phase": "service start", "attempt": 1})),
                    record("boot", &run, 2, json!({"phase": "stage start", "stage": "mount"})),
                    record(
                        "boot",
                        &run,
                        3,
                        json!({
                            "phase": "stage end", "stage": "mount", "result": "failure",
                            "exitCode": 1, "cause": "exit", "errorLine": "12 main mount",
                            "errorMessage": message, "hint": "check the file server",
                        })
                    ),
                    record("boot", &run, 4, json!({"phase": "service end", "result": "failure"})),
                ])
            }
            false => good("boot", &run),
        };
        let reports: Vec<Report> = batch
            .as_array()
            .unwrap()
            .iter()
            .map(|record| {
                let mut record = record.clone();
                record["node"] = json!(node);
                Report::parse(&serde_json::value::to_raw_value(&record).unwrap()).unwrap()
            })
            .collect();
        let store = &store;
        async move { store.ingest(&node, reports, provost_record::now()).await.unwrap() }
    };
    let mut ingested = stream::iter((1..=NODES).map(ingest)).buffer_unordered(512);
    while ingested.next().await.is_some() {}
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute, and measures what an optimized build needs"]
async fn many_nodes_are_shown_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    fill(&folder).await;
    let daemon = serve(&folder).await;
    for args in [&["nodes", "--format", "json"][..], &["nodes"], &["nodes", "--group"]] {
        let mut best = Duration::MAX;
        for _ in 0..5 {
            let (begun, used) = (Instant::now(), cpu_time());
            assert_eq!(run(&folder, args).0, Some(0));
            best = best.min(cpu_time() - used);
            eprintln!("provostctl {}: {:?}", args.join(" "), begun.elapsed());
        }
        // Of the command and the daemon together: another program doesn't change it much.
        eprintln!("provostctl {}: {best:?} of the processor", args.join(" "));
        if !cfg!(debug_assertions) {
            assert!(best < Duration::from_secs(1), "{best:?}");
        }
    }
    daemon.stop().await;
}

/// What this process and its children have used of the processor (proc_pid_stat(5), in the usual
/// hundredths of a second).
fn cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(4);
    Duration::from_millis(fields.map(|ticks| ticks.parse::<u64>().unwrap() * 10).sum())
}
