//! The rows of a run's records.

use rusqlite::{Connection, Row, params};

use super::rows::{self, record_ids};
use crate::Report;
use crate::packed::{StoredSeqs, Texts, pack, unpack};

/// What of a row is read: see [`texts`].
pub(super) const COLUMNS: &str = "id, bytes, body";

/// Which records of a run from the seq `first` to `last` are stored, at least.
pub(super) fn known(
    db: &Connection,
    run: i64,
    first: u64,
    last: u64,
) -> rusqlite::Result<StoredSeqs> {
    let mut known = StoredSeqs::default();
    let base = record_ids(run)[0];
    let id = |seq| rows::record_id(run, seq);
    let select = "SELECT id, last FROM record
         WHERE id BETWEEN coalesce((SELECT max(id) FROM record WHERE id BETWEEN ?1 AND ?2), ?2) AND ?3";
    let mut select = db.prepare_cached(select)?;
    let mut rows = select.query([base, id(first)?, id(last)?])?;
    while let Some(row) = rows.next()? {
        let seq =
            |column| Ok::<_, rusqlite::Error>((row.get::<_, i64>(column)? - base).unsigned_abs());
        known.add_range(seq(0)?, seq(1)?);
    }
    Ok(known)
}

/// Stores records of a run that aren't.
pub(super) fn add(db: &Connection, run: i64, fresh: &[&Report]) -> rusqlite::Result<()> {
    let texts = fresh.iter().map(|report| (report.record.seq, report.json.get()));
    let packed = pack(texts).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    let mut add =
        db.prepare_cached("INSERT INTO record (id, last, bytes, body) VALUES (?, ?, ?, ?)")?;
    for row in packed {
        let [first, last] = [row.first, row.last].map(|seq| rows::record_id(run, seq));
        add.execute(params![first?, last?, row.bytes as i64, row.body])?;
    }
    Ok(())
}

/// The id of a row's first record, and the texts of all.
pub(super) fn texts(row: &Row<'_>) -> rusqlite::Result<(i64, Texts)> {
    let bytes = row.get::<_, i64>(1)?.unsigned_abs();
    let texts = unpack(row.get_ref(2)?.as_blob()?, bytes).map_err(|e| rows::unreadable(2, e))?;
    Ok((row.get(0)?, texts))
}
