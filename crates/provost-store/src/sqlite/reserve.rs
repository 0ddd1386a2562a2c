//! Room on the disk that is kept for what makes room or takes rights away: a full disk takes nothing else.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use provost_fs::{Durability, free_room};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// The file in the daemon's folder.
const FILE: &str = "reserve";

/// What it leaves, in bytes: the daemon writes small files at its start.
const LEFT: u64 = 64 * 1024;

/// A file that needs room and has no content.
pub(super) struct Reserve {
    path: PathBuf,
    /// How large it is when it is whole, in bytes.
    whole: u64,
    /// How large it is.
    size: Mutex<u64>,
}

/// Fills the reserve again when it is dropped.
pub(super) struct Released<'a> {
    reserve: &'a Reserve,
    size: MutexGuard<'a, u64>,
}

impl Reserve {
    /// The one in the folder `data`, as it is; with `whole` of 0, there is none.
    pub(super) fn new(data: &Path, whole: u64) -> io::Result<Self> {
        let path = data.join(FILE);
        let size = match path.metadata() {
            Ok(file) => file.len().min(whole),
            Err(_) => 0,
        };
        if whole == 0 {
            provost_fs::remove(&path, Durability::Crash)?;
        } else if size == whole {
            // It may be smaller than it was.
            File::options().write(true).open(&path)?.set_len(whole)?;
        }
        Ok(Self { path, whole, size: Mutex::new(size) })
    }

    /// Makes it whole, where it isn't. An error says that nothing may be written but what it is for.
    pub(super) fn fill(&self) -> io::Result<()> {
        self.grow(&mut self.size())
    }

    /// Gives its room to what it is for, until what this returns is dropped. None where it has none.
    pub(super) fn release(&self) -> Option<Released<'_>> {
        let mut size = self.size();
        if *size == 0 {
            return None;
        }
        File::options().write(true).open(&self.path).and_then(|file| file.set_len(0)).ok()?;
        *size = 0;
        Some(Released { reserve: self, size })
    }

    fn size(&self) -> MutexGuard<'_, u64> {
        self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of a disk that has too little room, it takes what there is.
    fn grow(&self, size: &mut u64) -> io::Result<()> {
        let lacks = self.whole - *size;
        if lacks == 0 {
            return Ok(());
        }
        let room = free_room(self.path.parent().unwrap_or(Path::new("/")))?;
        let grows = lacks.min(room.saturating_sub(LEFT));
        if grows > 0 {
            let mut file = OpenOptions::new();
            file.create(true).append(true).mode(0o600);
            let mut file = file.open(&self.path)?;
            match fallocate(&file, FallocateFlags::empty(), 0, *size + grows) {
                // Such as NFS. A file system may compress what is written, or make a hole of it.
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                    let noise = File::open("/dev/urandom")?;
                    io::copy(&mut noise.take(grows), &mut file).map(drop)
                }
                grown => grown.map_err(io::Error::from),
            }?;
            *size += grows;
        }
        if grows < lacks {
            let mib = |bytes| bytes >> 20;
            let why = format!(
                "the disk is full: of the {} MiB of {}, {} are there",
                mib(self.whole),
                self.path.display(),
                mib(*size)
            );
            return Err(io::Error::new(io::ErrorKind::StorageFull, why));
        }
        Ok(())
    }
}

impl Drop for Released<'_> {
    fn drop(&mut self) {
        // Where there is no room, the next who needs it hears why.
        let _ = self.reserve.grow(&mut self.size);
    }
}
