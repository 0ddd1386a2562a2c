//! The log of a failed step, cut to what is sent.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The most bytes that are sent of a log.
const MOST: u64 = 1 << 20;

/// Reads a log; of a long one its head and its tail, with a line between that says so.
pub(super) fn excerpt(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut text = Vec::new();
    if len <= MOST {
        file.take(MOST).read_to_end(&mut text)?;
        return Ok(text);
    }
    let note = |left_out: u64| {
        format!("--- {left_out} bytes left out here; the whole log is {} ---\n", path.display())
    };
    let half = (MOST - note(len).len() as u64) / 2;
    (&mut file).take(half).read_to_end(&mut text)?;
    let head = text.iter().rposition(|b| *b == b'\n').map_or(text.len(), |at| at + 1);
    text.truncate(head);
    file.seek(SeekFrom::Start(len - half))?;
    let mut tail = Vec::new();
    file.take(half).read_to_end(&mut tail)?;
    let begin = tail.iter().position(|b| *b == b'\n').map_or(0, |at| at + 1);
    text.extend_from_slice(note(len - (head + tail.len() - begin) as u64).as_bytes());
    text.extend_from_slice(&tail[begin..]);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_keeps_head_and_tail() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let text: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&path, &text).unwrap();
        let excerpt = String::from_utf8(excerpt(&path).unwrap()).unwrap();
        assert!(excerpt.len() as u64 <= MOST && excerpt.len() as u64 > MOST - 1024);
        assert!(excerpt.starts_with("line 0\n") && excerpt.ends_with("line 199999\n"));
        let note = excerpt.lines().find(|l| l.contains("left out")).unwrap();
        let left_out: usize = note.split(' ').nth(1).unwrap().parse().unwrap();
        assert_eq!(excerpt.len() - note.len() - 1 + left_out, text.len());
        std::fs::write(&path, "short\n").unwrap();
        assert_eq!(super::excerpt(&path).unwrap(), b"short\n");
    }
}
