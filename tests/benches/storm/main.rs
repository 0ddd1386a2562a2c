//! Many nodes that boot at once: what it costs a real provostd, beside a server that stores nothing.
//!
//! `cargo xtask bench storm` runs it. The nodes share this process, and each is the real node's code
//! from its settings to its last report: fetch, spool, reporter, their waits, retries and jitter.
//! What is left out is what no server sees: scripts are waits, and a node's folder is in memory.
//! Compare ratios within one run: nodes and daemon share the machine.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

mod books;
mod node;
mod null_server;
mod usage;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use books::{Books, Requests};
use node::{Boot, SimulatedNode};
use null_server::NullServer;
use provost_tests::Cluster;
use rustix::process::{Resource, getrlimit};
use usage::Usage;

/// Scripts that each node runs.
const SCRIPTS: usize = 28;
/// File descriptors of a node, and of the null server for it.
const FILES: u64 = 16;
/// Records of a node's boot: of the service, of `fetch`, and of the scripts.
const RECORDS: usize = 2 + 2 + 2 * SCRIPTS;

/// What is asked for on the command line.
struct Options {
    nodes: usize,
    /// Within which time all of them boot.
    over: Duration,
}

fn main() {
    // Fails only where there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = Options::read();
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let enough = options.nodes as u64 * FILES + 100;
    assert!(
        files >= enough,
        "{files} open files are too few: ulimit -n {enough}, or fewer --nodes"
    );
    let names: Vec<String> = (0..options.nodes).map(|n| format!("n{n:06}")).collect();
    let range = format!("n[{}-{}]", &names[0][1..], &names[names.len() - 1][1..]);
    let mut cluster = site(&range);
    cluster.start();
    let daemon = cluster.daemon();
    let tokens = cluster.ctl(&["token", &range]).expect(0).stdout;
    let tokens: Vec<&str> = tokens.lines().filter_map(|line| line.split(' ').nth(1)).collect();

    println!("{} nodes within {:?}, {RECORDS} records each", options.nodes, options.over);
    let memory = memory_folder();
    let storm = |name: &str, server: &str| {
        let settings = cluster.settings_for(&[server]);
        let set_up = |(node, token): (&String, &&str)| {
            SimulatedNode::set_up(&memory.path().join(name).join(node), node, token, &settings)
        };
        let nodes: Vec<SimulatedNode> = names.iter().zip(&tokens).map(set_up).collect();
        storm(nodes, options.over)
    };

    let null = NullServer::start(&cluster.www());
    let theirs = storm("null", null.address());
    let before = Usage::of(daemon.pid());
    let ours = storm("provostd", &daemon.nodes());
    let used = Usage::of(daemon.pid()).since(&before);
    let repeats = page(&cluster, "/metrics");
    let repeats =
        repeats.lines().find_map(|line| line.strip_prefix("provost_record_repeats_total "));
    let whole = ours.boots.iter().filter(|boot| is_stored(&cluster, boot)).count();

    print_both(&ours, &theirs, used.processor);
    let of_boot = |total: f64| total / options.nodes as f64;
    println!("provostd, for each boot of a node");
    println!("  processor time     {:>9.2} ms", of_boot(used.processor.as_secs_f64() * 1e3));
    println!("  written to disk    {:>9.1} KiB", of_boot(used.written as f64 / 1024.0));
    println!(
        "  written in all     {:>9.1} KiB (calls of write)",
        of_boot(used.calls as f64 / 1024.0)
    );
    println!("  peak memory        {:>9.1} MiB, of all together", used.memory as f64 / 1048576.0);
    println!("records sent again: {}", repeats.unwrap());
    println!("nodes of which provostd has every record once, in order: {whole}");
    assert!(whole == options.nodes && ours.all_is_done(), "not all of them");
}

/// Whether provostd has what the node wrote.
fn is_stored(cluster: &Cluster, boot: &Boot) -> bool {
    let text = page(cluster, &format!("/v1/runs/{}/records", boot.run));
    let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap_or_default();
    let seqs: Vec<_> = records.iter().filter_map(|record| record["seq"].as_u64()).collect();
    boot.records == RECORDS && seqs.into_iter().eq(1..=RECORDS as u64)
}

/// What a storm was like for its nodes.
struct Storm {
    took: Duration,
    /// Of this process: the nodes, and the null server if it is asked.
    processor: Duration,
    boots: Vec<Boot>,
    requests: Requests,
}

impl Storm {
    fn all_is_done(&self) -> bool {
        self.boots.iter().all(|boot| boot.unreported == 0)
    }
}

