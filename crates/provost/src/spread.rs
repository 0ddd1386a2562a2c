use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

/// Makes a folder for sets of files that have nothing to do with each other, and asks the file
/// system to put each set where there is room, instead of beside what is around it. An ext4 without
/// a journal looks at each file that was just removed before it makes one in its place: that took
/// 0.5 ms where there were 5,000, and 0.02 ms elsewhere.
pub(crate) fn create(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let spread = || -> io::Result<()> {
        let folder = File::open(folder)?;
        let flags = ioctl_getflags(&folder)?;
        if flags.contains(IFlags::TOPDIR) {
            return Ok(());
        }
        Ok(ioctl_setflags(&folder, flags | IFlags::TOPDIR)?)
    };
    // Of most file systems there is nothing to ask.
    let _ = spread();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_files_are_asked_to_be_spread() {
        let folder = tempfile::tempdir().unwrap();
        let probe = File::open(folder.path()).unwrap();
        let asked = ioctl_getflags(&probe).and_then(|f| ioctl_setflags(&probe, f | IFlags::TOPDIR));
        let sets = folder.path().join("of/sets");
        // The second time it is there already.
        create(&sets).unwrap();
        create(&sets).unwrap();
        match asked {
            Ok(()) => {
                let flags = ioctl_getflags(File::open(&sets).unwrap()).unwrap();
                assert!(flags.contains(IFlags::TOPDIR), "{flags:?}");
            }
            Err(e) => eprintln!("SKIPPED the flag: this file system has none: {e}"),
        }
    }
}
