//! Whether the kernel has room for what a command needs. It is asked before the command begins: the
//! libraries that take it end the process where it is refused.

use std::io;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use tokio::runtime::{self, Runtime};

use crate::failure::Failure;

/// What a limit that leaves no room may be.
const HINT: &str = "check ulimit -n, ulimit -u, the cgroup's pids.max and the free memory";

/// How many threads work at the same time: the syncs of the journal, the messages, what waits for
/// the disk or a name, and one in reserve.
const THREADS: usize = 4;
/// How many pipes take as many descriptors as a run has open beside its files.
const PIPES: usize = 6;

/// How much the stack must be allowed to grow to, in bytes. A debug build overflowed 1 MiB.
const STACK: u64 = 2 << 20;
/// How long a thread that waits for a disk or a name is kept for the next one: as long as a command
/// runs. A script may take all the room there is in the meantime.
const KEEP: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Whether the stack may grow to what a command needs.
pub fn stack() -> Result<(), Failure> {
    match getrlimit(Resource::Stack).current {
        Some(bytes) if bytes < STACK => Err(Failure::local(
            format!("the stack may grow to {} KiB only, 2048 are needed", bytes / 1024),
            "allow more: ulimit -s 8192, or LimitSTACK=8M in the unit",
        )),
        _ => Ok(()),
    }
}

/// The loop that a command runs on, with a thread that waits for disks and names.
pub fn runtime() -> Result<Runtime, Failure> {
    let runtime = runtime_without_thread().and_then(|runtime| {
        start_thread(&runtime)?;
        Ok(runtime)
    });
    runtime.map_err(failure)
}

/// The loop that a command runs on. It serves as long as nothing waits for a disk or a name.
pub(crate) fn runtime_without_thread() -> io::Result<Runtime> {
    descriptors()?;
    let mut builder = runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().thread_keep_alive(KEEP).build();
    runtime.map_err(|e| io::Error::new(e.kind(), format!("starting the event loop: {e}")))
}

/// Starts the thread that waits for disks and names. Without one tokio panics at the first wait;
/// with one it makes do.
pub(crate) fn start_thread(runtime: &Runtime) -> io::Result<()> {
    threads()?;
    runtime.spawn_blocking(|| ());
    Ok(())
}

/// The error of a command that can't begin.
pub(crate) fn failure(error: io::Error) -> Failure {
    Failure::local(error, HINT)
}

/// Whether there is room for its threads.
fn threads() -> io::Result<()> {
    let wait = |_| {
        let (go, end) = mpsc::channel::<()>();
        let thread = Builder::new().spawn(move || end.recv());
        thread.map(|thread| (go, thread))
    };
    let threads: Vec<_> = (0..THREADS).map(wait).collect();
    let mut refused = Ok(());
    for thread in threads {
        match thread {
            Ok((go, thread)) => {
                drop(go);
                // It has ended because `go` has.
                let _ = thread.join();
            }
            Err(e) => refused = Err(io::Error::new(e.kind(), format!("starting a thread: {e}"))),
        }
    }
    refused
}

/// Whether there is room for its descriptors.
fn descriptors() -> io::Result<()> {
    let pipes = (0..PIPES).map(|_| io::pipe()).collect::<io::Result<Vec<_>>>();
    pipes.map(drop).map_err(|e| io::Error::new(e.kind(), format!("opening descriptors: {e}")))
}
