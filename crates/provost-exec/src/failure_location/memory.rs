//! What bash reads before a script, and where it writes its notes: files in the keeper's memory,
//! which it opens by their path below /proc. No full disk keeps a script from noting, and no script
//! can change what the next one's bash reads: that file is sealed (see memfd_create(2)).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals};

use crate::kernel::{Feature, memory_file};

const SOURCE: &str = include_str!("trace.bash");

/// The file that bash reads first; none where the kernel has no room for it.
static HELPER: OnceLock<Option<File>> = OnceLock::new();

/// The path of what bash is to read first. None without /proc.
pub(super) fn helper() -> Option<String> {
    let is_sealed = Feature::Memfd.is_there();
    let make = || {
        let file = memory_file("provost-trace", MemfdFlags::ALLOW_SEALING).ok()?;
        file.write_all_at(SOURCE.as_bytes(), 0).ok()?;
        let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
        let sealed = if is_sealed { fcntl_add_seals(&file, seals) } else { Ok(()) };
        sealed.ok().map(|()| file)
    };
    let file = HELPER.get_or_init(make).as_ref()?;
    if !is_sealed {
        // The script before may have changed it.
        file.set_len(SOURCE.len().try_into().ok()?).ok()?;
        file.write_all_at(SOURCE.as_bytes(), 0).ok()?;
    }
    let path = path(file);
    Path::new(&path).exists().then_some(path)
}

/// Where a script's bash notes where it fails.
pub(crate) struct Notes(File);

impl Notes {
    pub(super) fn new() -> Option<Self> {
        memory_file("provost-notes", MemfdFlags::empty()).ok().map(Self)
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

fn path(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}
