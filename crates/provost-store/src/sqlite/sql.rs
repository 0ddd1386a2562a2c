//! Texts of SQL, asked of a connection: nothing of it waits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};

use super::nodes::{save, save_due, state_of};
use super::rows::record_ids;
use super::writer::{Applied, Room};
use super::{Sqlite, notices};
use crate::notice::Subscriptions;
use crate::retention::OldRun;
use crate::sql::{
    Backend, Change, Lock, RecordTexts, Row, Running, Sql, Unreadable, Value, values,
};
use crate::tables::identities::of_key;
use crate::tables::tokens::{owner, retire_before};
use crate::{Answer, Event, Identity, KeyDigest, NodeState, Notice, Pruned};

/// A connection, or a transaction of it.
pub(crate) struct Handle<'c> {
    // Futures are sent between threads, in general.
    db: Mutex<&'c mut Connection>,
    changes_owners: AtomicBool,
    /// What is told when it is committed.
    events: Mutex<Vec<Event>>,
}

impl<'c> Handle<'c> {
    fn of(db: &'c mut Connection) -> Self {
        Self {
            db: Mutex::new(db),
            changes_owners: AtomicBool::new(false),
            events: Mutex::default(),
        }
    }

    fn db(&self) -> MutexGuard<'_, &'c mut Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text as SQLite has its parameters: `$1` would be a name.
fn numbered(text: &str) -> String {
    text.replace('$', "?")
}

impl Sql for Handle<'_> {
    type Error = rusqlite::Error;
    const RECORDS: RecordTexts = RecordTexts {
        ids: record_ids,
        count: "SELECT coalesce(sum(last - id + 1), 0), coalesce(sum(bytes), 0)
             FROM record WHERE id BETWEEN $1 AND $2",
        last: "SELECT bytes, body FROM record WHERE id BETWEEN $1 AND $2 ORDER BY id DESC LIMIT 1",
        remove: "DELETE FROM record WHERE id IN (
                 SELECT id FROM record WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3)
             RETURNING last - id + 1, bytes",
    };

    async fn execute<const N: usize>(
        &self,
        text: &'static str,
        values: [Value; N],
    ) -> rusqlite::Result<u64> {
        Ok(self.db().prepare_cached(&numbered(text))?.execute(params_from_iter(values))? as u64)
    }

    async fn all<T: Send, const N: usize>(
        &self,
        text: &'static str,
        values: [Value; N],
        make: fn(Row) -> Result<T, Unreadable>,
    ) -> rusqlite::Result<Vec<T>> {
        let db = self.db();
        let mut statement = db.prepare_cached(&numbered(text))?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut made = Vec::new();
        while let Some(row) = rows.next()? {
            made.push(make(Row(values_of(row, columns)?))?);
        }
        Ok(made)
    }

    async fn each<const N: usize>(
        &self,
        text: &'static str,
        values: Vec<[Value; N]>,
    ) -> rusqlite::Result<Vec<Row>> {
        let mut rows = Vec::new();
        for values in values {
            rows.extend(self.all(text, values, Ok).await?);
        }
        Ok(rows)
    }
}

impl Change for Handle<'_> {
    async fn lock(&self, _: Lock<'_>) -> rusqlite::Result<()> {
        // The writer has the file for itself.
        Ok(())
    }

    async fn lock_nodes(&self, names: &[&str]) -> rusqlite::Result<BTreeMap<String, NodeState>> {
        let db = self.db();
        let mut states = BTreeMap::new();
        for name in names {
            states.extend(state_of(&db, name)?.map(|state| ((*name).to_owned(), state)));
        }
        Ok(states)
    }

    async fn add_nodes(&self, names: &[&str], at: Timestamp) -> rusqlite::Result<Vec<String>> {
        let db = self.db();
        let mut added = Vec::new();
        let mut known = db.prepare_cached("SELECT 1 FROM node WHERE name = ?")?;
        for name in names {
            if !known.exists([name])? {
                save(&db, name, &NodeState::new(name, at))?;
                added.push((*name).to_owned());
            }
        }
        Ok(added)
    }

    async fn save_nodes(&self, states: &BTreeMap<String, NodeState>) -> rusqlite::Result<()> {
        states.iter().try_for_each(|(node, state)| save(&self.db(), node, state))
    }

    async fn save_due(&self, states: &BTreeMap<String, NodeState>) -> rusqlite::Result<()> {
        states.iter().try_for_each(|(node, state)| save_due(&self.db(), node, state))
    }

    async fn remove_records(&self, nodes: &[String]) -> rusqlite::Result<()> {
        let nodes = nodes.iter().map(|node| values![node]).collect();
        let runs = self.each("SELECT id FROM run WHERE node = $1", nodes).await?;
        let mut ranges = Vec::new();
        for run in runs {
            ranges.push(record_ids(run.only()?).map(Value::from));
        }
        self.each("DELETE FROM record WHERE id BETWEEN $1 AND $2", ranges).await.map(drop)
    }

    async fn announce(&self, events: Vec<Event>) -> rusqlite::Result<()> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
        Ok(())
    }

    fn change_owners(&self) {
        self.changes_owners.store(true, Ordering::Relaxed);
    }

    async fn add_notices(
        &self,
        subscriptions: &Subscriptions,
        notices: &[Notice],
    ) -> rusqlite::Result<()> {
        notices::add(&self.db(), subscriptions, notices)
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The values of a row with so many columns.
pub(super) fn values_of(row: &rusqlite::Row<'_>, columns: usize) -> rusqlite::Result<Vec<Value>> {
    (0..columns).map(|n| value(row.get_ref(n)?)).collect()
}

fn value(value: ValueRef<'_>) -> rusqlite::Result<Value> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Number(number),
        ValueRef::Text(_) => Value::Text(value.as_str()?.to_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        ValueRef::Real(number) => {
            return Err(Unreadable::new(format!("{number} isn't a whole number")).into());
        }
    })
}

