use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How much a client must take of an answer, in bytes, …
const LEAST: usize = 64 * 1024;
/// … within this time of waiting for it. A client that takes less loses its connection.
const WITHIN: Duration = Duration::from_secs(20);

/// A connection whose client must read at a least rate. Only the time counts in which the client
/// makes a write wait.
pub(crate) struct SlowClientGuard<S> {
    io: S,
    /// Bytes written, and time waited, since the last time that `LEAST` was reached.
    written: usize,
    waited: Duration,
    /// Since when a write waits.
    waits_since: Option<Instant>,
    too_slow: Pin<Box<Sleep>>,
}

impl<S> SlowClientGuard<S> {
    pub(crate) fn new(io: S) -> Self {
        let too_slow = Box::pin(sleep(WITHIN));
        Self { io, written: 0, waited: Duration::ZERO, waits_since: None, too_slow }
    }

    fn wrote(&mut self, bytes: usize) {
        self.waited += self.waits_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.written += bytes;
        if self.written >= LEAST {
            (self.written, self.waited) = (0, Duration::ZERO);
        }
    }

    /// Ready when the client has been too slow.
    fn waits(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.waits_since.is_none() {
            let now = Instant::now();
            self.waits_since = Some(now);
            self.too_slow.as_mut().reset(now + WITHIN.saturating_sub(self.waited));
        }
        self.too_slow.as_mut().poll(cx)
    }
}

impl<S: AsyncWrite + Unpin> SlowClientGuard<S> {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match write(Pin::new(&mut self.io), cx) {
            Poll::Ready(written) => {
                self.wrote(*written.as_ref().unwrap_or(&0));
                Poll::Ready(written)
            }
            Poll::Pending => {
                ready!(self.waits(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SlowClientGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, |io, cx| io.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll(cx, |io, cx| io.poll_write_vectored(cx, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SlowClientGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, room)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// Sends 1 MiB to a client that reads `bytes` each second.
    async fn send_to_reader_of(bytes: usize) -> io::Result<()> {
        let (mut client, server) = duplex(1024);
        let reader = tokio::spawn(async move {
            let mut room = vec![0; bytes];
            while client.read_exact(&mut room).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let sent = SlowClientGuard::new(server).write_all(&vec![0; 1024 * 1024]).await;
        reader.abort();
        sent
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_a_byte_a_second_loses_its_connection_and_a_slow_one_does_not() {
        let begun = Instant::now();
        let error = send_to_reader_of(1).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < WITHIN + Duration::from_secs(1), "{:?}", begun.elapsed());
        send_to_reader_of(8 * 1024).await.unwrap();
    }
}
