//! `xcat.log`, and the same lines in the management node's syslog, where tools look for them.
//!
//! xCAT's variants say the start and the end of a script in two forms, and each tool knows one of
//! them: here both are said.

use provost_record::wording;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use provost_record::step_log::{Entry, Line};
use provost_record::{Cause, Record, Service};
use rustix::fs::OFlags;

use super::label::{kind, label};
use crate::observe::logging::{Context, Severity, Syslog};
use crate::settings::messages::{SYSLOG_PORT, SyslogServer};

/// How much of one script's output stands in xcat.log, in bytes: its end. All of it is in our own
/// log.
const MOST_OUTPUT: u64 = 256 * 1024;
/// What timeout(1) ends with when time is over.
const TIMED_OUT: i32 = 124;
/// What a script is said to have returned that didn't end by itself.
const NO_STATUS: i32 = 255;

/// Where the start and the end of each script are told.
pub struct Log {
    file: Option<File>,
    syslog: Option<Syslog>,
    context: Context,
    kind: &'static str,
    label: &'static str,
}

impl Log {
    /// Of one run on `node`. What can't be written is lost: it is in our own logs.
    pub fn new(folder: &Path, node: &str, service: Service) -> Self {
        let context =
            Context { node: node.to_owned(), service: service.to_string(), ..Context::default() };
        let file = std::fs::create_dir_all(folder).and_then(|()| append(&folder.join("xcat.log")));
        Self { file: file.ok(), syslog: None, context, kind: kind(service), label: label(service) }
    }

    /// Sends the lines to `server` from now on.
    pub fn send_to(&mut self, server: SyslogServer) {
        self.syslog = Syslog::new(server, self.label);
    }

    /// Sends them to the syslog of the management node from now on, by UDP.
    pub fn send_to_master(&mut self, ip: IpAddr) {
        self.send_to(SyslogServer::Udp(SocketAddr::new(ip, SYSLOG_PORT)));
    }

    /// `script` begins.
    pub fn begins(&mut self, script: &str) {
        let kind = self.kind;
        self.context.stage = Some(script.to_owned());
        self.say(Severity::Info, &format!("{kind} start..: {script}"));
        self.say(Severity::Info, &format!("Running {kind}: {script}"));
    }

    /// A script has ended as `end` says; its output is in `log`.
    pub fn ended(&mut self, end: &Record, log: &Path) {
        let (kind, script) = (self.kind, end.stage.as_deref().unwrap_or_default());
        if let Some(file) = &mut self.file {
            // It is in our own log all the same.
            let _ = copy_output(log, file);
        }
        if end.cause == Some(Cause::Missing) {
            self.say(Severity::Error, &format!("{kind} {script} does NOT exist."));
        } else {
            let returned = returned(end);
            self.say(Severity::Info, &format!("{kind} end...: {script} {returned}"));
            self.say(Severity::Info, &format!("{kind} {script} {returned}"));
        }
        self.context.stage = None;
    }

    /// The node is as its scripts make it, or they failed.
    pub fn completed(&mut self, well: bool) {
        let node = &self.context.node;
        let (severity, text) = match well {
            true => (Severity::Info, format!("provision completed.({node})")),
            false => (Severity::Error, format!("provision completed with error.({node})")),
        };
        self.say(severity, &text);
    }

    fn say(&mut self, severity: Severity, text: &str) {
        if let Some(file) = &mut self.file {
            let now = date(jiff::Timestamp::now());
            let priority = match severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info | Severity::Debug => "info",
            };
            let line = format!("{now} [{priority}]: {}: {text}\n", self.label);
            let _ = file.write_all(line.as_bytes());
        }
        if let Some(syslog) = &mut self.syslog {
            syslog.send(severity, &self.context, text);
        }
    }
}

/// What stands there may be a pipe that nobody reads.
fn append(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().create(true).append(true).custom_flags(flags).open(path)
}

