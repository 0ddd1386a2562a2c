//! The log of a script that runs, as it grows.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use provost_node::settings::Paths;
use provost_node::state::lock::RunLock;
use provost_record::{Journal, Run, Service, Stage};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// A step's log whose end comes when the step is over: until then, a read waits for more.
///
/// The kernel says when there is more (inotify), when the journal has another record, and when the
/// run has released its lock, however it ended.
pub(super) struct Follow<'a> {
    log: File,
    paths: &'a Paths,
    step: StepOf,
    changes: OwnedFd,
    /// The watch of the journal.
    journal: i32,
    run_ended: io::PipeReader,
    is_over: bool,
}

/// Which try of which step of which run.
struct StepOf {
    service: Service,
    run: String,
    index: usize,
    attempt: Option<u32>,
}

impl<'a> Follow<'a> {
    /// Of the `index`th stage of `run`, whose log is at `path`.
    pub(super) fn new(
        paths: &'a Paths,
        run: &Run,
        index: usize,
        stage: &Stage,
        log: File,
        path: &Path,
    ) -> io::Result<Self> {
        let service = Service::ALL.into_iter().find(|service| service.as_str() == run.service);
        let service = service.unwrap_or(Service::Run);
        let (run_ended, writer) = io::pipe()?;
        let state = paths.state.clone();
        // It ends with the run, or with this process.
        std::thread::Builder::new().spawn(move || {
            // Where it can't wait, the run counts as ended; its end closes the pipe.
            let _ = RunLock::wait(&state);
            drop(writer);
        })?;
        let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        inotify::add_watch(&changes, path, WatchFlags::MODIFY)?;
        let journal = inotify::add_watch(&changes, paths.journal(service), WatchFlags::MODIFY)?;
        let step = StepOf { service, run: run.run.clone(), index, attempt: stage.attempt };
        let mut follow = Self { log, paths, step, changes, journal, run_ended, is_over: false };
        // What happened before the watches were there.
        follow.is_over = !RunLock::is_taken(&paths.state) || follow.has_ended()?;
        Ok(follow)
    }

    /// Waits until the log has grown or the step is over.
    fn wait(&mut self) -> io::Result<()> {
        let mut fds = [
            PollFd::new(&self.changes, PollFlags::IN),
            PollFd::new(&self.run_ended, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => return Ok(()),
            result => result?,
        };
        let has_run_ended = !fds[1].revents().is_empty();
        let mut is_journal = false;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.changes, &mut buffer);
        loop {
            match events.next() {
                // Lost events (IN_Q_OVERFLOW) may have been of the journal.
                Ok(event) => is_journal |= event.wd() == self.journal || event.wd() < 0,
                Err(rustix::io::Errno::AGAIN) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        self.is_over = has_run_ended || (is_journal && self.has_ended()?);
        Ok(())
    }

    /// Whether the journal has the end of the step, or the start of its next try.
    fn has_ended(&self) -> io::Result<bool> {
        let StepOf { service, run, index, attempt } = &self.step;
        let journal = self.paths.journal(*service);
        let records = Journal::last_run_in(&journal).map_err(io::Error::other)?;
        let runs = provost_record::runs(&records);
        let stage = runs.iter().find(|r| r.run == *run).and_then(|run| run.stages.get(*index));
        Ok(stage.is_none_or(|stage| stage.result.is_some() || stage.attempt != *attempt))
    }
}

impl Read for Follow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let is_over = self.is_over;
            match self.log.read(buffer)? {
                // Only what was read after the step was over is its end.
                0 if is_over => return Ok(0),
                0 => self.wait()?,
                n => return Ok(n),
            }
        }
    }
}
