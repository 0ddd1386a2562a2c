use std::io::{self, Cursor};

use provost_record::Stage;
use provost_record::step_log::view::{ShowError, View};

use crate::client::{Client, NodeHistory};
use crate::failure::Failure;
use crate::node_set::NodeName;
use crate::output;

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
