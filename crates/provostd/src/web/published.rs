//! What is published: the generation that nodes get now, those before, and which nodes have which.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use provost_api::admins::Publication;
use provost_bundle::Manifest;
use provost_publish::{Record, history};
use provost_steplog::wording;
use provost_store::{Status, words};
use tokio::task::spawn_blocking;

use super::page::{Page, encoded, render};
use crate::fleet::Fleet;
use crate::fleet::expiry::Expiry;
use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;
use crate::published::PublishedFolder;

/// The page.
#[derive(Clone)]
pub(crate) struct PublicationsPage {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) www: PublishedFolder,
    pub(crate) expiry: Arc<Expiry>,
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
    /// Until when each may be used that nodes get: for whom, and the time.
    valid: Vec<(String, String)>,
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
    /// The scripts that it added, removed and changed: a sign, what it means, and the names.
    changes: Vec<(&'static str, &'static str, Vec<String>)>,
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
    history: Option<Vec<Entry>>,
}

/// A publication: of the file that those may read who read plans, or of the publisher's history.
#[derive(Debug, PartialEq)]
struct Entry {
    number: u64,
    generation: u64,
    at: Timestamp,
    by: String,
    host: String,
    action: String,
    channel: Option<String>,
    /// The digest of each script.
    scripts: BTreeMap<String, String>,
    summary: String,
}

impl From<Publication> for Entry {
    fn from(one: Publication) -> Self {
        let Publication { number, generation, at, by, host, action, channel, scripts } = one;
        Self { number, generation, at, by, host, action, channel, scripts, summary: String::new() }
    }
}

impl Entry {
    fn of(record: Record) -> Self {
        let scripts = record.files.into_iter().map(|file| (file.path, file.sha256.to_string()));
        Self {
            number: record.number,
            generation: record.generation,
            at: record.at,
            by: record.by,
            host: record.host,
            action: format!("{:?}", record.action).to_lowercase(),
            channel: record.channel,
            scripts: scripts.collect(),
            summary: record.summary,
        }
    }

    /// The scripts that it adds to those of the one `before`, takes away and changes.
    fn changes(&self, before: &Self) -> Vec<(&'static str, &'static str, Vec<String>)> {
        let (then, now) = (&before.scripts, &self.scripts);
        let names = |is_it: &dyn Fn(&String) -> bool| -> Vec<String> {
            let mut names: Vec<&String> = then.keys().chain(now.keys()).collect();
            names.sort_unstable();
            names.dedup();
            names.into_iter().filter(|name| is_it(name)).cloned().collect()
        };
        let (added, removed) =
            (|name: &String| !then.contains_key(name), |name: &String| !now.contains_key(name));
        let changed =
            |name: &String| !added(name) && !removed(name) && then.get(name) != now.get(name);
        let all = [
            ("+", "added", names(&added)),
            ("\u{2212}", "removed", names(&removed)),
            ("~", "changed", names(&changed)),
        ];
        all.into_iter().filter(|(.., names)| !names.is_empty()).collect()
    }
}

/// The publications of `www`, the newest first.
fn entries(www: &Path) -> Option<Vec<Entry>> {
    // Only the publisher may enter it, who may be somebody else.
    let is_readable = std::fs::read_dir(www.join(".provost")).is_ok();
    let own = if is_readable { history(www) } else { Vec::new() };
    // What those may read who read plans.
    let public = provost_publish::publications(www).into_iter();
    let mut all: BTreeMap<u64, Entry> = public.map(|one| (one.number, Entry::from(one))).collect();
    let is_known = is_readable || !all.is_empty();
    all.extend(own.into_iter().map(|record| (record.number, Entry::of(record))));
    is_known.then(|| all.into_values().rev().collect())
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
        let now = Timestamp::now();
        let valid = self.expiry.published.list().await.into_iter().map(|one| {
            let whose =
                one.channel.map_or("all nodes".to_owned(), |name| format!("channel {name}"));
            let left = now.duration_until(one.expires).try_into().map(wording::age);
            let left = left.map_or("expired".to_owned(), |left| format!("{left} left"));
            (whose, format!("{} ({left})", one.expires))
        });
        render(&Content::of(www, folder, valid.collect(), &snapshot, now))
    }
}

