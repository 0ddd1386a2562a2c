//! The logs' files as rows of a stream.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use provost_api::LogKind;

use super::logs::{file_name, found, log_of};
use crate::store::is_file_name;
use crate::transfer::{Row, Value};

/// Gives a row of each log below `root`, in the order of the table's columns. What is removed meanwhile
/// is left out.
pub(super) fn each(root: &Path, mut give: impl FnMut(Row) -> io::Result<()>) -> io::Result<()> {
    for node in found(fs::read_dir(root))?.into_iter().flatten() {
        let node = node?;
        for run in found(fs::read_dir(node.path()))?.into_iter().flatten() {
            let run = run?;
            for log in found(fs::read_dir(run.path()))?.into_iter().flatten() {
                let log = log?;
                let file_name = log.file_name();
                let Some((name, kind)) = file_name.to_str().and_then(log_of) else { continue };
                let Some(bytes) = found(fs::read(log.path()))? else { continue };
                let Some(metadata) = found(log.metadata())? else { continue };
                let at = Timestamp::try_from(metadata.modified()?).map_err(io::Error::other)?;
                // PostgreSQL has no shorter times, and would round.
                let at = Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at);
                let text = |text: &str| Value::Text(text.to_owned());
                give(vec![
                    text(&node.file_name().to_string_lossy()),
                    text(&run.file_name().to_string_lossy()),
                    text(name),
                    Value::Text(at.to_string()),
                    Value::Number(i64::from(kind == LogKind::Success)),
                    Value::Bytes(bytes),
                ])?;
            }
        }
    }
    Ok(())
}

/// Writes the log of a row with `columns`. It isn't synced yet.
pub(super) fn put(root: &Path, columns: &[&str], row: Row) -> io::Result<()> {
    let damaged = || io::Error::other("a row of the table log is damaged");
    let (mut node, mut run, mut name, mut at, mut bytes) = (None, None, None, None, None);
    let mut kind = LogKind::Failure;
    for (column, value) in columns.iter().zip(row) {
        match (*column, value) {
            ("node", Value::Text(text)) => node = Some(text),
            ("run", Value::Text(text)) => run = Some(text),
            ("name", Value::Text(text)) => name = Some(text),
            ("at", Value::Text(text)) => at = text.parse::<Timestamp>().ok(),
            ("success", Value::Number(1)) => kind = LogKind::Success,
            ("bytes", Value::Bytes(of)) => bytes = Some(of),
            _ => {}
        }
    }
    let names = [node, run, name.map(|name: String| file_name(&name, kind))];
    let [Some(node), Some(run), Some(name)] = names else { return Err(damaged()) };
    if ![&node, &run, &name].into_iter().all(|name| is_file_name(name)) {
        return Err(damaged());
    }
    let path = root.join(node).join(run).join(name);
    provost_fs::create_folder_of(&path)?;
    let mut file = File::create(path)?;
    io::Write::write_all(&mut file, &bytes.ok_or_else(damaged)?)?;
    file.set_modified(at.map_or_else(SystemTime::now, SystemTime::from))
}

/// Whether there are any.
pub(super) fn any(root: &Path) -> bool {
    fs::read_dir(root).is_ok_and(|mut nodes| nodes.next().is_some())
}

/// Removes all logs.
pub(super) fn remove_all(root: &Path) -> io::Result<()> {
    found(fs::remove_dir_all(root)).map(drop)
}
