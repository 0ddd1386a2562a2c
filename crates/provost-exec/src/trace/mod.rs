//! Every command of a step, by ptrace(2).
//!
//! The keeper traces the script and all that descends from it. A process that begins a program
//! stops, and one that has ended isn't known to its parent until the keeper has reaped it. So the
//! keeper can empty the step's pipes before it writes the command's line, and what a command printed
//! stands between its lines. `docs/adr/0004-every-command.md` says why by ptrace, and what a script
//! could notice.

mod args;
mod can_trace;
mod log_budget;
mod process_tree;
mod programs;
mod ptrace;

use std::collections::HashSet;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use provost_steplog::wording;
use provost_steplog::{EXEC, Status, TRACE, WHOLE, exit_line, quote};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Pid;

use self::log_budget::LogBudget;
use self::process_tree::ProcessTree;
use self::programs::Programs;
use self::ptrace::{Change, ProcessEnd, Stop, Traces};
use crate::output::xtrace::Xtrace;
use crate::output::{Capture, Output, Secrets};
use crate::process::signals::signal_name;
use crate::process::status;

pub(crate) use self::can_trace::may_trace;
pub use self::can_trace::{Untraceable, can_trace};
pub(crate) use self::ptrace::{go_on, seize, wait_for_exec};

/// What a shell's child ends with that can't run its command, or doesn't find it (POSIX 2.8.2).
const CANNOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;
/// How many changes are handled before the keeper looks after its other work.
const AT_ONCE: usize = 256;
/// How long all that is traced may take to stop, so that it can be detached from. A process that
/// hangs in the kernel does so later.
const RELEASE: Duration = Duration::from_millis(300);
/// How often it is interrupted meanwhile.
const AGAIN: Duration = Duration::from_millis(10);

/// What came of a look at what is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Served {
    /// All that has changed was handled.
    Idle,
    /// There is more.
    Busy,
    /// The script has ended, and is to be waited for.
    ScriptEnded,
    /// There are no descendants.
    Alone,
}

/// What becomes readable by a change of a child or a traced thread (a signalfd).
pub(crate) struct Changes(OwnedFd);

impl Changes {
    /// Blocks SIGCHLD in this process.
    #[expect(unsafe_code, reason = "no safe wrapper makes one")]
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the set is plain data that `sigemptyset` fills in; the descriptor is a new one.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGCHLD);
            libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
            match libc::signalfd(-1, &raw const set, flags) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(Self(OwnedFd::from_raw_fd(fd))),
            }
        }
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// Waits for one, no longer than this.
    fn wait(&self, limit: Duration) {
        let limit = limit.try_into().unwrap_or_default();
        let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit));
    }

    /// Forgets that there was one, before what has changed is looked at.
    pub(crate) fn clear(&self) {
        // There is one at most, of the size of `signalfd_siginfo`.
        let _ = rustix::io::read(&self.0, &mut [0; 128]);
    }
}

/// Traces one step.
pub(crate) struct Tracer {
    script: i32,
    /// How the script stands in the arguments of its interpreter.
    path: Vec<u8>,
    secrets: Secrets,
    tree: ProcessTree,
    budget: LogBudget,
    /// How many processes began a command, and how many of these failed.
    processes: u64,
    failed: u64,
    /// The command whose failure ended the script, or for which it waited when it was ended.
    culprit: Option<String>,
    /// Whether the script is ended, and doesn't end by itself.
    is_ended: bool,
    /// What becomes of a thread that stops.
    on_stop: OnStop,
    programs: Programs,
    /// Threads of programs that may trace others. Their system calls are looked at.
    watched: HashSet<i32>,
    /// The processes that have begun to trace others.
    tracers: HashSet<i32>,
}

/// What becomes of a thread that stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnStop {
    Resume,
    Detach,
    Kill,
}

/// Where lines and output go.
pub(crate) struct Log<'l, 'w> {
    pub(crate) changes: &'l Changes,
    pub(crate) output: &'l mut Output<'w>,
    pub(crate) capture: &'l mut Capture,
    /// What bash shows, if so.
    pub(crate) xtrace: Option<&'l mut Xtrace>,
}

