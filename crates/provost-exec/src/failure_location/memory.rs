//! What bash reads before a script, and where it writes its notes: files in the keeper's memory,
//! which it opens by their path below /proc. No full disk keeps a script from noting, and no script
//! can change what the next one's bash reads: that file is sealed (see memfd_create(2)).

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

const SOURCE: &str = include_str!("trace.bash");

/// The file that bash reads first; none where the kernel has no room for it.
static HELPER: OnceLock<Option<File>> = OnceLock::new();

/// The path of what bash is to read first. None without /proc.
pub(super) fn helper() -> Option<String> {
    let make = || {
        let file = create("provost-trace", MemfdFlags::ALLOW_SEALING).ok()?;
        file.write_all_at(SOURCE.as_bytes(), 0).ok()?;
        let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
        fcntl_add_seals(&file, seals).ok().map(|()| file)
    };
    let file = HELPER.get_or_init(make).as_ref()?;
    let path = path(file);
    Path::new(&path).exists().then_some(path)
}

/// Where a script's bash notes where it fails.
pub(crate) struct Notes(File);

impl Notes {
    pub(super) fn new() -> Option<Self> {
        create("provost-notes", MemfdFlags::empty()).ok().map(Self)
    }

    pub(super) fn path(&self) -> String {
        path(&self.0)
    }

    /// Reads the last `most` bytes.
    pub(super) fn end(&self, most: u64) -> io::Result<Vec<u8>> {
        let len = self.0.metadata()?.len();
        let mut text = vec![0; len.min(most) as usize];
        self.0.read_exact_at(&mut text, len.saturating_sub(most))?;
        Ok(text)
    }
}

/// A file in memory, which isn't open in the program.
fn create(name: &str, flags: MemfdFlags) -> io::Result<File> {
    let flags = flags | MemfdFlags::CLOEXEC;
    // Linux before 6.3 doesn't know it; later ones may insist on it (sysctl vm.memfd_noexec).
    let created: Result<OwnedFd, Errno> = match memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL)
    {
        Err(Errno::INVAL) => memfd_create(name, flags),
        created => created,
    };
    Ok(File::from(created?))
}

fn path(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}
