//! The queues of notices. Of many daemons that one delivers whose connection has an advisory lock.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Transaction;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::connect::Database;
use super::error::{ANSWER, Failure, within};
use super::watch::{ENDS_IDLE, SESSION};
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

/// Whoever delivers may do so for months. The server sees that a daemon is gone that waits for the lock: by looking at
/// the connection, or (PostgreSQL before 14) when it ends the wait, which then begins again.
const WAITS: &str = "SET lock_timeout = '10min'; SET statement_timeout = 0;
     SELECT set_config(name, '3s', false) FROM pg_settings
     WHERE name = 'client_connection_check_interval'";
/// How often the one that delivers shows that it isn't frozen: the server ends a session that is idle for longer (see
/// [`ENDS_IDLE`]), and with it the lock.
const BEAT: Duration = Duration::from_secs(2);
/// The pause after a wait that the server has ended.
const RETRY: Duration = Duration::from_secs(1);

/// This daemon's connection for its turn to deliver. Until it has its turn, the connection waits for the lock.
#[derive(Default)]
pub(super) struct DeliveryLease(Mutex<Option<Session>>);

struct Session {
    client: Arc<Client>,
    /// Whether it has the lock. Closed where the wait for it has failed, or the session has ended.
    delivers: watch::Receiver<bool>,
    /// Ends with the session, whatever it waits for.
    _connection: JoinSet<()>,
}

impl DeliveryLease {
    /// Whether this daemon delivers now. The lock ends with the connection, so that is tried each time.
    pub(super) async fn ask(&self, database: &Database) -> Result<bool, Failure> {
        let mut turn = self.0.lock().await;
        let session = match turn.take() {
            Some(session) if session.is_alive() => session,
            _ => Session::connect(database).await?,
        };
        let delivers = *session.delivers.borrow();
        if delivers {
            session.client.batch_execute("").await?;
        }
        *turn = Some(session);
        Ok(delivers)
    }

    /// Waits until this daemon delivers.
    pub(super) async fn wait(&self, database: &Database) -> Result<(), Failure> {
        while !within(ANSWER, self.ask(database)).await? {
            let delivers = self.0.lock().await.as_ref().map(|session| session.delivers.clone());
            let Some(mut delivers) = delivers else { continue };
            if delivers.wait_for(|delivers| *delivers).await.is_err() {
                sleep(RETRY).await;
            }
        }
        Ok(())
    }
}

impl Session {
    async fn connect(database: &Database) -> Result<Self, Failure> {
        // What it needs may still have to be made.
        drop(database.client().await?);
        let (client, connection) = database.connect().await?;
        let mut polling = JoinSet::new();
        // What fails fails its requests as well.
        polling.spawn(async move { drop(connection.await) });
        client.batch_execute(SESSION).await?;
        client.batch_execute(WAITS).await?;
        client.batch_execute(ENDS_IDLE).await?;
        let lock = client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?;
        let (sender, delivers) = watch::channel::<bool>(lock.try_get(0)?);
        let client = Arc::new(client);
        let waits = Arc::clone(&client);
        tokio::spawn(async move {
            if !*sender.borrow() {
                tokio::select! {
                    got = lock_of_delivery(&waits) => if got.is_err() { return },
                    () = sender.closed() => return,
                }
                sender.send_replace(true);
            }
            loop {
                tokio::select! {
                    () = sleep(BEAT) => if waits.batch_execute("").await.is_err() { return },
                    () = sender.closed() => return,
                }
            }
        });
        Ok(Self { client, delivers, _connection: polling })
    }

    /// Whether it has the lock, or waits for it.
    fn is_alive(&self) -> bool {
        !self.client.is_closed() && self.delivers.has_changed().is_ok()
    }
}

/// Waits for the lock.
async fn lock_of_delivery(client: &Client) -> Result<(), tokio_postgres::Error> {
    loop {
        let got = client.query_one("SELECT pg_advisory_lock($1)", &[&LOCK]).await;
        match got {
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {}
            other => return other.map(drop),
        }
    }
}