impl Log<'_, '_> {
    /// Writes what was printed before.
    fn drain(&mut self) {
        if let Some(xtrace) = &mut self.xtrace {
            xtrace.take(self.capture);
        }
        self.output.take_all(|stream, text| self.capture.take(stream, text));
    }
}

/// What was found out about a step's commands.
#[derive(Default)]
pub(crate) struct Commands {
    pub(crate) begun: u64,
    pub(crate) failed: u64,
    /// The one whose failure ended the script, or for which it waited when it was ended.
    pub(crate) culprit: Option<String>,
}

impl Tracer {
    /// Of a script that is traced and runs as `./NAME`.
    pub(crate) fn new(script: Pid, name: &str, secrets: &Secrets) -> Self {
        let script = script.as_raw_nonzero().get();
        Self {
            script,
            path: format!("./{name}").into_bytes(),
            secrets: secrets.clone(),
            tree: ProcessTree::new(script),
            budget: LogBudget::default(),
            processes: 0,
            failed: 0,
            culprit: None,
            is_ended: false,
            on_stop: OnStop::Resume,
            programs: Programs::default(),
            watched: HashSet::new(),
            tracers: HashSet::new(),
        }
    }

    /// Handles what has changed.
    pub(crate) fn serve(&mut self, log: &mut Log<'_, '_>) -> Served {
        log.changes.clear();
        for _ in 0..AT_ONCE {
            match ptrace::next_change() {
                Ok(None) => return Served::Idle,
                Ok(Some(Change::Ended(pid, _))) if pid == self.script => {
                    return Served::ScriptEnded;
                }
                Ok(Some(Change::Ended(pid, ending))) => {
                    self.ended(pid, ending, log);
                    ptrace::reap(pid);
                }
                Ok(Some(Change::Stopped(pid, stop))) => self.stopped(pid, stop, log),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Served::Alone,
            }
        }
        Served::Busy
    }

    /// The script is about to be ended.
    pub(crate) fn ending(&mut self) {
        self.is_ended = true;
        self.culprit = self.tree.awaited(self.script);
    }

    /// The script has ended so, and was waited for.
    pub(crate) fn script_ended(&mut self, status: i32, log: &mut Log<'_, '_>) {
        let ending = match libc::WIFSIGNALED(status) {
            true => ProcessEnd::Signal(libc::WTERMSIG(status)),
            false => ProcessEnd::Exit(libc::WEXITSTATUS(status)),
        };
        if ending != ProcessEnd::Exit(0) && !self.is_ended {
            log.drain();
            self.culprit = self.tree.culprit(self.script, ending, log.capture.printed());
        }
        self.ended(self.script, ending, log);
        // Another process may get its number.
        self.script = 0;
    }

    fn stopped(&mut self, pid: i32, stop: Stop, log: &mut Log<'_, '_>) {
        let mut on_stop = self.on_stop;
        match stop {
            Stop::Fork | Stop::Clone => {
                if let Some(child) = ptrace::message(pid) {
                    self.tree.add(child, pid, stop == Stop::Clone);
                    // Only added: where this report comes late, the child may have begun a program that traces.
                    if self.watched.contains(&pid) {
                        self.watched.insert(child);
                    }
                }
            }
            Stop::Exec => {
                self.begun(pid, log);
                let may_trace = self.programs.may_trace(pid);
                self.watch_if(pid, may_trace);
            }
            Stop::Trap => {
                self.tree.meet(pid);
                // The report of its parent may come later.
                if !self.watched.is_empty() && !self.watched.contains(&pid) {
                    let process = status::process_of(pid).filter(|process| *process != pid);
                    let parent = process.unwrap_or_else(|| self.tree.parent(pid));
                    self.watch_if(pid, self.watched.contains(&parent));
                }
            }
            Stop::Call => {
                if self.make_way(pid, log) && on_stop == OnStop::Resume {
                    on_stop = OnStop::Detach;
                }
            }
            Stop::Group | Stop::Signal(_) => {}
        }
        let signal = if let Stop::Signal(signal) = stop { signal } else { 0 };
        match on_stop {
            // It stays stopped, whether it is traced or not.
            OnStop::Resume if stop == Stop::Group => ptrace::leave_stopped(pid),
            OnStop::Resume if self.watched.contains(&pid) => ptrace::go_on_to_call(pid, signal),
            OnStop::Resume => ptrace::go_on(pid, signal),
            OnStop::Detach => {
                if ptrace::detach(pid, signal) {
                    self.forget(pid);
                }
            }
            OnStop::Kill => ptrace::kill(pid),
        }
    }

