//! `xcat.log`, and the same lines in the management node's syslog, where tools look for them.
//!
//! xCAT's variants write the start and the end of a script in two forms, and each tool knows one of
//! them: here both are written.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use futures_util::future::LocalBoxFuture;
use provost_node::fetch::source::Fetched;
use provost_node::observe::logging::{Context, Severity, Syslog};
use provost_node::observe::observer::{Observer, RunContext, StepContext, StepEnd};
use provost_node::settings::messages::{SYSLOG_PORT, SyslogServer};
use provost_node::state::root::Root;
use provost_record::{Cause, ExitCode, Record, Service};
use provost_steplog::{Entry, Line, wording};
use rustix::fs::OFlags;

/// The time as date(1) prints it in the C locale.
const DATE: &str = "%a %b %e %H:%M:%S UTC %Y";

/// Which syslog server gets the lines.
pub(crate) enum SyslogTarget {
    /// What the configuration says, which may be none.
    Configured(Option<SyslogServer>),
    /// The management node's, by UDP.
    ManagementNode,
}

/// The log, while a run goes on.
pub(crate) struct XcatLog {
    target: SyslogTarget,
    lines: Option<Lines>,
}

impl XcatLog {
    pub(crate) fn new(target: SyslogTarget) -> Self {
        Self { target, lines: None }
    }

    fn send_to_master(&mut self, host: Option<&str>) {
        let address = host.and_then(address).filter(|_| self.is_for_master());
        if let (Some(lines), Some(ip)) = (&mut self.lines, address) {
            lines.send_to(SyslogServer::Udp(SocketAddr::new(ip, SYSLOG_PORT)));
        }
    }

    fn is_for_master(&self) -> bool {
        matches!(self.target, SyslogTarget::ManagementNode)
    }
}

impl Observer for XcatLog {
    fn run_started<'a>(&'a mut self, run: &'a RunContext) -> LocalBoxFuture<'a, ()> {
        let lines = self.lines.insert(Lines::open(&run.paths.xcat_log, &run.node, run.service));
        if let SyslogTarget::Configured(Some(server)) = self.target {
            lines.send_to(server);
        }
        self.send_to_master(run.settings.servers.first().and_then(|server| server.host_str()));
        Box::pin(async {})
    }

    fn planned<'a>(
        &'a mut self,
        _: &'a RunContext,
        fetched: &'a Fetched,
        _: usize,
    ) -> LocalBoxFuture<'a, ()> {
        self.send_to_master(fetched.plan.env.get("MASTER_IP").map(String::as_str));
        Box::pin(async {})
    }

    fn step_started(&mut self, step: StepContext<'_>) {
        if let Some(lines) = self.lines.as_mut().filter(|_| step.is_there) {
            lines.start(step.script);
        }
    }

    fn step_ended(&mut self, step: StepContext<'_>, end: StepEnd<'_>) {
        if let Some(lines) = &mut self.lines {
            lines.end(end.record, step.log);
        }
    }

    fn run_ended<'a>(&'a mut self, run: &'a RunContext, exit: ExitCode) -> LocalBoxFuture<'a, ()> {
        let is_deployment = run.service == Service::Boot && run.root != Root::Booted;
        // Taken: it is written once, whatever goes wrong later.
        if let Some(mut lines) = self.lines.take().filter(|_| is_deployment) {
            lines.complete(exit == ExitCode::Done);
        }
        Box::pin(async {})
    }
}

/// The lines of one run. What can't be written is lost here; it is in our own logs.
struct Lines {
    file: Option<File>,
    syslog: Option<Syslog>,
    context: Context,
    kind: &'static str,
    label: &'static str,
}

impl Lines {
    fn open(folder: &Path, node: &str, service: Service) -> Self {
        let context =
            Context { node: node.to_owned(), service: service.to_string(), ..Context::default() };
        let file = std::fs::create_dir_all(folder).and_then(|()| append(&folder.join("xcat.log")));
        Self { file: file.ok(), syslog: None, context, kind: kind(service), label: label(service) }
    }

    /// Sends the lines to `server` from now on.
    fn send_to(&mut self, server: SyslogServer) {
        self.syslog = Syslog::new(server, self.label);
    }

    fn start(&mut self, script: &str) {
        let kind = self.kind;
        self.context.stage = Some(script.to_owned());
        self.write(Severity::Info, &format!("{kind} start..: {script}"));
        self.write(Severity::Info, &format!("Running {kind}: {script}"));
    }

