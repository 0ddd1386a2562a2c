use tokio_postgres::Client;

use super::error::Failure;
use crate::answer::Newer;

/// The tables of a new database.
const TABLES: &str = include_str!("schema.sql");
/// Their version. Databases of the versions before it are of the time before the first release.
const VERSION: i32 = 15;
/// The lock of those who change tables: the bytes of "provost", and a number.
const LOCK: i64 = 0x7072_6f76_6f73_7401;

/// Makes the tables of a new database. Of many daemons one does it, and the others wait.
pub(super) async fn make(client: &mut Client) -> Result<(), Failure> {
    let change = client.transaction().await?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    change
        .batch_execute(
            "SET LOCAL client_min_messages = warning;
             CREATE SCHEMA IF NOT EXISTS provost;
             CREATE TABLE IF NOT EXISTS version (number integer NOT NULL)",
        )
        .await?;
    let found = change.query_one("SELECT max(number) FROM version", &[]).await?.try_get(0)?;
    if check(found)?.is_none() {
        change.batch_execute(TABLES).await?;
        change.execute("INSERT INTO version (number) VALUES ($1)", &[&VERSION]).await?;
    }
    change.commit().await?;
    Ok(())
}

/// Refuses another version than the present one.
fn check(found: Option<i32>) -> Result<Option<i32>, Failure> {
    match found {
        Some(found) if found > VERSION => {
            // Versions count from 1.
            let [found, known] = [found, VERSION].map(i32::unsigned_abs);
            Err(Failure::Newer(Newer { found, known }))
        }
        Some(found) if found < VERSION => Err(Failure::Unreleased),
        found => Ok(found),
    }
}

/// The version of the tables, if there are any; refuses another one than the present one.
pub(super) async fn version(client: &Client) -> Result<Option<i32>, Failure> {
    let there = client.query_one("SELECT to_regclass('version') IS NOT NULL", &[]).await?;
    if !there.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let row = client.query_one("SELECT max(number) FROM version", &[]).await?;
    check(row.try_get(0)?)
}

/// Refuses a database without tables, or of another version than the present one.
#[cfg(feature = "transfer")]
pub(super) async fn check_present(client: &Client) -> Result<(), Failure> {
    version(client).await?.map(drop).ok_or(Failure::NoStore)
}
