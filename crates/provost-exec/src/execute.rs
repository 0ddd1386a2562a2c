use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags};
use tokio::io::AsyncReadExt;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::capture::{Capture, Stream};
use crate::start::{NotStarted, Why, start};
use crate::{Ended, Event, LeakPolicy, Outcome, Step, Usage, trace, tree};

/// How much is read at once, in bytes; a pipe holds as much.
const CHUNK: usize = 64 * 1024;
/// The exit status that says of a step under `leak = "fail"` that it left descendants behind.
const LEAK_STATUS: i32 = 1;
/// Far enough away never to come.
const NEVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Runs one step to its end, whatever its end is. `stop` holds the name of the signal by which
/// the run is to end, once it is to end.
///
/// While a step runs, every child of this process belongs to it.
pub async fn execute(
    step: &Step,
    stop: &mut watch::Receiver<Option<&'static str>>,
    mut tell: impl FnMut(Event),
) -> Outcome {
    let begun = Instant::now();
    let mut capture = Capture::new(&step.log);
    let notes = step.log.with_extension("notes");
    let running = start(step, &notes).and_then(|child| {
        let program = step.folder.join(&step.name);
        Running::new(child, begun).map_err(|e| NotStarted { program, why: Why::Other(e) })
    });
    let mut running = match running {
        Ok(running) => running,
        Err(why) => return not_started(why, begun),
    };
    let (ended, usage) = running.supervise(step, stop, &mut capture, &mut tell).await;
    let (ended, leaked) = leave(ended, step.leak);
    let (last_lines, log_error) = capture.finish();
    let place = place(&ended, &notes, &step.folder);
    Outcome { ended, place, last_lines, leaked, duration: begun.elapsed(), usage, log_error }
}

fn not_started(why: NotStarted, begun: Instant) -> Outcome {
    Outcome {
        ended: Ended::NotStarted(why),
        place: None,
        last_lines: Vec::new(),
        leaked: Vec::new(),
        duration: begun.elapsed(),
        usage: Usage::default(),
        log_error: None,
    }
}

fn place(ended: &Ended, notes: &Path, folder: &Path) -> Option<trace::Place> {
    match ended {
        Ended::Exit(status) if *status != 0 => trace::place(notes, folder, *status),
        _ => {
            // There is none where nothing failed.
            let _ = std::fs::remove_file(notes);
            None
        }
    }
}

/// What becomes of descendants once the program has ended and its time for them is over.
fn leave(ended: Ended, policy: LeakPolicy) -> (Ended, Vec<String>) {
    let ended_by_us = matches!(ended, Ended::TimedOut(_) | Ended::Interrupted(_));
    if ended_by_us {
        tree::kill(None);
    }
    if !tree::reap() {
        return (ended, Vec::new());
    }
    let leaked: Vec<String> =
        tree::descendants().iter().map(|(pid, comm)| format!("{pid} {comm}")).collect();
    if leaked.is_empty() || policy == LeakPolicy::Warn {
        return (ended, leaked);
    }
    tree::kill(None);
    tree::reap();
    let ended = match (policy, ended) {
        (LeakPolicy::Fail, Ended::Exit(0)) => Ended::Exit(LEAK_STATUS),
        (_, ended) => ended,
    };
    (ended, leaked)
}

/// Why the tree is being ended.
#[derive(Clone, Copy)]
enum Ending {
    TimedOut,
    Interrupted(&'static str),
}

struct Running {
    pid: Pid,
    pidfd: AsyncFd<OwnedFd>,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    begun: Instant,
}

impl Running {
    fn new(mut child: Child, begun: Instant) -> io::Result<Self> {
        let pid = Pid::from_child(&child);
        let pidfd = watched(rustix::process::pidfd_open(pid, PidfdFlags::empty())?)?;
        let receiver = |fd: OwnedFd| pipe::Receiver::from_owned_fd(fd);
        let stdout = child.stdout.take().map(|s| receiver(s.into())).transpose()?;
        let stderr = child.stderr.take().map(|s| receiver(s.into())).transpose()?;
        Ok(Self { pid, pidfd, stdout, stderr, begun })
    }

