//! The queues of notices, read and emptied.

use jiff::Timestamp;

use super::error::Failure;
use super::{Postgres, notices};
use crate::{Answer, Notice, Notices, Queued, Subscription};

impl Postgres {
    async fn queue_one(&self, notice: Notice) -> Result<(), Failure> {
        let mut client = self.database.client().await?;
        let change = client.transaction().await?;
        notices::add(&change, &self.database.subscriptions, [&notice]).await?;
        Ok(change.commit().await?)
    }

    async fn done(&self, notice: Notice) -> Result<(), Failure> {
        let mut client = self.database.client().await?;
        let change = client.transaction().await?;
        // Of many daemons that try at once, one finds it.
        if change.execute("DELETE FROM storm", &[]).await? > 0 {
            notices::add(&change, &self.database.subscriptions, [&notice]).await?;
        }
        Ok(change.commit().await?)
    }

    async fn oldest(&self, receiver: &str, most: usize) -> Result<Vec<Queued>, Failure> {
        let client = self.database.client().await?;
        let select = "SELECT id, body FROM notice WHERE receiver = $1 ORDER BY id LIMIT $2";
        let select = client.prepare_cached(select).await?;
        let rows = client.query(&select, &[&receiver, &(most as i64)]).await?;
        let queued = |row: &tokio_postgres::Row| {
            Ok(Queued { id: row.try_get(0)?, notice: serde_json::from_str(row.try_get(1)?)? })
        };
        rows.iter().map(queued).collect()
    }

    async fn lengths(&self) -> Result<Vec<(String, u64)>, Failure> {
        let client = self.database.client().await?;
        let count = "SELECT receiver, count(*) FROM notice GROUP BY receiver ORDER BY receiver";
        let length = |row: &tokio_postgres::Row| {
            Ok((row.try_get(0)?, row.try_get::<_, i64>(1)?.unsigned_abs()))
        };
        client.query(count, &[]).await?.iter().map(length).collect()
    }

    async fn drop_some(
        &self,
        receiver: &str,
        most: u64,
        before: Timestamp,
    ) -> Result<u64, Failure> {
        let client = self.database.client().await?;
        let old = "DELETE FROM notice WHERE receiver = $1 AND at < $2";
        let old = client.execute(old, &[&receiver, &before.as_millisecond()]).await?;
        let many = "DELETE FROM notice WHERE receiver = $1 AND id <= (
             SELECT id FROM notice WHERE receiver = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
        let many = client.execute(many, &[&receiver, &(most as i64)]).await?;
        Ok(old + many)
    }
}

impl Notices for Postgres {
    fn subscribe(&self, subscriptions: Vec<Subscription>) {
        self.database.subscriptions.set(subscriptions);
    }

    fn queue(&self, notice: Notice) -> Answer<'_, ()> {
        self.write(self.queue_one(notice))
    }

    fn begin_storm(&self, began: Timestamp) -> Answer<'_, ()> {
        self.write(async move {
            let client = self.database.client().await?;
            let insert = "INSERT INTO storm (began)
                 SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM storm) ON CONFLICT DO NOTHING";
            client.execute(insert, &[&began.as_millisecond()]).await?;
            Ok(())
        })
    }

    fn storm(&self) -> Answer<'_, Option<Timestamp>> {
        self.read(async move {
            let client = self.database.client().await?;
            let row = client.query_one("SELECT min(began) FROM storm", &[]).await?;
            let began: Option<i64> = row.try_get(0)?;
            Ok(began.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
        })
    }

    fn end_storm(&self, notice: Notice) -> Answer<'_, ()> {
        self.write(self.done(notice))
    }

    fn queued<'a>(&'a self, receiver: &'a str, most: usize) -> Answer<'a, Vec<Queued>> {
        self.read(self.oldest(receiver, most))
    }

    fn queue_lengths(&self) -> Answer<'_, Vec<(String, u64)>> {
        self.read(self.lengths())
    }

    fn delivered(&self, ids: Vec<i64>) -> Answer<'_, ()> {
        self.write(async move {
            let client = self.database.client().await?;
            client.execute("DELETE FROM notice WHERE id = ANY($1)", &[&ids]).await?;
            Ok(())
        })
    }

    fn drop_notices<'a>(
        &'a self,
        receiver: &'a str,
        most: u64,
        before: Timestamp,
    ) -> Answer<'a, u64> {
        self.write(self.drop_some(receiver, most, before))
    }

    fn delivers(&self) -> Answer<'_, bool> {
        self.write(self.deliveries.ask(&self.database))
    }
}
