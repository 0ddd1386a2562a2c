//! The same nodes with the logs of all steps, and with those of failed ones alone, of which there are none: what the
//! logs cost the boots, and when they are there.

use std::time::Duration;

use crate::options::Options;
use crate::simulated::{Management, Network, Nodes, SCRIPTS, Share};
use crate::{Servers, measured, processes, table};

/// The most that a storm may take with logs, of the time that it takes without.
const GOAL: f64 = 1.2;

/// Prints both.
pub(crate) fn compare(options: &Options, network: &Network) {
    let nodes = Nodes::new(options.nodes);
    let range = nodes.range();
    let management = Management::start(&range, options.store, options.daemons, None);
    let Some(management) = management else { return };
    let tokens = management.tokens(&range);
    println!("{options}, {SCRIPTS} logs of each node");
    let settings = |n| management.settings(n, network);
    let shares =
        |name| nodes.shares(name, options.over, &tokens, settings, nodes.processes(options.over));
    let without = measured(|| processes::boot(shares("failed")));
    let before = Servers::of(&management);
    let with_logs = shares("all").into_iter().map(Share::with_logs).collect();
    let with = measured(|| processes::boot(with_logs));
    let used = Servers::of(&management).since(&before);
    table::compare(["all logs", "failed"], &with, &without);
    table::course("all logs", &with);
    table::course("failed", &without);
    table::of_each_boot("provostd with all logs", &used.daemons, options.nodes);
    let later: Vec<Duration> = with.storm.boots.iter().filter_map(|boot| boot.logs).collect();
    let last = later.iter().max().copied().unwrap_or(with.storm.took);
    println!(
        "logs stored: {} of {}, the last after {:.1} s; nodes that uploaded some after their run: {}",
        management.logs(),
        options.nodes * SCRIPTS,
        last.as_secs_f64(),
        later.len()
    );
    let ratio = with.storm.took.as_secs_f64() / without.storm.took.as_secs_f64();
    println!("the storm took {ratio:.2} of the time without logs (goal {GOAL})");
    let incomplete = management.incomplete(&with.storm.boots);
    assert!(incomplete.is_empty(), "not all records: {incomplete:?}");
}
