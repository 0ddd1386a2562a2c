//! Many nodes that boot at once: what it costs real provostds, beside a server that stores nothing, and what
//! is published beside nginx.
//!
//! `cargo xtask bench storm` runs it. Compare ratios within one run: nodes, daemons and database share
//! the machine.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

mod gets;
mod identities;
mod logs;
mod null_server;
mod options;
mod processes;
mod simulated;
mod table;
#[path = "../common/usage.rs"]
mod usage;

use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use null_server::NullServer;
use options::Options;
use simulated::{Management, Network, Nodes, RECORDS, Storm};
use usage::{Usage, with_children};

/// A real node has a process of its own, which the memory of ten thousand others doesn't slow down.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    // Fails only where there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next()) {
        (Some(processes::SHARE), _) => return processes::simulate(),
        (Some(null_server::SERVE), Some(www)) => return null_server::serve_all(Path::new(&www)),
        _ => {}
    }
    let options = Options::read();
    let network = Network::enter();
    if options.identities {
        return identities::compare(&options, &network);
    }
    if options.logs {
        return logs::compare(&options, &network);
    }
    let nodes = Nodes::new(options.nodes);
    let range = nodes.range();
    let Some(mut management) = Management::start(&range, options.store, options.daemons, None)
    else {
        return;
    };
    let tokens = management.tokens(&range);
    println!("{options}, {RECORDS} records of each node");

    let processes = nodes.processes(options.over);
    let null = NullServer::start(&management.www(), nodes.at_once(options.over));
    let at_null = |n| management.settings_for(&[&network.server(n, null.port())]);
    let shares = nodes.shares("null", options.over, &tokens, at_null, processes);
    let theirs = measured(|| processes::boot(shares));
    drop(null);
    let settings = |n| management.settings(n, &network);
    let shares = nodes.shares("provostd", options.over, &tokens, settings, processes);
    let before = Servers::of(&management);
    let ours = measured(|| {
        std::thread::scope(|scope| {
            let storm = scope.spawn(|| processes::boot(shares));
            management.kill(options.kills, &mut Rng::new());
            storm.join().unwrap()
        })
    });
    table::compare(["provostd", "null"], &ours, &theirs);
    table::course("provostd", &ours);
    table::course("null", &theirs);
    // Those that were killed have taken it along.
    if options.kills == 0 {
        let used = Servers::of(&management).since(&before);
        table::of_each_boot("provostd", &used.daemons, options.nodes);
        if let Some(database) = &used.database {
            table::of_each_boot("PostgreSQL", database, options.nodes);
        }
        let [p50, p99] = [50, 99].map(|per| management.durable_within(per) * 1e3);
        println!(
            "provostd: half of the reports were durable within {p50} ms, 99 of 100 within {p99} ms"
        );
        gets::compare(&management);
    }
    println!("records sent again that were stored: {}", management.repeats());
    let incomplete = management.incomplete(&ours.storm.boots);
    let whole = options.nodes - incomplete.len();
    println!("nodes of which provostd has every record once, in order: {whole}");
    assert!(incomplete.is_empty(), "not all of them: {incomplete:?}");
}

/// A storm, and what its nodes have used.
struct Measured {
    storm: Storm,
    processor: Duration,
}

fn measured(storm: impl FnOnce() -> Storm) -> Measured {
    let before = Usage::of_all(&[std::process::id()]);
    let storm = storm();
    Measured { storm, processor: Usage::of_all(&[std::process::id()]).since(&before).processor }
}

/// What the management nodes have used so far.
struct Servers {
    daemons: Usage,
    database: Option<Usage>,
}

impl Servers {
    fn of(management: &Management) -> Self {
        let database = management.database().map(|pid| Usage::of_all(&with_children(pid)));
        Self { daemons: Usage::of_all(&management.daemons()), database }
    }

    fn since(self, before: &Self) -> Self {
        let database = self.database.zip(before.database.as_ref());
        Self {
            daemons: self.daemons.since(&before.daemons),
            database: database.map(|(now, before)| now.since(before)),
        }
    }
}
