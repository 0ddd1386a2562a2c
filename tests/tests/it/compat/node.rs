//! What a node's program wrote is read by today's, which goes on from there.

use provost_tests::faults::{Fault, Faulty, Times};

use super::{Recording, document, includes};

#[test]
fn what_ran_is_shown_as_it_was() {
    for recording in Recording::all() {
        let mut cluster = recording.published();
        let server = cluster.start().nodes();
        for name in ["cn001", "cn002", "cn003", "cn009"] {
            let node = recording.node(&cluster, name, &server);
            for (command, expected) in recording.printed(&format!("nodes/{name}/printed.json")) {
                let args: Vec<&str> = command.split(' ').chain(["--format", "json"]).collect();
                let today = document(node.provost(&args));
                includes(
                    &today,
                    &expected,
                    &format!("{}: {name}: {command}", recording.0.display()),
                );
            }
            for command in ["status", "analyze", "log"] {
                assert!(!node.provost(&[command]).stdout.is_empty());
            }
        }
    }
}

#[test]
fn the_next_boot_goes_on_from_there() {
    for recording in Recording::all() {
        let cluster = recording.cluster("sqlite/after.db.zst");
        let node = recording.node(&cluster, "cn001", &cluster.daemon().nodes());
        let journal = node.journal("boot");
        node.provost(&["boot"]).expect(0);
        let now = node.journal("boot");
        assert_eq!(now[..journal.len()], journal, "what was there stays");
        let skipped = now[journal.len()..].iter().filter(|record| !record["skipped"].is_null());
        let skipped: Vec<_> = skipped.map(|record| record["stage"].as_str().unwrap()).collect();
        assert_eq!(skipped, ["once", "change"], "its markers say that it is done");
        assert_eq!(cluster.status("cn001")["status"], "booted");
        // The one that failed fails again, at its next attempt.
        let node = recording.node(&cluster, "cn002", &cluster.daemon().nodes());
        let before = node.status()["attempt"].as_u64().unwrap();
        node.provost(&["boot"]).expect(1);
        assert_eq!(node.status()["attempt"], before + 1);
    }
}

#[test]
fn what_was_published_is_fetched_and_verified() {
    for recording in Recording::all() {
        let cluster = recording.cluster("sqlite/after.db.zst");
        let node = recording.new_node(&cluster, "cn001", &cluster.daemon().nodes());
        node.provost(&["boot"]).expect(0);
        let journal = node.journal("boot");
        assert!(journal.iter().all(|record| record["skipped"].is_null()), "it is new");
        // What isn't as it was signed then is refused.
        let server = Faulty::before(cluster.daemon().nodes());
        for path in ["/manifest.toml", "/manifests/"] {
            server.fault(path, Times::Always, Fault::Flip(30));
        }
        let node = recording.new_node(&cluster, "cn002", server.address());
        node.provost(&["boot"]).expect(3);
    }
}
