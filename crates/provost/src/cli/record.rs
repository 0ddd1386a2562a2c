//! `provost record`: one entry for the journal of a script that isn't run by us.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use provost_record::{Cause, ExitCode, Journal, Outcome, Phase, Record};
use provost_steplog::wording;

use provost_node::failure::Failure;
use provost_node::observe::console::complain;

/// The most bytes of a text from the command line that are kept.
const LONGEST: usize = 4096;

#[derive(Args)]
pub(crate) struct RecordArgs {
    /// What begins or ends; with --pre-command or --post-command, `service` is that command
    #[arg(value_enum)]
    event: Event,
    /// The journal, an array of records; it and its folder are made, and a damaged one is repaired
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// The service's name; that of the file without its ending, if none is given
    #[arg(long, value_name = "NAME")]
    service: Option<OsString>,
    /// The stage's name
    #[arg(long, value_name = "NAME")]
    stage: Option<OsString>,
    /// How it ended
    #[arg(long, value_enum)]
    result: Option<Ended>,
    /// Process that runs it, as PID.START.BOOT: its number, its start by field 22 of
    /// /proc/PID/stat, the kernel's boot_id. A run whose process is gone is closed as interrupted
    /// by the next start
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// The command before the service that this entry is of
    #[arg(long, value_name = "NAME", conflicts_with = "post_command")]
    pre_command: Option<OsString>,
    /// The command after the service that this entry is of
    #[arg(long, value_name = "NAME")]
    post_command: Option<OsString>,
    /// Where it failed, as LINE FUNCTION FILE
    #[arg(long, value_name = "PLACE")]
    error_line: Option<OsString>,
    /// Where that function was called, as LINE FUNCTION FILE
    #[arg(long, value_name = "PLACE")]
    called_from: Option<OsString>,
    /// The last lines of output
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    error_message: Option<OsString>,
    /// The command that failed
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    command: Option<OsString>,
    /// The exit status
    #[arg(long, value_name = "STATUS")]
    exit_code: Option<i32>,
    /// Why it ended, if not by its own exit status or signal: it was stopped in order
    #[arg(long, value_enum)]
    cause: Option<Why>,
    /// Sync this path's file system before recording success
    #[arg(long, value_name = "PATH")]
    sync: Option<PathBuf>,
    /// The signal that ended it, e.g. SIGTERM
    #[arg(long, value_name = "NAME")]
    signal: Option<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Event {
    ServiceStart,
    ServiceEnd,
    StageStart,
    StageEnd,
}

#[derive(Clone, Copy, ValueEnum)]
enum Why {
    Interrupted,
}

#[derive(Clone, Copy, ValueEnum)]
enum Ended {
    Success,
    Failure,
}

/// Adds the entry. The script doesn't wait for the disk at each stage, only at its start and end;
/// a kill loses nothing, a power cut at most the last stages.
pub(crate) fn main(args: RecordArgs) -> ExitCode {
    match args.write() {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}

impl RecordArgs {
    fn write(self) -> Result<(), Failure> {
        let file = self.file.clone();
        let event = self.event;
        let synced = self.sync.clone();
        let record = self.record()?;
        if let Some(path) = synced.filter(|_| record.result == Some(Outcome::Success)) {
            sync_file_system(&path)?;
        }
        let mut journal = Journal::open(file)?;
        if let Some(repair) = journal.take_repair() {
            complain(&format!("the journal was damaged: {}", wording::repair(&repair)));
        }
        if event == Event::ServiceStart {
            journal.close_abandoned(is_alive)?;
        }
        journal.append(&record)?;
        record_step(&record);
        match event {
            Event::ServiceStart | Event::ServiceEnd => Ok(journal.sync()?),
            Event::StageStart | Event::StageEnd => Ok(()),
        }
    }

    fn record(self) -> Result<Record, Failure> {
        let wrong = |message: &str, hint: &str| Err(Failure::config(message, hint));
        let (phase, ends) = match (self.event, &self.pre_command, &self.post_command) {
            (Event::StageStart, ..) => (Phase::StageStart, false),
            (Event::StageEnd, ..) => (Phase::StageEnd, true),
            (Event::ServiceStart, Some(_), _) => (Phase::PreCommandStart, false),
            (Event::ServiceEnd, Some(_), _) => (Phase::PreCommandEnd, true),
            (Event::ServiceStart, None, Some(_)) => (Phase::PostCommandStart, false),
            (Event::ServiceEnd, None, Some(_)) => (Phase::PostCommandEnd, true),
            (Event::ServiceStart, None, None) => (Phase::ServiceStart, false),
            (Event::ServiceEnd, None, None) => (Phase::ServiceEnd, true),
        };
        let of_stage = matches!(phase, Phase::StageStart | Phase::StageEnd);
        if of_stage && self.stage.is_none() {
            return wrong("recording a stage: it has no name", "name it: --stage NAME");
        }
        if ends != self.result.is_some() {
            let hint = "add --result success or --result failure to an end, and only there";
            return wrong("recording: an end needs a result, and a start has none", hint);
        }
        let result = self.result.map(|result| match result {
            Ended::Success => Outcome::Success,
            Ended::Failure => Outcome::Failure,
        });
        let failed = result == Some(Outcome::Failure);
        let cause = match (failed, self.cause, &self.signal, self.exit_code) {
            (true, Some(Why::Interrupted), ..) => Some(Cause::Interrupted),
            (true, None, Some(_), _) => Some(Cause::Signal),
            (true, None, None, Some(_)) => Some(Cause::Exit),
            _ => None,
        };
        let stem = self.file.file_stem().map(ToOwned::to_owned);
        Ok(Record {
            pre_command: self.pre_command.map(text),
            post_command: self.post_command.map(text),
            stage: self.stage.map(text),
            result,
            error_line: self.error_line.map(text),
            error_message: self.error_message.map(text),
            service: self.service.or(stem).map(text).unwrap_or_default(),
            run: self.run.unwrap_or_default(),
            exit_code: self.exit_code,
            signal: self.signal,
            cause,
            command: self.command.map(text),
            called_from: self.called_from.map(text),
            ..Record::new(phase)
        })
    }
}

/// Writes the file system that `path` is on to the disk: what a marker stands for must survive a power
/// cut if the marker does.
fn sync_file_system(path: &Path) -> Result<(), Failure> {
    let synced = File::open(path).and_then(|file| Ok(rustix::fs::syncfs(file)?));
    synced.map_err(|e| {
        let message = format!("writing the file system of {} to the disk", path.display());
        Failure::local(message, "see what is wrong with the disk: dmesg").caused_by(e)
    })
}

/// Adds the record to those of the step in which this runs, if it does. In one write, so that those of
/// several writers don't mix.
fn record_step(record: &Record) {
    let path = std::env::var_os("PROVOST_RECORDS").filter(|path| !path.is_empty());
    let Some(path) = path.map(PathBuf::from) else { return };
    let added = serde_json::to_string(record).map_err(std::io::Error::from).and_then(|text| {
        let mut options = std::fs::OpenOptions::new();
        let mut file = provost_fs::open(&path, options.create(true).append(true))?;
        file.write_all(format!("{text}\n").as_bytes())
    });
    if let Err(e) = added {
        complain(&format!("recording the stage in {}: {e}", path.display()));
    }
}

/// A text whose end counts, such as the last lines of output, and that may be in any encoding.
fn text(from: OsString) -> String {
    let text = from.to_string_lossy();
    let start = text.len().saturating_sub(LONGEST);
    text[text.ceil_char_boundary(start)..].to_owned()
}

/// Whether the process that a run's id names is still there, by its number, its start and the
/// boot; of an id that isn't one of ours that isn't known.
fn is_alive(run: &str) -> bool {
    let mut parts = run.split('.');
    let (Some(pid), Some(start), Some(boot), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return true;
    };
    let same_boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .is_ok_and(|now| now.trim() == boot);
    let process = || -> Option<bool> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.parse::<u32>().ok()?));
        // After the name, which may have anything in it, come the fields from the third on.
        let stat = stat.ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        Some(fields.nth(18)? == start && state != "Z")
    };
    same_boot && process().unwrap_or(false)
}