    fn end(&mut self, end: &Record, log: &Path) {
        let (kind, script) = (self.kind, end.stage.as_deref().unwrap_or_default());
        if let Some(file) = &mut self.file {
            let _ = copy_output(log, file);
        }
        if end.cause == Some(Cause::Missing) {
            self.write(Severity::Error, &format!("{kind} {script} does NOT exist."));
        } else {
            let returned = returned(end);
            self.write(Severity::Info, &format!("{kind} end...: {script} {returned}"));
            self.write(Severity::Info, &format!("{kind} {script} {returned}"));
        }
        self.context.stage = None;
    }

    fn complete(&mut self, has_succeeded: bool) {
        let node = &self.context.node;
        let (severity, text) = match has_succeeded {
            true => (Severity::Info, format!("provision completed.({node})")),
            false => (Severity::Error, format!("provision completed with error.({node})")),
        };
        self.write(severity, &text);
    }

    fn write(&mut self, severity: Severity, text: &str) {
        if let Some(file) = &mut self.file {
            let now = jiff::Timestamp::now().strftime(DATE);
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

/// Opens the file so that a pipe without a reader in its place blocks nothing.
fn append(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().create(true).append(true).custom_flags(flags).open(path)
}

/// The address of a host, as a URL or a table has it. A name isn't looked up, because that takes
/// time.
fn address(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse().ok()
}

/// How much of one script's output is copied, in bytes: its end. All of it is in the step's own log.
const MAX_OUTPUT: u64 = 256 * 1024;

/// Appends the end of the output in a step's log to `to`, without the prefix of each line.
pub(super) fn copy_output(log: &Path, to: &mut impl Write) -> io::Result<()> {
    let mut log = provost_fs::open_to_read(log)?;
    let skipped = log.metadata()?.len().saturating_sub(MAX_OUTPUT);
    log.seek(SeekFrom::Start(skipped))?;
    let mut out = Vec::new();
    let mut lines = BufReader::new(log).split(b'\n');
    if skipped > 0 {
        // This line has lost its beginning.
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

/// What a script of a run is called in xCAT's log. At a diskless boot xCAT calls all of them
/// postbootscripts, because they run after it.
pub(crate) fn kind(service: Service) -> &'static str {
    match service {
        Service::Kickstart | Service::Run | Service::Other(_) => "postscript",
        Service::Boot => "postbootscript",
    }
}

/// The tag by which tools find the messages of scripts in the management node's logs.
pub(crate) fn label(service: Service) -> &'static str {
    match service {
        Service::Kickstart => "xcat.deployment.postscript",
        Service::Boot => "xcat.deployment.postbootscript",
        Service::Run | Service::Other(_) => "xcat.updatenode.postscript",
    }
}

/// The exit status of timeout(1) after a time-out.
const TIMED_OUT: i32 = 124;
/// The exit status of a shell that doesn't find a script.
const NOT_FOUND: i32 = 127;
/// The status of a script that didn't end by itself.
const NO_STATUS: i32 = 255;

/// `return with STATUS`, and how it ended where the status doesn't say that.
pub(super) fn returned(end: &Record) -> String {
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

/// The status that a script is said to have returned: 0 only where it succeeded.
pub(super) fn status(end: &Record) -> i32 {
    match (end.exit_code, end.cause) {
        _ if !end.is_failure() => 0,
        (Some(code), _) if code != 0 => code,
        (_, Some(Cause::Timeout)) => TIMED_OUT,
        (_, Some(Cause::Missing)) => NOT_FOUND,
        _ => NO_STATUS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_date() {
        let date = |time: &str| time.parse::<jiff::Timestamp>().unwrap().strftime(DATE).to_string();
        assert_eq!(date("2026-01-05T02:03:04Z"), "Mon Jan  5 02:03:04 UTC 2026");
        assert_eq!(date("2026-11-21T23:59:59Z"), "Sat Nov 21 23:59:59 UTC 2026");
        assert_eq!(date("2028-02-29T12:00:00Z"), "Tue Feb 29 12:00:00 UTC 2028");
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
    fn a_script_without_a_status_has_not_succeeded() {
        let end = |cause, exit_code| Record {
            result: Some(provost_record::Outcome::Failure),
            cause: Some(cause),
            exit_code,
            ..Record::new(provost_record::Phase::StageEnd)
        };
        assert_eq!(returned(&end(Cause::Exit, Some(3))), "return with 3");
        assert_eq!(returned(&end(Cause::Missing, None)), "return with 127 (missing script)");
        assert_eq!(returned(&end(Cause::Exec, Some(127))), "return with 127");
        assert_eq!(returned(&end(Cause::Timeout, None)), "return with 124 (time-out)");
        assert_eq!(returned(&end(Cause::Exit, Some(0))), "return with 255 (left processes behind)");
    }
}
