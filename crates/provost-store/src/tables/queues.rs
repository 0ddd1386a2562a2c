//! The queues of notices, and the storm that is under way.

use std::slice;
use std::sync::Arc;

use jiff::Timestamp;

use crate::sql::{Backend, Change, Row, Sql, Unreadable, values};
use crate::{Answer, Notice, Notices, Queued, Subscription};

impl<B: Backend> Notices for B {
    fn subscribe(&self, subscriptions: Vec<Subscription>) {
        self.subscriptions().set(subscriptions);
    }

    fn queue(&self, notice: Notice) -> Answer<'_, ()> {
        self.change((Arc::clone(self.subscriptions()), notice), |db, (subscriptions, notice)| {
            Box::pin(db.add_notices(subscriptions, slice::from_ref(notice)))
        })
    }

    fn begin_storm(&self, began: Timestamp) -> Answer<'_, ()> {
        self.change(began, |db, began| {
            let insert = "INSERT INTO storm (began)
                 SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM storm) ON CONFLICT DO NOTHING";
            Box::pin(async { db.execute(insert, values![*began]).await.map(drop) })
        })
    }

    fn storm(&self) -> Answer<'_, Option<Timestamp>> {
        self.query((), |db, ()| Box::pin(db.first("SELECT began FROM storm", [], Row::only)))
    }

    fn end_storm(&self, notice: Notice) -> Answer<'_, ()> {
        self.change((Arc::clone(self.subscriptions()), notice), |db, (subscriptions, notice)| {
            Box::pin(async {
                // Of many daemons that try at once, one finds it.
                if db.execute("DELETE FROM storm", []).await? > 0 {
                    super::history::end_storm(db, notice).await?;
                    db.add_notices(subscriptions, slice::from_ref(notice)).await?;
                }
                Ok(())
            })
        })
    }

    fn queued<'a>(&'a self, receiver: &'a str, most: usize) -> Answer<'a, Vec<Queued>> {
        self.query((receiver.to_owned(), most as i64), |db, (receiver, most)| {
            let select = "SELECT id, body FROM notice WHERE receiver = $1 ORDER BY id LIMIT $2";
            Box::pin(db.all(select, values![receiver, *most], queued))
        })
    }

    fn queue_lengths(&self) -> Answer<'_, Vec<(String, u64)>> {
        self.query((), |db, ()| {
            let count = "SELECT receiver, count(*) FROM notice GROUP BY receiver ORDER BY receiver";
            Box::pin(db.all(count, [], Row::pair))
        })
    }

    fn delivered(&self, ids: Vec<i64>) -> Answer<'_, ()> {
        self.change(ids, |db, ids| {
            let ids = ids.iter().map(|id| values![*id]).collect();
            Box::pin(async { db.each("DELETE FROM notice WHERE id = $1", ids).await.map(drop) })
        })
    }

    fn drop_notices<'a>(
        &'a self,
        receiver: &'a str,
        most: u64,
        before: Timestamp,
    ) -> Answer<'a, u64> {
        self.change((receiver.to_owned(), most as i64, before), |db, (receiver, most, before)| {
            let old = "DELETE FROM notice WHERE receiver = $1 AND at < $2";
            let many = "DELETE FROM notice WHERE receiver = $1 AND id <= (
                 SELECT id FROM notice WHERE receiver = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
            Box::pin(async move {
                let old = db.execute(old, values![receiver, *before]).await?;
                Ok(old + db.execute(many, values![receiver, *most]).await?)
            })
        })
    }

    fn delivers(&self) -> Answer<'_, bool> {
        self.may_deliver()
    }

    fn wait_to_deliver(&self) -> Answer<'_, ()> {
        self.wait_for_delivery()
    }
}

fn queued(row: Row) -> Result<Queued, Unreadable> {
    let [id, body] = row.columns()?;
    Ok(Queued { id: id.get()?, notice: serde_json::from_str(&body.get::<String>()?)? })
}
