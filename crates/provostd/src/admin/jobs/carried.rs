//! The jobs of all daemons that share the store: this one says again and again which of them it does, and notes of
//! which the daemon is gone.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use provost_plan::nodes::fold;
use provost_steplog::wording::{count, error_chain};
use provost_store::{Answer, Store, StoreError};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::{FANOUT, Job};
use crate::listener::Stop;

/// How often a daemon says that it does a job.
const BEAT: Duration = Duration::from_secs(5);
/// After what time without that, by the clock of who looks, the daemon is gone.
const GONE: Duration = Duration::from_secs(20);
/// The pause before something is noted again that couldn't be.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest failure of a node that is kept, in bytes.
const MOST_BYTES: usize = 1000;

/// The jobs.
pub(crate) struct Jobs {
    store: Arc<dyn Store>,
    /// Those that this daemon does.
    carried: Mutex<BTreeSet<String>>,
    /// Where a program may run.
    pub(super) places: Semaphore,
}

/// The jobs of other daemons, each with what it said last, and when that was seen.
type Seen = HashMap<String, (u64, Instant)>;

impl Jobs {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, carried: Mutex::default(), places: Semaphore::new(FANOUT) }
    }

    /// The job of that id.
    pub(crate) async fn job(&self, id: &str) -> Result<Option<Job>, StoreError> {
        Ok(self.store.job(id).await?.map(Job::from))
    }

    /// Keeps one that begins, which this daemon does.
    pub(super) async fn begin(&self, job: &Job) -> Result<(), StoreError> {
        self.carried().insert(job.id.clone());
        let begun = self.store.begin_job(job.to_store()).await;
        if begun.is_err() {
            self.carried().remove(&job.id);
        }
        begun
    }

    /// Keeps one that is done, which provostd did itself. Returns its id.
    pub(crate) async fn add_done(
        &self,
        word: &str,
        who: &str,
        nodes: Vec<String>,
    ) -> Result<String, StoreError> {
        let job = Job::new(word, None, who, nodes, <_>::default(), None);
        self.store.begin_job(job.to_store()).await?;
        let done = job.nodes.iter().map(|node| (node.clone(), None)).collect();
        self.store.note_job(job.id.clone(), done).await?;
        self.store.end_job(job.id.clone(), Timestamp::now()).await?;
        Ok(job.id)
    }

    /// Notes how it went for a node. Until that is noted no other node has its turn.
    pub(super) async fn note(&self, job: &Job, node: &str, failure: Option<String>) {
        let failure = failure.map(|why| shortened(&why));
        until_noted(job, || {
            self.store.note_job(job.id.clone(), vec![(node.to_owned(), failure.clone())])
        })
        .await;
    }

    /// Notes that this daemon has done a job. Returns it with all its results.
    pub(super) async fn end(&self, job: &Job) -> Job {
        until_noted(job, || self.store.end_job(job.id.clone(), Timestamp::now())).await;
        self.carried().remove(&job.id);
        until_noted(job, || self.store.job(&job.id)).await.map_or_else(|| job.clone(), Job::from)
    }

    /// Says which jobs this daemon does, and notes which no daemon does any more, until the daemon stops.
    pub(crate) async fn keep(self: Arc<Self>, mut stop: Stop) {
        let keeping = async {
            let mut seen = Seen::new();
            loop {
                if let Err(error) = self.look(&mut seen).await {
                    let (hint, why) = (error.hint(), error_chain(&error));
                    tracing::error!(hint, "noting which jobs go on: {why}");
                }
                sleep(BEAT).await;
            }
        };
        tokio::select! {
            () = keeping => {}
            () = stop.wait() => {}
        }
    }

    async fn look(&self, seen: &mut Seen) -> Result<(), StoreError> {
        let own: Vec<String> = self.carried().iter().cloned().collect();
        if !own.is_empty() {
            self.store.beat_jobs(own).await?;
        }
        let mut others = self.store.running_jobs().await?;
        others.retain(|(id, _)| !self.carried().contains(id));
        let mut now = Seen::new();
        for (id, beat) in others {
            let last = seen.get(&id).filter(|(last, _)| *last == beat);
            let since = last.map_or_else(Instant::now, |(_, since)| *since);
            // Alone with the store, there is no other daemon that could do it.
            if !self.store.is_shared() || since.elapsed() >= GONE {
                self.interrupt(&id, beat).await?;
            } else {
                now.insert(id, (beat, since));
            }
        }
        *seen = now;
        Ok(())
    }

    /// Notes that the daemon is gone that did a job, unless it does it all the same.
    async fn interrupt(&self, id: &str, beat: u64) -> Result<(), StoreError> {
        if !self.store.interrupt_job(id.to_owned(), beat, Timestamp::now()).await? {
            return Ok(());
        }
        let Some(job) = self.job(id).await? else { return Ok(()) };
        let rest = job.without_result();
        let what = format!("its provostd stopped; no result of {}", count(rest.len(), "node"));
        tracing::warn!(
            hint = format!("see which nodes are left on the page /jobs/{id}"),
            "{} by {} was interrupted: {what}: {}",
            job.word,
            job.who,
            fold(&rest)
        );
        match job.audit {
            Some(audit) => {
                self.store.note_result(audit, format!("failed: interrupted: {what}")).await
            }
            None => Ok(()),
        }
    }

    fn carried(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.carried.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tries again and again. The log says so once.
async fn until_noted<'s, T>(job: &Job, note: impl Fn() -> Answer<'s, T>) -> T {
    let mut is_said = false;
    loop {
        let error = match note().await {
            Ok(noted) => return noted,
            Err(error) => error,
        };
        if !std::mem::replace(&mut is_said, true) {
            let why = error_chain(&error);
            let (hint, word, who) = (error.hint(), &job.word, &job.who);
            tracing::error!(hint, "noting how {word} by {who} goes, until it is possible: {why}");
        }
        sleep(AGAIN).await;
    }
}

/// `text` in a length that is kept.
fn shortened(text: &str) -> String {
    match text.len() <= MOST_BYTES {
        true => text.to_owned(),
        false => format!("{}…", &text[..text.floor_char_boundary(MOST_BYTES)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_failure_is_cut() {
        assert_eq!(shortened("timed out"), "timed out");
        let long = shortened(&"ü".repeat(MOST_BYTES));
        assert_eq!(long.chars().count(), MOST_BYTES / 2 + 1);
    }
}
