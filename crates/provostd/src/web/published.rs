//! What is published: the generation that nodes get now, those before, and which nodes have which.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use provost_bundle::Manifest;
use provost_publish::{Action, Record, history};
use provost_steplog::wording;
use provost_store::{Status, words};
use tokio::task::spawn_blocking;

use super::page::{Page, encoded, render};
use crate::fleet::Fleet;
use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;
use crate::published::PublishedFolder;

/// The page.
#[derive(Clone)]
pub(crate) struct PublicationsPage {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) www: PublishedFolder,
}

#[derive(Template)]
#[template(path = "published.html")]
struct Content {
    www: String,
    /// What all nodes get now; none where nothing is published here.
    current: Option<Current>,
    generations: Vec<Generation>,
    /// Whether the history can be read.
    has_history: bool,
}

struct Current {
    generation: u64,
    /// Their names and addresses.
    scripts: Vec<(String, String)>,
}

/// A generation, and what became of it.
struct Generation {
    number: u64,
    is_current: bool,
    what: String,
    at: String,
    ago: String,
    by: String,
    summary: String,
    /// How many nodes ran it last: how that ended, and where they are listed.
    nodes: Vec<(String, &'static str, String)>,
}

/// How many nodes ran a generation last.
#[derive(Clone, Copy, Default)]
struct Nodes {
    booted: usize,
    failed: usize,
    others: usize,
}

/// What the published folder says.
struct Folder {
    manifest: Option<Manifest>,
    /// The newest first; none where it can't be read.
    history: Option<Vec<Record>>,
}

impl Page for PublicationsPage {
    fn title(&self) -> String {
        "Published".to_owned()
    }

    fn section(&self) -> &'static str {
        "published"
    }

    async fn content(&self) -> Result<String, Refusal> {
        let snapshot = self.fleet.look().await?;
        let www = self.www.clone();
        let folder = spawn_blocking(move || Folder::read(&www)).await?;
        let www = self.www.display().to_string();
        render(&Content::of(www, folder, &snapshot, Timestamp::now()))
    }
}

impl Folder {
    fn read(www: &Path) -> Self {
        let text = std::fs::read(www.join(provost_api::published::MANIFEST)).ok();
        // Only the publisher may enter it, who may be somebody else.
        let is_readable = std::fs::read_dir(www.join(".provost")).is_ok();
        Self {
            manifest: text.and_then(|text| Manifest::parse(&text).ok()),
            history: is_readable.then(|| history(www)),
        }
    }
}

impl Content {
    fn of(www: String, folder: Folder, snapshot: &Snapshot, now: Timestamp) -> Self {
        let mut nodes = BTreeMap::<u64, Nodes>::new();
        for member in &snapshot.members {
            let Some(generation) = member.node.bundle else { continue };
            let nodes = nodes.entry(generation).or_default();
            match member.node.status {
                Status::Booted | Status::Booting => nodes.booted += 1,
                Status::Failed => nodes.failed += 1,
                _ => nodes.others += 1,
            }
        }
        let current = folder.manifest.map(|manifest| Current {
            generation: manifest.generation,
            scripts: manifest
                .files
                .into_iter()
                .map(|file| (format!("/scripts/{}", encoded(&file.path)), file.path))
                .map(|(href, name)| (name, href))
                .collect(),
        });
        let number = current.as_ref().map(|current| current.generation);
        let has_history = folder.history.is_some();
        let mut generations: Vec<Generation> = Vec::new();
        for record in folder.history.into_iter().flatten() {
            // Where a newer publication has the same generation, the nodes are that one's.
            let own = nodes.remove(&record.generation).unwrap_or_default();
            let is_current = number == Some(record.generation)
                && generations.iter().all(|newer| !newer.is_current);
            generations.push(Generation::of(&record, own, is_current, now));
        }
        for (generation, own) in nodes.into_iter().rev() {
            generations.push(Generation::unknown(generation, own, number == Some(generation)));
        }
        generations.sort_by_key(|generation| std::cmp::Reverse(generation.number));
        Self { www, current, generations, has_history }
    }
}

impl Generation {
    fn of(record: &Record, nodes: Nodes, is_current: bool, now: Timestamp) -> Self {
        let what = match (record.action, &record.channel) {
            (Action::Publish, Some(channel)) => format!("published for channel {channel}"),
            (Action::Publish, None) => "published".to_owned(),
            (Action::Promote, _) => "promoted to all nodes".to_owned(),
            (Action::Rollback, _) => "rolled back".to_owned(),
            (Action::Revoke, _) => "revoked a key".to_owned(),
            (Action::Rotate, _) => "signed by a new key".to_owned(),
        };
        let summary: Vec<&str> = record.summary.lines().map(str::trim).collect();
        Self {
            what,
            at: record.at.to_string(),
            ago: words::ago(record.at, now),
            by: format!("{} on {}", record.by, record.host),
            summary: summary.join("\n"),
            ..Self::unknown(record.generation, nodes, is_current)
        }
    }

    /// One of which only the nodes know.
    fn unknown(number: u64, nodes: Nodes, is_current: bool) -> Self {
        let counts = [
            ("booted", "good", nodes.booted),
            ("failed", "bad", nodes.failed),
            ("running", "busy", nodes.others),
        ];
        let counted = |(word, tone, count): (&str, &'static str, usize)| {
            let status = if word == "running" { "" } else { word };
            let href = format!("/nodes?bundle={number}&status={status}");
            (format!("{word} on {}", wording::count(count, "node")), tone, href)
        };
        let counts = counts.into_iter().filter(|(.., count)| *count > 0);
        Self {
            number,
            is_current,
            what: String::new(),
            at: String::new(),
            ago: String::new(),
            by: String::new(),
            summary: String::new(),
            nodes: counts.map(counted).collect(),
        }
    }
}
