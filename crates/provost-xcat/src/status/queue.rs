//! The queue of messages to the install monitor.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use provost_fs::atomic;
use provost_node::failure::Failure;
use provost_record::now;

use super::messages::{Delivery, NEXT, StatusMessage, file, read};

/// The messages: on the disk, for the next process and for others to see; in memory alone where the disk
/// takes nothing.
#[derive(Clone)]
pub(super) struct MessageQueue {
    file: PathBuf,
    lock: PathBuf,
    /// The messages as they were last, and why the disk didn't take them.
    last: Arc<Mutex<(Vec<StatusMessage>, Option<String>)>>,
}

impl MessageQueue {
    pub(super) fn of(state: &Path) -> Self {
        let lock = state.join("report/monitor.lock");
        Self { file: file(state), lock, last: Arc::default() }
    }

    /// Adds a message for each of `words`, in order; what they supersede is no longer delivered.
    pub(super) async fn add(&self, words: &[&'static str]) {
        let words = words.to_owned();
        self.change(move |all| words.iter().for_each(|words| add(all, words))).await;
    }

    /// The same for the first ones of a run: those of earlier runs that are delivered are forgotten.
    pub(super) async fn begin(&self, words: &[&'static str]) {
        let words = words.to_owned();
        self.change(move |all| {
            all.retain(StatusMessage::is_waiting);
            words.iter().for_each(|words| add(all, words));
        })
        .await;
    }

    /// Forgets what isn't delivered yet, except `next`: the admin wants no status.
    pub(super) async fn hush(&self) {
        self.change(|all| all.retain(|message| !message.is_waiting() || message.words == NEXT))
            .await;
    }

    /// The words of the next message.
    pub(super) async fn next(&self) -> Option<String> {
        self.blocking(|queue| {
            let waiting = queue.read().into_iter().find(StatusMessage::is_waiting);
            waiting.map(|message| message.words)
        })
        .await
    }

    /// All messages.
    pub(super) async fn all(&self) -> Vec<StatusMessage> {
        self.blocking(Self::read).await
    }

    /// Why the disk doesn't have them.
    pub(super) async fn write_error(&self) -> Option<String> {
        let last =
            |queue: &Self| queue.last.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        self.blocking(last).await
    }

    /// Notes the result of a try to deliver `words`; or, without them, to find a monitor.
    pub(super) async fn tried(&self, words: Option<&str>, failure: Option<&Failure>) {
        let (words, failure) = (words.map(str::to_owned), failure.cloned());
        self.change(move |all| {
            let at = match &words {
                // They may be superseded by now, and were delivered all the same.
                Some(words) => all.iter().rposition(|t| t.words == *words && !t.is_read()),
                None => all.iter().position(StatusMessage::is_waiting),
            };
            let Some(message) = at.map(|at| &mut all[at]) else { return };
            message.tries += 1;
            message.at = now();
            if failure.is_none() {
                message.delivery = Delivery::Read;
            }
            message.error = failure.as_ref().map(|failure| failure.text());
            message.hint = failure.as_ref().map(|failure| failure.hint.clone());
        })
        .await;
    }

    /// Under a lock: `provost report` and a run may both change them.
    async fn change(&self, change: impl FnOnce(&mut Vec<StatusMessage>) + Send + 'static) {
        self.blocking(|queue| {
            let _lock = queue.lock();
            let mut all = queue.read();
            let before = all.clone();
            change(&mut all);
            let mut last = queue.last.lock().unwrap_or_else(PoisonError::into_inner);
            if all != before || last.1.is_some() {
                last.1 = queue.write(&all).err().map(|e| e.to_string());
            }
            last.0 = all;
        })
        .await;
    }

    async fn blocking<T: Default + Send + 'static>(
        &self,
        f: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let queue = self.clone();
        // Waiting for the disk must not block the loop. The task ends early only with the process.
        tokio::task::spawn_blocking(move || f(&queue)).await.unwrap_or_default()
    }

    fn lock(&self) -> io::Result<File> {
        provost_fs::create_private_folder_of(&self.lock)?;
        let mut options = File::options();
        let options = options.create(true).truncate(false).write(true);
        let file = provost_fs::open(&self.lock, options)?;
        file.lock()?;
        Ok(file)
    }

    /// As they are on the disk, unless they are older there.
    fn read(&self) -> Vec<StatusMessage> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.1.is_some() { last.0.clone() } else { read(&self.file) }
    }

    fn write(&self, all: &[StatusMessage]) -> io::Result<()> {
        atomic::write(&self.file, &serde_json::to_vec(all)?)
    }
}

/// A node's status is the last message. `next` is no status, and without it the node installs itself
/// again, so that only another one supersedes it.
fn add(all: &mut Vec<StatusMessage>, words: &str) {
    let is_old = |message: &&mut StatusMessage| {
        message.is_waiting() && (message.words != NEXT || words == NEXT)
    };
    all.iter_mut().filter(is_old).for_each(|message| message.delivery = Delivery::Superseded);
    all.push(StatusMessage::new(words));
}
