//! What runs did, stored with the records that say so: each transaction adds rows of its own, so that none waits for
//! another.

use deadpool_postgres::Transaction;

use super::error::Failure;
use crate::history::RunsByMinute;
use crate::sql::{Sql, values};

/// Adds a row for each minute.
pub(super) async fn add(change: &Transaction<'_>, runs: &RunsByMinute) -> Result<(), Failure> {
    let insert = "INSERT INTO history_part (at, began, succeeded, failed, boots)
         VALUES ($1, $2, $3, $4, $5)";
    for (at, runs) in &runs.0 {
        let numbers = [runs.began, runs.succeeded, runs.failed].map(|n| n as i64);
        let [began, succeeded, failed] = numbers;
        let row = values![*at, began, succeeded, failed, runs.boots.to_string()];
        Sql::execute(change, insert, row).await?;
    }
    Ok(())
}
