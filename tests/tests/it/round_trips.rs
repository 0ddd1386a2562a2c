//! What TLS costs a node that is far from its management node: round trips that follow each other, counted.

use provost_tests::{Cluster, Node, Out, RoundTrips};

/// The fewest of so many boots count: a machine that is busy with something else makes them look more.
const BOOTS: usize = 5;

struct Far {
    cluster: Cluster,
    trips: RoundTrips,
    /// The near end of the way to the nodes' listener.
    near: String,
}

impl Far {
    fn new() -> Self {
        let mut cluster = Cluster::new();
        cluster.script("one", "#!/bin/sh\necho one\n");
        cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
        cluster.start();
        let trips = RoundTrips::default();
        let near = trips.to(&cluster.daemon().nodes());
        Self { cluster, trips, near }
    }

    /// Names TLS in what is published, by the way that is counted.
    fn publish_tls(&self) {
        let near = self.trips.to(&self.cluster.daemon().address("nodesTls"));
        let (tls, port) = (self.cluster.tls(), near.rsplit_once(':').map(|(_, port)| port));
        let keys = tls.split_once(':').map(|(_, keys)| keys);
        let tls = [port, keys].map(Option::unwrap_or_default).join(":");
        self.cluster.publish_with(&["--tls", &tls]).expect(0);
    }

    fn node(&self) -> Node {
        let node = self.cluster.node("cn001");
        node.configure(&self.cluster.settings_for(&[&self.near]));
        node
    }

    /// The round trips of a boot.
    fn boot(&self, node: &Node) -> u64 {
        let boot = |_| {
            self.trips.take();
            node.provost(&["boot"]).expect(0);
            self.trips.take()
        };
        (0..BOOTS).map(boot).min().unwrap()
    }
}

#[test]
fn a_boot_with_an_identity_takes_one_round_trip_more_than_with_a_token_by_plain_http() {
    let far = Far::new();
    let node = far.node();
    node.provost(&["boot"]).expect(0);
    let plain = far.boot(&node);
    far.publish_tls();
    let config = node.path("provost.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("token_file")).collect();
    std::fs::write(config, lines.join("\n")).unwrap();
    let join = far.cluster.ctl(&["join", "cn001"]).expect(0).stdout;
    let join = join.split_whitespace().last().unwrap();
    let first = node.command(&["boot"]).env("PROVOST_JOIN", join).output().unwrap();
    Out::from(first).expect(0);
    let with_identity = far.boot(&node);
    assert!(with_identity <= plain + 1, "{with_identity} round trips, and {plain} by plain HTTP");
}
