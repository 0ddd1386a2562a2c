//! The same nodes by plain HTTP with tokens, and over TLS with identities: what it costs them to come by
//! one, and then to boot.

use crate::options::Options;
use crate::simulated::{Management, Network, Nodes, Share, Storm};
use crate::{Measured, Servers, measured, processes, table};

/// Enrolling so many nodes at once takes less than [`ENROL_S`].
const ENROL_NODES: f64 = 1000.0;
/// Seconds.
const ENROL_S: f64 = 10.0;

/// One of both ways, and what it has cost.
struct Way {
    /// The first fetch of nodes that remember nothing.
    first: Measured,
    /// The boot after that.
    boot: Measured,
    servers: Servers,
    /// Connections of the boots, by plain HTTP and over TLS.
    connections: [u64; 2],
}

/// Prints both.
pub(crate) fn compare(options: &Options, network: &Network) {
    let nodes = Nodes::new(options.nodes);
    let range = nodes.range();
    let Some(management) = Management::start(&range, options.store, 1, None) else { return };
    println!("{options}, by plain HTTP with tokens and over TLS with identities");
    let settings = |n| management.settings(n, network);
    let shares = |name, tokens: &[String]| {
        nodes.shares(name, options.over, tokens, settings, nodes.processes(options.over))
    };
    // First: a window is for nodes that haven't booted yet.
    management.open_window(&range);
    let tls = Way::measure(&management, || shares("identities", &[]));
    management.end_tls();
    let tokens = management.tokens(&range);
    let plain = Way::measure(&management, || shares("tokens", &tokens));

    let enrolment = tls.first.storm.took.as_secs_f64();
    let goal = ENROL_S * options.nodes as f64 / ENROL_NODES;
    println!(
        "{} nodes have enrolled and fetched after {enrolment:.1} s (goal {goal:.1} s)",
        options.nodes
    );
    println!("the first fetch, of nodes that remember nothing");
    table::compare(["enrolled", "tokens"], &tls.first, &plain.first);
    println!("the boot after that");
    table::compare(["TLS", "plain"], &tls.boot, &plain.boot);
    table::course("TLS", &tls.boot);
    table::course("plain", &plain.boot);
    for (name, way) in [("provostd over TLS", &tls), ("provostd by plain HTTP", &plain)] {
        table::of_each_boot(name, &way.servers.daemons, options.nodes);
        let [plain, tls] = way.connections.map(|count| count as f64 / options.nodes as f64);
        println!("  connections        {plain:>9.2} by plain HTTP, {tls:.2} over TLS");
    }
    for way in [&tls, &plain] {
        let incomplete = management.incomplete(&way.boot.storm.boots);
        assert!(incomplete.is_empty(), "not all records: {incomplete:?}");
    }
}

impl Way {
    fn measure(management: &Management, shares: impl Fn() -> Vec<Share>) -> Self {
        let connections = || ["nodes", "nodes_tls"].map(|name| management.connections(name));
        let boot = |shares: Vec<Share>| measured(|| -> Storm { processes::boot(shares) });
        let first = boot(shares().into_iter().map(Share::only_fetching).collect());
        let (servers, before) = (Servers::of(management), connections());
        let boot = boot(shares());
        let servers = Servers::of(management).since(&servers);
        let connections = std::array::from_fn(|n| connections()[n] - before[n]);
        Self { first, boot, servers, connections }
    }
}
