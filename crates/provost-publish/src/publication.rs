use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::SignedDuration;
use provost_bundle::{Policy, PublicKey, Tls};

use crate::generations::{Generations, Used};
use crate::key::SecretKey;
use crate::succession::Succession;

/// Plans say what nobody else has to know, and the documents beside them have secrets: only the daemon's
/// group reads them.
pub(crate) const PLAN_MODE: u32 = 0o640;
/// The folder of the documents with secrets.
pub(crate) const SECRETS: &str = "secrets";
/// The folder of what the daemon knows of each publication. No node can have this name.
pub(crate) const PUBLICATIONS: &str = "plans/.publications";

/// What the admin has written.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The folder of scripts; all of it is published, but for names that begin with a dot or end
    /// in `~`.
    pub scripts: &'a Path,
    /// Whether that is all, as where it was published before; else its synclists' files of this machine are
    /// published as well.
    pub is_whole: bool,
    /// Policies that replace what scripts' headers say, by script.
    pub overrides: &'a BTreeMap<String, Policy>,
    /// The scripts that plans run, each with the place that names it, for the error text.
    pub required: &'a BTreeMap<String, String>,
    /// The plans by node: each plan's text without its generation.
    pub plans: &'a BTreeMap<String, String>,
    /// The documents with the secrets of those plans that have some, by node. A plan names the digest of
    /// its own.
    pub secrets: &'a BTreeMap<String, String>,
}

/// The nodes of a channel, which get a publication before the others.
#[derive(Clone, Copy, Debug)]
pub struct Channel<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its nodes. Each needs a plan.
    pub nodes: &'a BTreeSet<String>,
}

/// What is to be published.
#[derive(Debug)]
pub struct Publication<'a> {
    /// The scripts and the plans.
    pub input: Input<'a>,
    /// The nodes of the site's groups, for those who name nodes.
    pub groups: &'a BTreeMap<String, String>,
    /// Signs all of it.
    pub key: &'a SecretKey,
    /// What is known of keys before it, besides what is published.
    pub succession: &'a Succession,
    /// The folder that a web server serves.
    pub to: &'a Path,
    /// The group that may read the plans, which may have secrets; none leaves them to the group that
    /// new files get.
    pub group: Option<u32>,
    /// What the documents with secrets were made with; see [`salt`](super::salt()).
    pub salt: &'a str,
    /// For how long what is signed now may be used.
    pub valid_for: SignedDuration,
    /// Who may say that it can be used for longer: the line of a public key, or [`NO_REFRESH_KEY`](provost_bundle::Manifest::NO_REFRESH_KEY); none: whom the
    /// last publication named, …
    pub refresh_key: Option<&'a str>,
    /// … or, where that named nobody, the daemon that serves it.
    pub daemons_key: Option<&'a str>,
    /// How nodes reach the management node by TLS: not at all by `Some(None)`; none: as the last
    /// publication says.
    pub tls: Option<Option<&'a Tls>>,
    /// How they reached it at the generation that was published last, as far as others than the folder know that: it
    /// stays where the folder is lost or older.
    pub last_tls: Option<(u64, Option<&'a Tls>)>,
    /// A key that counts no more from now on, and stays so.
    pub revoke: Option<&'a PublicKey>,
    /// Whether to sign again what has not changed.
    pub refresh: bool,
    /// Which generations were used before.
    pub used: Used,
    /// The channel that it is for; none: it is for all nodes.
    pub channel: Option<Channel<'a>>,
    /// Whether nodes of channels get it even where they are ahead of all others with just this.
    pub ends_channels: bool,
}

/// The result of publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The bundle's generation.
    pub generation: u64,
    /// How far the generations have counted now.
    pub generations: Generations,
    /// How many files it has.
    pub files: usize,
    /// How many plans go with it.
    pub plans: usize,
    /// Whether anything had to be written.
    pub changed: bool,
}

/// How far a publication is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many of so many plans are signed.
    Signing {
        /// How many are.
        done: usize,
        /// How many there are.
        plans: usize,
    },
    /// All is signed, and is being written and synced.
    Writing,
}
