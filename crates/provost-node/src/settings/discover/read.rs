use std::io::Read;
use std::path::Path;

/// The longest file that is read here, in bytes; a longer one is something else.
const MOST: u64 = 1 << 20;

/// The start of the file at `path`, if it can be read.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    provost_fs::open_given(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
