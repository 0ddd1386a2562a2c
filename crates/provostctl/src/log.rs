use std::io::{self, Cursor};

use provost_record::Stage;
use provost_record::step_log::view::{ShowError, View};

use crate::client::{Client, Shown};
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
    let shown: Shown = client.node(&node.0).await?;
    let runs = shown.runs();
    let uploaded = runs.iter().find_map(|run| {
        let of_script = |stage: &&Stage| stage.stage == script;
        let name = run.stages.iter().filter(of_script).find_map(|stage| stage.log.as_deref())?;
        Some((&run.run, name))
    });
    let Some((run, name)) = uploaded else {
        let error = format!("no log of {script} has come from {}", node.0);
        let hint =
            format!("only failed scripts' logs are sent; ssh {} provost log {script}", node.0);
        return Err(Failure::new(error, hint));
    };
    let bytes = client.log(run, name).await?;
    match view.show(Cursor::new(bytes), io::stdout().lock()) {
        Err(ShowError::Read(e) | ShowError::Write(e)) => output::written(Err(e)),
        Ok(()) => Ok(()),
    }
}
