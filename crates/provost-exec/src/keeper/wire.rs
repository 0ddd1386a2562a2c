//! Messages between runner and keeper: JSON, each after its length.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::outcome::{Event, Outcome};
use crate::process::awake;
use crate::step::Step;

/// The longest message, in bytes; a step carries its environment.
const MOST: usize = 64 << 20;
/// How long the length before a message is, in bytes.
const LENGTH: usize = 4;
/// How much is read at once at least, in bytes: most steps are shorter.
const ROOM: usize = 16 * 1024;

/// A message of the runner.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Make this ready: it comes next, if anything does.
    Prepare(Box<Step>),
    /// Start what was made ready last; it may take no longer than this.
    Run(Duration),
    /// End it: this signal came.
    Stop(String),
    /// End it at once.
    Hurry,
    /// Pause it and its clocks.
    Pause,
    /// Continue it and its clocks.
    Resume,
    /// Exit: there are no more orders, and the runner cleans up after the keeper.
    Dismiss,
}

/// A message of the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    Event(Event),
    Paused,
    /// How the step ended, and the process id of the keeper of the next one.
    Ended(Box<Outcome>, u32),
}

/// A message as it goes over the wire.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = vec![0; LENGTH];
    serde_json::to_writer(&mut text, message)?;
    let length = u32::try_from(text.len() - LENGTH).map_err(io::Error::other)?;
    text[..LENGTH].copy_from_slice(&length.to_le_bytes());
    Ok(text)
}

/// Takes the first message out of what has come, if it is whole.
pub(crate) fn unframe<T: DeserializeOwned>(inbox: &mut Vec<u8>) -> io::Result<Option<T>> {
    let Some(length) = inbox.first_chunk::<LENGTH>() else { return Ok(None) };
    let end = LENGTH + u32::from_le_bytes(*length) as usize;
    if end > MOST {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    let Some(text) = inbox.get(LENGTH..end) else { return Ok(None) };
    let message = serde_json::from_slice(text)?;
    inbox.drain(..end);
    Ok(Some(message))
}

/// The keeper's end of the wire.
pub(crate) struct Wire {
    orders: PipeReader,
    reports: PipeWriter,
    inbox: Vec<u8>,
}

impl Wire {
    pub(crate) fn new(orders: PipeReader, reports: PipeWriter) -> Self {
        Self { orders, reports, inbox: Vec::new() }
    }

    /// Where orders come from.
    pub(crate) fn orders(&self) -> &PipeReader {
        &self.orders
    }

    /// Waits for an order. None: the runner is gone.
    pub(crate) fn wait(&mut self) -> Option<Order> {
        loop {
            match unframe(&mut self.inbox) {
                Ok(Some(order)) => return Some(order),
                Ok(None) => {
                    // What ends this without an order ends no read.
                    let mut orders = [PollFd::new(&self.orders, PollFlags::IN)];
                    match poll(&mut orders, None) {
                        Err(Errno::INTR) => awake::wake_runner(),
                        _ => self.fill().ok()?,
                    }
                }
                Err(_) => return None,
            }
        }
    }

    /// Reads what has come, after there was seen to be something.
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        self.inbox.reserve(ROOM);
        match rustix::io::read(&self.orders, spare_capacity(&mut self.inbox)) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// The next order that has arrived completely.
    pub(crate) fn next(&mut self) -> io::Result<Option<Order>> {
        unframe(&mut self.inbox)
    }

    /// Sends a report. That the runner is gone shows at the end of its orders.
    pub(crate) fn send(&mut self, report: &Report) {
        if let Ok(text) = frame(report) {
            let _ = self.reports.write_all(&text);
        }
    }
}