    /// The one loop of a step: output, end, clock, and the order to end.
    async fn supervise(
        &mut self,
        step: &Step,
        stop: &mut watch::Receiver<Option<&'static str>>,
        capture: &mut Capture,
        tell: &mut impl FnMut(Event),
    ) -> (Ended, Usage) {
        let limits = step.limits;
        let mut ending: Option<Ending> = None;
        let mut status: Option<(i32, Usage)> = None;
        let mut slow_at = self.begun + limits.slow;
        let mut act_at = self.begun + limits.timeout;
        let mut leak_until = self.begun + NEVER;
        let mut stopped = false;
        let mut buffers = [vec![0; CHUNK], vec![0; CHUNK]];
        let [out, err] = &mut buffers;
        loop {
            if status.is_some() && self.stdout.is_none() && self.stderr.is_none() {
                break;
            }
            tokio::select! {
                biased;
                order = stop.wait_for(Option::is_some), if !stopped => {
                    stopped = true;
                    if let (Ok(signal), None) = (order, ending) {
                        ending = signal.map(Ending::Interrupted);
                        tree::terminate(self.pid);
                        tell(Event::Terminating);
                        act_at = Instant::now() + limits.grace;
                    }
                }
                _ = self.pidfd.readable(), if status.is_none() => {
                    status = Some(wait(self.pid));
                    leak_until = Instant::now() + limits.leak;
                }
                read = read(&mut self.stdout, out) => {
                    take(read, &mut self.stdout, out, capture, Stream::Stdout);
                }
                read = read(&mut self.stderr, err) => {
                    take(read, &mut self.stderr, err, capture, Stream::Stderr);
                }
                () = tokio::time::sleep_until(leak_until) => break,
                () = tokio::time::sleep_until(act_at), if status.is_none() => match ending {
                    None => {
                        ending = Some(Ending::TimedOut);
                        tree::terminate(self.pid);
                        tell(Event::Terminating);
                        act_at = Instant::now() + limits.grace;
                    }
                    Some(_) => {
                        tree::kill(Some(self.pid));
                        tell(Event::Killing);
                        act_at = Instant::now() + NEVER;
                    }
                },
                () = tokio::time::sleep_until(slow_at), if status.is_none() => {
                    tell(Event::Slow);
                    slow_at = Instant::now() + NEVER;
                }
            }
        }
        let (status, usage) = status.unwrap_or_default();
        let ended = match ending {
            Some(Ending::TimedOut) => Ended::TimedOut(limits.timeout),
            Some(Ending::Interrupted(signal)) => Ended::Interrupted(signal),
            None if libc::WIFSIGNALED(status) => Ended::Signal(signal_name(libc::WTERMSIG(status))),
            None => Ended::Exit(libc::WEXITSTATUS(status)),
        };
        (ended, usage)
    }
}

#[expect(unsafe_code, reason = "registering a descriptor with the event loop")]
fn watched(pidfd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the AsyncFd owns the descriptor, and nobody takes it out or closes it before.
    Ok(unsafe { AsyncFd::register(pidfd) }?)
}

async fn read(pipe: &mut Option<pipe::Receiver>, buffer: &mut [u8]) -> io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read(buffer).await,
        None => std::future::pending().await,
    }
}

fn take(
    read: io::Result<usize>,
    pipe: &mut Option<pipe::Receiver>,
    buffer: &[u8],
    capture: &mut Capture,
    stream: Stream,
) {
    match read {
        Ok(0) | Err(_) => *pipe = None,
        Ok(n) => capture.take(stream, &buffer[..n]),
    }
}

/// Takes leave of the program, which has ended.
#[expect(unsafe_code, reason = "no safe wrapper gives the exit status and the usage of one child")]
fn wait(pid: Pid) -> (i32, Usage) {
    let mut status = 0;
    // SAFETY: rusage is plain data for which all zeroes is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to locals that outlive the call.
    unsafe { libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, 0, &raw mut usage) };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec.unsigned_abs())
            + Duration::from_micros(t.tv_usec.unsigned_abs())
    };
    let max_rss_kib = usage.ru_maxrss.unsigned_abs();
    (status, Usage { user: time(usage.ru_utime), system: time(usage.ru_stime), max_rss_kib })
}

fn signal_name(number: i32) -> &'static str {
    match number {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => "another signal",
    }
}
