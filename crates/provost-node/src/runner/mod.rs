//! A run from its first record to its last: one loop decides what comes next.

mod after_success;
mod attempt;
mod begin;
mod clock;
mod dispatcher;
mod environment;
mod facts;
mod fetch_stage;
mod guard;
mod management;
mod observers;
mod outcome;
mod own_hint;
mod reboot;
mod report;
mod request;
mod run_failure;
mod schedule;
mod signals;
mod stamp;
mod step_requests;
mod steps;

use std::io;

use provost_exec::Supervisor;
use provost_record::ExitCode;
use tracing::Instrument;

use crate::observe;
use crate::observe::console::complain;
use crate::observe::logging::{self, ConsoleSink};
use crate::observe::observer::Observer;
use crate::room;
use crate::settings::Input;

pub use begin::{connect, manage};
pub use guard::release;
pub use management::{FOLDER, Management, ManagementKind, PUBLISHED};
pub use outcome::AGAIN;
pub use reboot::request as request_reboot;
pub use report::main as report;
pub use request::RunRequest;
pub use stamp::main as stamp;

/// What is shown of what scripts print.
#[derive(Clone)]
pub enum OutputMode {
    /// Their last line, on a terminal.
    Live,
    /// The same, terminal or not.
    Lines,
    /// Nothing: one of the caller's observers shows it, and this takes the console's messages.
    Elsewhere(ConsoleSink),
}

impl OutputMode {
    /// As the command line's `--verbose` says.
    pub fn of(verbose: bool) -> Self {
        if verbose { Self::Lines } else { Self::Live }
    }
}

/// Runs `request` on a loop of its own. `observers` are notified as well as those of every run and those of
/// the management node.
pub fn main(
    input: &Input,
    kinds: &[ManagementKind],
    request: &RunRequest,
    output: OutputMode,
    observers: Vec<Box<dyn Observer>>,
) -> ExitCode {
    // First of all, while this process has one thread.
    let executor = Supervisor::start();
    let verbose = matches!(output, OutputMode::Lines);
    let (shows_lines, console) = match output {
        OutputMode::Live | OutputMode::Lines => (true, None),
        OutputMode::Elsewhere(sink) => (false, Some(sink)),
    };
    let guard = logging::install(input, logging::Options { verbose, console });
    let keeper = |e: io::Error| io::Error::new(e.kind(), format!("starting the keeper: {e}"));
    let executor = executor.map_err(keeper);
    let runtime = room::runtime_without_thread();
    let room = runtime.as_ref().map_or(Ok(()), room::start_thread);
    let executor = room.and(executor);
    let span = tracing::info_span!(
        "run",
        node = %input.node(),
        service = %request.service(),
        run = tracing::field::Empty
    );
    match (executor, runtime) {
        (Ok(executor), Ok(runtime)) => {
            let mut all = observe::of_every_run(guard.terminal(), shows_lines);
            all.extend(observers);
            let run = begin::run(input, kinds, request, all, executor);
            runtime.block_on(logging::together(run.instrument(span)))
        }
        (Err(e), Ok(runtime)) => {
            let why = room::failure(e);
            let refused = begin::cannot_begin(input, kinds, request.service(), &why);
            runtime.block_on(refused.instrument(span))
        }
        (_, Err(e)) => {
            let failure = room::failure(e);
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}
