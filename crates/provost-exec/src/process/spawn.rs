//! Starts a program as `std::process::Command` does, but in the keeper's memory up to its exec: a
//! copy of that costs a quarter of what a short script does.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::ptr::null;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::Pid;

use super::wait::wait;
use crate::output::Output;

/// The stack of the child up to its exec, in units of 16 bytes, to which it must be aligned.
const STACK: usize = 64 * 1024 / 16;

/// A program that can start at any moment.
pub(crate) struct Program<'w> {
    env: BTreeMap<String, CString>,
    folder: CString,
    output: Output<'w>,
}

/// A program that has been started, and what it prints.
pub(crate) struct Spawned<'w> {
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
    pub(crate) output: Output<'w>,
}

impl<'w> Program<'w> {
    /// One that is to run in `folder`; of variables that have the same name the last is the one.
    pub(crate) fn new(
        folder: &Path,
        env: &[(String, String)],
        output: Output<'w>,
    ) -> io::Result<Self> {
        let folder = CString::new(folder.as_os_str().as_encoded_bytes())?;
        let mut program = Self { env: BTreeMap::new(), folder, output };
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

    /// Starts it: its path, from its folder, and its arguments. Its input is the keeper's. `detach`
    /// is called before it begins, in the child. It may make system calls and change what is the
    /// child's own; memory is the keeper's, which waits meanwhile.
    #[expect(unsafe_code, reason = "no safe wrapper starts a child in its parent's memory")]
    pub(crate) fn spawn(
        self,
        words: &[String],
        detach: impl Fn() -> io::Result<()>,
    ) -> io::Result<Spawned<'w>> {
        let words = words.iter().map(|word| CString::new(word.as_str()));
        let words: Vec<CString> = words.collect::<Result<_, _>>()?;
        let (argv, envp) = (pointers(&words), pointers(self.env.values()));
        let [out, err] = self.output.inlets().ok_or(ErrorKind::BrokenPipe)?;
        let become_it = || -> io::Result<()> {
            rustix::stdio::dup2_stdout(out)?;
            rustix::stdio::dup2_stderr(err)?;
            rustix::process::chdir(self.folder.as_c_str())?;
            detach()?;
            // SAFETY: both lists end with a null, and what they point to outlives this.
            unsafe { libc::execve(argv[0], argv.as_ptr(), envp.as_ptr()) };
            Err(io::Error::last_os_error())
        };
        let child = Child { become_it: &become_it, error: AtomicI32::new(0) };
        let mut pidfd: c_int = -1;
        let mut stack = Vec::<MaybeUninit<u128>>::with_capacity(STACK);
        // SAFETY: the child has a stack of its own, which grows downwards from its end, and this
        // process goes on when the child has left its memory: what it uses outlives that.
        let pid = unsafe {
            libc::clone(
                begin,
                stack.as_mut_ptr().add(STACK).cast(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD,
                (&raw const child).cast_mut().cast(),
                &raw mut pidfd,
            )
        };
        let pid = Pid::from_raw(pid.max(0)).ok_or_else(io::Error::last_os_error)?;
        // SAFETY: the kernel has made it for this process. Where kernels are too old to make one,
        // no keeper is started.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        let error = child.error.load(Ordering::Relaxed);
        if error == 0 {
            return Ok(Spawned { pid, pidfd, output: self.output });
        }
        let _ = wait(pid);
        Err(io::Error::from_raw_os_error(error))
    }
}

/// What the child is told, and what it tells.
struct Child<'a> {
    become_it: &'a dyn Fn() -> io::Result<()>,
    /// Why it could not.
    error: AtomicI32,
}

#[expect(unsafe_code, reason = "the child gets what it needs by a pointer")]
extern "C" fn begin(child: *mut c_void) -> c_int {
    // SAFETY: `spawn` gives a pointer to its own, and waits until this has ended.
    let child = unsafe { &*child.cast::<Child<'_>>() };
    if let Err(e) = (child.become_it)() {
        child.error.store(e.raw_os_error().unwrap_or(libc::EINVAL), Ordering::Relaxed);
    }
    // Nobody sees it.
    127
}

/// The pointers of a list as the kernel takes it, which ends with a null.
fn pointers<'a>(texts: impl IntoIterator<Item = &'a CString>) -> Vec<*const c_char> {
    texts.into_iter().map(|text| text.as_ptr()).chain([null()]).collect()
}
