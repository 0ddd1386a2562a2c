//! Admins, and the log of what was changed.

use jiff::Timestamp;
use serde::de::Error;
use tokio_postgres::Row;

use super::connect::Database;
use super::error::Failure;
use crate::{Admin, AuditEntry};

/// Adds an admin; one of the same name whose token has ended is replaced. Returns whether the name
/// was free.
pub(super) async fn add(db: &Database, admin: Admin, sha256: [u8; 32]) -> Result<bool, Failure> {
    let Admin { name, role, created, until } = admin;
    let add = "INSERT INTO admin (name, role, token, created, until) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (name) DO UPDATE SET role = excluded.role, token = excluded.token,
             created = excluded.created, until = excluded.until
         WHERE admin.until <= excluded.created";
    let (created, until) = (created.as_millisecond(), until.as_millisecond());
    let client = db.client().await?;
    let added =
        client.execute(add, &[&name, &role.as_str(), &&sha256[..], &created, &until]).await?;
    Ok(added == 1)
}

/// Removes an admin. Returns whether there was one.
pub(super) async fn remove(db: &Database, name: &str) -> Result<bool, Failure> {
    let client = db.client().await?;
    Ok(client.execute("DELETE FROM admin WHERE name = $1", &[&name]).await? == 1)
}

/// All admins, by name.
pub(super) async fn all(db: &Database) -> Result<Vec<Admin>, Failure> {
    let client = db.client().await?;
    let select = "SELECT name, role, created, until FROM admin ORDER BY name";
    client.query(select, &[]).await?.iter().map(admin).collect()
}

/// The admin whose token has this digest at the time `at`.
pub(super) async fn of_token(
    db: &Database,
    sha256: [u8; 32],
    at: Timestamp,
) -> Result<Option<Admin>, Failure> {
    let client = db.client().await?;
    let select = "SELECT name, role, created, until FROM admin WHERE token = $1 AND until > $2";
    let select = client.prepare_cached(select).await?;
    let row = client.query_opt(&select, &[&&sha256[..], &at.as_millisecond()]).await?;
    row.as_ref().map(admin).transpose()
}

fn admin(row: &Row) -> Result<Admin, Failure> {
    let role: &str = row.try_get(1)?;
    Ok(Admin {
        name: row.try_get(0)?,
        role: role.into(),
        created: time(row, 2)?,
        until: time(row, 3)?,
    })
}

fn time(row: &Row, column: usize) -> Result<Timestamp, Failure> {
    Timestamp::from_millisecond(row.try_get(column)?)
        .map_err(|e| serde_json::Error::custom(e).into())
}

/// Notes a change that begins. Returns its id.
pub(super) async fn note(db: &Database, entry: AuditEntry) -> Result<i64, Failure> {
    let AuditEntry { at, who, from, action, request, result } = entry;
    let add = "INSERT INTO audit (at, who, source, action, request, result)
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
    let client = db.client().await?;
    let at = at.as_millisecond();
    let row = client.query_one(add, &[&at, &who, &from, &action, &request.get(), &result]).await?;
    Ok(row.try_get(0)?)
}

/// Adds the result of a change, once.
pub(super) async fn note_result(db: &Database, id: i64, result: String) -> Result<(), Failure> {
    let client = db.client().await?;
    let set = "UPDATE audit SET result = $2 WHERE id = $1 AND result IS NULL";
    client.execute(set, &[&id, &result]).await?;
    Ok(())
}

/// The newest changes since the time `since`, the oldest of these first.
pub(super) async fn changes(db: &Database, since: Timestamp) -> Result<Vec<AuditEntry>, Failure> {
    let client = db.client().await?;
    let select = "SELECT at, who, source, action, request, result FROM audit WHERE at >= $1
         ORDER BY id DESC LIMIT $2";
    let rows = client
        .query(select, &[&since.as_millisecond(), &(provost_api::limits::AUDIT as i64)])
        .await?;
    let entry = |row: &Row| {
        Ok(AuditEntry {
            at: time(row, 0)?,
            who: row.try_get(1)?,
            from: row.try_get(2)?,
            action: row.try_get(3)?,
            request: serde_json::from_str(row.try_get(4)?)?,
            result: row.try_get(5)?,
        })
    };
    rows.iter().rev().map(entry).collect()
}
