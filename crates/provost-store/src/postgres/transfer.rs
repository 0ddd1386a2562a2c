//! All of the store as one stream, and back: in one transaction, so that nothing is stored where the stream
//! is cut off.

use std::io::{Cursor, Write};
use std::pin::{Pin, pin};

use futures_util::{SinkExt, TryStreamExt};
use tokio::sync::mpsc;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, CopyInSink, IsolationLevel, Statement, Transaction};

use super::connect::{Database, PostgresFiles, PostgresUrl};
use super::error::Failure;
use super::schema;
use super::sql::values_of;
use crate::StoreError;
use crate::transfer::{Counts, Gone, Part, Row, Rows, TABLES, Table, Value};
use crate::transfer::{columns_of, complete, cut_off, head, records};

/// Each of a table's columns as the stream has it.
async fn expressions(client: &Transaction<'_>, table: &Table) -> Result<String, Failure> {
    let columns = match table.name {
        "record" => records::STORED.join(", "),
        _ => table.columns.join(", "),
    };
    let types = client.prepare(&format!("SELECT {columns} FROM {}", table.name)).await?;
    let expression = |column: &tokio_postgres::Column| {
        let name = column.name();
        match *column.type_() {
            Type::TIMESTAMPTZ => {
                format!("to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
            }
            _ => name.to_owned(),
        }
    };
    Ok(types.columns().iter().map(expression).collect::<Vec<_>>().join(", "))
}

/// A connection to a database that a daemon has used; nothing of it is changed.
async fn look(database: &Database) -> Result<Client, Failure> {
    let (client, connection) = database.connect().await?;
    tokio::spawn(connection);
    schema::check_present(&client).await?;
    Ok(client)
}

pub(crate) async fn is_in_use(
    url: &PostgresUrl,
    files: &PostgresFiles,
) -> Result<bool, StoreError> {
    let database = Database::new(url, files)?;
    let ask = async {
        let up = "SELECT coalesce(max(at) > clock_timestamp() - interval '10 s', false) FROM watch";
        Ok(look(&database).await?.query_one(up, &[]).await?.try_get(0)?)
    };
    ask.await.map_err(|e: Failure| e.of("reading", &database.name))
}

pub(crate) async fn export(
    url: &PostgresUrl,
    files: &PostgresFiles,
    parts: mpsc::Sender<Part>,
) -> Result<(), StoreError> {
    let database = Database::new(url, files)?;
    match export_all(&database, &parts).await {
        Ok(()) | Err(Stopped::Gone(Gone)) => Ok(()),
        Err(Stopped::Failed(e)) => Err(e.of("reading", &database.name)),
    }
}

/// Why the stream ends early.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error(transparent)]
    Gone(#[from] Gone),
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl From<tokio_postgres::Error> for Stopped {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Failed(error.into())
    }
}

async fn export_all(database: &Database, parts: &mpsc::Sender<Part>) -> Result<(), Stopped> {
    let mut client = look(database).await?;
    let moment = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    for table in TABLES {
        parts.send(head(table)).await.map_err(|_| Gone)?;
        let key: Vec<String> = (1..=table.columns.len().min(2)).map(|n| n.to_string()).collect();
        let expressions = expressions(&moment, table).await?;
        let select =
            format!("SELECT {expressions} FROM {} ORDER BY {}", table.name, key.join(", "));
        let found = moment.query_raw::<_, &str, _>(&select, []).await?;
        let mut found = pin!(found);
        let mut rows = Rows::new(parts);
        while let Some(row) = found.try_next().await? {
            let values = values_of(&row)?;
            let values = match table.name {
                "record" => records::unpacked(values).map_err(refused)?,
                _ => vec![values],
            };
            for row in values {
                if rows.add(row) {
                    rows.send().await?;
                }
            }
        }
        rows.send().await?;
    }
    parts.send(Part::End).await.map_err(|_| Gone)?;
    Ok(())
}

pub(crate) async fn check_empty(
    url: &PostgresUrl,
    files: &PostgresFiles,
) -> Result<(), StoreError> {
    let database = Database::new(url, files)?;
    let check = async {
        let mut client = match look(&database).await {
            Err(Failure::NoStore) => return Ok(()),
            client => client?,
        };
        refuse_rows(&client.transaction().await?).await
    };
    check.await.map_err(|e: Failure| e.of("copying to", &database.name))
}

async fn refuse_rows(client: &Transaction<'_>) -> Result<(), Failure> {
    for table in TABLES {
        let select = format!("SELECT EXISTS (SELECT FROM {})", table.name);
        if client.query_one(&select, &[]).await?.try_get(0)? {
            return Err(Failure::NotEmpty);
        }
    }
    Ok(())
}

pub(crate) async fn import(
    url: &PostgresUrl,
    files: &PostgresFiles,
    mut parts: mpsc::Receiver<Part>,
) -> Result<Counts, StoreError> {
    let database = Database::new(url, files)?;
    let imported = import_all(&database, &mut parts).await;
    imported.map_err(|e| e.of("copying to", &database.name))
}

async fn import_all(
    database: &Database,
    parts: &mut mpsc::Receiver<Part>,
) -> Result<Counts, Failure> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    let tables: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    let tables = tables.join(", ");
    // A daemon that uses the database already waits, and finds all of it.
    change.batch_execute(&format!("LOCK TABLE {tables} IN EXCLUSIVE MODE")).await?;
    refuse_rows(&change).await?;
    let mut counts = Counts::new();
    let mut present: Option<Present> = None;
    loop {
        let part = parts.recv().await.ok_or_else(|| Failure::Refused(cut_off().to_owned()))?;
        match part {
            Part::Table { table, columns } => {
                finish(&mut present, &mut counts).await?;
                present = Some(Present::begin(&change, &table, &columns).await?);
            }
            Part::Rows(rows) => {
                if let Some(present) = &mut present {
                    present.add(rows).await?;
                }
            }
            Part::End => break,
        }
    }
    finish(&mut present, &mut counts).await?;
    // What comes next gets the ids above, and the planner knows how much there is.
    let numbered = "SELECT table_name::text FROM information_schema.columns
         WHERE table_schema = 'provost' AND column_name = 'id' AND is_identity = 'YES'";
    for table in change.query(numbered, &[]).await? {
        let name: String = table.try_get(0)?;
        let ids = format!(
            "SELECT setval(pg_get_serial_sequence('{name}', 'id'), max(id)) FROM {name} HAVING max(id) > 0"
        );
        change.execute(&ids, &[]).await?;
    }
    change.batch_execute(&format!("ANALYZE {tables}")).await?;
    change.commit().await?;
    Ok(counts)
}

