//! Starts a program as `std::process::Command` does, but in the keeper's memory up to its exec: a
//! copy of that costs a quarter of what a short script does.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{Timespec, futex};

use super::wait::wait;
use crate::kernel::Feature;
use crate::output::{Output, xtrace};
use crate::trace;

/// The stack of the child up to its exec, in units of 16 bytes, to which it must be aligned.
const STACK: usize = 64 * 1024 / 16;

/// A program that can start at any moment.
pub(crate) struct Program<'w> {
    env: BTreeMap<String, CString>,
    output: Output<'w>,
}

/// A program that has been started, and what it prints.
pub(crate) struct Spawned<'w> {
    pub(crate) pid: Pid,
    /// Where the kernel has them.
    pub(crate) pidfd: Option<OwnedFd>,
    pub(crate) output: Output<'w>,
    /// Whether its commands are traced, or why they aren't, if that was asked for.
    pub(crate) traced: Option<io::Result<()>>,
}

impl<'w> Program<'w> {
    /// One with this environment; of variables that have the same name the last is the one.
    pub(crate) fn new(env: &[(String, String)], output: Output<'w>) -> io::Result<Self> {
        let mut program = Self { env: BTreeMap::new(), output };
        for (name, value) in env {
            program.set(name, value)?;
        }
        Ok(program)
    }

    /// Sets a variable of its environment.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> io::Result<()> {
        self.env.insert(name.to_owned(), CString::new(format!("{name}={value}"))?);
        Ok(())
    }

    /// Starts it in `folder`: its path from there, and its arguments. Its input is the keeper's. `detach`
    /// is called before it begins, in the child. It may make system calls and change what is the
    /// child's own; memory is the keeper's, which waits meanwhile. If it `is_traced`, that holds from
    /// its first instruction on. What bash shows with `-x` goes to `xtrace`.
    #[expect(unsafe_code, reason = "an exec that no safe wrapper makes without memory of its own")]
    pub(crate) fn spawn(
        self,
        folder: &OwnedFd,
        words: &[String],
        is_traced: bool,
        xtrace: Option<BorrowedFd<'_>>,
        detach: impl Fn() -> io::Result<()>,
    ) -> io::Result<Spawned<'w>> {
        let words = words.iter().map(|word| CString::new(word.as_str()));
        let words: Vec<CString> = words.collect::<Result<_, _>>()?;
        let (argv, envp) = (pointers(&words), pointers(self.env.values()));
        let [out, err] = self.output.write_ends().ok_or(ErrorKind::BrokenPipe)?;
        let xtrace = xtrace.map(|fd| fd.as_raw_fd());
        let become_it = || -> io::Result<()> {
            rustix::stdio::dup2_stdout(out)?;
            rustix::stdio::dup2_stderr(err)?;
            if let Some(xtrace) = xtrace {
                // SAFETY: the number isn't the child's own yet; the copy stays open at its exec.
                unsafe { libc::dup2(xtrace, xtrace::FD) };
            }
            rustix::process::fchdir(folder)?;
            detach()?;
            // SAFETY: both lists end with a null, and what they point to outlives this.
            unsafe { libc::execve(argv[0], argv.as_ptr(), envp.as_ptr()) };
            Err(io::Error::last_os_error())
        };
        let (child, traced) = match is_traced.then(|| fork_traced(&become_it)) {
            Some(Ok(child)) => (child?, Some(Ok(()))),
            Some(Err(refused)) => (fork(&become_it)?, Some(Err(refused))),
            None => (fork(&become_it)?, None),
        };
        let (pid, pidfd) = child;
        Ok(Spawned { pid, pidfd, output: self.output, traced })
    }
}

type Become<'a> = &'a dyn Fn() -> io::Result<()>;

/// Starts a child, and waits until it has become its program.
fn fork(become_it: Become<'_>) -> io::Result<(Pid, Option<OwnedFd>)> {
    let child = Child::new(become_it, GO);
    let mut stack = Vec::with_capacity(STACK);
    // It goes on when the child has left its memory.
    let (pid, pidfd) = child.begin(&mut stack, libc::CLONE_VFORK)?;
    child.has_begun().inspect_err(|_| drop(wait(pid)))?;
    Ok((pid, pidfd))
}

