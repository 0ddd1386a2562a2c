use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

/// How many messages may wait for one that is slow to take them.
const ROOM: usize = 1000;
/// How long the end of a run waits for those that are still to go.
const FAREWELL: Duration = Duration::from_secs(1);
/// The stack of the thread that writes, in bytes.
const STACK: usize = 128 * 1024;

/// Something that may be slow to take messages, or stuck: a thread of its own writes to it. What
/// there is no room for is lost, and counted.
pub struct Outlet {
    queue: Option<SyncSender<Vec<u8>>>,
    done: Receiver<()>,
    lost: u64,
}

impl Outlet {
    /// Has `write` take the messages. None where there is no room for a thread.
    pub fn new(write: impl FnOnce(&Receiver<Vec<u8>>) + Send + 'static) -> Option<Self> {
        let (queue, messages) = sync_channel(ROOM);
        let (tell, done) = sync_channel(1);
        let thread = Builder::new().stack_size(STACK).spawn(move || {
            write(&messages);
            // Whoever waits may have gone.
            let _ = tell.send(());
        });
        thread.ok().map(|_| Self { queue: Some(queue), done, lost: 0 })
    }

    /// Lets `message` go, or drops it. Where some were dropped before, `lost` says so.
    pub fn send(&mut self, message: Vec<u8>, lost: impl FnOnce(u64) -> Vec<u8>) {
        let Some(queue) = &self.queue else { return };
        if self.lost > 0 && queue.try_send(lost(self.lost)).is_ok() {
            self.lost = 0;
        }
        if queue.try_send(message).is_err() {
            self.lost += 1;
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.queue = None;
        // One that is stuck is no reason to wait for ever.
        let _ = self.done.recv_timeout(FAREWELL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_stuck_costs_nothing_and_what_is_lost_is_counted() {
        let (go, wait) = sync_channel::<()>(0);
        let (tell, told) = sync_channel(3 * ROOM);
        let mut outlet = Outlet::new(move |messages| {
            let _ = wait.recv();
            messages.iter().for_each(|message| tell.send(message).unwrap());
        })
        .unwrap();
        let lost = |n: u64| format!("{n} lost").into_bytes();
        for n in 0..ROOM + 5 {
            outlet.send(n.to_string().into_bytes(), lost);
        }
        go.send(()).unwrap();
        assert_eq!(told.recv().unwrap(), b"0");
        // There is room now for the count and for the next message.
        assert_eq!(told.recv().unwrap(), b"1");
        assert_eq!(told.recv().unwrap(), b"2");
        outlet.send(b"next".to_vec(), lost);
        drop(outlet);
        let rest: Vec<Vec<u8>> = told.iter().collect();
        assert_eq!(rest[rest.len() - 2..], [b"5 lost".to_vec(), b"next".to_vec()]);
    }
}
