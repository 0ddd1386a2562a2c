//! Where the content of a folder is kept: in memory, which a reboot empties, or not.

use std::fmt;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, stat, statfs};

/// The mounts that this process sees, proc_pid_mountinfo(5).
const MOUNTS: &str = "/proc/self/mountinfo";

/// Numbers of statfs(2).
const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;
const OVERLAY: u64 = 0x794c_7630;

/// Where the content of a folder is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// On a disk, or on another machine.
    Disk,
    /// In memory, by this file system: a reboot empties it.
    Memory(String),
    /// In an overlay; why it can't be found out where that keeps it.
    Unknown(String),
}

impl Storage {
    /// That of the folder at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        match u64::from(statfs(path)?.f_type as u32) {
            TMPFS => Ok(Self::Memory("tmpfs".to_owned())),
            RAMFS => Ok(Self::Memory("ramfs".to_owned())),
            OVERLAY => {
                let device = stat(path)?.st_dev;
                let mounts = std::fs::read_to_string(MOUNTS)?;
                Ok(Self::of_upper(upper_folder(&mounts, (major(device), minor(device)))))
            }
            _ => Ok(Self::Disk),
        }
    }

    /// That of an overlay with this upper folder.
    fn of_upper(upper: Option<PathBuf>) -> Self {
        // Without one, nothing is ever written there.
        let Some(upper) = upper else { return Self::Disk };
        // It was named as the program that mounted it saw it, such as an initrd, or a container's engine.
        match Self::of(&upper) {
            Ok(Self::Disk) => Self::Disk,
            Ok(Self::Memory(by)) => Self::Memory(format!("an overlay over {by}")),
            Ok(Self::Unknown(why)) => Self::Unknown(why),
            Err(_) => {
                let upper = upper.display();
                Self::Unknown(format!("an overlay whose upper folder {upper} isn't visible here"))
            }
        }
    }
}

/// `on a disk`, `on tmpfs`.
impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk => f.write_str("on a disk"),
            Self::Memory(by) => write!(f, "on {by}"),
            Self::Unknown(why) => write!(f, "on {why}"),
        }
    }
}

/// The upper folder of the overlay that has this device.
fn upper_folder(mounts: &str, (major, minor): (u32, u32)) -> Option<PathBuf> {
    let device = format!("{major}:{minor}");
    let of_device = |line: &&str| line.split(' ').nth(2) == Some(&device);
    let (_, file_system) = mounts.lines().rfind(of_device)?.split_once(" - ")?;
    let options = file_system.split(' ').nth(2)?.split(',');
    options.into_iter().find_map(|option| option.strip_prefix("upperdir=")).map(unescaped)
}

/// A path as the kernel writes it: what separates is `\` and three octal digits.
fn unescaped(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.extend(byte);
        bytes.extend(part.bytes().skip(3));
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
        22 1 0:28 / / rw,relatime shared:1 - overlay LiveOS_rootfs rw,lowerdir=/run/ro,upperdir=/run/over\\040lay\\054x,workdir=/run/work\n\
        23 22 0:29 / /run rw - tmpfs tmpfs rw,size=1024k\n\
        24 22 0:30 / /srv ro - overlay none ro,lowerdir=/a:/b\n";

    #[test]
    fn the_upper_folder_is_that_of_the_overlay_with_the_device() {
        assert_eq!(upper_folder(MOUNTS, (0, 28)), Some("/run/over lay,x".into()));
        assert_eq!(upper_folder(MOUNTS, (0, 29)), None);
        assert_eq!(upper_folder(MOUNTS, (0, 30)), None, "nothing is written there");
        assert_eq!(upper_folder(MOUNTS, (0, 31)), None);
    }

    #[test]
    fn an_overlay_is_as_its_upper_folder_and_unknown_where_that_is_not_seen() {
        assert_eq!(Storage::of_upper(None), Storage::Disk);
        assert_eq!(Storage::of_upper(Some("/proc".into())), Storage::Disk);
        let away = Storage::of_upper(Some("/nowhere/upper".into())).to_string();
        assert_eq!(away, "on an overlay whose upper folder /nowhere/upper isn't visible here");
        let memory = Storage::of_upper(Some("/dev".into()));
        assert_eq!(memory.to_string(), "on an overlay over tmpfs");
    }
}
