//! Merging the write-ahead log into the file: most of it by a thread of its own, while the writer goes on. The
//! writer itself would make all who wait for it wait until the disk has thousands of pages at as many places.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use rusqlite::hooks::Wal;

/// Pages of the write-ahead log until they are merged into the file: a page that has changed many
/// times since is merged once, and most of what a node's boot changes is changed by each of its reports. 64 MiB.
const PAGES: u32 = 64 * 1024;
/// After so many more it is tried again, where a reader needs what was there before.
const AGAIN: u32 = PAGES / 4;
/// So few are left to the writer: what comes while the thread merges is merged by it as well, …
const FEW: u32 = PAGES / 64;
/// … as often as this.
const ROUNDS: usize = 5;

/// What the writer knows of the merging.
pub(super) struct Checkpoints {
    /// At how many pages of the log it is merged.
    due: u32,
    merging: Arc<Merging>,
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What both threads know.
#[derive(Default)]
struct Merging {
    /// Pages of the log after the last commit.
    pages: AtomicU32,
    is_running: AtomicBool,
    /// It has merged what was there when it began: the rest is little.
    is_done: AtomicBool,
}

impl Checkpoints {
    /// Of the log of `db`, which the writer has just opened at `path`.
    pub(super) fn of(db: &mut Connection, path: &Path) -> rusqlite::Result<Self> {
        let merging = Arc::new(Merging::default());
        let log = Arc::clone(&merging);
        db.wal_hook(Some(move |_: &mut Wal, pages| {
            log.pages.store(u32::try_from(pages).unwrap_or_default(), Ordering::Relaxed);
            Ok(())
        }))?;
        let (wake, woken) = sync_channel(1);
        let (theirs, path) = (Arc::clone(&merging), path.to_owned());
        // Without it the writer merges all of it.
        let thread = thread::Builder::new()
            .name("store-merger".into())
            .spawn(move || merge_all(&path, &woken, &theirs))
            .ok();
        Ok(Self { due: PAGES, merging, wake: thread.is_some().then_some(wake), thread })
    }

    /// After a commit to `db`, whose answers are on their way.
    pub(super) fn after_commit(&mut self, db: &Connection) {
        let pages = self.merging.pages.load(Ordering::Relaxed);
        if pages < PAGES {
            // It has begun anew.
            self.due = PAGES;
        }
        if self.merging.is_done.swap(false, Ordering::Acquire) {
            // With nothing left to merge, the next commit begins the log anew.
            merge(db);
        } else if pages >= self.due && !self.merging.is_running.swap(true, Ordering::AcqRel) {
            self.due = pages + AGAIN;
            if self.wake.as_ref().is_none_or(|wake| wake.try_send(()).is_err()) {
                merge(db);
                self.merging.is_running.store(false, Ordering::Release);
            }
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // Fails where it panicked, which was reported.
            let _ = thread.join();
        }
    }
}

fn merge_all(path: &Path, woken: &Receiver<()>, merging: &Merging) {
    let mut db = None;
    while woken.recv().is_ok() {
        if db.is_none() {
            db = Connection::open(path).ok();
        }
        for _ in 0..ROUNDS {
            let merged = db.as_ref().and_then(merge).unwrap_or(u32::MAX);
            if merging.pages.load(Ordering::Relaxed).saturating_sub(merged) < FEW {
                break;
            }
        }
        merging.is_done.store(true, Ordering::Release);
        merging.is_running.store(false, Ordering::Release);
    }
}

/// Merges as much as no reader needs. Returns how many pages of the log are merged now.
fn merge(db: &Connection) -> Option<u32> {
    // What fails, on a full disk, stays in the log, and is merged later.
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2)).ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// How often the log begins anew while the writer never rests, until it has done so `enough` times or has grown by
    /// `most` pages. A page of each commit is another one.
    fn restarts(db: &Connection, checkpoints: &mut Checkpoints, enough: u32, most: u32) -> u32 {
        let (mut restarts, mut last, began) = (0, 0, Instant::now());
        let most = checkpoints.merging.pages.load(Ordering::Relaxed).saturating_add(most);
        while restarts < enough && began.elapsed() < Duration::from_secs(60) {
            db.execute_batch("INSERT INTO t VALUES (randomblob(300000))").unwrap();
            let pages = checkpoints.merging.pages.load(Ordering::Relaxed);
            restarts += u32::from(pages < last);
            last = pages;
            checkpoints.after_commit(db);
            if pages > most {
                break;
            }
        }
        restarts
    }

    #[test]
    fn the_log_begins_anew_while_the_writer_goes_on_unless_a_reader_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let open = || Connection::open(&path).unwrap();
        let mut db = open();
        db.execute_batch("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
            .unwrap();
        let mut checkpoints = Checkpoints::of(&mut db, &path).unwrap();
        assert_eq!(restarts(&db, &mut checkpoints, 2, u32::MAX), 2);

        let reader = open();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
        restarts(&db, &mut checkpoints, 1, 2 * PAGES);
        let seen: u32 = reader.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
        let all: u32 = db.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
        assert!(seen < all, "{seen} of {all}: what was there when it began");
        drop(reader);
        assert_eq!(restarts(&db, &mut checkpoints, 1, u32::MAX), 1);
    }
}
