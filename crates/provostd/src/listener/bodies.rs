use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::StatusCode;
use futures_util::StreamExt;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::refusal::Refusal;

/// How long a request's body may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How much memory all bodies may use at once, in KiB.
const ROOM: u32 = 256 * 1024;
/// How much of a refused body is read, in bytes, so that the client gets to read the answer.
const DRAIN: u64 = 32 * 1024 * 1024;

/// Reads the bodies of requests: each with a limit of size and time, and all together within a limit
/// of memory.
pub(crate) struct Bodies {
    time: Duration,
    room: Semaphore,
}

/// A whole body, and the memory that it uses.
pub(crate) struct HeldBody<'a> {
    pub(crate) bytes: Vec<u8>,
    _room: SemaphorePermit<'a>,
}

impl Default for Bodies {
    fn default() -> Self {
        Self { time: TIMEOUT, room: Semaphore::new(ROOM as usize) }
    }
}

impl Bodies {
    /// Reads a body of at most `most` bytes.
    pub(crate) async fn read(&self, body: Body, most: usize) -> Result<HeldBody<'_>, Refusal> {
        let length = body.size_hint().upper().unwrap_or(most as u64);
        if length > most as u64 {
            self.drain(body).await;
            return Err(too_long(most));
        }
        let room = self.room(length).await?;
        let bytes = timeout(self.time, self.collect(body, most)).await;
        Ok(HeldBody { bytes: bytes.map_err(|_| self.too_slow())??, _room: room })
    }

    /// Waits for memory for `bytes` more.
    pub(crate) async fn room(&self, bytes: u64) -> Result<SemaphorePermit<'_>, Refusal> {
        let kib = (bytes / 1024 + 1) as u32;
        let room = timeout(self.time, self.room.acquire_many(kib.min(ROOM))).await;
        room.ok().and_then(Result::ok).ok_or_else(no_room)
    }

    async fn collect(&self, body: Body, most: usize) -> Result<Vec<u8>, Refusal> {
        let mut bytes = Vec::new();
        let mut chunks = body.into_data_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(broken)?;
            if bytes.len() + chunk.len() > most {
                drop(bytes);
                drain(chunks).await;
                return Err(too_long(most));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Reads a refused body, for a while.
    pub(crate) async fn drain(&self, body: Body) {
        // After the time-out the connection is closed.
        let _ = timeout(self.time, drain(body.into_data_stream())).await;
    }

    fn too_slow(&self) -> Refusal {
        Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body didn't arrive within {} s", self.time.as_secs()),
            "check that the network between the node and here carries large packets (MTU)",
        )
    }
}

async fn drain(mut chunks: axum::body::BodyDataStream) {
    let mut read = 0;
    while let Some(Ok(chunk)) = chunks.next().await
        && read < DRAIN
    {
        read += chunk.len() as u64;
    }
}

pub(crate) fn too_long(most: usize) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is longer than {most} bytes"),
        "send it in smaller parts, or only its head and tail",
    )
}

fn no_room() -> Refusal {
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many large requests are running",
        "try again later",
    )
}

fn broken(error: axum::Error) -> Refusal {
    Refusal::new(
        StatusCode::BAD_REQUEST,
        format!("reading the body: {error}"),
        "send the whole body, as long as Content-Length says",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_stalls_is_given_up_and_frees_its_room() {
        let bodies = Bodies { time: Duration::from_millis(1), ..Bodies::default() };
        let stalled = Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, &str>>());
        let Err(refusal) = bodies.read(stalled, 10).await else { panic!("read") };
        assert_eq!(refusal.status, StatusCode::REQUEST_TIMEOUT);
        assert_eq!(bodies.room.available_permits(), ROOM as usize);
    }

    #[tokio::test]
    async fn a_body_without_a_length_is_measured_while_it_is_read() {
        let chunks = |n| {
            let chunks = vec![Ok::<_, &str>(vec![b'x'; 6]); n];
            Body::from_stream(futures_util::stream::iter(chunks))
        };
        let bodies = Bodies::default();
        assert_eq!(bodies.read(chunks(1), 10).await.map(|held| held.bytes.len()).ok(), Some(6));
        let Err(refusal) = bodies.read(chunks(2), 10).await else { panic!("read") };
        assert_eq!(refusal.status, StatusCode::PAYLOAD_TOO_LARGE);
    }
}
