//! The output of a step, as its own log has it, for `xcat.log`.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use provost_steplog::{Entry, Line};

/// How much of one script's output is copied, in bytes: its end. All of it is in the step's own log.
const MAX_OUTPUT: u64 = 256 * 1024;

/// Appends the end of the output in a step's log to `to`, without the prefix of each line.
pub(super) fn copy_output(log: &Path, to: &mut impl Write) -> io::Result<()> {
    let mut log = provost_fs::open_to_read(log)?;
    let skipped = log.metadata()?.len().saturating_sub(MAX_OUTPUT);
    log.seek(SeekFrom::Start(skipped))?;
    let mut out = Vec::new();
    let mut lines = BufReader::new(log).split(b'\n');
    if skipped > 0 {
        // This line has lost its beginning.
        lines.next();
        out.extend_from_slice(b"(what it printed before is in provost's log)\n");
    }
    let mut whole = true;
    for line in lines {
        let line = line?;
        let Entry::Output { whole: ends, text, .. } = Line::parse(&line).entry else { continue };
        out.extend_from_slice(text);
        whole = ends;
        if whole {
            out.push(b'\n');
        }
    }
    if !whole {
        out.push(b'\n');
    }
    to.write_all(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_copied_as_it_was_printed_and_of_much_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let text = "T stdout F one two\nT exec F 2 1 a\nT stderr P a\nT stderr F b\n\
                    T exit F 2 0 1ms\nT stdout P end\n";
        std::fs::write(&log, text).unwrap();
        let mut out = Vec::new();
        copy_output(&log, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "one two\nab\nend\n");
        std::fs::write(&log, "T stdout F 0123456789\n".repeat(20_000)).unwrap();
        let mut out = Vec::new();
        copy_output(&log, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.len() < 256 * 1024 && out.lines().skip(1).all(|line| line == "0123456789"));
        assert!(out.starts_with("(what it printed before"));
    }
}