fn refused(why: impl std::fmt::Display) -> Failure {
    Failure::Refused(why.to_string())
}

/// The table whose rows come.
struct Present {
    table: &'static Table,
    columns: Vec<&'static str>,
    rows: u64,
    sink: Pin<Box<CopyInSink<Cursor<Vec<u8>>>>>,
}

impl Present {
    async fn begin(
        change: &Transaction<'_>,
        table: &str,
        columns: &[String],
    ) -> Result<Self, Failure> {
        let (table, columns) = columns_of(table, columns).map_err(Failure::Refused)?;
        let stored = match table.name {
            "record" => &records::PACKED[..],
            _ => &columns,
        };
        let copy = format!("COPY {} ({}) FROM STDIN", table.name, stored.join(", "));
        let copy: Statement = change.prepare(&copy).await?;
        let sink = Box::pin(change.copy_in(&copy).await?);
        Ok(Self { table, columns, rows: 0, sink })
    }

    async fn add(&mut self, mut rows: Vec<Row>) -> Result<(), Failure> {
        self.rows += rows.len() as u64;
        rows.iter_mut().for_each(|row| complete(&self.columns, row));
        if let Some(row) = rows.iter().find(|row| row.len() != self.columns.len()) {
            let why = format!("a row of the table {} has {} values", self.table.name, row.len());
            return Err(Failure::Refused(why));
        }
        let rows = match self.table.name {
            "record" => records::packed(&self.columns, rows).map_err(refused)?,
            _ => rows,
        };
        let lines = rows.iter().flat_map(line).collect();
        Ok(self.sink.send(Cursor::new(lines)).await?)
    }
}

async fn finish(present: &mut Option<Present>, counts: &mut Counts) -> Result<(), Failure> {
    if let Some(mut table) = present.take() {
        table.sink.as_mut().finish().await?;
        counts.insert(table.table.name.to_owned(), table.rows);
    }
    Ok(())
}

/// A row in COPY's text format.
fn line(row: &Row) -> Vec<u8> {
    let mut line = Vec::new();
    for (n, value) in row.iter().enumerate() {
        if n > 0 {
            line.push(b'\t');
        }
        match value {
            Value::Null => line.extend(b"\\N"),
            // Writing to a Vec can't fail.
            Value::Number(number) => drop(write!(line, "{number}")),
            Value::Bytes(bytes) => drop(write!(line, "\\\\x{}", hex::encode(bytes))),
            Value::Text(text) => {
                for byte in text.bytes() {
                    match byte {
                        b'\\' => line.extend(b"\\\\"),
                        b'\t' => line.extend(b"\\t"),
                        b'\n' => line.extend(b"\\n"),
                        b'\r' => line.extend(b"\\r"),
                        other => line.push(other),
                    }
                }
            }
        }
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_separates_rows_and_values_is_escaped() {
        let row = vec![
            Value::Null,
            Value::Number(-1),
            Value::Text("a\tb\\N\r\nä".into()),
            Value::Bytes(vec![0, 0x5c]),
        ];
        let expected = "\\N\t-1\ta\\tb\\\\N\\r\\nä\t\\\\x005c\n";
        assert_eq!(String::from_utf8(line(&row)).unwrap(), expected);
    }
}
