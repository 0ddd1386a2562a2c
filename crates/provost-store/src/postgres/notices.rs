//! The queues of notices. Of many daemons that one delivers whose connection has an advisory lock.

use deadpool_postgres::Transaction;
use tokio::sync::Mutex;
use tokio_postgres::Client;

use super::connect::Database;
use super::error::Failure;
use super::watch::SESSION;
use crate::Notice;
use crate::notice::Subscriptions;

/// Of who delivers: the bytes of "provost", and a number.
const LOCK: i64 = 0x7072_6f76_6f73_7403;

/// Adds notices for those who have subscribed.
pub(super) async fn add<'a>(
    change: &Transaction<'_>,
    subscriptions: &Subscriptions,
    notices: impl IntoIterator<Item = &'a Notice>,
) -> Result<(), Failure> {
    let (mut receivers, mut times, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for (receiver, at, body) in subscriptions.rows(notices)? {
        receivers.push(receiver);
        times.push(at);
        bodies.push(body);
    }
    if receivers.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO notice (receiver, at, body)
         SELECT receiver, at, body FROM unnest($1::text[], $2::bigint[], $3::text[])
             WITH ORDINALITY AS new (receiver, at, body, n) ORDER BY n";
    let insert = change.prepare_cached(insert).await?;
    change.execute(&insert, &[&receivers, &times, &bodies]).await?;
    Ok(())
}

/// This daemon's connection for its turn to deliver.
#[derive(Default)]
pub(super) struct DeliveryLease(Mutex<Option<Client>>);

impl DeliveryLease {
    /// Whether this daemon delivers now. The lock ends with the connection, so it is tried each time.
    pub(super) async fn ask(&self, database: &Database) -> Result<bool, Failure> {
        let mut turn = self.0.lock().await;
        if let Some(client) = turn.take() {
            client.batch_execute("").await?;
            *turn = Some(client);
            return Ok(true);
        }
        // What it needs may still have to be made.
        drop(database.client().await?);
        let (client, connection) = database.connect().await?;
        tokio::spawn(connection);
        client.batch_execute(SESSION).await?;
        let lock = client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?;
        let delivers = lock.try_get(0)?;
        *turn = Some(client).filter(|_| delivers);
        Ok(delivers)
    }
}