/// Boots all nodes. They are divided among as many threads as there are processors.
fn storm(nodes: Vec<SimulatedNode>, over: Duration) -> Storm {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut shares: Vec<Vec<SimulatedNode>> = (0..threads).map(|_| Vec::new()).collect();
    nodes.into_iter().enumerate().for_each(|(n, node)| shares[n % threads].push(node));
    let books = Books::open();
    let (begun, before) = (Instant::now(), Usage::of(std::process::id()));
    let boot_all = |share: Vec<SimulatedNode>| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let boots = share.into_iter().map(|node| local.spawn_local(node.boot(over)));
        let boots: Vec<_> = boots.collect();
        local.block_on(&runtime, async {
            let mut ended = Vec::new();
            for boot in boots {
                ended.push(boot.await.unwrap());
            }
            ended
        })
    };
    let boots = thread::scope(|scope| {
        let threads: Vec<_> =
            shares.into_iter().map(|share| scope.spawn(|| boot_all(share))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let processor = Usage::of(std::process::id()).since(&before).processor;
    Storm { took: begun.elapsed(), processor, boots, requests: books.close() }
}

fn print_both(ours: &Storm, theirs: &Storm, daemon: Duration) {
    let line = |what: &str, value: &dyn Fn(&Storm) -> f64, unit: &str| {
        let (ours, theirs) = (value(ours), value(theirs));
        let ratio = if theirs > 0.0 { format!("{:.2}", ours / theirs) } else { "-".to_owned() };
        println!("{what:<26}{ours:>10.1}{theirs:>10.1} {unit:<8}{ratio:>6}");
    };
    println!("{:<26}{:>10}{:>10} {:<8}{:>6}", "", "provostd", "null", "", "ratio");
    line("all booted after", &|storm| storm.took.as_secs_f64(), "s");
    for (name, per) in [("p50", 50), ("p99", 99), ("max", 100)] {
        let of = |times: fn(&Storm) -> Vec<Duration>| {
            move |storm: &Storm| percentile(times(storm), per).as_secs_f64() * 1e3
        };
        let boots = of(|storm| storm.boots.iter().map(|boot| boot.whole).collect());
        let fetches = of(|storm| storm.boots.iter().map(|boot| boot.fetch).collect());
        line(&format!("boot {name}"), &boots, "ms");
        line(&format!("fetch {name}"), &fetches, "ms");
        line(&format!("ack {name}"), &of(|storm| storm.requests.acks.clone()), "ms");
    }
    let records = |storm: &Storm| {
        storm.boots.iter().map(|b| b.records).sum::<usize>() as f64 / storm.took.as_secs_f64()
    };
    line("records", &records, "/s");
    let of_node = |count: usize, storm: &Storm| count as f64 / storm.boots.len() as f64;
    line("reports of a node", &|storm| of_node(storm.requests.acks.len(), storm), "");
    line("reports refused (5xx, 429)", &|storm| storm.requests.refused as f64, "");
    line("reports failed", &|storm| storm.requests.failed as f64, "");
    line("fetches tried again", &|storm| storm.requests.fetches as f64, "");
    line(
        "not reported in time",
        &|storm| storm.boots.iter().filter(|boot| boot.unreported > 0).count() as f64,
        "nodes",
    );
    line("processor, the nodes'", &|storm| storm.processor.as_secs_f64(), "s");
    println!("{:<26}{:>10.1}{:>10} s", "processor, provostd's", daemon.as_secs_f64(), "-");
}

fn percentile(mut times: Vec<Duration>, per: usize) -> Duration {
    times.sort_unstable();
    times
        .get((times.len() * per / 100).min(times.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

/// Publishes for the nodes of `range`, and makes nothing else.
fn site(range: &str) -> Cluster {
    let cluster = Cluster::new();
    let names: Vec<String> = (1..=SCRIPTS).map(|n| format!("s{n:02}")).collect();
    for name in &names {
        cluster.script(name, &format!("#!/bin/sh\necho {name} is done\n"));
    }
    let site = format!("[groups.all]\nnodes = \"{range}\"\npostscripts = {names:?}\n");
    cluster.site(&site).publish().expect(0);
    cluster
}

/// A folder that no disk has: thousands of nodes have thousands of disks.
fn memory_folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// What the daemon's read-only listener answers. By HTTP/1.0, so that it comes in one piece.
fn page(cluster: &Cluster, path: &str) -> String {
    let admin = cluster.daemon().admin();
    let mut stream = TcpStream::connect(&admin).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nhost: {admin}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

impl Options {
    fn read() -> Self {
        let mut options = Self { nodes: 1000, over: Duration::ZERO };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--nodes" => options.nodes = words.next().unwrap().parse().unwrap(),
                "--over" => {
                    let text = words.next().unwrap();
                    let limit =
                        (text != "0s").then(|| text.parse::<provost_bundle::Limit>().unwrap());
                    options.over = limit.map_or(Duration::ZERO, |limit| limit.duration());
                }
                // Cargo's own.
                "--bench" => {}
                other => panic!("unknown argument {other}; expected --nodes N or --over 60s"),
            }
        }
        options.nodes = options.nodes.max(1);
        options
    }
}
