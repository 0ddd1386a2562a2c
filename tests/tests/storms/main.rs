//! Hundreds of nodes boot at once, while their management nodes are killed: what was acknowledged is
//! stored, once, by the nodes' own books. Counts, not times. `cargo xtask test --long storms` has more
//! nodes and more kills.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../benches/storm/simulated/mod.rs"]
#[expect(dead_code, reason = "what the benchmark measures")]
mod simulated;

use std::time::Duration;

use fastrand::Rng;
use provost_tests::{Postgres, repeats, seed, skip_if};
use simulated::{Management, Network, Nodes, Store};

/// How many nodes boot, unless a long group has more.
const NODES: usize = 500;

/// Within which time they are switched on where something is killed, for each of them.
const OVER_EACH: Duration = Duration::from_millis(6);

#[test]
fn a_storm_on_a_daemon_that_is_killed_leaves_each_record_once() {
    storm(Store::Sqlite, 1);
}

#[test]
fn a_storm_on_two_daemons_that_are_killed_and_their_database_leaves_each_record_once() {
    skip_if(Postgres::missing());
    storm(Store::Postgres { syncs: false }, 2);
}

/// Nodes boot at once, eight for each place that the daemon has.
#[test]
fn nodes_for_which_there_is_no_place_are_told_when_to_come_and_all_boot() {
    const FILES: u32 = 512;
    let (network, nodes) = (Network::enter(), Nodes::new(NODES));
    let management = Management::start(&nodes.range(), Store::Sqlite, 1, Some(FILES)).unwrap();
    let tokens = management.tokens(&nodes.range());
    let settings = |n| management.settings(n, &network);
    let share = nodes.shares("storm", Duration::ZERO, &tokens, settings, 1).pop().unwrap();
    let storm = share.boot(2);
    assert_eq!(storm.boots.len(), NODES);
    let incomplete = management.incomplete(&storm.boots);
    assert!(incomplete.is_empty(), "{} of {NODES}: {incomplete:?}", incomplete.len());
    let is_unanswered = |why: &str| why.contains("reset by peer") || why.contains("closed before");
    let unanswered = storm.requests.fetches.iter().filter(|(why, _)| is_unanswered(why));
    let unanswered: usize = unanswered.map(|(_, count)| count).sum();
    let told = storm.requests.told;
    // A connection that says nothing for long may still be closed, as many do on a machine that is busy otherwise.
    assert!(told > 0 && unanswered * 2 < told, "{told} were told: {:?}", storm.requests.fetches);
}

fn storm(store: Store, daemons: usize) {
    let mut rng = Rng::with_seed(seed());
    let count = repeats(NODES, 4 * NODES);
    let (network, nodes) = (Network::enter(), Nodes::new(count));
    let mut management = Management::start(&nodes.range(), store, daemons, None).unwrap();
    let tokens = management.tokens(&nodes.range());
    let settings = |n| management.settings(n, &network);
    let over = OVER_EACH * count as u32;
    let share = nodes.shares("storm", over, &tokens, settings, 1).pop().unwrap();
    let storm = std::thread::scope(|scope| {
        let storm = scope.spawn(|| share.boot(2));
        management.kill(repeats(6, 60), &mut rng);
        storm.join().unwrap()
    });
    assert_eq!(storm.boots.len(), count);
    let incomplete = management.incomplete(&storm.boots);
    assert!(incomplete.is_empty(), "{} of {count}: {incomplete:?}", incomplete.len());
}