impl From<Unreadable> for rusqlite::Error {
    fn from(error: Unreadable) -> Self {
        Self::FromSqlConversionFailure(0, Type::Text, error.into())
    }
}

/// The result of `work`, which is there at once.
fn now<T>(mut work: Running<'_, T, rusqlite::Error>) -> rusqlite::Result<T> {
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}

impl Backend for Sqlite {
    type Error = rusqlite::Error;
    type Reader<'c> = Handle<'c>;
    type Change<'c> = Handle<'c>;
    const IS_SHARED: bool = false;

    fn subscriptions(&self) -> &Arc<Subscriptions> {
        &self.subscriptions
    }

    fn owner_of_key(&self, key: KeyDigest) -> Answer<'_, Option<Identity>> {
        Box::pin(async move {
            let read_at = match self.owners.keys.get(&key) {
                Ok(identity) => return Ok(Some(identity)),
                Err(read_at) => read_at,
            };
            let identity = self.query(key, |db, key| Box::pin(of_key(db, *key))).await?;
            if let Some(identity) = &identity {
                self.owners.keys.keep(key, identity.clone(), read_at);
            }
            Ok(identity)
        })
    }

    fn owner_of_token(&self, sha256: [u8; 32], at: Timestamp) -> Answer<'_, Option<String>> {
        Box::pin(async move {
            let read_at = match self.owners.tokens.get(&sha256) {
                Ok((owner, until)) if until.is_none_or(|until| at < until) => {
                    return Ok(Some(owner));
                }
                Ok(_) => return Ok(None),
                Err(read_at) => read_at,
            };
            let owner =
                self.query((sha256, at), |db, (sha256, at)| Box::pin(owner(db, *sha256, *at)));
            let Some(owner) = owner.await? else { return Ok(None) };
            if owner.replaces {
                let retired = self.change(sha256, |db, sha256| {
                    db.change_owners();
                    Box::pin(retire_before(db, *sha256))
                });
                // On a full disk the one before stays until its time comes.
                let _ = retired.await;
            } else {
                let known = (owner.node.clone(), owner.until);
                self.owners.tokens.keep(sha256, known, read_at);
            }
            Ok(Some(owner.node))
        })
    }

    fn may_deliver(&self) -> Answer<'_, bool> {
        // The daemon has the file for itself.
        Box::pin(async { Ok(true) })
    }

    fn wait_for_delivery(&self) -> Answer<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn old_logs(
        &self,
        runs: Vec<OldRun>,
        oldest: Option<i64>,
        removes: bool,
    ) -> Answer<'_, Pruned> {
        Box::pin(self.logs.old(runs, oldest, removes))
    }

    fn query<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Handle<'c>, &'a A) -> Running<'a, T, rusqlite::Error>,
    ) -> Answer<'_, T> {
        let query = move |db: &mut Connection| now(work(&Handle::of(db), &request));
        Box::pin(self.readers.read(&self.path, query))
    }

    fn change<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Handle<'c>, &'a A) -> Running<'a, T, rusqlite::Error>,
    ) -> Answer<'_, T> {
        self.change_in(Room::Free, request, work)
    }

    fn change_reserved<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Handle<'c>, &'a A) -> Running<'a, T, rusqlite::Error>,
    ) -> Answer<'_, T> {
        self.change_in(Room::Reserved, request, work)
    }
}

impl Sqlite {
    fn change_in<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        room: Room,
        request: A,
        work: for<'a, 'c> fn(&'a Handle<'c>, &'a A) -> Running<'a, T, rusqlite::Error>,
    ) -> Answer<'_, T> {
        let work = move |db: &mut Connection| {
            let handle = Handle::of(db);
            let answer = now(work(&handle, &request))?;
            let changes_tokens = handle.changes_owners.into_inner();
            let events = handle.events.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok(Applied { answer, events, changes_tokens, runs: None })
        };
        Box::pin(self.writer.submit_exclusive(&self.path, room, work))
    }
}
