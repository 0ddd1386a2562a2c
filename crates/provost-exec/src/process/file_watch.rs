//! Whether a step's program is still the file whose digest was checked.
//!
//! An interpreter gets the file's name and opens it itself, some time after the exec; shells read a
//! script bit by bit. So no look before or after the exec sees all that may come and go in between.
//! inotify(7) notes each file that takes the name, and each write to it. There is one queue a
//! keeper: it is there before a script could use up those that a user may have, and closing one
//! takes some milliseconds.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{Mode, OFlags, Stat};

use crate::step::Step;

/// The queue of a keeper.
pub(crate) struct FileWatches {
    queue: OwnedFd,
}

/// A file that is being watched while this is held.
pub(crate) struct FileWatch<'q> {
    queue: &'q OwnedFd,
    path: PathBuf,
    /// Its device and number, once it has been opened.
    identity: Option<(u64, u64)>,
    /// Each folder on its path, as the queue knows it, and the name in it that leads to the file.
    names: Vec<(i32, OsString)>,
    /// The file itself.
    file: Option<i32>,
}

impl FileWatches {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { queue: inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)? })
    }

    /// Begins with the step's program, before it is opened in `folder`.
    ///
    /// # Errors
    ///
    /// Where /proc isn't mounted, when a folder isn't there, or when the kernel has no room for
    /// another watch.
    pub(crate) fn watch(&self, folder: &OwnedFd, step: &Step) -> io::Result<FileWatch<'_>> {
        let path = step.folder.join(&step.name);
        let (names, queue) = (Vec::new(), &self.queue);
        let mut watch = FileWatch { queue, path, identity: None, names, file: None };
        let mut inner: Option<OwnedFd> = None;
        let mut names = Path::new(&step.name).iter().peekable();
        while let Some(name) = names.next() {
            let folder = inner.as_ref().unwrap_or(folder).as_fd();
            let number = watch.add(folder, WatchFlags::CREATE | WatchFlags::MOVED_TO)?;
            watch.names.push((number, name.to_owned()));
            if names.peek().is_some() {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                inner = Some(rustix::fs::openat(folder, name, flags, Mode::empty())?);
            }
        }
        Ok(watch)
    }
}

impl FileWatch<'_> {
    /// Goes on with the file that was opened, before its digest is read.
    ///
    /// # Errors
    ///
    /// When the kernel has no room for another watch.
    pub(crate) fn watch(&mut self, file: &impl AsFd) -> io::Result<()> {
        self.file = Some(self.add(file.as_fd(), WatchFlags::MODIFY)?);
        self.identity = Some(identity(&rustix::fs::fstat(file)?));
        Ok(())
    }

    /// What can be read when there is something new.
    pub(crate) fn news(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }

    /// Whether, since the last look, the file was written to, or another one took its name.
    pub(crate) fn is_changed(&self) -> bool {
        let mut is_changed = false;
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(self.queue, &mut room);
        while let Ok(event) = events.next() {
            let name = event.file_name().map_or(&b""[..], |name| name.to_bytes());
            let of =
                |(number, ours): &(i32, OsString)| *number == event.wd() && ours.as_bytes() == name;
            let is_written =
                Some(event.wd()) == self.file && event.events().contains(ReadFlags::MODIFY);
            // A script that unpacks much into its folder: what is left is a look.
            let is_lost = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            is_changed |=
                is_written || self.names.iter().any(of) || (is_lost && !self.is_in_place());
        }
        is_changed
    }

    fn is_in_place(&self) -> bool {
        let stat = rustix::fs::stat(&self.path);
        stat.is_ok_and(|stat| Some(identity(&stat)) == self.identity)
    }

    fn add(&self, fd: BorrowedFd<'_>, what: WatchFlags) -> io::Result<i32> {
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        Ok(inotify::add_watch(self.queue, path, what)?)
    }
}

impl Drop for FileWatch<'_> {
    fn drop(&mut self) {
        for number in self.names.iter().map(|(number, _)| *number).chain(self.file) {
            let _ = inotify::remove_watch(self.queue, number);
        }
    }
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}