    fn watch_if(&mut self, pid: i32, is_watched: bool) {
        if is_watched {
            self.watched.insert(pid);
        } else {
            self.watched.remove(&pid);
        }
    }

    fn forget(&mut self, pid: i32) {
        self.tree.forget(pid);
        self.watched.remove(&pid);
    }

    /// Detaches from what a watched thread is about to trace: a process has one tracer. Returns whether
    /// that is the thread itself.
    fn make_way(&mut self, pid: i32, log: &mut Log<'_, '_>) -> bool {
        let (tracer, target) = match ptrace::traces(pid) {
            Some(Traces::Me) => (self.tree.parent(pid), None),
            Some(Traces::Thread(target)) if self.tree.threads().any(|t| t == target) => {
                (status::process_of(pid).unwrap_or(pid), Some(target))
            }
            _ => return false,
        };
        if self.tracers.insert(tracer) {
            log.drain();
            log.capture.put_line(&format!("{TRACE} {WHOLE} pid {tracer} traces itself"));
        }
        if let Some(target) = target {
            self.release_one(target, log);
        }
        target.is_none()
    }

    /// Detaches from one thread, which goes on unharmed.
    fn release_one(&mut self, pid: i32, log: &mut Log<'_, '_>) {
        let on_stop = std::mem::replace(&mut self.on_stop, OnStop::Detach);
        let until = Instant::now() + RELEASE;
        while ptrace::interrupt(pid).is_ok() && Instant::now() < until {
            log.changes.clear();
            match ptrace::change_of(pid) {
                Ok(Some(Change::Stopped(_, stop))) => {
                    self.stopped(pid, stop, log);
                    break;
                }
                Ok(Some(Change::Ended(..))) => break,
                Ok(None) | Err(_) => log.changes.wait(AGAIN),
            }
        }
        self.on_stop = on_stop;
    }

    /// A process has begun a program.
    fn begun(&mut self, pid: i32, log: &mut Log<'_, '_>) {
        if self.tree.has_threads()
            && let Some(before) = ptrace::message(pid).filter(|before| *before != pid)
        {
            self.forget(before);
        }
        let args = args::read(pid, &self.secrets);
        // The script's own interpreter, which another one has looked for, isn't a command of it.
        if pid == self.script && args.contains(&self.path) {
            return;
        }
        self.note_begin(pid, &args::shown(&args, &self.secrets), log);
    }

    /// Notes the start of the command `text`.
    fn note_begin(&mut self, pid: i32, text: &str, log: &mut Log<'_, '_>) {
        let parent = self.tree.parent(pid);
        let (number, is_early) = self.budget.count();
        self.processes += u64::from(self.tree.begin(pid, number, text));
        log.drain();
        let line = format!("{EXEC} {WHOLE} {pid} {parent} {text}");
        if is_early {
            log.capture.put_line(&line);
        } else {
            self.budget.keep_exec(Capture::line(&line));
        }
    }

    /// The command that a shell's child could not begin, as the shell says in its last line, whose
    /// words are in any language: `./x: line 5: foo: command not found`.
    fn not_begun(&mut self, pid: i32, ending: ProcessEnd, printed: &Capture) -> Option<String> {
        let may_be = matches!(ending, ProcessEnd::Exit(CANNOT_RUN | NOT_FOUND))
            && pid != self.script
            && self.tree.began_none(pid, ending);
        let line = printed.last_line().filter(|_| may_be)?;
        let mut parts = line.rsplit(": ");
        let (_, name, at) = (parts.next()?, parts.next()?, parts.next()?);
        // `zsh: command not found: foo` has another order.
        let before = at.trim_end_matches(|c: char| c.is_ascii_digit());
        let has_line = before.len() < at.len() && (before.is_empty() || before.ends_with(' '));
        has_line.then(|| quote([name]))
    }

