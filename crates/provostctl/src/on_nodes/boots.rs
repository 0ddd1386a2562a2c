//! What provostd is told of boots that go to nodes by ssh, so that `wait-for` doesn't take a status of
//! before for their outcome.

use provost_api::admins::{BOOTS, BootsRequest, Named};
use provost_record::ExitCode;

use super::row::{Outcome, Row};
use crate::client::Client;
use crate::node_set::NodeSet;
use crate::output;

/// The exit statuses of a run that has begun.
const OF_A_RUN: [ExitCode; 5] = [
    ExitCode::Done,
    ExitCode::PostscriptFailed,
    ExitCode::Fetch,
    ExitCode::Held,
    ExitCode::Interrupted,
];

/// Says that `nodes` are sent a boot.
pub(super) async fn are_sent(client: &Client, nodes: &NodeSet) {
    note(client, nodes.names.clone(), false).await;
}

/// Says of which nodes it came to nothing: they couldn't be reached, or ran nothing.
pub(super) async fn are_done(client: &Client, rows: &[Row]) {
    let has_run = |row: &Row| match row.outcome {
        Outcome::Ok | Outcome::Timeout => true,
        Outcome::Unreachable => false,
        Outcome::Failed => OF_A_RUN.iter().any(|code| row.exit_code == Some(*code as i32)),
    };
    let nodes: Vec<String> =
        rows.iter().filter(|row| !has_run(row)).map(|row| row.node.clone()).collect();
    if !nodes.is_empty() {
        note(client, nodes, true).await;
    }
}

async fn note(client: &Client, nodes: Vec<String>, withdrawn: bool) {
    let request = BootsRequest { nodes, withdrawn };
    if let Err(failure) = client.post::<Vec<Named>>(BOOTS, &request).await {
        output::note(&format!(
            "provostd doesn't know of this until the nodes report: {}",
            failure.error
        ));
    }
}
