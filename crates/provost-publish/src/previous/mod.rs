//! The published folder as it is.

mod verify_published;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use provost_bundle::{Digest, FileEntry, Manifest};

use crate::channels::ChannelBundles;
use crate::error::PublishError;
use crate::generations::Generations;
use crate::generations::PlanHead;
use crate::history::{Record, history};
use crate::plan_index::{self, PLAN_INDEX, PlanMark};
pub(crate) use provost_api::published::{
    MANIFEST, manifest_of as manifest_path, plan as plan_path,
};

/// The folder as it was published before.
pub(crate) struct Previous {
    www: PathBuf,
    manifest: Option<Manifest>,
    generation: u64,
    channel_bundles: ChannelBundles,
    /// What was published, newest first.
    records: Vec<Record>,
    marks: BTreeMap<String, PlanMark>,
    /// How far the generations have counted.
    generations: Generations,
    /// The group that plans should have.
    group: Option<u32>,
}

impl Previous {
    /// Reads what is in the published folder; an empty or missing one holds nothing.
    pub(crate) fn read(www: &Path, group: Option<u32>) -> Result<Self, PublishError> {
        let www = www.to_owned();
        let text = match fs::read(www.join(MANIFEST)) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(PublishError::disk("reading", &www.join(MANIFEST), e)),
        };
        let manifest = Manifest::parse(&text).ok();
        // A damaged manifest still has its generation; the next one must be newer.
        let generation = match &manifest {
            Some(manifest) => Some(manifest.generation),
            None if text.is_empty() => Some(0),
            None => generation_in(&String::from_utf8_lossy(&text)),
        };
        let Some(generation) = generation else {
            let what = "its manifest.toml was not written by provostctl publish".to_owned();
            return Err(PublishError::NotOurs { path: www, what });
        };
        let (channel_bundles, marks, records) =
            (ChannelBundles::default(), BTreeMap::new(), history(&www));
        let generations = Generations::default();
        let mut previous =
            Self { www, manifest, generation, channel_bundles, records, marks, generations, group };
        previous.read_marks()?;
        previous.channel_bundles = previous.read_channel_bundles()?;
        // Once: each plan asks for it.
        previous.generations = plan_index::generations(previous.generation(), &previous.marks);
        Ok(previous)
    }

    fn read_marks(&mut self) -> Result<(), PublishError> {
        if let Some(text) = self.text(PLAN_INDEX)
            && let Ok(marks) = toml::from_str(&text)
        {
            self.marks = marks;
            return Ok(());
        }
        // The file is lost: the plans have their generations as well.
        for name in self.names("plans")? {
            if let Some(node) = name.strip_suffix(".toml")
                && let Some(text) = self.text(&format!("plans/{name}"))
                && let Some(generation) = generation_in(&text)
            {
                let body = PlanHead::split(&text).map_or("", |(_, body)| body);
                let sha256 = Digest::of(body.as_bytes());
                self.marks
                    .insert(node.to_owned(), PlanMark { generation, sha256, signature: None });
            }
        }
        Ok(())
    }

    fn read_channel_bundles(&self) -> Result<ChannelBundles, PublishError> {
        let mut ahead = ChannelBundles::default();
        for name in self.names("manifests")? {
            let number = name.strip_suffix(".toml").and_then(|number| number.parse().ok());
            let Some(number) = number.filter(|number| *number > self.generation) else { continue };
            let text = self.text(&manifest_path(number)).unwrap_or_default();
            if let Ok(manifest) = Manifest::parse(text.as_bytes()) {
                ahead.manifests.insert(number, manifest);
            }
        }
        // No plan has to be read where there are no channels.
        if ahead.manifests.is_empty() {
            return Ok(ahead);
        }
        for node in self.published_plans()? {
            let head = self.plan_head(&plan_path(&node));
            if let Some(head) = head.filter(|head| head.manifest > self.generation) {
                ahead.nodes.insert(node, head.manifest);
            }
        }
        Ok(ahead)
    }

    /// What channels have, newer than what all nodes have.
    pub(crate) fn channel_bundles(&self) -> &ChannelBundles {
        &self.channel_bundles
    }

    /// What was published, newest first.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// The manifest of all nodes, if it can be read.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// The newest generation of a bundle, also a channel's; 0 before the first.
    pub(crate) fn generation(&self) -> u64 {
        self.channel_bundles.newest().max(self.generation)
    }

    /// How far the generations have counted.
    pub(crate) fn generations(&self) -> Generations {
        self.generations
    }

    /// The nodes that have a plan.
    pub(crate) fn published_plans(&self) -> Result<BTreeSet<String>, PublishError> {
        let nodes = |name: String| Some(name.strip_suffix(".toml")?.to_owned());
        let names = self.names("plans")?.into_iter().filter_map(nodes);
        Ok(names.filter(|node| !node.starts_with('.')).collect())
    }

    /// Whether the plan that was published last for `node` has this body.
    pub(crate) fn has_plan_body(&self, node: &str, body: &str) -> bool {
        let sha256 = Digest::of(body.as_bytes());
        self.marks.get(node).is_some_and(|mark| mark.sha256 == sha256)
    }

    /// The node's published plan: its generation and its body.
    pub(crate) fn plan(&self, node: &str) -> Option<(u64, String)> {
        let text = self.text(&plan_path(node))?;
        let (head, body) = PlanHead::split(&text)?;
        Some((head.generation, body.to_owned()))
    }

    /// The bytes of a published file, if they are there and right.
    pub(crate) fn object(&self, entry: &FileEntry) -> Option<Vec<u8>> {
        let bytes = fs::read(self.path(&entry.object_path())).ok()?;
        (Digest::of(&bytes) == entry.sha256).then_some(bytes)
    }

    /// Which plans were published last.
    pub(crate) fn marks(&self) -> &BTreeMap<String, PlanMark> {
        &self.marks
    }

    /// How the plan at `path` was published.
    pub(crate) fn plan_head(&self, path: &str) -> Option<PlanHead> {
        PlanHead::split(&self.text(path)?).map(|(head, _)| head)
    }

    /// The file's place.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.www.join(file)
    }

    /// The objects and packs that are still to be served when `manifest` is published: those of
    /// the generation before it, for nodes in the middle of a fetch.
    pub(crate) fn kept(&self, manifest: &Manifest) -> Result<Vec<String>, PublishError> {
        match &self.manifest {
            Some(last) if last.generation != manifest.generation => {
                let objects = last.files.iter().map(|file| file.object_path());
                Ok(objects.chain([last.pack.path()]).collect())
            }
            // All that is there is of this generation or of the one before.
            Some(_) => {
                let mut kept = Vec::new();
                for folder in self.names("objects")? {
                    kept.extend(self.files(&format!("objects/{folder}"))?);
                }
                kept.extend(self.files("packs")?);
                Ok(kept)
            }
            None => Ok(Vec::new()),
        }
    }

    fn text(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.path(file)).ok()
    }

    fn files(&self, folder: &str) -> Result<Vec<String>, PublishError> {
        Ok(self.names(folder)?.into_iter().map(|name| format!("{folder}/{name}")).collect())
    }

    /// The names in a folder; none, if it isn't there or isn't one.
    fn names(&self, folder: &str) -> Result<Vec<String>, PublishError> {
        let path = self.path(folder);
        let names = || -> io::Result<Vec<String>> {
            let entries = fs::read_dir(&path)?.collect::<io::Result<Vec<_>>>()?;
            Ok(entries.into_iter().filter_map(|e| e.file_name().into_string().ok()).collect())
        };
        match names() {
            Ok(names) => Ok(names),
            Err(e)
                if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                Ok(Vec::new())
            }
            Err(e) => Err(PublishError::disk("reading", &path, e)),
        }
    }
}

/// The number in the text's first line `generation = N`.
fn generation_in(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("generation = ")?.trim().parse().ok())
}
