use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::{missing, skip_if};

/// A file system that a test can fill. This thread sees it, with all that it starts from now on.
pub struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts one of this size, such as `24m`, at `folder`. It skips the test where this process may not.
    pub fn mount(folder: &Path, size: &str) -> Self {
        skip_if(missing::mounts());
        fs::create_dir_all(folder).unwrap();
        #[expect(unsafe_code, reason = "the library has no other call for it")]
        // SAFETY: threads go on to share their file descriptors.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.unwrap();
        let script =
            "mount --make-rprivate / && mount -t tmpfs -o \"size=$1,mode=700\" none \"$0\"";
        let mounted = Command::new("sh").args(["-c", script]).arg(folder).arg(size).status();
        assert!(mounted.unwrap().success());
        Self { folder: folder.to_owned() }
    }

    /// Uses all of its room.
    pub fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        while file.write_all(&[b'x'; 4096]).is_ok() {}
    }

    /// Makes the room free again that was used to fill it.
    pub fn make_room(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }
}