/// How a script ended, in words that tools look for.
fn returned(end: &Record) -> String {
    let code = status(end);
    match end.exit_code {
        Some(own) if own == code => format!("return with {code}"),
        _ if code == 0 => "return with 0".to_owned(),
        _ => {
            let how = wording::outcome(end.cause, end.exit_code, end.signal.as_deref());
            format!("return with {code} ({how})")
        }
    }
}

/// The status that a script is said to have returned: 0 of none but one that ended well.
pub fn status(end: &Record) -> i32 {
    match (end.exit_code, end.cause) {
        _ if !end.is_failure() => 0,
        (Some(code), _) if code != 0 => code,
        (_, Some(Cause::Timeout)) => TIMED_OUT,
        _ => NO_STATUS,
    }
}

/// Adds the end of the output in a step's log, without what stands before each line there.
fn copy_output(log: &Path, to: &mut impl Write) -> io::Result<()> {
    // Whatever the script has put there: a pipe without a writer must not stop the run.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut log = File::options().read(true).custom_flags(flags).open(log)?;
    let skipped = log.metadata()?.len().saturating_sub(MOST_OUTPUT);
    log.seek(SeekFrom::Start(skipped))?;
    let mut out = Vec::new();
    let mut lines = BufReader::new(log).split(b'\n');
    if skipped > 0 {
        // That line is cut.
        lines.next();
        out.extend_from_slice(b"(what it printed before is in provost's log)\n");
    }
    let mut whole = true;
    for line in lines {
        let line = line?;
        let Entry::Output { whole: ends, text, .. } = Line::parse(&line).entry else { continue };
        out.extend_from_slice(text);
        whole = ends;
        if whole {
            out.push(b'\n');
        }
    }
    if !whole {
        out.push(b'\n');
    }
    to.write_all(&out)
}

/// The time as date(1) prints it. Without the time library's formatter, which is as large as all
/// else that is done here.
fn date(time: jiff::Timestamp) -> String {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let time = jiff::tz::Offset::UTC.to_datetime(time);
    let day = DAYS[usize::from(time.weekday().to_monday_zero_offset().unsigned_abs())];
    let month = MONTHS[usize::from(time.month().unsigned_abs()) - 1];
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    format!("{day} {month} {:2} {hour:02}:{minute:02}:{second:02} UTC {}", time.day(), time.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_date() {
        for time in ["2026-01-05T02:03:04Z", "2026-11-21T23:59:59Z", "2028-02-29T12:00:00Z"] {
            let time: jiff::Timestamp = time.parse().unwrap();
            assert_eq!(date(time), time.strftime("%a %b %e %H:%M:%S UTC %Y").to_string());
        }
    }

    #[test]
    fn output_is_copied_as_it_was_printed_and_of_much_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let text = "T stdout F one two\nT exec F 2 1 a\nT stderr P a\nT stderr F b\n\
                    T exit F 2 0 1ms\nT stdout P end\n";
        std::fs::write(&log, text).unwrap();
        let mut out = Vec::new();
        copy_output(&log, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "one two\nab\nend\n");
        std::fs::write(&log, "T stdout F 0123456789\n".repeat(20_000)).unwrap();
        let mut out = Vec::new();
        copy_output(&log, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.len() < 256 * 1024 && out.lines().skip(1).all(|line| line == "0123456789"));
        assert!(out.starts_with("(what it printed before"));
    }

    #[test]
    fn what_has_no_status_is_no_success() {
        let end = |cause, exit_code| Record {
            result: Some(provost_record::Outcome::Failure),
            cause: Some(cause),
            exit_code,
            ..Record::new(provost_record::Phase::StageEnd)
        };
        assert_eq!(returned(&end(Cause::Exit, Some(3))), "return with 3");
        assert_eq!(returned(&end(Cause::Timeout, None)), "return with 124 (time-out)");
        assert_eq!(returned(&end(Cause::Exit, Some(0))), "return with 255 (exit status 0)");
    }
}
