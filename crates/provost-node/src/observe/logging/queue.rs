//! A reader that may be slow or stuck gets its messages from a thread of its own.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// How many messages may wait for a slow reader.
const ROOM: usize = 1000;
/// How long the end of a run waits for the messages that are still on their way.
const FLUSH: Duration = Duration::from_secs(1);
/// The stack of the thread that writes, in bytes.
const STACK: usize = 128 * 1024;

/// A queue of messages and the thread that writes them. Messages for which the queue has no room
/// are dropped and counted.
pub(super) struct MessageQueue(Mutex<State>);

struct State {
    /// None once it is finished.
    messages: Option<SyncSender<Vec<u8>>>,
    done: Receiver<()>,
    dropped: u64,
}

impl MessageQueue {
    /// Starts `write`, which takes the messages until there are no more. None where there is no
    /// room for a thread.
    pub(super) fn new(write: impl FnOnce(&Receiver<Vec<u8>>) + Send + 'static) -> Option<Self> {
        let (messages, queued) = sync_channel(ROOM);
        let (finished, done) = sync_channel(1);
        let thread = Builder::new().stack_size(STACK).spawn(move || {
            write(&queued);
            // The process may be gone by now.
            let _ = finished.send(());
        });
        thread.ok().map(|_| Self(Mutex::new(State { messages: Some(messages), done, dropped: 0 })))
    }

    /// Queues `message`, or drops it. Where some were dropped before, `note` says so of that many.
    pub(super) fn send(&self, message: Vec<u8>, note: impl FnOnce(u64) -> Vec<u8>) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { messages: Some(messages), dropped, .. } = &mut *queue else { return };
        if *dropped > 0 && messages.try_send(note(*dropped)).is_ok() {
            *dropped = 0;
        }
        if messages.try_send(message).is_err() {
            *dropped += 1;
        }
    }

    /// Takes no more messages, and waits a second at most for those that are queued.
    pub(super) fn finish(&self) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.messages.take().is_some() {
            // A reader that is stuck loses them.
            let _ = queue.done.recv_timeout(FLUSH);
        }
    }
}

impl Drop for MessageQueue {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stuck_reader_delays_nothing_and_dropped_messages_are_counted() {
        let (go, wait) = sync_channel::<()>(0);
        let (read, written) = sync_channel(3 * ROOM);
        let queue = MessageQueue::new(move |messages| {
            let _ = wait.recv();
            messages.iter().for_each(|message| read.send(message).unwrap());
        })
        .unwrap();
        let note = |n: u64| format!("dropped {n}").into_bytes();
        for n in 0..ROOM + 5 {
            queue.send(n.to_string().into_bytes(), note);
        }
        go.send(()).unwrap();
        assert_eq!(written.recv().unwrap(), b"0");
        // There is room now for the note and for the next message.
        assert_eq!(written.recv().unwrap(), b"1");
        assert_eq!(written.recv().unwrap(), b"2");
        queue.send(b"next".to_vec(), note);
        queue.finish();
        queue.send(b"too late".to_vec(), note);
        drop(queue);
        let rest: Vec<Vec<u8>> = written.iter().collect();
        assert_eq!(rest[rest.len() - 2..], [b"dropped 5".to_vec(), b"next".to_vec()]);
    }
}
