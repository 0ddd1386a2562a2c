//! Texts of SQL, asked of a connection or a transaction.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use deadpool_postgres::{GenericClient, Object, Transaction};
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use jiff::Timestamp;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::error::{CONNECT, Failure, within};
use super::events::notify;
use super::note::Note;
use super::{Postgres, logs, nodes, notices};
use crate::notice::Subscriptions;
use crate::retention::OldRun;
use crate::sql::{
    Backend, Change, Lock, RecordTexts, Row, Running, Sql, Unreadable, Value, values,
};
use crate::tables::identities::of_key;
use crate::tables::tokens::{owner, retire_before};
use crate::{Answer, Event, Identity, KeyDigest, NodeState, Notice, Pruned};

impl<C: GenericClient + Send> Sql for C {
    type Error = Failure;
    const RECORDS: RecordTexts = RecordTexts {
        ids: |run| [run, run],
        count: "SELECT coalesce(sum(last - seq + 1), 0)::bigint, coalesce(sum(bytes), 0)::bigint
             FROM record WHERE run BETWEEN $1 AND $2",
        last: "SELECT bytes, body FROM record WHERE run BETWEEN $1 AND $2
             ORDER BY run DESC, seq DESC LIMIT 1",
        remove: "DELETE FROM record WHERE (run, seq) IN (
                 SELECT run, seq FROM record WHERE run BETWEEN $1 AND $2 ORDER BY run, seq LIMIT $3)
             RETURNING (last - seq + 1)::bigint, bytes",
    };

    async fn execute<const N: usize>(
        &self,
        text: &'static str,
        values: [Value; N],
    ) -> Result<u64, Failure> {
        let statement = self.prepare_cached(text).await?;
        Ok(self.execute_raw(&statement, values).await?)
    }

    async fn all<T: Send, const N: usize>(
        &self,
        text: &'static str,
        values: [Value; N],
        make: fn(Row) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, Failure> {
        let statement = self.prepare_cached(text).await?;
        let mut rows = pin!(self.query_raw(&statement, values).await?);
        let mut made = Vec::new();
        while let Some(row) = rows.try_next().await? {
            made.push(make(Row(values_of(&row)?))?);
        }
        Ok(made)
    }

    async fn each<const N: usize>(
        &self,
        text: &'static str,
        values: Vec<[Value; N]>,
    ) -> Result<Vec<Row>, Failure> {
        // Once, not by each of those that follow.
        self.prepare_cached(text).await?;
        // Sent one after the other, without waiting for answers.
        let results = values.into_iter().map(|values| self.all(text, values, Ok));
        Ok(try_join_all(results).await?.into_iter().flatten().collect())
    }
}

impl Change for Transaction<'_> {
    async fn lock(&self, what: Lock<'_>) -> Result<(), Failure> {
        match what {
            Lock::Node(node) => {
                let lock = "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended($1, 22))";
                Sql::execute(self, lock, values![node]).await.map(drop)
            }
            Lock::Key(key) => {
                let lock = "SELECT 1 FROM pg_advisory_xact_lock(
                     hashtextextended(encode($1::bytea, 'hex'), 23))";
                Sql::execute(self, lock, values![key]).await.map(drop)
            }
            Lock::History => {
                Sql::execute(self, "SELECT 1 FROM pg_advisory_xact_lock(24, 1)", []).await.map(drop)
            }
        }
    }

    async fn lock_nodes(&self, names: &[&str]) -> Result<BTreeMap<String, NodeState>, Failure> {
        nodes::lock(self, names).await
    }

    async fn add_nodes(&self, names: &[&str], at: Timestamp) -> Result<Vec<String>, Failure> {
        nodes::add(self, names, at).await
    }

    async fn save_nodes(&self, states: &BTreeMap<String, NodeState>) -> Result<(), Failure> {
        nodes::save(self, states.iter().map(|(name, state)| (&**name, state))).await
    }

    async fn save_due(&self, states: &BTreeMap<String, NodeState>) -> Result<(), Failure> {
        nodes::save_due(self, states.iter().map(|(name, state)| (&**name, state))).await
    }

    async fn remove_records(&self, names: &[String]) -> Result<(), Failure> {
        for delete in [
            "DELETE FROM record USING run WHERE record.run = run.id AND run.node = $1",
            "DELETE FROM log WHERE node = $1",
        ] {
            self.each(delete, names.iter().map(|name| values![name]).collect()).await?;
        }
        Ok(())
    }

    async fn announce(&self, events: Vec<Event>) -> Result<(), Failure> {
        let note = |event| match event {
            Event::Lost(lost) => Some(Note::Lost(Arc::unwrap_or_clone(lost))),
            Event::Claim(claim) => Some(Note::Claim(Arc::unwrap_or_clone(claim))),
            Event::Job(news) => Some(Note::Job(Arc::unwrap_or_clone(news))),
            // Those of records are told where these are stored.
            Event::Records(_) | Event::Missed => None,
        };
        notify(self, &events.into_iter().filter_map(note).collect::<Vec<_>>()).await
    }

    fn change_owners(&self) {
        // A daemon remembers none.
    }

    async fn add_notices(
        &self,
        subscriptions: &Subscriptions,
        notices: &[Notice],
    ) -> Result<(), Failure> {
        notices::add(self, subscriptions, notices).await
    }
}

