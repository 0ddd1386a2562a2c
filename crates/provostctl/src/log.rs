use std::io::{self, Cursor};
use std::path::Path;

use provost_record::Stage;
use provost_steplog::view::{Part, ShowError, View};
use provost_store::MAX_RUNS;

use crate::client::{Client, NodeHistory};
use crate::failure::Failure;
use crate::follow::Follow;
use crate::from_node;
use crate::node_set::NodeName;
use crate::output;

/// `provostctl log`: what the node has uploaded, else `provost log` on the node.
pub(crate) async fn log(
    client: &Client,
    ssh_config: Option<&Path>,
    node: &NodeName,
    script: &str,
    view: View,
) -> Result<(), Failure> {
    // Nearly always it is of the newest run.
    let mut uploaded = uploaded(client, node, script, 1).await?;
    if uploaded.is_none() {
        uploaded = self::uploaded(client, node, script, MAX_RUNS).await?;
    }
    let Some((run, name)) = uploaded else {
        let mut options = Vec::new();
        options.extend((view.part == Part::Output).then_some("--output"));
        options.extend((view.part == Part::Commands).then_some("--commands"));
        options.extend(view.failed.then_some("--failed"));
        options.extend(view.json.then_some("--format=json"));
        let tried = format!("{} has uploaded no log of {script}; reading it by ssh", node.0);
        return of_node(client, ssh_config, node, script, &options, &tried).await;
    };
    let bytes = client.log(&run, &name).await?;
    match view.show(Cursor::new(bytes), io::stdout().lock()) {
        Err(ShowError::Read(e) | ShowError::Write(e)) => output::written(Err(e)),
        Ok(()) => Ok(()),
    }
}

/// The newest of the logs of `script` that the node has uploaded, among so many runs: its run and its name.
async fn uploaded(
    client: &Client,
    node: &NodeName,
    script: &str,
    runs: usize,
) -> Result<Option<(String, String)>, Failure> {
    let history: NodeHistory = client.node(&node.0, runs).await?;
    Ok(history.runs().into_iter().find_map(|run| {
        let of_script = |stage: &Stage| stage.stage == script;
        // Where it ran more than once, the last one, as on the node.
        let name = run.stages.into_iter().rev().filter(of_script).find_map(|stage| stage.log)?;
        Some((run.run, name))
    }))
}

/// `provostctl log --follow`: by the node's beats; where there are none, by `provost log --follow` on
/// the node.
pub(crate) async fn follow(
    client: &Client,
    ssh_config: Option<&Path>,
    node: &NodeName,
    script: &str,
    view: View,
) -> Result<(), Failure> {
    // Without the daemon the node can be asked all the same.
    match Follow::of(client, &node.0, script).await {
        Ok(Some(follow)) => follow.show(view).await,
        Ok(None) | Err(_) => {
            follow_by_ssh(client, ssh_config, node, script, view.part == Part::Output).await
        }
    }
}

async fn follow_by_ssh(
    client: &Client,
    ssh_config: Option<&Path>,
    node: &NodeName,
    script: &str,
    output_alone: bool,
) -> Result<(), Failure> {
    let mut options = vec!["--follow"];
    options.extend(output_alone.then_some("--output"));
    let tried = format!("following the log of {script} on {} by ssh", node.0);
    of_node(client, ssh_config, node, script, &options, &tried).await
}

async fn of_node(
    client: &Client,
    ssh_config: Option<&Path>,
    node: &NodeName,
    script: &str,
    options: &[&str],
    tried: &str,
) -> Result<(), Failure> {
    let command = [&["provost", "log"], options, &["--", script]].concat();
    let hint = format!("see what the node runs: ssh {} provost status", node.0);
    from_node::print(client, ssh_config, node, &command, tried, &hint).await
}
