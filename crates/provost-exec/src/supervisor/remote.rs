use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::{Receiver, Sender};

use crate::keeper::{Order, Report, frame, unframe};

/// The runner's end of the wire. Nothing here waits for a keeper that is held up, but
/// [`turn`](Self::turn).
pub(crate) struct Remote {
    orders: Sender,
    reports: Receiver,
    inbox: Vec<u8>,
    /// What couldn't be sent yet.
    outbox: Vec<u8>,
}

impl Remote {
    /// To be called where there is a runtime.
    pub(crate) fn new((orders, reports): (PipeWriter, PipeReader)) -> io::Result<Self> {
        Ok(Self {
            orders: Sender::from_owned_fd(OwnedFd::from(orders))?,
            reports: Receiver::from_owned_fd(OwnedFd::from(reports))?,
            inbox: Vec::new(),
            outbox: Vec::new(),
        })
    }

    /// Sends as much as can be sent at once; what is left goes in the next [turns](Self::turn).
    pub(crate) fn send(&mut self, order: &Order) -> io::Result<()> {
        self.outbox.extend(frame(order)?);
        self.push()
    }

    /// The next message that has come whole.
    pub(crate) fn next(&mut self) -> io::Result<Option<Report>> {
        unframe(&mut self.inbox)
    }

    /// Waits until something has come, or more of the outbox could be sent. An error means
    /// that there is no keeper any more.
    pub(crate) async fn turn(&mut self) -> io::Result<()> {
        let sends = !self.outbox.is_empty();
        tokio::select! {
            ready = self.reports.readable() => {
                ready?;
                self.pull()
            }
            ready = self.orders.writable(), if sends => {
                ready?;
                self.push()
            }
        }
    }

    fn push(&mut self) -> io::Result<()> {
        while !self.outbox.is_empty() {
            match self.orders.try_write(&self.outbox) {
                Ok(sent) => drop(self.outbox.drain(..sent)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn pull(&mut self) -> io::Result<()> {
        match self.reports.try_read_buf(&mut self.inbox) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(e) if e.kind() != io::ErrorKind::WouldBlock => Err(e),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
