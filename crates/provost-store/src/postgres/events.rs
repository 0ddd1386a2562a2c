//! Events come to all daemons by the database (NOTIFY), to the one that stored them too: each sees all
//! of them, in one order.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Transaction;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, mpsc};
use tokio::time::sleep;
use tokio_postgres::{AsyncMessage, Client};

use super::connect::Database;
use super::error::Failure;
use super::note::{Note, RecordRange};
use super::records::texts;
use crate::{Answer, Arrivals, EVENT_BACKLOG, Event};

/// The pause before the next try of a connection.
const RETRY: Duration = Duration::from_secs(1);

/// Tells all daemons, when `change` is committed.
pub(super) async fn notify(change: &Transaction<'_>, notes: &[Note]) -> Result<(), Failure> {
    if notes.is_empty() {
        return Ok(());
    }
    let texts = notes.iter().map(Note::text).collect::<Result<Vec<_>, _>>()?;
    let tell = "SELECT pg_notify('provost', note) FROM unnest($1::text[]) AS t (note)";
    let tell = change.prepare_cached(tell).await?;
    change.query(&tell, &[&texts]).await?;
    Ok(())
}

/// A connection that hears all notes.
pub(super) struct Listener {
    notes: mpsc::Receiver<String>,
    /// Closes the connection when it is dropped.
    _client: Client,
}

impl Listener {
    pub(super) async fn connect(database: &Database) -> Result<Self, Failure> {
        let (client, mut connection) = database.connect().await?;
        // A connection that isn't read from keeps its notes in the database.
        let (heard, notes) = mpsc::channel(EVENT_BACKLOG);
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(note) = message
                    && heard.send(note.payload().to_owned()).await.is_err()
                {
                    return;
                }
            }
        });
        client.batch_execute("LISTEN provost").await?;
        Ok(Self { notes, _client: client })
    }

    /// Gives what it hears to those who have subscribed, for ever; by a new connection where one ends.
    pub(super) async fn run(
        first: Option<Self>,
        database: Arc<Database>,
        events: broadcast::Sender<Event>,
    ) {
        let mut listener = first;
        loop {
            if let Some(mut listener) = listener {
                while let Some(note) = listener.notes.recv().await {
                    publish(&database, &note, &events);
                }
            }
            // What comes until there is a new one is missed. Fails where nobody has subscribed.
            let _ = events.send(Event::Missed);
            sleep(RETRY).await;
            listener = Self::connect(&database).await.ok();
            if listener.is_some() {
                let _ = events.send(Event::Missed);
            }
        }
    }
}

fn publish(database: &Arc<Database>, note: &str, events: &broadcast::Sender<Event>) {
    let event = match serde_json::from_str(note) {
        Ok(Note::Lost(lost)) => Event::Lost(Arc::new(lost)),
        Ok(Note::Claim(claim)) => Event::Claim(Arc::new(claim)),
        Ok(Note::Job(news)) => Event::Job(Arc::new(news)),
        Ok(Note::Arrivals(parts)) => Event::Records(Arc::new(arrivals(database, parts))),
        // A note of a newer daemon may be unknown.
        Err(_) => Event::Missed,
    };
    // Fails where nobody has subscribed.
    let _ = events.send(event);
}

fn arrivals(database: &Arc<Database>, parts: Vec<RecordRange>) -> Arrivals {
    let (database, arrivals) =
        (Arc::clone(database), parts.iter().map(RecordRange::arrival).collect());
    let parts: Arc<[RecordRange]> = parts.into();
    let read = move || -> Answer<'static, _> {
        let (database, parts) = (Arc::clone(&database), Arc::clone(&parts));
        Box::pin(async move {
            texts_of(&database, &parts).await.map_err(|e| e.of("reading", &database.name))
        })
    };
    Arrivals::to_read(arrivals, Box::new(read))
}

async fn texts_of(
    database: &Database,
    parts: &[RecordRange],
) -> Result<Vec<Arc<RawValue>>, Failure> {
    let runs: Vec<i64> = parts.iter().map(|part| part.run).collect();
    let firsts: Vec<i32> = parts.iter().map(|part| part.first).collect();
    let lasts: Vec<i32> = parts.iter().map(|part| part.last).collect();
    let client = database.client().await?;
    let select = "SELECT part.first, part.last, record.seq, bytes, body
             FROM unnest($1::bigint[], $2::integer[], $3::integer[])
                 WITH ORDINALITY AS part (run, first, last, n)
             JOIN record ON record.run = part.run AND record.seq <= part.last
                 AND record.seq >= coalesce((
                     SELECT before.seq FROM record AS before
                     WHERE before.run = part.run AND before.seq <= part.first
                     ORDER BY before.seq DESC LIMIT 1), part.first)
             ORDER BY n, record.seq";
    let select = client.prepare_cached(select).await?;
    let mut found = Vec::new();
    for row in client.query(&select, &[&runs, &firsts, &lasts]).await? {
        let part = row.try_get::<_, i32>(0)?..=row.try_get(1)?;
        for (seq, text) in (row.try_get::<_, i32>(2)?..).zip(texts(&row, 3)?.iter()) {
            let text = text?;
            if part.contains(&seq) {
                found.push(text.to_owned().into());
            }
        }
    }
    Ok(found)
}
