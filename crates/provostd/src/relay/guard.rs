//! The guard while no upstream can be reached: what is spooled of a node are attempts that no management
//! node has counted yet.

use std::collections::HashSet;

use jiff::Timestamp;
use provost_store::{NodeState, Standing, StoreError};

use super::shared::Relay;
use crate::ingest;

/// The attempts of `node` that are spooled, without its run `current`.
pub(super) async fn standing(
    relay: &Relay,
    node: &str,
    current: Option<&str>,
) -> Result<Standing, StoreError> {
    let mut state = NodeState::new(node, Timestamp::UNIX_EPOCH);
    let mut runs = HashSet::new();
    for body in relay.spool.newest(node).await? {
        // It was checked when it came.
        for report in ingest::parse(node, &body).unwrap_or_default() {
            let is_first = runs.insert(report.record.run.clone());
            // The order in which they came is that of the spool.
            state.apply(&report.record, is_first.then_some(Timestamp::UNIX_EPOCH));
        }
    }
    Ok(state.standing(current))
}
