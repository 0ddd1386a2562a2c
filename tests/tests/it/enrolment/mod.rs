//! Nodes get identities while they are provisioned, and not after; and who isn't one of them doesn't.

pub(crate) mod client;
pub(crate) mod nodes;
mod page;
mod secrets;
mod third_parties;
mod unpublished;

use provost_tests::Cluster;

/// A management node with one script for `cn[001-003]`, published with TLS and running with `more` in
/// its configuration. The plan of cn002 has an address, 10.9.9.9, and that of cn003 the tests'.
pub(crate) fn cluster_with(more: &str) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    let site = "[nodes.\"cn[001-003]\"]\npostscripts = [\"one\"]\n\
                [nodes.cn002.env]\nIPADDR = \"10.9.9.9/24\"\n[nodes.cn003.env]\nIPADDR = \"127.0.0.1\"\n";
    let site = site.replace("[nodes.\"cn[001-003]\"]", "[groups.all]\nnodes = \"cn[001-003]\"");
    cluster.site(&site).publish().expect(0);
    cluster.configure_daemon(more);
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    cluster
}

fn cluster() -> Cluster {
    cluster_with("")
}
