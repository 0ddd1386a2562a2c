//! A run from its first record to its last: one loop decides what comes next.

mod after_success;
mod attempt;
mod begin;
mod clock;
mod dispatcher;
mod environment;
mod fetch_stage;
mod guard;
mod management;
mod observers;
mod outcome;
mod reboot;
mod report;
mod request;
mod run_failure;
mod schedule;
mod signals;
mod stamp;
mod steps;
mod wishes;

use provost_exec::Supervisor;
use provost_record::ExitCode;
use tracing::Instrument;

use crate::failure::Failure;
use crate::observe::console::complain;
use crate::observe::logging;
use crate::observe::observer::Observer;
use crate::observe::progress::ConsoleProgress;
use crate::settings::Input;

pub use begin::{connect, manage};
pub use guard::release;
pub use management::{Management, ManagementKind, PUBLISHED};
pub use reboot::request as request_reboot;
pub use report::main as report;
pub use request::RunRequest;
pub use stamp::main as stamp;

/// What is shown of what scripts print.
#[derive(Clone, Copy, PartialEq)]
pub enum OutputMode {
    /// Their last line, on a terminal.
    Live,
    /// The same, terminal or not.
    Lines,
    /// Nothing: one of the caller's observers shows it.
    Elsewhere,
}

impl OutputMode {
    /// As the command line's `--verbose` says.
    pub fn of(verbose: bool) -> Self {
        if verbose { Self::Lines } else { Self::Live }
    }
}

/// Runs `request` on a loop of its own. `observers` get word of it beside the console and those of the
/// management node.
pub fn main(
    input: &Input,
    kinds: &[ManagementKind],
    request: &RunRequest,
    output: OutputMode,
    observers: Vec<Box<dyn Observer>>,
) -> ExitCode {
    // First of all, while this process has one thread.
    let executor = Supervisor::start();
    let guard = logging::install(input, logging::Options { verbose: output == OutputMode::Lines });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let failure = |e: std::io::Error| {
        let hint = "see ulimit -n, ulimit -u and the free memory";
        Failure::local(format!("starting the run: {e}"), hint)
    };
    let span = tracing::info_span!(
        "run",
        node = %input.node(),
        service = %request.service(),
        run = tracing::field::Empty
    );
    match (executor, runtime) {
        (Ok(executor), Ok(runtime)) => {
            let shows_lines = output != OutputMode::Elsewhere;
            let progress = ConsoleProgress::new(guard.terminal(), shows_lines);
            let console: Box<dyn Observer> = Box::new(progress);
            let observers = std::iter::once(console).chain(observers).collect();
            let run = begin::run(input, kinds, request, observers, executor);
            runtime.block_on(run.instrument(span))
        }
        (Err(e), Ok(runtime)) => {
            let why = failure(e);
            let refused = begin::cannot_begin(input, kinds, request.service(), &why);
            runtime.block_on(refused.instrument(span))
        }
        (_, Err(e)) => {
            let failure = failure(e);
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}
