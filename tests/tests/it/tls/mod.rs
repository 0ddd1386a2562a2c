//! TLS of provostd's own: who reaches it, and who is kept from what nodes say.

mod expired;
mod lost;
mod nodes;
mod rotation;
mod third_parties;
mod unplanned;

use provost_tests::Cluster;

/// A management node with one script for `cn001`, published and running; TLS isn't named yet.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    cluster.site("[nodes.\"cn[001-002]\"]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    cluster
}
