//! The kernel refuses a write or a poll of the runner's. It says so, or goes on; it doesn't crash.

use std::process::Stdio;

use provost_tests::{Cluster, missing, processes, repeats, skip_if};

/// How many of its calls there are, about.
const CALLS: usize = 40;

#[test]
fn a_refused_call_is_no_crash() {
    skip_if(missing::program("strace", "strace"));
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one; /bin/echo two\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    for (call, error) in
        [("write", "EIO"), ("write", "ENOSPC"), ("write", "ENOMEM"), ("poll", "ENOMEM")]
    {
        for nth in (1..CALLS).step_by(repeats(2, 1)) {
            let inject = format!("inject={call}:error={error}:when={nth}");
            let by = ["strace", "-qq", "-o", "/dev/null", "-e", &inject];
            let mut run = node.command_by(&by, &["run", "one"]);
            let out = run.stdout(Stdio::null()).output().unwrap();
            let said = String::from_utf8_lossy(&out.stderr);
            assert!(
                out.status.code().is_some_and(|code| code <= 6),
                "{inject}: {:?}\n{said}",
                out.status
            );
        }
    }
    let left = processes::all_gone(node.path("").to_str().unwrap(), provost_tests::SOON);
    assert!(left.is_empty(), "{left:?}");
}
