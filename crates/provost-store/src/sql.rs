//! One text of SQL for both stores: what [`tables`](crate::tables) asks a database by, in plain Rust.
//!
//! A text has its parameters as `$1`, `$2` …, and says what SQLite and PostgreSQL both understand.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use jiff::Timestamp;

use crate::notice::Subscriptions;
use crate::retention::OldRun;
use crate::{Answer, Event, Identity, KeyDigest, NodeState, Notice, Pruned};

/// A value of a column or of a parameter, as every store has it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "transfer", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "transfer", serde(untagged))]
pub enum Value {
    /// None.
    Null,
    /// A number; a boolean is 0 or 1, a time milliseconds of Unix time.
    Number(i64),
    /// A text.
    Text(String),
    /// Anything; in JSON `{"hex": "…"}`.
    Bytes(#[cfg_attr(feature = "transfer", serde(with = "crate::hex_bytes"))] Vec<u8>),
}

/// A value that isn't what this build knows.
#[derive(Debug, thiserror::Error)]
#[error("a value isn't what this build knows: {0}")]
pub(crate) struct Unreadable(Box<dyn std::error::Error + Send + Sync>);

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        Self(error.into())
    }
}

impl Unreadable {
    pub(crate) fn new(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(why.into())
    }
}

/// Values of parameters.
macro_rules! values {
    ($($value:expr),* $(,)?) => { [$($crate::sql::Value::from($value)),*] };
}
pub(crate) use values;

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Self::Number(is.into())
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Self::Number(at.as_millisecond())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<[u8; 32]> for Value {
    fn from(digest: [u8; 32]) -> Self {
        Self::Bytes(digest.to_vec())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}

/// What a value can be read as.
pub(crate) trait Column: Sized {
    /// None if it can't.
    fn of(value: Value) -> Option<Self>;
}

impl Column for i64 {
    fn of(value: Value) -> Option<Self> {
        if let Value::Number(number) = value { Some(number) } else { None }
    }
}

impl Column for u64 {
    fn of(value: Value) -> Option<Self> {
        i64::of(value).and_then(|number| number.try_into().ok())
    }
}

impl Column for bool {
    fn of(value: Value) -> Option<Self> {
        i64::of(value).map(|number| number != 0)
    }
}

impl Column for Timestamp {
    fn of(value: Value) -> Option<Self> {
        i64::of(value).and_then(|at| Self::from_millisecond(at).ok())
    }
}

impl Column for String {
    fn of(value: Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text) } else { None }
    }
}

impl Column for Vec<u8> {
    fn of(value: Value) -> Option<Self> {
        if let Value::Bytes(bytes) = value { Some(bytes) } else { None }
    }
}

impl Column for [u8; 32] {
    fn of(value: Value) -> Option<Self> {
        Vec::<u8>::of(value).and_then(|bytes| bytes.try_into().ok())
    }
}

impl<T: Column> Column for Option<T> {
    fn of(value: Value) -> Option<Self> {
        if value == Value::Null { Some(None) } else { T::of(value).map(Some) }
    }
}

impl Value {
    /// About how many bytes of memory it needs.
    #[cfg(feature = "transfer")]
    pub(crate) fn len(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Null | Self::Number(_) => 0,
                Self::Text(text) => text.len(),
                Self::Bytes(bytes) => bytes.len(),
            }
    }

    pub(crate) fn get<T: Column>(self) -> Result<T, Unreadable> {
        T::of(self).ok_or_else(|| Unreadable::new(std::any::type_name::<T>()))
    }
}

/// A row of a result.
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    /// Its columns, as many as the text selects.
    pub(crate) fn columns<const N: usize>(self) -> Result<[Value; N], Unreadable> {
        self.0.try_into().map_err(|_| Unreadable::new(format!("a row doesn't have {N} columns")))
    }

    /// Its one column.
    pub(crate) fn only<T: Column>(self) -> Result<T, Unreadable> {
        let [value] = self.columns()?;
        value.get()
    }

    /// Its two columns.
    pub(crate) fn pair<A: Column, B: Column>(self) -> Result<(A, B), Unreadable> {
        let [a, b] = self.columns()?;
        Ok((a.get()?, b.get()?))
    }
}

/// What a store asks of the records of a run, whose key it has in its own way.
pub(crate) struct RecordTexts {
    /// What `$1` and `$2` are for the run with this id.
    pub(crate) ids: fn(i64) -> [i64; 2],
    /// How many records it has, and their bytes.
    pub(crate) count: &'static str,
    /// The bytes and the body of its last row.
    pub(crate) last: &'static str,
    /// Removes its first rows, `$3` at most. Returns how many records each had, and their bytes.
    pub(crate) remove: &'static str,
}

/// What reads and writes a database.
pub(crate) trait Sql: Send + Sync {
    type Error: From<Unreadable> + Send;
    const RECORDS: RecordTexts;

