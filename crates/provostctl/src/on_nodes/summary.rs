use provost_plan::nodes::fold;
use provost_steplog::Paint;
use provost_steplog::terminal::escape_cell;
use provost_store::{Detail, FailureGroup, Node, Status, failure_groups, words};

use super::row::{Outcome, Row, head};
use crate::failure::{Failure, TIMED_OUT};
use crate::text;

/// How wide the count and the result of a group are, in columns; so much is a message indented.
const INDENT: usize = 20;

/// The nodes by how it went, those with the same failure together, as `provostctl nodes` groups them.
pub(super) fn text(rows: &[Row], paint: Paint) -> String {
    let mut text = String::new();
    for outcome in Outcome::ALL {
        let word = match outcome {
            Outcome::Ok => paint.good(&format!("{:<13}", outcome.as_str())),
            _ => paint.bad(&format!("{:<13}", outcome.as_str())),
        };
        for FailureGroup { detail, nodes, .. } in groups(rows, outcome) {
            text += &format!("{:>5}  {word}{}\n", nodes.len(), fold(&nodes));
            for line in lines(&detail) {
                text += &format!("{:INDENT$}{line}\n", "");
            }
        }
    }
    text
}

fn groups(rows: &[Row], outcome: Outcome) -> Vec<FailureGroup> {
    let nodes: Vec<Node> = rows
        .iter()
        .filter(|row| row.outcome == outcome)
        .map(|row| Node {
            name: row.node.clone(),
            status: Status::Failed,
            detail: row.detail.clone(),
            ..Node::default()
        })
        .collect();
    failure_groups(&nodes)
}

/// A failure: where or in which command, its last lines of output, and what to do.
pub(super) fn lines(detail: &Detail) -> Vec<String> {
    let mut lines = vec![escape_cell(&head(detail))];
    let command = words::command_without_line(detail);
    lines.extend(command.map(|command| format!("command: {}", escape_cell(command))));
    lines.extend(detail.error_message.iter().flat_map(|message| text::lines(message)));
    let hint = detail.hint.iter().map(|hint| words::hint_of(hint, &[]));
    lines.extend(hint.map(|hint| format!("hint: {}", escape_cell(&hint))));
    lines.retain(|line| !line.is_empty());
    lines
}

/// Exit statuses: 0 all is well, 1 a node failed or couldn't be reached, 124 some took too long and
/// nothing else is wrong.
pub(super) fn verdict(rows: &[Row]) -> Result<(), Failure> {
    let nodes_with = |outcome: Outcome| -> Vec<String> {
        let rows = rows.iter().filter(|row| row.outcome == outcome);
        rows.map(|row| row.node.clone()).collect()
    };
    let failed = nodes_with(Outcome::Failed);
    let unreachable = nodes_with(Outcome::Unreachable);
    let late = nodes_with(Outcome::Timeout);
    let groups = [(&failed, "failed"), (&unreachable, "unreachable"), (&late, "took too long")];
    let groups = groups.iter().filter(|(nodes, _)| !nodes.is_empty());
    let error: Vec<String> =
        groups.map(|(nodes, what)| format!("{} {what}", fold(nodes))).collect();
    let (hint, code) = match (&failed[..], &unreachable[..], &late[..]) {
        ([], [], []) => return Ok(()),
        ([node, ..], ..) => (format!("provostctl show {node}"), None),
        ([], [node, ..], _) => (format!("check that this works: ssh {node} true"), None),
        ([], [], [node, ..]) => (format!("provostctl show {node}"), Some(TIMED_OUT)),
    };
    let failure = Failure::new(error.join("; "), hint);
    Err(match code {
        Some(code) => failure.with_code(code),
        None => failure,
    })
}
