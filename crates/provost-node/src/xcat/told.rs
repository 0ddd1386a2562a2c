//! What the management node is told, and what came of it: STATE/monitor.json.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use provost_record::now;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// From then on the node boots from its disk.
pub(crate) const NEXT: &str = "next";

/// Words for the install monitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub told: String,
    pub result: Fate,
    /// How often it was tried.
    pub tries: u32,
    /// When the result was known.
    pub at: Timestamp,
    /// Why the last try failed, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// It isn't told yet.
    Waiting,
    /// The monitor has read it. Whether it did anything, it doesn't say.
    Read,
    /// Something newer came before it was told.
    Superseded,
}

impl Told {
    fn new(words: &str) -> Self {
        Self {
            told: words.to_owned(),
            result: Fate::Waiting,
            tries: 0,
            at: now(),
            error: None,
            hint: None,
        }
    }

    fn is_read(&self) -> bool {
        self.result == Fate::Read
    }

    pub fn is_waiting(&self) -> bool {
        self.result == Fate::Waiting
    }
}

/// What there is to tell. On the disk, for whoever comes after this process or looks on; where the
/// disk takes nothing, here alone.
#[derive(Clone)]
pub(crate) struct Book {
    file: PathBuf,
    lock: PathBuf,
    /// As it was last, and why the disk didn't take it.
    last: Arc<Mutex<(Vec<Told>, Option<String>)>>,
}

impl Book {
    pub(crate) fn of(state: &Path) -> Self {
        let lock = state.join("report/monitor.lock");
        Self { file: file(state), lock, last: Arc::default() }
    }

    /// Adds `words`, in order; what they supersede isn't told any more.
    pub(crate) async fn add(&self, words: &[&'static str]) {
        let words = words.to_owned();
        self.change(move |all| words.iter().for_each(|words| add(all, words))).await;
    }

    /// The same for the first words of a run: what came of those before is past.
    pub(crate) async fn begin(&self, words: &[&'static str]) {
        let words = words.to_owned();
        self.change(move |all| {
            all.retain(Told::is_waiting);
            words.iter().for_each(|words| add(all, words));
        })
        .await;
    }

    /// Forgets what isn't told yet, but for `next`: no status is wanted.
    pub(crate) async fn hush(&self) {
        self.change(|all| all.retain(|told| !told.is_waiting() || told.told == NEXT)).await;
    }

    /// The words that are to be told next.
    pub(crate) async fn next(&self) -> Option<String> {
        self.blocking(|book| {
            let waiting = book.read().into_iter().find(Told::is_waiting);
            waiting.map(|told| told.told)
        })
        .await
    }

    /// Everything.
    pub(crate) async fn all(&self) -> Vec<Told> {
        self.blocking(Self::read).await
    }

    /// Why the disk has not got it.
    pub(crate) async fn unkept(&self) -> Option<String> {
        let last = |book: &Self| book.last.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        self.blocking(last).await
    }

    /// Notes what came of a try: to tell `words`, or, without them, to find somebody to tell.
    pub(crate) async fn tried(&self, words: Option<&str>, failure: Option<&Failure>) {
        let (words, failure) = (words.map(str::to_owned), failure.cloned());
        self.change(move |all| {
            let at = match &words {
                // They may be superseded by now; they have been said all the same.
                Some(words) => all.iter().rposition(|t| t.told == *words && !t.is_read()),
                None => all.iter().position(Told::is_waiting),
            };
            let Some(told) = at.map(|at| &mut all[at]) else { return };
            told.tries += 1;
            told.at = now();
            if failure.is_none() {
                told.result = Fate::Read;
            }
            told.error = failure.as_ref().map(|failure| failure.text());
            told.hint = failure.as_ref().map(|failure| failure.hint.clone());
        })
        .await;
    }

    /// `provost report` and a run may both be at it.
    async fn change(&self, change: impl FnOnce(&mut Vec<Told>) + Send + 'static) {
        self.blocking(|book| {
            let _lock = book.lock();
            let mut all = book.read();
            let before = all.clone();
            change(&mut all);
            let mut last = book.last.lock().unwrap_or_else(PoisonError::into_inner);
            if all != before || last.1.is_some() {
                last.1 = book.write(&all).err().map(|e| e.to_string());
            }
            last.0 = all;
        })
        .await;
    }

    async fn blocking<T: Default + Send + 'static>(
        &self,
        f: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let book = self.clone();
        // Waiting for the disk must not hold up the loop. It ends early with the process alone.
        tokio::task::spawn_blocking(move || f(&book)).await.unwrap_or_default()
    }

    fn lock(&self) -> io::Result<File> {
        std::fs::create_dir_all(self.lock.parent().unwrap_or(Path::new("/")))?;
        let mut options = File::options();
        // Whoever may open it could keep it.
        let options = options.mode(0o600).create(true).truncate(false).write(true);
        let file = options.open(&self.lock)?;
        file.lock()?;
        Ok(file)
    }

    /// As it is on the disk, unless that is older.
    fn read(&self) -> Vec<Told> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.1.is_some() { last.0.clone() } else { parse(&self.file) }
    }

    fn write(&self, all: &[Told]) -> io::Result<()> {
        crate::state::atomic::write(&self.file, &serde_json::to_vec(all)?)
    }
}

/// What there is in `state`. What can't be read is nothing.
pub fn told(state: &Path) -> Vec<Told> {
    parse(&file(state))
}

fn parse(file: &Path) -> Vec<Told> {
    std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn file(state: &Path) -> PathBuf {
    state.join("monitor.json")
}

/// A node's status is the last that is told. `next` is none, and without it the node installs
/// itself again.
fn add(all: &mut Vec<Told>, words: &str) {
    let is_old = |told: &&mut Told| told.is_waiting() && (told.told != NEXT || words == NEXT);
    all.iter_mut().filter(is_old).for_each(|told| told.result = Fate::Superseded);
    all.push(Told::new(words));
}