    /// Runs a statement. Returns how many rows it has changed.
    fn execute<const N: usize>(
        &self,
        text: &'static str,
        values: [Value; N],
    ) -> impl Future<Output = Result<u64, Self::Error>> + Send;

    /// What `make` makes of each row of a result.
    fn all<T: Send, const N: usize>(
        &self,
        text: &'static str,
        values: [Value; N],
        make: fn(Row) -> Result<T, Unreadable>,
    ) -> impl Future<Output = Result<Vec<T>, Self::Error>> + Send;

    /// Runs a statement for each of these values, in their order. Returns the rows of all results.
    fn each<const N: usize>(
        &self,
        text: &'static str,
        values: Vec<[Value; N]>,
    ) -> impl Future<Output = Result<Vec<Row>, Self::Error>> + Send;

    /// What `make` makes of the first row.
    fn first<T: Send, const N: usize>(
        &self,
        text: &'static str,
        values: [Value; N],
        make: fn(Row) -> Result<T, Unreadable>,
    ) -> impl Future<Output = Result<Option<T>, Self::Error>> + Send {
        async move { Ok(self.all(text, values, make).await?.into_iter().next()) }
    }
}

/// What transactions lock.
pub(crate) enum Lock<'a> {
    /// All that leads to a node's identity.
    Node(&'a str),
    /// What makes a key a node's identity. A node is locked before it.
    Key(KeyDigest),
    /// The points of the history.
    History,
}

/// A transaction, and what stores do in it each in their own way.
pub(crate) trait Change: Sql {
    /// Has other transactions wait for the end of this one where they lock the same.
    fn lock(&self, what: Lock<'_>) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// What is remembered of those of `names` that are known, which nobody else changes meanwhile.
    fn lock_nodes(
        &self,
        names: &[&str],
    ) -> impl Future<Output = Result<BTreeMap<String, NodeState>, Self::Error>> + Send;

    /// Makes nodes known at the server's time `at`. Returns those that weren't.
    fn add_nodes(
        &self,
        names: &[&str],
        at: Timestamp,
    ) -> impl Future<Output = Result<Vec<String>, Self::Error>> + Send;

    /// Remembers `states` of nodes that are known. When a node is due is kept as it was if that is sooner:
    /// it changes with each report, and [`lose`](crate::NodeStates::lose) finds out.
    fn save_nodes(
        &self,
        states: &BTreeMap<String, NodeState>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// The same, with when each is due.
    fn save_due(
        &self,
        states: &BTreeMap<String, NodeState>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Removes the records of nodes, and their logs where these are rows.
    fn remove_records(
        &self,
        nodes: &[String],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Tells all daemons, when it is committed.
    fn announce(&self, events: Vec<Event>) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Says that tokens or keys may be other nodes' now, or nobody's.
    fn change_owners(&self);

    /// Queues notices for those who have subscribed.
    fn add_notices(
        &self,
        subscriptions: &Subscriptions,
        notices: &[Notice],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// The future of some work with a database.
pub(crate) type Running<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// A store whose tables are asked by [`Sql`].
pub(crate) trait Backend: Send + Sync + 'static {
    type Error: From<Unreadable> + Send;
    /// What reads. What it writes is committed at once.
    type Reader<'c>: Sql<Error = Self::Error>;
    type Change<'c>: Change<Error = Self::Error>;
    /// Whether many daemons may use it.
    const IS_SHARED: bool;

    /// Who is told of what.
    fn subscriptions(&self) -> &Arc<Subscriptions>;

    /// The identity that a key is or was. Each request has a key.
    fn owner_of_key(&self, key: KeyDigest) -> Answer<'_, Option<Identity>>;

    /// The node whose token has this digest, at the server's time `at`. Each request without a key has a token.
    fn owner_of_token(&self, sha256: [u8; 32], at: Timestamp) -> Answer<'_, Option<String>>;

    /// Whether this daemon delivers notices now: of many daemons one does.
    fn may_deliver(&self) -> Answer<'_, bool>;

    /// Waits until it does.
    fn wait_for_delivery(&self) -> Answer<'_, ()>;

    /// The logs of these runs, and those that were written before `oldest`, in milliseconds of Unix time: counts them,
    /// and removes them if `removes`.
    fn old_logs(&self, runs: Vec<OldRun>, oldest: Option<i64>, removes: bool)
    -> Answer<'_, Pruned>;

    /// Has `work` read what `request` asks for.
    fn query<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Self::Reader<'c>, &'a A) -> Running<'a, T, Self::Error>,
    ) -> Answer<'_, T>;

    /// Has `work` change what `request` asks for, in a transaction. It may be called again in another one.
    fn change<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Self::Change<'c>, &'a A) -> Running<'a, T, Self::Error>,
    ) -> Answer<'_, T>;

    /// The same for what makes room or takes rights away: a full disk takes it, where something is reserved for that.
    fn change_reserved<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Self::Change<'c>, &'a A) -> Running<'a, T, Self::Error>,
    ) -> Answer<'_, T> {
        self.change(request, work)
    }
}
