use std::collections::BTreeMap;

use tokio::sync::mpsc;

use super::table::Table;
use crate::sql::Value;

/// How many parts wait at most for the one who reads them.
const PARTS: usize = 4;
/// When a part has rows enough, in bytes.
const ENOUGH: usize = 256 * 1024;

/// A row: the values of the columns that its table's [`Part::Table`] names.
pub type Row = Vec<Value>;

/// A part of the stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// The rows that follow are of this table, and have these columns.
    Table {
        /// Its name.
        table: String,
        /// The columns' names.
        columns: Vec<String>,
    },
    /// Rows.
    Rows(Vec<Row>),
    /// That was all. A stream without it was cut off.
    End,
}

/// How many rows of each table were stored, by the tables' names.
pub type Counts = BTreeMap<String, u64>;

/// A stream's two ends.
pub fn stream() -> (mpsc::Sender<Part>, mpsc::Receiver<Part>) {
    mpsc::channel(PARTS)
}

/// The rows of one table, on their way into a stream.
pub(crate) struct Rows<'a> {
    parts: &'a mpsc::Sender<Part>,
    rows: Vec<Row>,
    bytes: usize,
}

/// The one who reads the stream has gone away, and says why.
#[derive(Debug, thiserror::Error)]
#[error("the other end of the copy has failed")]
pub(crate) struct Gone;

impl<'a> Rows<'a> {
    pub(crate) fn new(parts: &'a mpsc::Sender<Part>) -> Self {
        Self { parts, rows: Vec::new(), bytes: 0 }
    }

    /// Adds a row. Returns whether there are enough to send.
    pub(crate) fn add(&mut self, row: Row) -> bool {
        self.bytes += row.iter().map(Value::len).sum::<usize>();
        self.rows.push(row);
        self.bytes >= ENOUGH
    }

    /// What was added.
    pub(crate) fn take(&mut self) -> Part {
        self.bytes = 0;
        Part::Rows(std::mem::take(&mut self.rows))
    }

    /// Sends what was added.
    pub(crate) async fn send(&mut self) -> Result<(), Gone> {
        let rows = self.take();
        self.parts.send(rows).await.map_err(|_| Gone)
    }

    /// The same in a thread that may block.
    pub(crate) fn send_blocking(&mut self) -> Result<(), Gone> {
        let rows = self.take();
        self.parts.blocking_send(rows).map_err(|_| Gone)
    }
}

/// The beginning of a table.
pub(crate) fn head(table: &Table) -> Part {
    let columns = table.columns.iter().map(|&name| name.to_owned()).collect();
    Part::Table { table: table.name.to_owned(), columns }
}

/// Why a stream isn't stored.
pub(crate) fn cut_off() -> &'static str {
    "what was to be copied ended before its end"
}
