use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::wait;

/// How long one command of the demo may take.
const COMMAND: Duration = Duration::from_secs(120);
/// How long a daemon may take until it serves.
const READY: Duration = Duration::from_secs(30);
/// How long a child may take to end in order before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// A temporary folder and the processes that were started for it. All of it is gone at the end,
/// however the demo ends, unless it was told to stay.
pub(super) struct Ground {
    folder: PathBuf,
    held: Arc<Mutex<Held>>,
}

/// What has to be cleaned up.
struct Held {
    folder: Option<PathBuf>,
    children: Vec<OwnedFd>,
}

/// How a command ended, and what it printed.
pub(super) struct Ended {
    /// Its exit status.
    pub(super) status: ExitStatus,
    /// Its output; of a command that was shown, the messages as well.
    pub(super) text: String,
}

impl Ground {
    /// Makes the folder, and has SIGINT, SIGTERM and SIGHUP clean up.
    pub(super) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("provost-demo.").tempdir()?.keep();
        let held = Held { folder: Some(folder.clone()), children: Vec::new() };
        let ground = Self { folder, held: Arc::new(Mutex::new(held)) };
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("catching signals")?;
        let held = Arc::clone(&ground.held);
        thread::spawn(move || {
            let Some(signal) = signals.forever().next() else { return };
            // Locked until the process is gone, so that nothing is started any more.
            let mut held = lock(&held);
            eprintln!("\ninterrupted: cleaning up");
            held.clean();
            // Not by returning: the main thread may be waiting for a child.
            std::process::exit(128 + signal);
        });
        Ok(ground)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `command` to its end. Where it is `shown`, its output goes to the terminal as well.
    pub(super) fn run(&self, command: &mut Command, shown: bool) -> Result<Ended> {
        let mut output = tempfile::tempfile()?;
        command.stdout(output.try_clone()?);
        if shown {
            command.stderr(output.try_clone()?);
        }
        let (mut child, pidfd) = self.start(command)?;
        if wait::first(&[pidfd.as_fd()], COMMAND)?.is_none() {
            bail!("{command:?} was still running after {COMMAND:?}");
        }
        let text = read(&mut output)?;
        if shown {
            print!("{text}");
        }
        Ok(Ended { status: child.wait()?, text })
    }

    /// Starts the daemon `command`, whose messages go to the file `log`, and returns its process
    /// id once it serves, which it says as it would to systemd.
    pub(super) fn serve(&self, command: &mut Command, log: &str) -> Result<u32> {
        let notify = self.folder.join("notify");
        let ready = UnixDatagram::bind(&notify).context("listening for the daemon's readiness")?;
        let mut log =
            OpenOptions::new().create(true).append(true).read(true).open(self.folder.join(log))?;
        command.env("NOTIFY_SOCKET", &notify).stdout(log.try_clone()?).stderr(log.try_clone()?);
        // A ctrl-C is for us alone, who end the daemon in order.
        command.process_group(0);
        let (child, pidfd) = self.start(command)?;
        loop {
            match wait::first(&[ready.as_fd(), pidfd.as_fd()], READY)? {
                Some(0) => {
                    let mut message = [0; 1024];
                    let n = ready.recv(&mut message)?;
                    if String::from_utf8_lossy(&message[..n]).lines().any(|l| l == "READY=1") {
                        return Ok(child.id());
                    }
                }
                Some(_) => bail!("the daemon ended before it served:\n{}", read(&mut log)?),
                None => bail!("the daemon doesn't serve after {READY:?}:\n{}", read(&mut log)?),
            }
        }
    }

    /// Leaves the folder, and what still runs there, as they are.
    pub(super) fn leave(self) {
        let mut held = lock(&self.held);
        held.children.clear();
        held.folder = None;
    }

    fn start(&self, command: &mut Command) -> Result<(Child, OwnedFd)> {
        let mut held = lock(&self.held);
        command.current_dir(&self.folder).stdin(Stdio::null());
        let child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        held.children.push(pidfd.try_clone()?);
        Ok((child, pidfd))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        lock(&self.held).clean();
    }
}

impl Held {
    /// Ends what was started, the latest first, because it may need the earlier, and removes the
    /// folder. What has ended already is no trouble: a pidfd never means another process.
    fn clean(&mut self) {
        for child in self.children.drain(..).rev() {
            for signal in [Signal::TERM, Signal::KILL] {
                let _ = pidfd_send_signal(&child, signal);
                if matches!(wait::first(&[child.as_fd()], GRACE), Ok(Some(_))) {
                    break;
                }
            }
        }
        let Some(folder) = self.folder.take() else { return };
        // At a signal the main thread may be writing there. Its next step finds no folder.
        for _ in 0..10 {
            if fs::remove_dir_all(&folder).is_ok() {
                return;
            }
        }
        eprintln!("cannot remove {}", folder.display());
    }
}

fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
