//! The management nodes of a storm: daemons over one store, and what they have of the nodes' records.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use fastrand::Rng;
use provost_tests::{Cluster, Daemon, Postgres, processes};

use super::{Boot, Network, RECORDS, SCRIPTS};

/// How long daemons and their database live at most, where they are killed.
const LIFE: Duration = Duration::from_secs(1);

/// What the daemons keep their records in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Sqlite,
    /// A server of our own. Whether it syncs what it writes.
    Postgres {
        syncs: bool,
    },
}

/// Daemons that serve the same, over one store.
pub(crate) struct Management {
    cluster: Cluster,
    others: Vec<Daemon>,
    database: Option<Postgres>,
    /// Of the nodes' listener of each, also after it was killed and started again.
    ports: Vec<u16>,
}

impl Management {
    /// Publishes for the nodes of `range`, and starts so many daemons, the first with so many file
    /// descriptors, if that is limited. None where there is no such
    /// store, which is printed.
    pub(crate) fn start(
        range: &str,
        store: Store,
        daemons: usize,
        files: Option<u32>,
    ) -> Option<Self> {
        let missing = if store == Store::Sqlite { None } else { Postgres::missing() };
        if let Some(missing) = missing {
            eprintln!("no storm with this store: {missing}");
            return None;
        }
        let database = match store {
            Store::Sqlite => None,
            Store::Postgres { syncs: true } => Some(Postgres::start_synced()),
            Store::Postgres { syncs: false } => Some(Postgres::start()),
        };
        let mut cluster = site(range);
        let store = database.as_ref().map(|of| format!("store = {:?}\n", of.database("site")));
        let store = store.unwrap_or_default();
        cluster.configure_daemon(&format!("{store}[tls]\nlisten = {:?}\n", any_address(0)));
        if let Some(files) = files {
            cluster.limit_daemon_files(files);
        }
        cluster.start_at(&any_address(0));
        let others: Vec<Daemon> =
            (1..daemons).map(|n| cluster.start_in(&folder(n), &any_address(0))).collect();
        let all = std::iter::once(cluster.daemon()).chain(&others);
        let ports = all.map(|daemon| daemon.nodes().rsplit(':').next().unwrap().parse().unwrap());
        let ports = ports.collect();
        Some(Self { cluster, others, database, ports })
    }

    /// What is published.
    pub(crate) fn www(&self) -> PathBuf {
        self.cluster.www()
    }

    /// A node's settings for the servers at `addresses`.
    pub(crate) fn settings_for(&self, addresses: &[&str]) -> String {
        self.cluster.settings_for(addresses)
    }

