use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Cluster, processes, program};

/// How soon after it can be told the management node has to know why a node failed.
pub const SOON: Duration = Duration::from_secs(5);

/// Somebody who waits at the management node for a node's failure.
pub struct Waiting<'c> {
    cluster: &'c Cluster,
    node: String,
    child: Child,
}

impl<'c> Waiting<'c> {
    /// Begins to wait for the failure of `node`.
    pub fn for_failure_of(cluster: &'c Cluster, node: &str) -> Self {
        let child = Command::new(program("provostctl"))
            .args(["--admin", &cluster.daemon().socket(), "wait-for", node])
            .args(["--status", "failed", "--timeout", "10m"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { cluster, node: node.to_owned(), child }
    }

    /// Sees that the failure is told soon after `since`. Returns the node object.
    #[track_caller]
    pub fn is_told_soon_after(mut self, since: Instant) -> Value {
        let pidfd = processes::open(self.child.id().cast_signed()).unwrap();
        let in_time = processes::ready(&pidfd, SOON.saturating_sub(since.elapsed()));
        let took = since.elapsed();
        let node = self.cluster.status(&self.node);
        assert!(in_time, "it isn't told after {took:?}: {node:#}");
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{node:#}");
        node
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
