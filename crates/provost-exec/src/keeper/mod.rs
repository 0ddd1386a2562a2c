//! The keeper: a small process between the runner and its scripts.

mod clock;
mod next;
mod step;
mod wire;

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use self::next::{Next, Prepared};
use self::step::{Done, Leftovers, execute};
use crate::kernel;
use crate::output::CHUNK;
use crate::process::cgroup::Leaf;
use crate::process::{awake, status, tree};

pub(crate) use self::next::KeeperResources;
pub(crate) use self::wire::{Order, Report, Wire, frame, unframe};

/// Forks a keeper. `runners` is what the runner alone may hold: the keeper would not see the
/// runner's end if it held it, too. There must be one thread only: the keeper goes on with
/// whatever locks the others held.
pub(crate) fn fork<T>(wire: Wire, resources: KeeperResources, runners: T) -> io::Result<(Pid, T)> {
    match fork_here()? {
        Some(keeper) => Ok((keeper, runners)),
        None => {
            drop(runners);
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                become_keeper();
                keep(wire, resources);
            }));
            end(i32::from(result.is_err()))
        }
    }
}

/// Forks this process, which must have one thread: the child goes on with whatever locks the others held. Returns the
/// child's number, and none in the child.
///
/// # Errors
///
/// Those of fork(2).
#[expect(unsafe_code, reason = "no safe wrapper forks")]
pub fn fork_here() -> io::Result<Option<Pid>> {
    // SAFETY: this process has one thread; see `fork`. What follows in the child is ordinary
    // code, as it would be in the parent.
    forked(unsafe { libc::fork() }.into())
}

/// Forks a sibling, a child of the runner: if the sibling is killed, its orphans go to the runner and
/// not to this keeper, which could not tell them from its own.
#[expect(unsafe_code, reason = "no safe wrapper forks")]
fn fork_sibling() -> io::Result<Option<Pid>> {
    let flags = libc::c_long::from(libc::CLONE_PARENT | libc::SIGCHLD);
    // SAFETY: as above. It has a copy of all memory, stack included, and the C library need not
    // know of it, because there is no second thread.
    forked(unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) })
}

fn forked(pid: libc::c_long) -> io::Result<Option<Pid>> {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid >= 0);
    pid.map(Pid::from_raw).ok_or_else(io::Error::last_os_error)
}

/// Ends a process of [`fork_here`], without what its parent does at its exit.
#[expect(unsafe_code, reason = "no safe wrapper ends a fork without its parent's exit handlers")]
pub fn end(status: i32) -> ! {
    // SAFETY: it ends this process, nothing else.
    unsafe { libc::_exit(status) }
}

/// Cuts all ties to the runner's terminal, session and signals: a reader of the runner's output
/// must not wait for daemons.
fn become_keeper() {
    // A keeper that can't do one of these still keeps.
    let _ = rustix::process::setsid();
    let _ = rustix::thread::set_name(status::KEEPER);
    let _ = tree::adopt_orphans();
    if let Ok(silence) = silence() {
        let _ = rustix::stdio::dup2_stdin(&silence);
        let _ = rustix::stdio::dup2_stdout(&silence);
        let _ = rustix::stdio::dup2_stderr(&silence);
    }
    ignore_signals();
    awake::stay();
    // What the runner's caller left open for it isn't for the scripts.
    kernel::close_at_exec();
}

/// What has nothing to read, for scripts as well: /dev/null, or, in a chroot without it, a pipe that
/// has ended.
fn silence() -> io::Result<OwnedFd> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null");
    null.map(OwnedFd::from).or_else(|_| io::pipe().map(|(end, _)| end.into()))
}

