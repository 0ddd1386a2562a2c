//! What each command prints, and the exit status that it ends with.
//!
//! The snapshots are a contract: who changes one changes what users and their scripts see. Short
//! ones stand in the tests, long ones in `snapshots/`. To write them anew:
//! `cargo insta test --accept --test-runner nextest -p provost-tests -- cli_contract`

mod boot;
mod ctl;
mod daemon;
mod fleet;
mod help;
mod inspect;
mod plan;
mod publish;
mod run;
mod script;

use provost_tests::{Cluster, Node};

/// Ends well.
const HELLO: &str = "#!/bin/sh\necho \"hello from $NODE\"\n";

/// Fails in its line 4, in a function.
const BROKEN: &str = "#!/bin/bash\nset -e\nsetup() {\n    sh -c 'echo no disk >&2; exit 7'\n}\n\
     echo setting up\nsetup\n";

/// A management node that has published `scripts`, and its node `cn001`, which runs all of them.
fn site(scripts: &[(&str, &str)]) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    for (name, text) in scripts {
        cluster.script(name, text);
    }
    let names: Vec<&str> = scripts.iter().map(|(name, _)| *name).collect();
    cluster.site(&format!("[nodes.cn001]\npostscripts = {names:?}\n")).publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}
