//! The store's stream as files of the archive: one row a line, and a line for each table's beginning.

use std::io::{self, BufRead};

use provost_store::transfer::{Counts, Part, Row};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::layout::STORE;
use super::renewals::Renewals;

/// When a file has rows enough, in bytes.
const ENOUGH: usize = 4 * 1024 * 1024;
/// How many lines are sent at once.
const SOME: usize = 500;

/// The line before a table's rows.
#[derive(Deserialize, Serialize)]
struct Head {
    table: String,
    columns: Vec<String>,
}

/// Gives the stream to `file`, in files with their names. Returns how many rows each table has.
pub(super) fn write(
    mut parts: mpsc::Receiver<Part>,
    mut file: impl FnMut(&str, &[u8]) -> io::Result<()>,
) -> io::Result<Counts> {
    let (mut lines, mut files, mut counts) = (Vec::new(), 0, Counts::new());
    let mut table = String::new();
    let mut put = |lines: &mut Vec<u8>| {
        files += 1;
        file(&format!("{STORE}/{files:06}.jsonl"), &std::mem::take(lines))
    };
    loop {
        match parts.blocking_recv() {
            Some(Part::Table { table: name, columns }) => {
                table.clone_from(&name);
                line(&mut lines, &Head { table: name, columns })?;
            }
            Some(Part::Rows(rows)) => {
                *counts.entry(table.clone()).or_default() += rows.len() as u64;
                for row in &rows {
                    line(&mut lines, row)?;
                    if lines.len() > ENOUGH {
                        put(&mut lines)?;
                    }
                }
            }
            Some(Part::End) => break,
            None => return Err(io::Error::other("the store can't be read")),
        }
    }
    put(&mut lines)?;
    Ok(counts)
}

fn line(lines: &mut Vec<u8>, what: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *lines, what)?;
    lines.push(b'\n');
    Ok(())
}

/// Sends what is in one file. Returns whether somebody takes it.
pub(super) fn send(
    file: impl BufRead,
    parts: &mpsc::Sender<Part>,
    renewals: &mut Renewals,
) -> io::Result<bool> {
    let mut rows: Vec<Row> = Vec::new();
    for line in file.lines() {
        let line = line?;
        if line.starts_with('[') {
            let mut row: Row = serde_json::from_str(&line)?;
            renewals.extend(&mut row);
            rows.push(row);
            if rows.len() < SOME {
                continue;
            }
        }
        if !rows.is_empty() && parts.blocking_send(Part::Rows(std::mem::take(&mut rows))).is_err() {
            return Ok(false);
        }
        if !line.starts_with('[') {
            let Head { table, columns } = serde_json::from_str(&line)?;
            renewals.begin(&table, &columns);
            if parts.blocking_send(Part::Table { table, columns }).is_err() {
                return Ok(false);
            }
        }
    }
    Ok(rows.is_empty() || parts.blocking_send(Part::Rows(rows)).is_ok())
}
