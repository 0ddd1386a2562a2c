//! `provost report`: reports what earlier runs have left, and keeps the node's identity from ending
//! where nothing runs for long.

use provost_record::{ExitCode, Service};

use super::management::ManagementKind;
use super::{connect, manage};
use crate::failure::Failure;
use crate::fetch;
use crate::observe::logging;
use crate::room;
use crate::settings::Input;
use crate::state::lock::RunLock;

/// Reports by what is right of a configuration that is wrong, as a run does.
pub fn main(input: &Input, kinds: &[ManagementKind]) -> ExitCode {
    let _logging = logging::install(input, logging::Options::default());
    if RunLock::is_taken(&input.paths().state) {
        tracing::info!("a run is in progress and reports itself");
        return ExitCode::Busy;
    }
    match room::runtime().and_then(|runtime| runtime.block_on(report(input, kinds))) {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            tracing::error!("error: {failure}");
            failure.exit_code()
        }
    }
}

async fn report(input: &Input, kinds: &[ManagementKind]) -> Result<(), Failure> {
    let (connection, mistakes) = connect(input, Service::Run, String::new());
    let limit = connection.settings.report_deadline.duration();
    for observer in &mut manage(input, kinds, &connection)?.observers {
        observer.drain_backlog(limit).await?;
    }
    fetch::renew_identity(&connection).await;
    mistakes.into_iter().next().map_or(Ok(()), Err)
}