    /// A thread has ended, and with it a process, perhaps.
    fn ended(&mut self, pid: i32, ending: ProcessEnd, log: &mut Log<'_, '_>) {
        self.watched.remove(&pid);
        self.tracers.remove(&pid);
        log.drain();
        if let Some(name) = self.not_begun(pid, ending, log.capture) {
            self.note_begin(pid, &name, log);
        }
        let command = self.tree.end(pid, ending, log.capture.printed());
        let Some(command) = command else { return };
        self.failed += u64::from(ending != ProcessEnd::Exit(0));
        let status = match ending {
            ProcessEnd::Exit(status) => Status::Exit(status),
            ProcessEnd::Signal(signal) => Status::Signal(signal_name(signal)),
        };
        let line = exit_line(pid.cast_unsigned(), &status, command.began.elapsed());
        if LogBudget::is_early(command.number) {
            log.capture.put_line(&line);
        } else {
            self.budget.keep_exit(command.number, Capture::line(&line));
        }
    }

    /// All that is traced is being killed, and so is what it has started meanwhile.
    pub(crate) fn kill(&mut self) {
        self.on_stop = OnStop::Kill;
    }

    /// Detaches from all that is traced, which goes on unharmed: daemons, when the step has ended.
    /// What can't stop for that is detached from [later](Self::release_more).
    pub(crate) fn release(&mut self, log: &mut Log<'_, '_>) {
        self.on_stop = OnStop::Detach;
        let until = Instant::now() + RELEASE;
        loop {
            self.interrupt_all();
            let served = self.serve(log);
            let left = until.saturating_duration_since(Instant::now());
            let is_done = matches!(served, Served::ScriptEnded | Served::Alone);
            if is_done || left.is_zero() || self.tree.is_empty() {
                return;
            }
            if served == Served::Idle {
                log.changes.wait(left.min(AGAIN));
            }
        }
    }

    fn interrupt_all(&mut self) {
        let all: Vec<i32> = self.tree.threads().collect();
        for pid in all.into_iter().filter(|pid| ptrace::interrupt(*pid).is_err()) {
            // It has ended, or has never been traced.
            self.forget(pid);
        }
    }

    /// Detaches from what has stopped since the last time, after the step's end. Returns whether more
    /// may come.
    pub(crate) fn release_more(&mut self) -> bool {
        loop {
            match ptrace::next_change() {
                Ok(Some(Change::Stopped(pid, stop))) => {
                    let child =
                        matches!(stop, Stop::Fork | Stop::Clone).then(|| ptrace::message(pid));
                    child.flatten().inspect(|child| self.tree.meet(*child));
                    let signal = if let Stop::Signal(signal) = stop { signal } else { 0 };
                    if ptrace::detach(pid, signal) {
                        self.tree.forget(pid);
                    }
                }
                Ok(Some(Change::Ended(pid, _))) => {
                    ptrace::reap(pid);
                    self.tree.forget(pid);
                }
                Ok(None) => {
                    // What has ended meanwhile isn't reported where nobody waits for it.
                    self.interrupt_all();
                    return !self.tree.is_empty();
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Writes the lines of the last commands. Returns what was found out.
    pub(crate) fn finish(&mut self, capture: &mut Capture) -> Commands {
        let (left_out, last) = self.budget.finish();
        if left_out > 0 {
            capture.put_line(&format!(
                "{TRACE} {WHOLE} {} left out",
                wording::count(left_out, "command")
            ));
        }
        last.iter().for_each(|line| capture.put_raw(line));
        Commands { begun: self.processes, failed: self.failed, culprit: self.culprit.take() }
    }
}