impl Folder {
    fn read(www: &Path) -> Self {
        let text = std::fs::read(www.join(provost_api::published::MANIFEST)).ok();
        Self { manifest: text.and_then(|text| Manifest::parse(&text).ok()), history: entries(www) }
    }
}

impl Content {
    fn of(
        www: String,
        folder: Folder,
        valid: Vec<(String, String)>,
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Self {
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
            valid,
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
        let history = folder.history.unwrap_or_default();
        for (n, record) in history.iter().enumerate() {
            // What the same nodes had before; of a new channel, what all have.
            let older = || history[n + 1..].iter();
            let before = older()
                .find(|older| older.channel == record.channel)
                .or_else(|| older().find(|older| older.channel.is_none()));
            // Where a newer publication has the same generation, the nodes are that one's.
            let own = nodes.remove(&record.generation).unwrap_or_default();
            let is_current = number == Some(record.generation)
                && generations.iter().all(|newer| !newer.is_current);
            generations.push(Generation::of((record, before), own, is_current, now));
        }
        for (generation, own) in nodes.into_iter().rev() {
            generations.push(Generation::unknown(generation, own, number == Some(generation)));
        }
        generations.sort_by_key(|generation| std::cmp::Reverse(generation.number));
        Self { www, current, generations, has_history }
    }
}

impl Generation {
    fn of(
        (record, before): (&Entry, Option<&Entry>),
        nodes: Nodes,
        is_current: bool,
        now: Timestamp,
    ) -> Self {
        let what = match (&*record.action, &record.channel) {
            ("publish", Some(channel)) => format!("published for channel {channel}"),
            ("publish", None) => "published".to_owned(),
            ("promote", _) => "promoted to all nodes".to_owned(),
            ("rollback", _) => "rolled back".to_owned(),
            ("revoke", _) => "revoked a key".to_owned(),
            ("rotate", _) => "signed by a new key".to_owned(),
            (other, _) => other.to_owned(),
        };
        let summary: Vec<&str> = record.summary.lines().map(str::trim).collect();
        Self {
            what,
            at: record.at.to_string(),
            ago: words::ago(record.at, now),
            by: format!("{} on {}", record.by, record.host),
            changes: before.map(|before| record.changes(before)).unwrap_or_default(),
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
            changes: Vec::new(),
            summary: String::new(),
            nodes: counts.map(counted).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publication_says_who_made_it_and_which_scripts_it_changed() {
        let www = tempfile::tempdir().unwrap();
        assert_eq!(entries(www.path()), None, "nobody may read it");
        let folder = www.path().join("plans/.publications");
        std::fs::create_dir_all(&folder).unwrap();
        let write = |number: u64, scripts: &str| {
            let text = format!(
                "number = {number}\ngeneration = {number}\nat = \"2026-11-20T17:00:00Z\"\n\
                 by = \"ann\"\nhost = \"mgmt\"\naction = \"publish\"\n[scripts]\n{scripts}"
            );
            std::fs::write(folder.join(format!("{number}.toml")), text).unwrap();
        };
        write(9, "a = \"1\"\nb = \"1\"\nsame = \"1\"\n");
        write(10, "a = \"2\"\nc = \"1\"\nsame = \"1\"\n");
        let entries = entries(www.path()).unwrap();
        let [new, old] = &*entries else { panic!("{entries:?}") };
        assert_eq!((new.number, &*new.by, &*old.host), (10, "ann", "mgmt"));
        let names = |name: &str| vec![name.to_owned()];
        let expected = [
            ("+", "added", names("c")),
            ("\u{2212}", "removed", names("b")),
            ("~", "changed", names("a")),
        ];
        assert_eq!(new.changes(old), expected);
    }
}