/// The same for one that is traced. The first error: that is refused, and there is no child.
fn fork_traced(become_it: Become<'_>) -> io::Result<io::Result<(Pid, Option<OwnedFd>)>> {
    let child = Child::new(become_it, WAIT);
    let mut stack = Vec::with_capacity(STACK);
    let (pid, pidfd) = match child.begin(&mut stack, 0) {
        Ok(begun) => begun,
        Err(e) => return Ok(Err(e)),
    };
    let seized = trace::seize(pid);
    child.order(if seized.is_ok() { GO } else { STOP });
    // Until it has left this process's memory, all that it uses is there.
    let begun = seized.is_ok() && trace::wait_for_exec(pid);
    if begun {
        trace::go_on(pid.as_raw_nonzero().get(), 0);
        return Ok(Ok((pid, pidfd)));
    }
    let _ = wait(pid);
    seized?;
    Ok(Err(child.has_begun().err().unwrap_or_else(|| ErrorKind::Interrupted.into())))
}

/// What a child is to do: wait, begin, end.
const WAIT: u32 = 0;
const GO: u32 = 1;
const STOP: u32 = 2;
/// The longest time that it waits for its order: the keeper may have been killed meanwhile.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// What parent and child share.
struct Child<'a> {
    become_it: Become<'a>,
    order: AtomicU32,
    /// Why it could not.
    error: AtomicI32,
}

impl<'a> Child<'a> {
    fn new(become_it: Become<'a>, order: u32) -> Self {
        Self { become_it, order: AtomicU32::new(order), error: AtomicI32::new(0) }
    }

    /// Starts it, on a stack of its own. The caller keeps both as long as it is in this process's
    /// memory.
    #[expect(unsafe_code, reason = "no safe wrapper starts a child in its parent's memory")]
    fn begin(
        &self,
        stack: &mut Vec<MaybeUninit<u128>>,
        flags: c_int,
    ) -> io::Result<(Pid, Option<OwnedFd>)> {
        let has_pidfd = Feature::Pidfd.is_there();
        let flags = if has_pidfd { flags | libc::CLONE_PIDFD } else { flags };
        let mut pidfd: c_int = -1;
        // SAFETY: the stack grows downwards from its end, and is the child's alone.
        let pid = unsafe {
            libc::clone(
                begin,
                stack.as_mut_ptr().add(STACK).cast(),
                libc::CLONE_VM | flags | libc::SIGCHLD,
                std::ptr::from_ref(self).cast_mut().cast(),
                &raw mut pidfd,
            )
        };
        let pid = Pid::from_raw(pid.max(0)).ok_or_else(io::Error::last_os_error)?;
        // SAFETY: the kernel has made it for this process.
        Ok((pid, has_pidfd.then(|| unsafe { OwnedFd::from_raw_fd(pidfd) })))
    }

    fn order(&self, order: u32) {
        self.order.store(order, Ordering::Release);
        let _ = futex::wake(&self.order, futex::Flags::PRIVATE, 1);
    }

    /// Whether it has become its program.
    fn has_begun(&self) -> io::Result<()> {
        match self.error.load(Ordering::Relaxed) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// In the child: waits for its order, and executes it.
    fn run(&self) {
        while self.order.load(Ordering::Acquire) == WAIT {
            let waited = futex::wait(&self.order, futex::Flags::PRIVATE, WAIT, Some(&PATIENCE));
            if waited == Err(Errno::TIMEDOUT) {
                return;
            }
        }
        if self.order.load(Ordering::Acquire) == GO
            && let Err(e) = (self.become_it)()
        {
            self.error.store(e.raw_os_error().unwrap_or(libc::EINVAL), Ordering::Relaxed);
        }
    }
}

#[expect(unsafe_code, reason = "the child gets what it needs by a pointer")]
extern "C" fn begin(child: *mut c_void) -> c_int {
    // SAFETY: its parent keeps what this points to until it has left that memory.
    unsafe { &*child.cast::<Child<'_>>() }.run();
    // Nobody sees it.
    127
}

/// The pointers of a list as the kernel takes it, which ends with a null.
fn pointers<'a>(texts: impl IntoIterator<Item = &'a CString>) -> Vec<*const c_char> {
    texts.into_iter().map(|text| text.as_ptr()).chain([null()]).collect()
}
