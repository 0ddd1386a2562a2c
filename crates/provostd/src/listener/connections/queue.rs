//! Clients for whom there is no place now. Each is refused at once, with a time to come again: one after
//! the other, instead of all of them in a connect that times out.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout, timeout_at};

/// How long telling one may take, …
const TELLING: Duration = Duration::from_secs(5);
/// … and how long at least if others wait for that: a node that is busy sends its request hundreds of milliseconds after
/// it has connected. It is longer where many are told at the same time: then so many a second are told all the same.
const PATIENCE: Duration = Duration::from_secs(1);
const TOLD_PER_SECOND: u32 = 4096;
/// How much of a refused request is read, in bytes, so that the client gets to read the answer.
const DRAIN: usize = 64 * 1024;

/// Those who are turned away.
pub(super) struct Queue {
    places: Arc<Semaphore>,
    most: usize,
    /// Those who are being told, and since when; the oldest come first.
    telling: VecDeque<(Instant, AbortHandle)>,
}

impl Queue {
    /// A queue of which so many are told at the same time.
    pub(super) fn new(most: usize) -> Self {
        let places = Arc::new(Semaphore::new(most));
        Self { places, most, telling: VecDeque::new() }
    }

    /// Tells the client of `io` to come again after `wait`, in a task of its own. Returns when the next one may be told.
    pub(super) async fn turn_away<S>(&mut self, wait: Duration, io: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Some(place) = self.place().await else { return };
        let answer = busy(wait);
        let task = tokio::spawn(async move {
            // A client that goes away doesn't need it.
            let _ = timeout(TELLING, tell(io, &answer)).await;
            drop(place);
        });
        if self.telling.len() > 2 * self.most {
            self.telling.retain(|(_, task)| !task.is_finished());
        }
        self.telling.push_back((Instant::now(), task.abort_handle()));
    }

    fn patience(&self) -> Duration {
        PATIENCE.max(Duration::from_secs(self.most as u64) / TOLD_PER_SECOND)
    }

    /// A place to tell one in. If there is none, one that has had its time is closed without an answer: a client that
    /// sends no request must hold up nobody else.
    async fn place(&mut self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Some(place);
        }
        while self.telling.front().is_some_and(|(_, task)| task.is_finished()) {
            self.telling.pop_front();
        }
        let place = Arc::clone(&self.places).acquire_owned();
        let Some((since, oldest)) = self.telling.pop_front() else { return place.await.ok() };
        match timeout_at(since + self.patience(), place).await {
            Ok(place) => {
                self.telling.push_front((since, oldest));
                place.ok()
            }
            Err(_) => {
                oldest.abort();
                Arc::clone(&self.places).acquire_owned().await.ok()
            }
        }
    }
}

/// Answers a request as soon as it begins: what it asks for makes no difference. A whole HTTP server for each of
/// thousands would take the time of those who are served.
async fn tell<S: AsyncRead + AsyncWrite + Unpin>(mut io: S, answer: &str) -> io::Result<()> {
    let mut room = [0; 1024];
    let read = io.read(&mut room).await?;
    io.write_all(answer.as_bytes()).await?;
    io.shutdown().await?;
    // More is to come of a request that doesn't end with its head; closed now, the connection would be reset, and
    // the answer lost.
    let (mut is_whole, mut drained) = (read == 0 || room[..read].ends_with(b"\r\n\r\n"), read);
    while !is_whole && drained < DRAIN {
        let read = io.read(&mut room).await?;
        is_whole = read == 0;
        drained += read;
    }
    Ok(())
}

/// The answer to a client that may come again after this time.
fn busy(wait: Duration) -> String {
    let (status, wait) = (StatusCode::SERVICE_UNAVAILABLE, wait.as_secs().max(1));
    let body =
        json!({ "error": "all connections are in use", "hint": "try again later" }).to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nretry-after: {wait}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}
