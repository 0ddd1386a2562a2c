//! What scripts leave in their folder, where the next fetch finds it.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use provost_tests::processes::until;
use provost_tests::{Cluster, Node, Out, missing, pipe, skip_if};

/// The longest that a run may take here.
const PATIENCE: Duration = Duration::from_secs(30);

/// A node with the scripts `one`, which does `line`, and `two`, which isn't run.
fn cluster(line: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", &format!("#!/bin/sh -e\n{line}\n")).script("two", "#!/bin/sh\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

#[test]
fn what_is_no_file_any_more_is_fetched_again() {
    let (_cluster, node) = cluster("true");
    node.provost(&["boot"]).expect(0);
    let two = node.path("state/bundle/two");
    for put in [pipe as fn(&Path), |path| symlink("/dev/zero", path).unwrap()] {
        std::fs::remove_file(&two).unwrap();
        put(&two);
        let mut run = node.spawn(&["boot"]);
        let ended = until(PATIENCE, || run.try_wait().unwrap().is_some());
        run.kill().unwrap();
        assert!(ended && run.wait().unwrap().success(), "the run waits for it");
        assert!(two.symlink_metadata().unwrap().is_file());
    }
}

/// A script may mount there what holds more than scripts.
#[test]
fn what_is_mounted_there_is_not_removed() {
    skip_if(missing::mounts());
    let (cluster, node) = cluster("true");
    let share = cluster.path("a share");
    std::fs::create_dir(&share).unwrap();
    std::fs::write(share.join("precious"), "data").unwrap();
    let mount = format!("mkdir 'the mount'; mount --bind '{}' 'the mount'", share.display());
    cluster.script("one", &format!("#!/bin/sh -e\n{mount}\n")).publish().expect(0);
    // The folder has what isn't published, so that each run makes a new one.
    let thrice = "\"$@\" && \"$@\" && \"$@\"";
    let by = ["unshare", "--mount", "--propagation", "private", "sh", "-c", thrice, "sh"];
    Out::from(node.command_by(&by, &["boot"]).output().unwrap()).expect(0);
    assert_eq!(std::fs::read_to_string(share.join("precious")).unwrap(), "data");
    // Nothing is mounted there any more: nothing is left.
    cluster.script("two", "#!/bin/sh\n:\n").publish().expect(0);
    node.provost(&["run", "two"]).expect(0);
    assert_eq!(std::fs::read_dir(node.path("state/bundles")).unwrap().count(), 1);
}
