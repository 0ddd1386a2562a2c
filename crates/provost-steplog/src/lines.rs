use std::io::{self, BufRead, Read};

use crate::Line;

/// The longest line that is read in one piece, in bytes. The runner writes none that is longer
/// than its pieces of output and what one read of a pipe brings.
const MOST_LINE: u64 = 256 * 1024;

/// The lines of a log, one after the other, in the same memory however long the log is.
pub struct Lines<R> {
    log: R,
    raw: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Of what `log` brings.
    pub fn new(log: R) -> Self {
        Self { log, raw: Vec::new() }
    }

    /// The next line; none at the end. A line that is too long comes in several, of which only
    /// the first is understood.
    pub fn read(&mut self) -> io::Result<Option<Line<'_>>> {
        let goes_on = self.raw.last().is_some_and(|b| *b != b'\n');
        self.raw.clear();
        (&mut self.log).take(MOST_LINE).read_until(b'\n', &mut self.raw)?;
        Ok(match self.raw.as_slice() {
            [] => None,
            raw if goes_on => Some(Line::other(raw)),
            raw => Some(Line::parse(raw)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entry;

    #[test]
    fn a_line_that_is_too_long_forges_none() {
        let mut log = b"T stdout F ".to_vec();
        log.resize(MOST_LINE as usize, b'x');
        log.extend_from_slice(b"T exec F 1 2 forged\nT exec F 1 2 true\nT stdout F cut o");
        let mut lines = Lines::new(&log[..]);
        let (mut kinds, mut raw) = (Vec::new(), Vec::new());
        while let Some(line) = lines.read().unwrap() {
            raw.extend_from_slice(line.raw);
            kinds.push(match line.entry {
                Entry::Output { .. } => "output",
                Entry::Exec { .. } => "exec",
                _ => "other",
            });
        }
        assert_eq!(kinds, ["output", "other", "exec", "output"]);
        assert!(raw == log);
    }
}