/// The values of a row.
pub(super) fn values_of(row: &tokio_postgres::Row) -> Result<Vec<Value>, tokio_postgres::Error> {
    (0..row.len()).map(|n| row.try_get(n)).collect()
}

type BadValue = Box<dyn std::error::Error + Send + Sync>;

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BadValue> {
        match (self, ty) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Number(number), &Type::BOOL) => (*number != 0).to_sql(ty, out),
            (Self::Number(number), &Type::INT4) => i32::try_from(*number)?.to_sql(ty, out),
            (Self::Number(number), _) => number.to_sql_checked(ty, out),
            (Self::Text(text), _) => text.to_sql_checked(ty, out),
            (Self::Bytes(bytes), _) => bytes.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, BadValue> {
        Ok(match *ty {
            Type::BOOL => Self::Number(bool::from_sql(ty, raw)?.into()),
            Type::INT4 => Self::Number(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => Self::Number(i64::from_sql(ty, raw)?),
            Type::BYTEA => Self::Bytes(Vec::from_sql(ty, raw)?),
            _ => Self::Text(String::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, BadValue> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::BOOL | Type::INT4 | Type::INT8 | Type::BYTEA | Type::TEXT)
    }
}

impl Backend for Postgres {
    type Error = Failure;
    type Reader<'c> = Object;
    type Change<'c> = Transaction<'c>;
    const IS_SHARED: bool = true;

    fn subscriptions(&self) -> &Arc<Subscriptions> {
        &self.database.subscriptions
    }

    fn owner_of_key(&self, key: KeyDigest) -> Answer<'_, Option<Identity>> {
        // A node that waits for it hears why, before it gives up.
        self.read(within(CONNECT, async move { of_key(&self.database.client().await?, key).await }))
    }

    fn owner_of_token(&self, sha256: [u8; 32], at: Timestamp) -> Answer<'_, Option<String>> {
        self.read(within(CONNECT, async move {
            let client = self.database.client().await?;
            let Some(owner) = owner(&client, sha256, at).await? else { return Ok(None) };
            if owner.replaces {
                // Where it can't be written, the earlier one stays until its time comes.
                let _ = retire_before(&client, sha256).await;
            }
            Ok(Some(owner.node))
        }))
    }

    fn may_deliver(&self) -> Answer<'_, bool> {
        self.write(self.deliveries.ask(&self.database))
    }

    fn wait_for_delivery(&self) -> Answer<'_, ()> {
        self.write_unlimited(self.deliveries.wait(&self.database))
    }

    fn old_logs(
        &self,
        runs: Vec<OldRun>,
        oldest: Option<i64>,
        removes: bool,
    ) -> Answer<'_, Pruned> {
        let db = &self.database;
        self.write_unlimited(async move {
            match removes {
                true => logs::remove_old(db, &runs, oldest).await,
                false => logs::count_old(db, &runs, oldest).await,
            }
        })
    }

    fn query<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Object, &'a A) -> Running<'a, T, Failure>,
    ) -> Answer<'_, T> {
        self.read(async move {
            let client = self.database.client().await?;
            work(&client, &request).await
        })
    }

    fn change<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Transaction<'c>, &'a A) -> Running<'a, T, Failure>,
    ) -> Answer<'_, T> {
        self.write(async move {
            let mut client = self.database.client().await?;
            let change = client.transaction().await?;
            let answer = work(&change, &request).await?;
            change.commit().await?;
            Ok(answer)
        })
    }
}
