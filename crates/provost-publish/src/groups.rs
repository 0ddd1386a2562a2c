//! The nodes of the site's groups, for those who name nodes: `provostctl` and `provostd`. Nodes know
//! nothing of groups.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::error::PublishError;
use crate::history::verify;
use crate::key::SecretKey;

/// Its file in the published folder. It is readable by those who may read plans, and no node can
/// have this name.
pub const FILE: &str = "plans/.groups.toml";

/// The nodes of each group of what is published to all nodes in the folder `www`, folded. With a
/// `key`, only if that has signed them.
pub fn groups(
    www: &Path,
    key: Option<&SecretKey>,
) -> Result<BTreeMap<String, String>, PublishError> {
    let path = www.join(FILE);
    let text = match fs::read_to_string(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text.map_err(|e| PublishError::disk("reading", &path, e))?,
    };
    key.map(|key| verify(&path, key)).transpose()?;
    let invalid = |e: toml::de::Error| io::Error::other(e.message().to_owned());
    toml::from_str(&text).map_err(|e| PublishError::disk("reading", &path, invalid(e)))
}

/// The file's text.
pub(crate) fn text(groups: &BTreeMap<String, String>) -> Result<String, PublishError> {
    toml::to_string(groups).map_err(|e| {
        PublishError::disk("writing", Path::new(FILE), io::Error::other(e.to_string()))
    })
}
