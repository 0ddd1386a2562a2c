//! Which daemon watches for nodes that are silent: the one whose connection has an advisory lock. The
//! lock is free again when that connection ends. By another lock, which they share, daemons are counted.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_postgres::Client;

use super::connect::Database;
use super::error::Failure;
use crate::Watch;

/// How often each daemon asks whether it watches.
const AGAIN: Duration = Duration::from_secs(3);
/// Of who watches: the bytes of "provost", and a number.
const LOCK: i64 = 0x7072_6f76_6f73_7402;
/// Of who is up.
const UP_LOCK: i64 = 0x7072_6f76_6f73_7404;
/// The server gives up a daemon whose machine is gone after 6 s. When it last watched needs no sync.
pub(super) const SESSION: &str = "SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 1;
     SET tcp_keepalives_count = 3; SET synchronous_commit = off";
/// It gives up a daemon that is frozen, and so doesn't ask again, after 6 s as well. PostgreSQL before 14 can't.
pub(super) const ENDS_IDLE: &str = "SELECT set_config(name, '6s', false) FROM pg_settings
     WHERE name = 'idle_session_timeout'";

/// This daemon's connection for the watch.
#[derive(Default)]
pub(super) struct WatchLease(Mutex<Option<Session>>);

struct Session {
    client: Client,
    watches: bool,
    /// Whether no daemon was up for a while before this connection.
    was_unwatched: bool,
}

/// Says that this daemon is up. Returns whether none was for a while, and how many are.
const UP: &str = "UPDATE watch SET at = clock_timestamp() FROM watch AS last
     RETURNING watch.at - last.at > interval '10 s', (
         SELECT count(*) FROM pg_locks
         WHERE locktype = 'advisory' AND (classid::bigint << 32) + objid::bigint = $1
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";

impl WatchLease {
    /// Whether this daemon watches from now on.
    pub(super) async fn ask(&self, database: &Database) -> Result<Watch, Failure> {
        let mut turn = self.0.lock().await;
        let mut session = match turn.take() {
            Some(session) if !session.client.is_closed() => session,
            _ => Session::connect(database).await?,
        };
        let (watch, daemons) = session.ask().await?;
        database.daemons.store(daemons, Ordering::Relaxed);
        *turn = Some(session);
        Ok(watch)
    }
}

impl Session {
    async fn connect(database: &Database) -> Result<Self, Failure> {
        // What it needs may still have to be made.
        drop(database.client().await?);
        let (client, connection) = database.connect().await?;
        tokio::spawn(connection);
        client.batch_execute(SESSION).await?;
        client.batch_execute(ENDS_IDLE).await?;
        client.query_one("SELECT pg_advisory_lock_shared($1)", &[&UP_LOCK]).await?;
        Ok(Self { client, watches: false, was_unwatched: false })
    }

    async fn ask(&mut self) -> Result<(Watch, u32), Failure> {
        let up = self.client.query_one(UP, &[&UP_LOCK]).await?;
        let (was_unwatched, daemons): (bool, i64) = (up.try_get(0)?, up.try_get(1)?);
        self.was_unwatched |= was_unwatched;
        if !self.watches {
            let lock = self.client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?;
            self.watches = lock.try_get(0)?;
        }
        let watch = match self.watches {
            true => {
                let was_unwatched = std::mem::take(&mut self.was_unwatched);
                Watch::Here { was_unwatched, again: Some(AGAIN) }
            }
            false => Watch::Elsewhere { again: AGAIN },
        };
        Ok((watch, daemons.try_into().unwrap_or(u32::MAX)))
    }
}