    /// The settings of the node with that number: all daemons are its servers, and each is the first
    /// of as many nodes as the others.
    pub(crate) fn settings(&self, number: usize, network: &Network) -> String {
        let (before, after) = self.ports.split_at(number % self.ports.len());
        let servers = after.iter().chain(before).map(|port| network.server(number, *port));
        let servers: Vec<String> = servers.collect();
        self.settings_for(&servers.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The first daemon's listener for nodes.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.ports[0])
    }

    /// New tokens for the nodes of `range`.
    pub(crate) fn tokens(&self, range: &str) -> Vec<String> {
        let lines = self.cluster.ctl(&["token", range]).expect(0).stdout;
        let tokens = lines.lines().filter_map(|line| line.split(' ').nth(1));
        tokens.map(str::to_owned).collect()
    }

    /// Names TLS in what is published, and lets the nodes of `range` enrol from now on.
    pub(crate) fn open_window(&self, range: &str) {
        self.cluster.publish_with(&["--tls", &self.cluster.tls()]).expect(0);
        self.cluster.ctl(&["enroll", "open", range, "--for", "1h"]).expect(0);
    }

    /// Names no TLS any more.
    pub(crate) fn end_tls(&self) {
        self.cluster.publish_with(&["--tls", "off"]).expect(0);
    }

    /// How many connections the first daemon's `listener` has accepted so far.
    pub(crate) fn connections(&self, listener: &str) -> u64 {
        let text = page(&self.cluster.daemon().admin(), "/metrics");
        let name = format!("provost_connections_total{{listener={listener:?}}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name));
        line.map_or(0, |count| count.parse().unwrap())
    }

    /// The processes of the daemons.
    pub(crate) fn daemons(&self) -> Vec<u32> {
        let others = self.others.iter().map(Daemon::pid);
        std::iter::once(self.cluster.daemon().pid()).chain(others).collect()
    }

    /// The database's first process.
    pub(crate) fn database(&self) -> Option<u32> {
        self.database.as_ref().map(Postgres::pid)
    }

    /// Kills a daemon or the database, each in its turn, and starts it again: so many times, after a
    /// random time each. What a thread has started ends with it: the caller has to be the one that started
    /// them, or live as long.
    pub(crate) fn kill(&mut self, times: usize, rng: &mut Rng) {
        let daemons = self.ports.len();
        for round in 0..times {
            processes::until(LIFE.mul_f64(rng.f64()), || false);
            let turns = daemons + usize::from(self.database.is_some());
            match (round % turns, &mut self.database) {
                (0, _) => {
                    self.cluster.kill_daemon();
                    self.cluster.start_at(&any_address(self.ports[0]));
                }
                (n, _) if n < daemons => {
                    self.others.remove(n - 1).kill();
                    let again = self.cluster.start_in(&folder(n), &any_address(self.ports[n]));
                    self.others.insert(n - 1, again);
                }
                (_, Some(database)) => {
                    database.kill();
                    database.start_again();
                }
                (_, None) => {}
            }
        }
    }

    /// How many records came again that were stored.
    pub(crate) fn repeats(&self) -> u64 {
        self.counted("provost_record_repeats_total ")
    }

    /// How many logs were stored.
    pub(crate) fn logs(&self) -> u64 {
        self.counted("provost_logs_total ")
    }

    fn counted(&self, name: &str) -> u64 {
        let of = |text: String| {
            let line = text.lines().find_map(|l| l.strip_prefix(name));
            line.unwrap().parse::<u64>().unwrap()
        };
        self.metrics().map(of).sum()
    }

    /// Within how many seconds so many of 100 reports were durable, each from when it was there as a whole:
    /// what the nodes take to write it and to read the answer isn't in it. Up to a factor of two.
    pub(crate) fn durable_within(&self, per: u64) -> f64 {
        const BUCKET: &str = "provost_ingest_batch_seconds_bucket{le=\"";
        let mut within = BTreeMap::<u64, (f64, u64)>::new();
        for text in self.metrics() {
            for line in text.lines().filter_map(|line| line.strip_prefix(BUCKET)) {
                let (limit, count) = line.split_once("\"} ").unwrap();
                let limit = limit.parse().unwrap_or(f64::INFINITY);
                let count = count.parse::<u64>().unwrap();
                within.entry(limit.to_bits()).or_insert((limit, 0)).1 += count;
            }
        }
        let all = within.values().map(|(_, count)| *count).max().unwrap_or_default();
        let is_enough = |(_, count): &&(f64, u64)| count * 100 >= all * per;
        within.values().find(is_enough).map_or(0.0, |(limit, _)| *limit)
    }

    /// The metrics of each daemon.
    fn metrics(&self) -> impl Iterator<Item = String> {
        let others = self.others.iter().map(Daemon::admin);
        let all = std::iter::once(self.cluster.daemon().admin()).chain(others);
        all.map(|admin| page(&admin, "/metrics"))
    }

    /// The runs that don't have every record once, in order, by the node's own books; each with what
    /// there is.
    pub(crate) fn incomplete(&self, boots: &[Boot]) -> Vec<String> {
        let admin = self.cluster.daemon().admin();
        let seqs_of = |run: &str| {
            let text = page(&admin, &format!("/v1/runs/{run}/records"));
            let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap_or_default();
            records.iter().filter_map(|record| record["seq"].as_u64()).collect::<Vec<_>>()
        };
        let incomplete = |boot: &Boot| {
            let seqs = seqs_of(&boot.run);
            let is_whole = boot.records == RECORDS
                && boot.unreported == 0
                && seqs.iter().copied().eq(1..=RECORDS as u64);
            let Boot { run, records, unreported, .. } = boot;
            let text = format!("{run}: {records} written, {unreported} not sent, stored: {seqs:?}");
            (!is_whole).then_some(text)
        };
        boots.iter().filter_map(incomplete).collect()
    }
}

fn any_address(port: u16) -> String {
    format!("0.0.0.0:{port}")
}

/// Where the daemon with that number has what is its own.
fn folder(number: usize) -> String {
    format!("daemon-{number}")
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

/// What a daemon's read-only listener answers. By HTTP/1.0, so that it comes in one piece.
fn page(admin: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nhost: {admin}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}
