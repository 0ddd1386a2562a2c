//! Messages that are written together. To wake the thread that writes one takes about as long as what
//! a run does between two short scripts.

use std::cell::RefCell;
use std::time::Duration;

use tokio::sync::Notify;

/// How long the first of those that are written together waits.
const WAIT: Duration = Duration::from_millis(20);

/// Writes one message to one place.
type Write = Box<dyn FnOnce()>;

thread_local! {
    /// None where messages don't wait.
    static HELD: RefCell<Option<Vec<Write>>> = const { RefCell::new(None) };
}

static HAS_MESSAGES: Notify = Notify::const_new();

/// Runs `work`, whose messages don't wake a thread each.
pub(crate) async fn together<T>(work: impl Future<Output = T>) -> T {
    HELD.set(Some(Vec::new()));
    let result = tokio::select! {
        biased;
        result = work => result,
        never = release_often() => never,
    };
    release();
    HELD.set(None);
    result
}

async fn release_often<T>() -> T {
    loop {
        HAS_MESSAGES.notified().await;
        tokio::time::sleep(WAIT).await;
        release();
    }
}

/// Writes the messages that wait: what is shown next comes after them.
pub fn release() {
    let held = HELD.with_borrow_mut(|held| held.as_mut().map(std::mem::take));
    held.into_iter().flatten().for_each(|write| write());
}

/// Calls `write`, at once or with the next [`release`].
pub(super) fn deliver(write: impl FnOnce() + 'static) {
    let at_once = HELD.with_borrow_mut(|held| match held {
        Some(held) => {
            held.push(Box::new(write));
            HAS_MESSAGES.notify_one();
            None
        }
        None => Some(write),
    });
    at_once.into_iter().for_each(|write| write());
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn messages_wait_for_others_but_not_for_long() {
        let (write, written) = channel();
        let message = |n: u32| {
            let write = write.clone();
            deliver(move || write.send(n).unwrap());
        };
        message(1);
        assert_eq!(written.try_recv(), Ok(1), "nothing else goes on");
        together(async {
            message(2);
            message(3);
            assert!(written.try_recv().is_err());
            tokio::time::sleep(WAIT * 2).await;
            assert_eq!(written.try_iter().collect::<Vec<_>>(), [2, 3]);
            message(4);
        })
        .await;
        assert_eq!(written.try_recv(), Ok(4), "the end waits for nobody");
        message(5);
        assert_eq!(written.try_recv(), Ok(5));
    }
}
