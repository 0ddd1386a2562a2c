//! Records: a stream has a row for each, a store one for some.

use super::stream::Row;
use crate::packed::{pack, unpack};
use crate::sql::Value;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What of a row of a store [`unpacked`] takes, in this order: its run, its first seq, how long its texts
/// are, and the texts.
pub(crate) const STORED: [&str; 4] = ["run", "seq", "bytes", "body"];
/// The columns of the rows that [`packed`] makes.
pub(crate) const PACKED: [&str; 5] = ["run", "seq", "last", "bytes", "body"];

/// The stream's rows of one row of a store.
pub(crate) fn unpacked(row: Row) -> Result<Vec<Row>, Failure> {
    let Ok([Value::Number(run), Value::Number(first), Value::Number(bytes), Value::Bytes(body)]) =
        <[Value; 4]>::try_from(row)
    else {
        return Err("a row of the table record is damaged".into());
    };
    let texts = unpack(&body, bytes.unsigned_abs())?;
    let row = |(seq, text): (i64, serde_json::Result<&serde_json::value::RawValue>)| {
        Ok(vec![Value::Number(run), Value::Number(seq), Value::Text(text?.get().to_owned())])
    };
    (first..).zip(texts.iter()).map(row).collect()
}

/// A store's rows of the stream's, whose columns these are.
pub(crate) fn packed(columns: &[&str], rows: Vec<Row>) -> Result<Vec<Row>, Failure> {
    let at = |name: &str| {
        let at = columns.iter().position(|column| *column == name);
        at.ok_or_else(|| format!("the table record has no column {name:?}"))
    };
    let (run, seq, json) = (at("run")?, at("seq")?, at("json")?);
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        match (row.get(run), row.get(seq), row.get(json)) {
            (Some(Value::Number(run)), Some(Value::Number(seq)), Some(Value::Text(text)))
                if row.len() == columns.len() && !text.contains('\n') =>
            {
                records.push((*run, seq.unsigned_abs(), text.as_str()));
            }
            _ => return Err("a row of the table record is damaged".into()),
        }
    }
    let mut packed = Vec::new();
    for of_run in records.chunk_by(|a, b| a.0 == b.0) {
        for row in pack(of_run.iter().map(|(_, seq, text)| (*seq, *text)))? {
            let numbers = [of_run[0].0, row.first as i64, row.last as i64, row.bytes as i64];
            let mut values: Row = numbers.map(Value::Number).into();
            values.push(Value::Bytes(row.body));
            packed.push(values);
        }
    }
    Ok(packed)
}
