//! Clients for whom there is no place now. Each is refused at once, with a time to come again: one after
//! the other, instead of all of them in a connect that times out.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::turns::Turns;

/// How long telling one may take.
const TELLING: Duration = Duration::from_secs(5);
/// How much of a refused request is read, in bytes, so that the client gets to read the answer.
const DRAIN: usize = 64 * 1024;

/// The turns of those who were turned away.
pub(crate) struct Queue {
    turns: Turns,
    telling: Arc<Semaphore>,
}

impl Queue {
    /// The queue of a listener that serves so many clients at once: as many others are told at the same time, and what
    /// is more is closed without an answer.
    pub(crate) fn new(served: usize) -> Self {
        Self { turns: Turns::new(), telling: Arc::new(Semaphore::new(served)) }
    }

    /// Tells the client of `io` when to come again, in a task of its own.
    pub(crate) fn turn_away<S>(&self, io: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Ok(permit) = Arc::clone(&self.telling).try_acquire_owned() else { return };
        let answer = busy(self.turns.next());
        tokio::spawn(async move {
            // A client that goes away doesn't need it.
            let _ = timeout(TELLING, tell(io, &answer)).await;
            drop(permit);
        });
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
