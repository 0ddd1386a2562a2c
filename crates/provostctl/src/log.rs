use std::io::{self, Cursor, IsTerminal, Write};
use std::path::Path;

use provost_record::Stage;
use provost_record::step_log::view::{Part, ShowError, View};
use provost_record::terminal::escape;

use crate::client::{Client, NodeHistory};
use crate::failure::Failure;
use crate::follow::Follow;
use crate::node_set::NodeName;
use crate::output;
use crate::ssh::{self, Remote, SSH_FAILED};

/// `provostctl log`.
pub(crate) async fn log(
    client: &Client,
    node: &NodeName,
    script: &str,
    view: View,
) -> Result<(), Failure> {
    let history: NodeHistory = client.node(&node.0).await?;
    let runs = history.runs();
    let uploaded = runs.iter().find_map(|run| {
        let of_script = |stage: &&Stage| stage.stage == script;
        let name = run.stages.iter().filter(of_script).find_map(|stage| stage.log.as_deref())?;
        Some((&run.run, name))
    });
    let Some((run, name)) = uploaded else {
        let error = format!("{} has uploaded no log of {script}", node.0);
        let hint = format!("read it on the node: ssh {} provost log {script}", node.0);
        return Err(Failure::new(error, hint));
    };
    let bytes = client.log(run, name).await?;
    match view.show(Cursor::new(bytes), io::stdout().lock()) {
        Err(ShowError::Read(e) | ShowError::Write(e)) => output::written(Err(e)),
        Ok(()) => Ok(()),
    }
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
            follow_by_ssh(ssh_config, node, script, view.part == Part::Output).await
        }
    }
}

async fn follow_by_ssh(
    ssh_config: Option<&Path>,
    node: &NodeName,
    script: &str,
    output_alone: bool,
) -> Result<(), Failure> {
    let mut command = vec!["provost", "log", "--follow"];
    command.extend(output_alone.then_some("--output"));
    command.extend(["--", script]);
    let remote = Remote { command: &command, report: None };
    let mut stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let print = |piece: &[u8]| {
        match is_terminal {
            true => stdout.write_all(harmless(&String::from_utf8_lossy(piece)).as_bytes())?,
            false => stdout.write_all(piece)?,
        }
        stdout.flush()
    };
    let (status, lines) = match ssh::stream(ssh_config, &node.0, &remote, print).await {
        // `| head` has seen enough.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
        Err(e) => return Err(Failure::of(&e, "check that ssh is installed")),
        Ok(ended) => ended,
    };
    if status.success() {
        return Ok(());
    }
    let why = lines.join("\n");
    let hint = match status.code() {
        Some(SSH_FAILED) => format!("check that this works: ssh {} true", node.0),
        _ => format!("see what the node runs: ssh {} provost status", node.0),
    };
    Err(Failure::new(format!("{}: {why}", node.0), hint))
}

/// What a script has printed, for a terminal: its lines are lines, and nothing steers.
fn harmless(piece: &str) -> String {
    piece.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}
