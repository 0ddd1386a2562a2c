//! Publishing: all checks first, then a new folder beside the published one, then the switch.

mod check;
mod key;
mod pack;
mod previous;
mod stage;
mod target;
mod tree;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::{Manifest, ManifestError, Pack, Policy};
use check::Source;
pub use key::{KeyError, SecretKey};
use previous::{PlanMark, Previous};
use stage::Stage;
use target::Target;

/// What is to be published.
#[derive(Debug)]
pub struct Publication<'a> {
    /// The folder of scripts; all of it is published, but for names that begin with a dot or end
    /// in `~`.
    pub scripts: &'a Path,
    /// Policies that replace what scripts' headers say, by script.
    pub overrides: &'a BTreeMap<String, Policy>,
    /// The scripts that plans run, each with who wants it, for the error text.
    pub wanted: &'a BTreeMap<String, String>,
    /// The plans by node: each plan's text without its generation.
    pub plans: &'a BTreeMap<String, String>,
    /// Signs all of it.
    pub key: &'a SecretKey,
    /// The folder that a web server serves.
    pub to: &'a Path,
}

/// What came of publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The bundle's generation.
    pub generation: u64,
    /// How many files it has.
    pub files: usize,
    /// How many plans go with it.
    pub plans: usize,
    /// Whether anything had to be written.
    pub changed: bool,
}

/// Something in the input that has to be mended before it can be published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct Problem {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub mend: String,
}

impl Problem {
    fn new(file: impl ToString, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { file: file.to_string(), what: what.into(), mend: mend.into() }
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        self.mend.clone()
    }
}

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The input has problems; these are all of them.
    #[error("{} to mend; nothing was published", problems(.0.len()))]
    Refused(Vec<Problem>),
    /// The folder holds something that was not published.
    #[error("publishing to {}: {what}", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// What is in it.
        what: String,
    },
    /// Another publish didn't end in time.
    #[error("publishing to {}: another publish has been going on for {seconds} s", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
        /// How long it was waited for, in seconds.
        seconds: u64,
    },
    /// A script changed between check and copy.
    #[error("publishing {}: it changed after it was checked", path.display())]
    Changed {
        /// The script.
        path: PathBuf,
    },
    /// What would be published isn't what a node accepts.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// It can't be signed.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file couldn't be read or written.
    #[error("{doing} {}: {source}", path.display())]
    Disk {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl PublishError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(_) => "mend them and publish again".to_owned(),
            Self::NotOurs { .. } => {
                "give a new or empty folder, or one that only provostctl publish writes to"
                    .to_owned()
            }
            Self::Busy { .. } => "wait for it to end, then publish again".to_owned(),
            Self::Changed { .. } => "publish again once nobody edits the scripts".to_owned(),
            Self::Manifest(e) => e.hint(),
            Self::Key(e) => e.hint(),
            Self::Disk { path, source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => {
                    format!("make room on the file system of {}", path.display())
                }
                io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices => {
                    "publish to a folder inside the mount point, not to the mount point itself"
                        .to_owned()
                }
                _ => "see that this user may read the scripts, and write to the published folder \
                      and the one that holds it"
                    .to_owned(),
            },
        }
    }

    fn disk(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Disk { doing, path: path.to_owned(), source }
    }
}

fn problems(n: usize) -> String {
    format!("{n} problem{}", if n == 1 { "" } else { "s" })
}

/// Publishes a bundle and the plans that go with it. Either all of it is there afterwards, or
/// nothing has changed. What is already there and right stays as it is.
pub fn publish(publication: &Publication<'_>) -> Result<Published, PublishError> {
    let sources = check::check(publication).map_err(PublishError::Refused)?;
    let target = Target::open(publication.to, publication.scripts)?;
    let previous = Previous::read(target.path())?;
    let key = publication.key;
    let mut stage = None;

    let manifest = manifest(&sources, &previous, key, || {
        let stage = stage.insert(Stage::new(&target)?);
        stage.write_pack(&sources)
    })?;
    let mut texts = BTreeMap::new();
    let mut sign = |path: String, text: String| -> Result<(), PublishError> {
        let signature = previous.signature(&path, text.as_bytes(), key)?;
        texts.insert(format!("{path}.minisig"), signature);
        texts.insert(path, text);
        Ok(())
    };
    sign("manifest.toml".to_owned(), manifest.to_toml()?)?;
    let mut marks = previous.marks().clone();
    for (node, body) in publication.plans {
        let mark = PlanMark::next(marks.get(node), body);
        sign(format!("plans/{node}.toml"), format!("generation = {}\n{body}", mark.generation))?;
        marks.insert(node.clone(), mark);
    }
    texts.insert(previous::MARKS.to_owned(), previous::marks_text(&marks)?);

    let changed = stage.is_some() || !previous.is_already(&texts, &manifest);
    if changed {
        let stage = match stage {
            Some(stage) => stage,
            None => Stage::new(&target)?,
        };
        stage.fill(&texts, &manifest, &sources, &previous)?;
        stage.switch(&target)?;
    }
    let (files, plans) = (manifest.files.len(), publication.plans.len());
    Ok(Published { generation: manifest.generation, files, plans, changed })
}

/// The manifest of `sources`: of a new generation only if a file differs from the previous one.
fn manifest(
    sources: &[Source],
    previous: &Previous,
    key: &SecretKey,
    build_pack: impl FnOnce() -> Result<Pack, PublishError>,
) -> Result<Manifest, PublishError> {
    let files: Vec<_> = sources.iter().map(|source| source.entry.clone()).collect();
    let same = previous.manifest().filter(|manifest| manifest.files == files);
    let pack = match same.filter(|manifest| previous.has_pack(&manifest.pack)) {
        Some(manifest) => manifest.pack.clone(),
        None => build_pack()?,
    };
    let manifest = Manifest {
        format: Manifest::FORMAT,
        generation: same
            .map_or(previous.generation().saturating_add(1), |manifest| manifest.generation),
        created: same.map_or_else(now, |manifest| manifest.created),
        key: key.public_line().to_owned(),
        pack,
        files,
    };
    // As a node will read it: what it would refuse is not published.
    Ok(Manifest::parse(manifest.to_toml()?.as_bytes())?)
}

/// To the second, as everything that people read.
fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}
