//! The logs of steps: which are to be uploaded, and what of each is sent.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::settings::Paths;
use provost_api::LogKind;

/// The most bytes that are sent of a log, before it is packed.
const MOST: u64 = 1 << 20;

/// The most logs of a kind that wait for a server; of more, the oldest stay on this node.
fn most_waiting(kind: LogKind) -> usize {
    match kind {
        LogKind::Failure => 100,
        LogKind::Success => 500,
    }
}

/// A log that is to be uploaded.
pub(crate) struct Waiting {
    /// The note that says so: a link to the log.
    note: PathBuf,
    pub(crate) run: String,
    /// `NN-SCRIPT`.
    pub(crate) name: String,
    pub(super) kind: LogKind,
    log: PathBuf,
}

/// Notes that `log` of `run` is to be uploaded, until it is.
pub(super) fn keep(paths: &Paths, run: &str, log: &Path, kind: LogKind) {
    let name = log.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = folder(paths, kind);
    let note = || {
        provost_fs::create_private_folder(&folder)?;
        std::os::unix::fs::symlink(log, folder.join(format!("{run}.{name}")))
    };
    // Without the note the log is not uploaded; it stays on this node.
    let _ = note();
    let waiting = waiting(paths, kind);
    waiting.iter().rev().skip(most_waiting(kind)).for_each(Waiting::done);
}

/// The logs of this kind that are to be uploaded, oldest run first.
pub(crate) fn waiting(paths: &Paths, kind: LogKind) -> Vec<Waiting> {
    let Ok(entries) = std::fs::read_dir(folder(paths, kind)) else { return Vec::new() };
    let read = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let (run, name) = name.split_once('.')?;
        let (run, name) = (run.to_owned(), name.to_owned());
        let log = std::fs::read_link(entry.path()).ok()?;
        Some(Waiting { note: entry.path(), run, name, kind, log })
    };
    let mut logs: Vec<_> = entries.flatten().filter_map(read).collect();
    logs.sort_by(|a, b| a.note.cmp(&b.note));
    logs
}

/// The runs of which a log is to be uploaded.
pub fn waiting_runs(paths: &Paths) -> impl Iterator<Item = String> {
    [LogKind::Failure, LogKind::Success]
        .into_iter()
        .flat_map(|kind| waiting(paths, kind))
        .map(|log| log.run)
}

fn folder(paths: &Paths, kind: LogKind) -> PathBuf {
    paths.state.join(match kind {
        LogKind::Failure => "report/logs",
        LogKind::Success => "report/success-logs",
    })
}

impl Waiting {
    /// Forgets it: it needn't be uploaded any more.
    pub(crate) fn done(&self) {
        // If the note stays, the log is uploaded twice.
        let _ = std::fs::remove_file(&self.note);
    }

    /// What is sent of it, by gzip; of a long log its head and its tail, with a line between that
    /// says so. None where it can't be read any more.
    pub(crate) async fn packed(&self) -> Option<Vec<u8>> {
        let (log, name) = (self.log.clone(), self.name.clone());
        // Reading and packing must not hold up the loop.
        let packed = tokio::task::spawn_blocking(move || {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(&excerpt(&log, &name)?)?;
            gzip.finish()
        });
        packed.await.ok()?.ok()
    }
}

fn excerpt(path: &Path, name: &str) -> io::Result<Vec<u8>> {
    let mut file = provost_fs::open_to_read(path)?;
    let len = file.metadata()?.len();
    let mut text = Vec::new();
    if len <= MOST {
        file.take(MOST).read_to_end(&mut text)?;
        return Ok(text);
    }
    let script = name.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('-');
    let note = |left_out: u64| {
        format!(
            "--- {left_out} bytes are left out here; all is on the node: provost log {script}, or \
             {} ---\n",
            path.display()
        )
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
        let excerpt = String::from_utf8(excerpt(&path, "01-loud").unwrap()).unwrap();
        assert!(excerpt.len() as u64 <= MOST && excerpt.len() as u64 > MOST - 1024);
        assert!(excerpt.starts_with("line 0\n") && excerpt.ends_with("line 199999\n"));
        let note = excerpt.lines().find(|l| l.contains("left out")).unwrap();
        assert!(note.contains(": provost log loud, or /"), "{note}");
        let left_out: usize = note.split(' ').nth(1).unwrap().parse().unwrap();
        assert_eq!(excerpt.len() - note.len() - 1 + left_out, text.len());
        std::fs::write(&path, "short\n").unwrap();
        assert_eq!(super::excerpt(&path, "01-loud").unwrap(), b"short\n");
    }
}
