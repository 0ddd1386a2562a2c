//! The queues of notices, read and emptied.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::json_column;
use super::writer::Applied;
use super::{Sqlite, notices};
use crate::{Answer, Notice, Notices, Queued, Subscription};

impl Notices for Sqlite {
    fn subscribe(&self, subscriptions: Vec<Subscription>) {
        self.subscriptions.set(subscriptions);
    }

    fn queue(&self, notice: Notice) -> Answer<'_, ()> {
        let subscriptions = self.subscriptions.clone();
        let work = move |db: &Connection| {
            notices::add(db, &subscriptions, [&notice])?;
            Ok(Applied::default())
        };
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn begin_storm(&self, began: Timestamp) -> Answer<'_, ()> {
        let work = move |db: &Connection| {
            let insert =
                "INSERT INTO storm (began) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM storm)";
            db.execute(insert, [began.as_millisecond()])?;
            Ok(Applied::default())
        };
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn storm(&self) -> Answer<'_, Option<Timestamp>> {
        Box::pin(self.read(|db| {
            let began = db.query_row("SELECT began FROM storm", [], |row| row.get(0)).optional()?;
            Ok(began.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
        }))
    }

    fn end_storm(&self, notice: Notice) -> Answer<'_, ()> {
        let subscriptions = self.subscriptions.clone();
        let work = move |db: &Connection| {
            if db.execute("DELETE FROM storm", [])? > 0 {
                notices::add(db, &subscriptions, [&notice])?;
            }
            Ok(Applied::default())
        };
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn queued<'a>(&'a self, receiver: &'a str, most: usize) -> Answer<'a, Vec<Queued>> {
        let receiver = receiver.to_owned();
        Box::pin(self.read(move |db| {
            let select = "SELECT id, body FROM notice WHERE receiver = ? ORDER BY id LIMIT ?";
            db.prepare_cached(select)?
                .query_map(params![receiver, most as i64], |row| {
                    Ok(Queued { id: row.get(0)?, notice: json_column(row, 1)? })
                })?
                .collect()
        }))
    }

    fn queue_lengths(&self) -> Answer<'_, Vec<(String, u64)>> {
        Box::pin(self.read(|db| {
            let count = "SELECT receiver, count(*) FROM notice GROUP BY receiver ORDER BY receiver";
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
            db.prepare_cached(count)?.query_map([], row)?.collect()
        }))
    }

    fn delivered(&self, ids: Vec<i64>) -> Answer<'_, ()> {
        let work = move |db: &Connection| {
            let mut delete = db.prepare_cached("DELETE FROM notice WHERE id = ?")?;
            ids.iter().try_for_each(|id| delete.execute([id]).map(drop))?;
            Ok(Applied::default())
        };
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn drop_notices<'a>(
        &'a self,
        receiver: &'a str,
        most: u64,
        before: Timestamp,
    ) -> Answer<'a, u64> {
        let receiver = receiver.to_owned();
        let work = move |db: &Connection| notices::drop_some(db, &receiver, most, before);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn delivers(&self) -> Answer<'_, bool> {
        // The daemon has the file for itself.
        Box::pin(async { Ok(true) })
    }
}
