//! Which programs may trace others themselves: those that import ptrace(2).

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use memchr::memmem;

/// Its name as an ELF file has it that imports it.
const PTRACE: &[u8] = b"\0ptrace\0";
/// The longest list of names that is looked through, in bytes.
const MOST_NAMES: u64 = 16 << 20;

/// How an ELF file of 64 bits begins, in the order of bytes of this machine.
const MAGIC: &[u8] = b"\x7fELF\x02";
const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;

/// What is known of the programs of a step.
#[derive(Default)]
pub(super) struct Programs {
    /// Each file by its device, number, size and time of change.
    known: HashMap<(u64, u64, u64, i64), bool>,
}

impl Programs {
    /// Whether the program that a process has just begun may trace others. What can't be read may not.
    pub(super) fn may_trace(&mut self, pid: i32) -> bool {
        let path = format!("/proc/{pid}/exe");
        let Ok(stat) = std::fs::metadata(&path) else { return false };
        let key = (stat.dev(), stat.ino(), stat.size(), stat.mtime());
        *self.known.entry(key).or_insert_with(|| {
            File::open(path).is_ok_and(|file| imports_ptrace(&file).unwrap_or(false))
        })
    }
}

/// Whether an ELF file has it among the names of what it takes from libraries, and of what it gives.
fn imports_ptrace(file: &File) -> Option<bool> {
    let header = read(file, 0, 64)?;
    if !header.starts_with(MAGIC) {
        return None;
    }
    let (offset, size) = (number(&header, 32, 8)?, number(&header, 54, 2)?);
    let segments = read(file, offset, size * number(&header, 56, 2)?)?;
    let segments: Vec<&[u8]> = segments.chunks_exact(usize::try_from(size).ok()?).collect();
    let dynamic = segments.iter().find(|segment| number(segment, 0, 4) == Some(PT_DYNAMIC))?;
    let dynamic = read(file, number(dynamic, 8, 8)?, number(dynamic, 32, 8)?)?;
    let entry = |tag| dynamic.chunks_exact(16).find(|entry| number(entry, 0, 8) == Some(tag));
    let (at, length) = (number(entry(DT_STRTAB)?, 8, 8)?, number(entry(DT_STRSZ)?, 8, 8)?);
    // Where it is in memory says where it is in the file.
    let offset = segments.iter().find_map(|segment| {
        let within = at.checked_sub(number(segment, 16, 8)?)?;
        let is_there = number(segment, 0, 4)? == PT_LOAD && within < number(segment, 32, 8)?;
        is_there.then(|| number(segment, 8, 8)?.checked_add(within)).flatten()
    })?;
    let names = read(file, offset, length)?;
    Some(memmem::find(&names, PTRACE).is_some())
}

fn read(file: &File, offset: u64, length: u64) -> Option<Vec<u8>> {
    let mut text = vec![0; usize::try_from(length.min(MOST_NAMES)).ok()?];
    file.read_exact_at(&mut text, offset).ok()?;
    Some(text)
}

/// The number of so many bytes.
fn number(text: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = text.get(at..at + size)?;
    let mut whole = [0; 8];
    let begin = if cfg!(target_endian = "big") { 8 - size } else { 0 };
    whole[begin..begin + size].copy_from_slice(bytes);
    Some(u64::from_ne_bytes(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_trace_are_known_by_what_they_import() {
        let imports = |path: &str| File::open(path).ok().and_then(|file| imports_ptrace(&file));
        let own = std::env::current_exe().unwrap();
        assert_eq!(imports("/bin/sh"), Some(false));
        assert_eq!(imports(own.to_str().unwrap()), Some(false), "it calls the kernel");
        assert_eq!(imports("/etc/passwd"), None);
        for tracer in ["/usr/bin/gdb", "/usr/bin/strace", "/usr/bin/sudo"] {
            assert_ne!(imports(tracer), Some(false), "{tracer}");
        }
    }
}
