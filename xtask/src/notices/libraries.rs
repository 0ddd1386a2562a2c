//! The libraries that are linked into the programs, by cargo's own account.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::cargo;

/// What they are linked for. A library of one of these is listed for all.
const TARGETS: [&str; 3] =
    ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "powerpc64le-unknown-linux-gnu"];

/// A library of somebody else.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) version: String,
    id: String,
    /// An SPDX expression.
    pub(crate) license: Option<String>,
    pub(crate) authors: Vec<String>,
    pub(crate) repository: Option<String>,
    manifest_path: PathBuf,
    /// None for what is in the workspace.
    source: Option<String>,
    /// Of its archive, SHA-256 in hexadecimal, as Cargo.lock has it.
    #[serde(skip)]
    pub(crate) checksum: Option<String>,
}

impl Library {
    /// The folder of its sources.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("/"))
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Library>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Those that the packages `programs` of the workspace are linked with, by name and version.
pub(crate) fn linked(programs: &[&str]) -> Result<Vec<Library>> {
    let all: BTreeSet<Library> =
        metadata()?.iter().flat_map(|metadata| of(metadata, programs)).collect();
    let text = std::fs::read_to_string(cargo::root().join("Cargo.lock"))?;
    let lock: Lock = toml::from_str(&text).context("reading Cargo.lock")?;
    let checksum = |library: &Library| {
        let is_it = |one: &&Locked| one.name == library.name && one.version == library.version;
        lock.package.iter().find(is_it).and_then(|one| one.checksum.clone())
    };
    let with_checksum = |library: Library| Library { checksum: checksum(&library), ..library };
    Ok(all.into_iter().map(with_checksum).collect())
}

/// What cargo says of each target; it is asked once.
fn metadata() -> Result<&'static [Metadata]> {
    static ALL: OnceLock<Vec<Metadata>> = OnceLock::new();
    if let Some(all) = ALL.get() {
        return Ok(all);
    }
    let mut all = Vec::new();
    for target in TARGETS {
        let out = cargo::command("cargo")
            .args(["metadata", "--format-version=1", "--locked", "--offline"])
            .args(["--filter-platform", target])
            .output()
            .context("starting cargo metadata")?;
        let error = String::from_utf8_lossy(&out.stderr);
        ensure!(out.status.success(), "cargo metadata: {}", error.trim());
        let read = serde_json::from_slice(&out.stdout);
        all.push(read.context("reading what cargo metadata prints")?);
    }
    Ok(ALL.get_or_init(|| all))
}

/// Follows the dependencies that aren't for tests or build scripts alone.
fn of(metadata: &Metadata, programs: &[&str]) -> Vec<Library> {
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let is_program =
        |library: &&Library| library.source.is_none() && programs.contains(&library.name.as_str());
    let mut left: Vec<&str> =
        metadata.packages.iter().filter(is_program).map(|one| one.id.as_str()).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = left.pop() {
        if !seen.insert(id.to_owned()) {
            continue;
        }
        let Some(node) = nodes.get(id) else { continue };
        let is_linked = |one: &&Dependency| one.dep_kinds.iter().any(|kind| kind.kind.is_none());
        left.extend(node.deps.iter().filter(is_linked).map(|one| one.pkg.as_str()));
    }
    let is_theirs = |library: &&Library| library.source.is_some() && seen.contains(&library.id);
    metadata.packages.iter().filter(is_theirs).cloned().collect()
}
