//! What is said on the way: one line each, on stderr and in LOG/provost.log.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IsTerminal, Write};

use provost_exec::Secrets;
use provost_record::ExitCode;
pub use provost_record::terminal::escape as harmless;

use crate::failure::Failure;
use crate::observe::messages::{About, Messages, Outlet};
use crate::settings::Input;

/// The console and the log file beside it. Nothing here can fail or hold up a run: what can't be
/// said is in the journal all the same.
pub struct Console {
    /// A serial line, a pipe or a terminal may stop taking what is said.
    stderr: Option<Outlet>,
    log: Option<File>,
    messages: Messages,
    /// Whether stderr is a terminal, which has one line that is written over and over.
    terminal: bool,
    /// Whether to tell where there is no terminal, too, what the running script prints.
    verbose: bool,
    /// Whether that line is there now.
    live: bool,
    /// What was told last of a running script where there is no terminal.
    told: String,
    /// What nobody is to see.
    secrets: Secrets,
    /// What is still to be said, and of which stage.
    later: Vec<(Option<String>, String)>,
}

impl Console {
    /// Speaks on stderr, in LOG/provost.log, and where else `input` says.
    pub fn new(input: &Input, verbose: bool) -> Self {
        let log = input.paths().log.join("provost.log");
        let folder = log.parent().map_or(Ok(()), std::fs::create_dir_all);
        let file = folder.and_then(|()| OpenOptions::new().create(true).append(true).open(&log));
        let terminal = std::io::stderr().is_terminal();
        // What is wrong with it is the settings' to tell.
        let settings = input.messages().unwrap_or_default();
        Self {
            stderr: Outlet::new(|messages| {
                let mut stderr = std::io::stderr();
                messages.iter().for_each(|text| drop(stderr.write_all(&text)));
            }),
            log: file.ok(),
            messages: Messages::new(settings, input.node()),
            terminal,
            verbose,
            live: false,
            told: String::new(),
            secrets: Secrets::default(),
            later: Vec::new(),
        }
    }

    /// Whom the messages are from.
    pub fn about(&mut self) -> &mut About {
        &mut self.messages.about
    }

    /// Lets nobody see these from now on.
    pub fn hide(&mut self, secrets: Secrets) {
        self.secrets = secrets;
    }

    /// Says `text`, but not before there is time for it: before anything else is said, at the
    /// latest.
    pub fn say_later(&mut self, text: String) {
        self.later.push((self.messages.about.stage.clone(), text));
    }

    /// Says what was to be said later.
    pub fn catch_up(&mut self) {
        for (stage, text) in std::mem::take(&mut self.later) {
            let now = std::mem::replace(&mut self.messages.about.stage, stage);
            self.say(&text);
            self.messages.about.stage = now;
        }
    }

    /// Says `text`, which may have several lines.
    pub fn say(&mut self, text: &str) {
        self.catch_up();
        let text = &*self.secrets.hide(text);
        let lines: Vec<String> = text.lines().map(harmless).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let clear = if std::mem::take(&mut self.live) { CLEAR } else { "" };
        self.show(&format!("{clear}{}", spoken(&lines)));
        self.messages.tell(&lines.join("\n"));
        if let Some(log) = &mut self.log {
            let now = provost_record::now();
            let lines: String = lines.iter().map(|line| format!("{now} {line}\n")).collect();
            let _ = log.write_all(lines.as_bytes());
        }
    }

    /// Whether anybody looks on while a script runs.
    pub fn is_live(&self) -> bool {
        self.terminal || self.verbose
    }

    /// Shows how far a script is: its name, the time it has taken, and the last line it printed.
    /// The next of these takes its place on a terminal; elsewhere each line is told once.
    pub fn live(&mut self, name: &str, took: &str, last: &str) {
        self.catch_up();
        if !self.terminal {
            let text = format!("{name}: {last}");
            if text != self.told && !last.is_empty() {
                self.show(&spoken(&[&*harmless(&text)]));
                self.told = text;
            }
            return;
        }
        let text = format!("{name}  {took}  {last}");
        let size = rustix::termios::tcgetwinsize(std::io::stderr());
        let width = width(size.map_or(0, |size| size.ws_col)) - 1;
        let line: String = harmless(&text).replace('\t', " ").chars().take(width).collect();
        self.show(&format!("{CLEAR}{line}"));
        self.live = true;
    }

    fn show(&mut self, text: &str) {
        if let Some(stderr) = &mut self.stderr {
            let lost = |n| spoken(&[&*format!("{n} messages are only in the log")]).into_bytes();
            stderr.send(text.as_bytes().to_vec(), lost);
        }
    }
}

/// How many columns a terminal has that says so many. A serial console says 0: it doesn't know.
fn width(columns: u16) -> usize {
    if columns == 0 { 80 } else { usize::from(columns).max(20) }
}

/// Back to the line's begin, and nothing on it.
const CLEAR: &str = "\r\x1b[K";

fn spoken(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("provost: {line}\n")).collect()
}

/// Says `text` on stderr. A closed stderr is no reason to end.
pub fn complain(text: &str) {
    let lines: Vec<String> = text.lines().map(harmless).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let _ = std::io::stderr().write_all(spoken(&lines).as_bytes());
}

/// Puts `text` on stdout, for whoever asked for data.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    printed(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// What it means that stdout took something, or did not. A reader that went away is no error.
pub fn printed(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::config(format!("writing the output: {e}"), "see where stdout goes")),
        Ok(()) => Ok(()),
    }
}

/// How to exit after `result`; what went wrong is said.
pub fn exit(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_does_not_know_its_width_has_80_columns() {
        assert_eq!([0, 3, 132].map(width), [80, 20, 132]);
    }
}
