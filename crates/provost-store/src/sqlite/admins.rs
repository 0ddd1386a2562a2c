//! Admins, and the log of what was changed. The caller has the transaction, and commits it.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::rows::json_column;
use super::writer::Applied;
use crate::{Admin, AuditEntry};

/// Adds an admin; one of the same name whose token has ended is replaced. Returns whether the name
/// was free.
pub(super) fn add(
    db: &Connection,
    admin: &Admin,
    sha256: [u8; 32],
) -> rusqlite::Result<Applied<bool>> {
    let Admin { name, role, created, until } = admin;
    let created = created.as_millisecond();
    db.prepare_cached("DELETE FROM admin WHERE name = ? AND until <= ?")?
        .execute(params![name, created])?;
    let added = db
        .prepare_cached(
            "INSERT INTO admin (name, role, token, created, until) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (name) DO NOTHING",
        )?
        .execute(params![name, role.as_str(), sha256, created, until.as_millisecond()])?;
    Ok(Applied::of(added == 1))
}

/// Removes an admin. Returns whether there was one.
pub(super) fn remove(db: &Connection, name: &str) -> rusqlite::Result<Applied<bool>> {
    let removed = db.prepare_cached("DELETE FROM admin WHERE name = ?")?.execute([name])?;
    Ok(Applied::of(removed == 1))
}

/// All admins, by name.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<Admin>> {
    db.prepare_cached("SELECT name, role, created, until FROM admin ORDER BY name")?
        .query_map([], admin)?
        .collect()
}

/// The admin whose token has this digest at the time `at`.
pub(super) fn of_token(
    db: &Connection,
    sha256: [u8; 32],
    at: Timestamp,
) -> rusqlite::Result<Option<Admin>> {
    let select = "SELECT name, role, created, until FROM admin WHERE token = ? AND until > ?";
    db.prepare_cached(select)?.query_row(params![sha256, at.as_millisecond()], admin).optional()
}

fn admin(row: &Row<'_>) -> rusqlite::Result<Admin> {
    let role: String = row.get(1)?;
    Ok(Admin {
        name: row.get(0)?,
        role: role.as_str().into(),
        created: time(row, 2)?,
        until: time(row, 3)?,
    })
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(row.get(column)?)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, e.into()))
}

/// Notes a change that begins. Returns its id.
pub(super) fn note(db: &Connection, entry: &AuditEntry) -> rusqlite::Result<Applied<i64>> {
    let AuditEntry { at, who, from, action, request, result } = entry;
    db.prepare_cached(
        "INSERT INTO audit (at, who, source, action, request, result) VALUES (?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![at.as_millisecond(), who, from, action, request.get(), result])?;
    Ok(Applied::of(db.last_insert_rowid()))
}

/// Adds the result of a change, once.
pub(super) fn note_result(db: &Connection, id: i64, result: &str) -> rusqlite::Result<Applied<()>> {
    db.prepare_cached("UPDATE audit SET result = ?2 WHERE id = ?1 AND result IS NULL")?
        .execute(params![id, result])?;
    Ok(Applied::default())
}

/// The newest changes since the time `since`, the oldest of these first.
pub(super) fn changes(db: &Connection, since: Timestamp) -> rusqlite::Result<Vec<AuditEntry>> {
    let select = "SELECT at, who, source, action, request, result FROM audit WHERE at >= ?
         ORDER BY id DESC LIMIT ?";
    let mut changes = db
        .prepare_cached(select)?
        .query_map(params![since.as_millisecond(), provost_api::limits::AUDIT as i64], |row| {
            Ok(AuditEntry {
                at: time(row, 0)?,
                who: row.get(1)?,
                from: row.get(2)?,
                action: row.get(3)?,
                request: json_column(row, 4)?,
                result: row.get(5)?,
            })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    changes.reverse();
    Ok(changes)
}
