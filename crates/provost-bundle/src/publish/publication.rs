use std::collections::BTreeMap;
use std::path::Path;

use super::key::SecretKey;
use crate::Policy;

/// What is to be published.
#[derive(Debug)]
pub struct Publication<'a> {
    /// The folder of scripts; all of it is published, but for names that begin with a dot or end
    /// in `~`.
    pub scripts: &'a Path,
    /// Policies that replace what scripts' headers say, by script.
    pub overrides: &'a BTreeMap<String, Policy>,
    /// The scripts that plans run, each with the place that names it, for the error text.
    pub required: &'a BTreeMap<String, String>,
    /// The plans by node: each plan's text without its generation.
    pub plans: &'a BTreeMap<String, String>,
    /// Signs all of it.
    pub key: &'a SecretKey,
    /// The folder that a web server serves.
    pub to: &'a Path,
}

/// The result of publishing.
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
