//! The log of a step: which commands it ran, what was printed, and how each command ended.
//!
//! Lines stand as container runtimes write them, so that log collectors can read them: `TIME WORD
//! TAG REST`. TIME is RFC 3339 in UTC, WORD says what kind of line it is, and TAG is [`WHOLE`],
//! or [`PIECE`] where the next line of the same WORD goes on with the text. Only output comes in
//! pieces.
//!
//! | WORD | REST | what it says |
//! |---|---|---|
//! | [`STDOUT`], [`STDERR`] | text | what was printed, byte for byte; a whole line stands for its text and a newline, a piece for its text alone |
//! | [`EXEC`] | `PID PARENT ARGS` | a process has begun a command by exec(2); `PARENT` is its parent's pid, `ARGS` are quoted as a shell needs them, see [`quote`] |
//! | [`EXIT`] | `PID STATUS DURATIONms` | that command has ended: `STATUS` is its exit status or the name of the signal that ended it, `DURATION` the time since its exec |
//! | [`LINE`] | `PID TEXT` | a line that bash's xtrace printed (`provost run --trace-lines`) |
//! | [`TRACE`] | text | the runner's own words: why there is no trace (the log's first line), how many commands are left out at this place, or where the script failed, if no command's end says it |
//!
//! ```text
//! 2026-11-20T17:00:02.101Z stdout F Reading package lists...
//! 2026-11-20T17:00:02.114Z exec F 4711 4705 apt-get install -y slurmd
//! 2026-11-20T17:00:09.020Z stderr F E: Unable to locate package slurmd
//! 2026-11-20T17:00:09.021Z exit F 4711 100 6907ms
//! ```
//!
//! A script can't forge a line: what it prints always stands behind `stdout` or `stderr`, and a
//! control character among the arguments is escaped. The script's own process has no `exec` line
//! for the start that the runner gave it.
//!
//! A process that calls exec a second time has a second `exec` line and one `exit` line, which is
//! the last command's: the first one ended when it became the second. A command that a shell could not
//! begin has both lines, with 126 or 127. A command without an `exit`
//! line was still running when the step ended, or is one of those left out.

mod commands;
mod line;
mod lines;
mod paint;
mod quote;
mod summary;
pub mod terminal;
pub mod view;
pub mod wording;

pub use commands::{Command, CommandEnd, Commands, Event};
pub use line::{Entry, Line, Status, Stream, exec_line, exit_line};
pub use lines::Lines;
pub use paint::Paint;
pub use quote::{MOST_ARGS, quote};
pub use summary::{FailedCommand, Summary};

/// The word of a line that a program wrote to its standard output.
pub const STDOUT: &str = "stdout";
/// The word of a line that a program wrote to its standard error.
pub const STDERR: &str = "stderr";
/// The word of a line that says which command a process has begun.
pub const EXEC: &str = "exec";
/// The word of a line that says how a command has ended.
pub const EXIT: &str = "exit";
/// The word of a line of bash's xtrace.
pub const LINE: &str = "line";
/// The word of a line in which the runner says something about the trace.
pub const TRACE: &str = "trace";
/// The tag of a whole line.
pub const WHOLE: &str = "F";
/// The tag of a line that the next one of the same word goes on with.
pub const PIECE: &str = "P";
/// How many commands of a step are kept from its start, and as many from its end.
pub const KEPT_AT_EACH_END: usize = 5_000;