/// A keeper ends with its runner, not before: what stops a unit or a session signals all of its
/// processes at once. It is a handler because what is ignored stays ignored in the scripts, and a shell
/// could not even trap it; so nothing else that the runner's caller ignored or blocked stays so.
#[expect(unsafe_code, reason = "setting signals' handlers")]
fn ignore_signals() {
    let ours = [
        libc::SIGTERM,
        libc::SIGINT,
        libc::SIGHUP,
        libc::SIGTSTP,
        libc::SIGCONT,
        libc::SIGPIPE,
        libc::SIGXFSZ,
    ];
    for signal in 1..=LAST_SIGNAL {
        let how = if ours.contains(&signal) { nothing() } else { libc::SIG_DFL };
        // SAFETY: the handler does nothing, which is safe at any moment. KILL and STOP are
        // refused, which does no harm.
        unsafe { libc::signal(signal, how) };
    }
    // SAFETY: the set is plain data that `sigemptyset` fills in.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Has a write beyond `ulimit -f` fail like any other, so that it is reported, instead of killing
/// this process.
#[expect(unsafe_code, reason = "setting a signal's handler")]
pub(crate) fn ignore_file_size_signal() {
    // SAFETY: the handler does nothing, which is safe at any moment.
    unsafe { libc::signal(libc::SIGXFSZ, nothing()) };
}

/// A handler that does nothing, and that an exec takes away.
fn nothing() -> libc::sighandler_t {
    extern "C" fn nothing(_: libc::c_int) {}
    nothing as extern "C" fn(libc::c_int) as libc::sighandler_t
}

/// The last signal's number, the real-time ones included.
const LAST_SIGNAL: libc::c_int = 64;

/// Takes orders until the runner is gone, and then leaves.
fn keep(mut wire: Wire, resources: KeeperResources) {
    let mut leaf = Leaf::enter();
    match take_orders(&mut wire, &resources, &mut leaf) {
        End::Dismissed => {}
        End::RunnerGone => drop(leaf.map(Leaf::leave)),
        End::Replaced(leftovers) => {
            drop((wire, resources.writes, resources.watches));
            stay_with(leftovers, leaf, &resources.runner);
        }
    }
}

/// Why a keeper takes no more orders.
enum End {
    Dismissed,
    RunnerGone,
    /// Another keeper takes them, because this one's step left processes behind.
    Replaced(Leftovers),
}

fn take_orders(wire: &mut Wire, resources: &KeeperResources, leaf: &mut Option<Leaf>) -> End {
    let mut next = Next::new(resources);
    loop {
        next.prepare();
        let Some(order) = wire.wait() else { return End::RunnerGone };
        match order {
            Order::Prepare(step) => next.set(step),
            Order::Run(most) => {
                if let Some(step) = next.take().map(|prepared| prepared.within(most))
                    && let Err(end) = run(step, &mut next, wire, leaf)
                {
                    return end;
                }
            }
            Order::Dismiss => return End::Dismissed,
            // These were for a step that has just ended.
            Order::Pause => wire.send(&Report::Paused),
            Order::Stop(_) | Order::Hurry | Order::Resume => {}
        }
    }
}

/// Runs one step.
fn run<'w>(
    step: Prepared<'w>,
    next: &mut Next<'w>,
    wire: &mut Wire,
    leaf: &mut Option<Leaf>,
) -> Result<(), End> {
    let (outcome, leftovers) = match execute(step, next, wire, leaf.as_ref()) {
        Done::RunnerGone => return Err(End::RunnerGone),
        Done::Ended(outcome, leftovers) => (outcome, leftovers),
    };
    if let Some(leftovers) = leftovers {
        // The next step has a new keeper, so that only its own descendants count as its own. It
        // begins before the end is reported to the runner.
        next.strip();
        let forked = fork_sibling();
        if let Ok(Some(_)) = forked {
            return Err(End::Replaced(leftovers));
        }
        drop(leftovers);
        // Without one, descendants of this step may be taken for the next one's.
        if forked.is_ok() {
            awake::stay();
            let _ = tree::adopt_orphans();
            *leaf = leaf.as_ref().and_then(Leaf::next);
        }
    }
    wire.send(&Report::Ended(outcome, std::process::id()));
    Ok(())
}

/// Keeps reading the output of processes that live on: without a reader they get SIGPIPE, or block.
/// Stays their parent, whether they print or not, as long as there is a runner, which kills all that
/// comes to it from a keeper that it loses.
#[expect(unsafe_code, reason = "setting a signal's disposition")]
fn stay_with(mut leftovers: Leftovers, leaf: Option<Leaf>, runner: &OwnedFd) {
    // From now on no exit status matters here, so the kernel may reap them.
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    tree::reap();
    if let Some(leaf) = &leaf {
        leaf.unmark();
    }
    // The kernel's SIGCONT, once a second, ends all waiting.
    let mut release = || leftovers.tracer.as_mut().is_some_and(|tracer| tracer.release_more());
    release();
    drain(leftovers.pipes, &mut release);
    while poll(&mut [PollFd::new(runner, PollFlags::IN)], None) == Err(Errno::INTR) {
        release();
    }
    // What its tracer leaves behind is killed.
    while release() {
        let _ = poll(&mut [], None);
    }
    if let Some(leaf) = leaf {
        leaf.leave();
    }
}

/// Reads and drops what comes through `pipes` until nobody holds their other ends.
fn drain(mut pipes: Vec<OwnedFd>, mut in_between: impl FnMut() -> bool) {
    let mut buffer = vec![0; CHUNK];
    while !pipes.is_empty() {
        in_between();
        let mut fds: Vec<_> = pipes.iter().map(|p| PollFd::new(p, PollFlags::IN)).collect();
        if poll(&mut fds, None).is_err_and(|e| e != Errno::INTR) {
            return;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut ready = ready.into_iter();
        pipes.retain(|pipe| {
            if !ready.next().unwrap_or(false) {
                return true;
            }
            match rustix::io::read(pipe.as_fd(), &mut *buffer) {
                Ok(n) => n > 0,
                Err(e) => matches!(e, Errno::INTR | Errno::AGAIN),
            }
        });
    }
}
