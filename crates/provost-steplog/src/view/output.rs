use std::io::{BufRead, Write};

use super::page::{Page, ShowError};
use crate::{Entry, Lines};

/// The lines of what was printed, as they stand in the log.
pub(super) fn show(
    mut lines: Lines<impl BufRead>,
    page: &mut Page<impl Write>,
) -> Result<(), ShowError> {
    while let Some(line) = lines.read().map_err(ShowError::Read)? {
        if !matches!(line.entry, Entry::Output { .. } | Entry::Other(_)) {
            continue;
        }
        match line.raw.strip_suffix(b"\n") {
            Some(text) => {
                page.put_hostile(text)?;
                page.put("\n")?;
            }
            None => page.put_hostile(line.raw)?,
        }
        page.line_ends()?;
    }
    Ok(())
}
