//! All of the store as one stream, and back. The new file gets its name when all is in it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use provost_fs::{Durability, sync_folder};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::error::failed;
use super::sql::values_of;
use super::{FILE, PARTIAL, log_files, schema};
use crate::StoreError;
use crate::answer::NotEmpty;
use crate::transfer::{Counts, Gone, Part, Rows, TABLES, Table};
use crate::transfer::{columns_of, complete, cut_off, head, records};

/// What a daemon locks in its folder.
const LOCK: &str = "provostd.lock";

/// The store's file in the folder `data`.
pub(crate) fn file(data: &Path) -> PathBuf {
    data.join(FILE)
}

pub(crate) fn is_in_use(data: &Path) -> bool {
    File::open(data.join(LOCK)).is_ok_and(|file| file.try_lock().is_err())
}

pub(crate) fn check_empty(data: &Path) -> Result<(), StoreError> {
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let mut paths = vec![file(data), data.join(format!("{FILE}-wal"))];
    // Those of a copy that was cut off go with it.
    if !is_there(&data.join(PARTIAL)) && log_files::any(&data.join("logs")) {
        paths.push(data.join("logs"));
    }
    if !paths.iter().any(|path| is_there(path)) {
        return Ok(());
    }
    let data = data.display();
    let hint = format!(
        "name another folder; or stop provostd and move the store aside: mkdir {data}.old && mv \
         {data}/{FILE}* {data}/logs {data}.old"
    );
    Err(StoreError::new(format!("copying to {data}"), hint, NotEmpty))
}

