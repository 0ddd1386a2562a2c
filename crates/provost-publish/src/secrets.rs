//! The documents with the secrets of plans, beside them. The signed plan names the digest of its own. Nobody
//! guesses a secret by that who doesn't know the salt, with which all documents of a folder are made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use crate::error::PublishError;
use crate::prepared::Prepared;
use crate::previous::Previous;
use crate::publication::SECRETS;

/// The salt's file, which only the publisher may read.
pub(crate) const SALT: &str = ".provost/salt";

pub(crate) fn secrets_path(node: &str) -> String {
    format!("{SECRETS}/{node}.toml")
}

/// The salt of the folder `www`: a new one where it has none yet, which the next publication with secrets
/// keeps there. As long as it stays, equal secrets stay equal documents, and plans stay as they were signed.
pub fn salt(www: &Path) -> Result<String, PublishError> {
    let path = www.join(SALT);
    match fs::read_to_string(&path) {
        Ok(salt) => Ok(salt),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes)
                .map_err(|e| PublishError::disk("making", &path, io::Error::other(e)))?;
            Ok(hex::encode(bytes))
        }
        Err(e) => Err(PublishError::disk("reading", &path, e)),
    }
}

impl Prepared<'_> {
    /// The documents of this publication's plans that have to be written.
    pub(crate) fn new_secrets(&self) -> BTreeMap<String, String> {
        let new = self.own_secrets().filter(|(path, text)| !self.previous.has_text(path, text));
        new.map(|(path, text)| (path, text.clone())).collect()
    }

    /// What may stay as it is: the other documents of these plans, those of plans that stay, the salt.
    pub(crate) fn kept_secrets(&self) -> BTreeSet<String> {
        let own = self.own_secrets().filter(|(path, text)| self.previous.has_text(path, text));
        let others = self.kept_plans().into_iter().map(|node| secrets_path(node));
        own.map(|(path, _)| path).chain(others).chain([SALT.to_owned()]).collect()
    }

    fn own_secrets(&self) -> impl Iterator<Item = (String, &String)> {
        let secrets = self.publication.input.secrets;
        self.plans().filter_map(|(node, _)| Some((secrets_path(node), secrets.get(node)?)))
    }

    /// The salt, if it has to be written.
    pub(crate) fn new_salt(&self) -> Option<&str> {
        let salt =
            Some(self.publication.salt).filter(|_| !self.publication.input.secrets.is_empty());
        salt.filter(|salt| !self.previous.path(SALT).exists() && !salt.is_empty())
    }
}

/// The names of the secrets that `after` has, a document, and that aren't the same in the one which is
/// published; all of them, where that can't be read.
pub(crate) fn changed(previous: &Previous, node: &str, after: Option<&String>) -> Vec<String> {
    let values = |text: &String| -> BTreeMap<String, toml::Value> {
        let table: toml::Table = text.parse().unwrap_or_default();
        let env = table.get("env").and_then(toml::Value::as_table).cloned();
        env.unwrap_or_default().into_iter().collect()
    };
    let before = fs::read_to_string(previous.path(&secrets_path(node))).ok();
    let before = before.as_ref().map(values).unwrap_or_default();
    let after = after.map(values).unwrap_or_default().into_iter();
    after.filter(|(name, value)| before.get(name) != Some(value)).map(|(name, _)| name).collect()
}
