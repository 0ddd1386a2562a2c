//! What has changed on a node between a stage's last success and its failure.

use provost_api::admins::NodeChanges;
use provost_record::{Run, Stage};
use provost_steplog::Paint;
use provost_steplog::terminal::{escape, escape_cell};
use provost_store::{LastSuccess, SinceSuccess};

use crate::client::Client;

/// What has changed before the newest failure among `runs`, the newest of which is the first.
pub(super) async fn changed(client: &Client, node: &str, runs: &[Run]) -> Option<SinceSuccess> {
    let last = LastSuccess::of(runs)?;
    let published = match last.generations() {
        (None, None) => NodeChanges::default(),
        (bundles, plans) => {
            let changes = client.node_changes(node, bundles, plans, &last.now.1.stage);
            changes.await.unwrap_or_default()
        }
    };
    let (then, now) = (log(client, last.then).await, log(client, last.now).await);
    let output = last.first_difference(node, then.as_deref(), now.as_deref());
    Some(last.compare(published, output))
}

/// The log of a stage, if it was uploaded.
async fn log(client: &Client, (run, stage): (&Run, &Stage)) -> Option<Vec<u8>> {
    client.log(&run.run, stage.log.as_deref()?).await.ok()
}

/// For people.
pub(super) fn text(changed: &SinceSuccess, paint: Paint) -> String {
    let since = changed.succeeded().map(|at| format!(" ({at:.0})")).unwrap_or_default();
    let mut text = format!("since {} last succeeded{since}\n", escape_cell(changed.stage()));
    let line =
        |name: &str, what: &str| format!("    {}\n", escape_cell(&format!("{name:<10}  {what}")));
    text.extend(changed.rows().iter().map(|(name, what)| line(name, what)));
    if changed.is_same() {
        text += "    nothing has changed of what the node tells\n";
    }
    text.extend(changed.ends().iter().map(|(name, what)| line(name, what)));
    if let Some(diff) = changed.diff() {
        text.push('\n');
        text.push_str(&of_diff(diff, paint));
    }
    text
}

/// The diff in colours.
fn of_diff(diff: &str, paint: Paint) -> String {
    let mut text = String::new();
    for line in diff.lines().map(escape) {
        let line = match line.as_bytes().first() {
            Some(b'+') => paint.good(&line),
            Some(b'-') => paint.bad(&line),
            _ => line,
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}