pub(crate) async fn export(data: PathBuf, parts: mpsc::Sender<Part>) -> Result<(), StoreError> {
    let path = file(&data);
    let task = spawn_blocking(move || {
        let path = file(&data);
        match export_all(&data, &parts) {
            Err(e) if e.is::<Gone>() => Ok(()),
            // What says itself what it is about has its own hint.
            exported => exported.map_err(|e| match e.downcast::<StoreError>() {
                Ok(own) => *own,
                Err(e) => failed("reading", &path, e),
            }),
        }
    });
    task.await.map_err(|e| failed("reading", &path, e))?
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn export_all(data: &Path, parts: &mpsc::Sender<Part>) -> Result<(), Failure> {
    let path = file(data);
    // Not for reading only: the last connection that closes merges the write-ahead log.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(&path, flags)?;
    schema::check_present(&db, &path)?;
    // All that it reads is as of the first read.
    let moment = db.transaction()?;
    for table in TABLES {
        parts.blocking_send(head(table)).map_err(|_| Gone)?;
        let mut rows = Rows::new(parts);
        if table.name == "log" {
            log_files::each(&data.join("logs"), |row| match rows.add(row) {
                true => rows.send_blocking().map_err(io::Error::other),
                false => Ok(()),
            })
            // A stream that nobody reads any more.
            .map_err(|e| match e.downcast::<Gone>() {
                Ok(gone) => Failure::from(gone),
                Err(e) => e.into(),
            })?;
        } else {
            let mut select = moment.prepare(&select(table))?;
            let mut found = select.query([])?;
            let columns = found.as_ref().map_or(0, |select| select.column_count());
            while let Some(row) = found.next()? {
                let values = values_of(row, columns)?;
                let values = match table.name {
                    "record" => records::unpacked(values)?,
                    _ => vec![values],
                };
                for row in values {
                    if rows.add(row) {
                        rows.send_blocking()?;
                    }
                }
            }
        }
        rows.send_blocking()?;
    }
    parts.blocking_send(Part::End).map_err(|_| Gone)?;
    Ok(())
}

fn select(table: &Table) -> String {
    match table.name {
        "record" => {
            "SELECT id >> 24, id & 0xffffff, bytes, body FROM record ORDER BY id".to_owned()
        }
        name => format!("SELECT {} FROM {name} ORDER BY 1", table.columns.join(", ")),
    }
}

fn insert(table: &Table, columns: &[&str]) -> String {
    match table.name {
        // Of what `packed` makes.
        "record" => "INSERT INTO record (id, last, bytes, body)
             VALUES ((?1 << 24) + ?2, (?1 << 24) + ?3, ?4, ?5)"
            .to_owned(),
        name => {
            let places = vec!["?"; columns.len()].join(", ");
            format!("INSERT INTO {name} ({}) VALUES ({places})", columns.join(", "))
        }
    }
}

pub(crate) async fn import(
    data: PathBuf,
    parts: mpsc::Receiver<Part>,
) -> Result<Counts, StoreError> {
    let path = file(&data);
    let task = spawn_blocking(move || {
        check_empty(&data)?;
        import_all(&data, parts).map_err(|e| failed("writing", &file(&data), e))
    });
    task.await.map_err(|e| failed("writing", &path, e))?
}

fn import_all(data: &Path, mut parts: mpsc::Receiver<Part>) -> Result<Counts, Failure> {
    DirBuilder::new().recursive(true).mode(0o700).create(data)?;
    // No daemon begins here meanwhile.
    let lock = OpenOptions::new().create(true).append(true).open(data.join(LOCK))?;
    lock.try_lock().map_err(|_| "another provostd uses this folder")?;
    let (partial, logs) = (data.join(PARTIAL), data.join("logs"));
    if partial.exists() {
        log_files::remove_all(&logs)?;
        // Last the one that says that the logs are of a copy that was cut off.
        for old in [data.join(format!("{PARTIAL}-wal")), partial.clone()] {
            provost_fs::remove(&old, Durability::PowerCut)?;
        }
    }
    // Before the first log, so that it is known whose they are.
    let mut db = schema::open_writer(&partial)?;
    sync_folder(data)?;
    // It is thrown away where it isn't whole, and synced when it is.
    db.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let change = db.transaction()?;
    let counts = take(&change, &mut parts, &logs)?;
    change.commit()?;
    db.execute_batch("PRAGMA journal_mode = WAL;")?;
    db.close().map_err(|(_, e)| e)?;
    let file_of = File::open(&partial)?;
    file_of.sync_all()?;
    give_to_owner(data, &[&partial, &data.join(LOCK), &logs])?;
    // Also the logs, each of which may be in a folder of its own.
    rustix::fs::syncfs(&file_of)?;
    fs::rename(&partial, file(data))?;
    sync_folder(data)?;
    Ok(counts)
}

fn take(db: &Connection, parts: &mut mpsc::Receiver<Part>, logs: &Path) -> Result<Counts, Failure> {
    let mut counts = Counts::new();
    let mut present: Option<(&Table, Vec<&str>, String)> = None;
    loop {
        match parts.blocking_recv().ok_or_else(cut_off)? {
            Part::Table { table, columns } => {
                let (table, columns) = columns_of(&table, &columns)?;
                let insert = insert(table, &columns);
                counts.insert(table.name.to_owned(), 0);
                present = Some((table, columns, insert));
            }
            Part::Rows(rows) => {
                let Some((table, columns, insert)) = &present else { continue };
                *counts.entry(table.name.to_owned()).or_default() += rows.len() as u64;
                if table.name == "record" {
                    for row in records::packed(columns, rows)? {
                        db.prepare_cached(insert)?.execute(params_from_iter(row))?;
                    }
                    continue;
                }
                for mut row in rows {
                    complete(columns, &mut row);
                    if row.len() != columns.len() {
                        return Err(format!("a row of the table {} is damaged", table.name).into());
                    }
                    if table.name == "log" {
                        log_files::put(logs, columns, row)?;
                    } else {
                        db.prepare_cached(insert)?.execute(params_from_iter(row))?;
                    }
                }
            }
            Part::End => return Ok(counts),
        }
    }
}

/// Gives what root has made to who has the folder, as whom the daemon runs.
fn give_to_owner(data: &Path, paths: &[&Path]) -> io::Result<()> {
    let owner = fs::metadata(data)?;
    if !rustix::process::geteuid().is_root() || owner.uid() == 0 {
        return Ok(());
    }
    let mut left: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    while let Some(path) = left.pop() {
        if !path.exists() {
            continue;
        }
        chown(&path, Some(owner.uid()), Some(owner.gid()))?;
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                left.push(entry?.path());
            }
        }
    }
    Ok(())
}
