use tokio_postgres::Client;

use super::error::Failure;

/// The migrations from version N to version N + 1. Never change one that was released; add one.
const STEPS: &[&str] = &[
    include_str!("001_start.sql"),
    include_str!("002_prune.sql"),
    include_str!("003_old_token.sql"),
    include_str!("004_admins.sql"),
    include_str!("005_step.sql"),
    include_str!("006_enrolment.sql"),
    include_str!("007_notice.sql"),
    include_str!("008_storm.sql"),
    include_str!("009_packed.sql"),
];
/// The lock of those who change tables: the bytes of "provost", and a number.
const LOCK: i64 = 0x7072_6f76_6f73_7401;

/// Brings the database to the present version. Of many daemons one does it, and the others wait.
pub(super) async fn migrate(client: &mut Client) -> Result<(), Failure> {
    let change = client.transaction().await?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    change
        .batch_execute(
            "SET LOCAL client_min_messages = warning;
             CREATE SCHEMA IF NOT EXISTS provost;
             CREATE TABLE IF NOT EXISTS version (number integer NOT NULL)",
        )
        .await?;
    let found: Option<i32> =
        change.query_one("SELECT max(number) FROM version", &[]).await?.try_get(0)?;
    let (found, known) = (found.unwrap_or_default(), STEPS.len() as i32);
    if found > known {
        return Err(Failure::Newer { found, known });
    }
    for (version, step) in (1..=known).zip(STEPS).skip(found as usize) {
        change.batch_execute(step).await?;
        change.execute("INSERT INTO version (number) VALUES ($1)", &[&version]).await?;
    }
    change.commit().await?;
    Ok(())
}

/// Refuses a database of another version than the present one.
#[cfg(feature = "transfer")]
pub(super) async fn check_present(client: &Client) -> Result<(), Failure> {
    let known = STEPS.len() as i32;
    let there = client.query_one("SELECT to_regclass('version') IS NOT NULL", &[]).await?;
    if !there.try_get::<_, bool>(0)? {
        return Err(Failure::NoStore);
    }
    let row = client.query_one("SELECT coalesce(max(number), 0) FROM version", &[]).await?;
    match row.try_get(0)? {
        found if found > known => Err(Failure::Newer { found, known }),
        found if found < known => Err(Failure::Older { found, known }),
        _ => Ok(()),
    }
}
