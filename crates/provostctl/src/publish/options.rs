//! The command line of `publish`, and what it names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use provost_bundle::{Manifest, PublicKey, Tls, TlsLineError};
use provost_plan::{Groups, Site, Texts};
use provost_publish::{Action, Input, Succession};
use serde::{Deserialize, Serialize};

use super::rehearse::Rehearse;
use crate::failure::Failure;
use crate::format::Format;
use crate::period::Period;
use crate::signing::Signing;
use crate::site_file;

/// `provostctl publish`.
#[derive(clap::Args)]
pub(crate) struct Publish {
    /// Site file: which nodes run what
    #[arg(long, value_name = "FILE")]
    pub(super) site: PathBuf,
    /// Folder of scripts; all of it is published
    #[arg(long, value_name = "DIR")]
    pub(super) scripts: PathBuf,
    /// Secret key that signs
    #[arg(long, value_name = "FILE", required_unless_present = "lint_only")]
    pub(super) key: Option<PathBuf>,
    #[command(flatten)]
    pub(super) signing: Signing,
    /// Published folder: www of provostd.toml
    #[arg(long, value_name = "WWW", required_unless_present = "lint_only")]
    pub(super) to: Option<PathBuf>,
    /// Publish to the nodes of this channel only: see provostctl channel
    #[arg(long, value_name = "CHANNEL", conflicts_with = "lint_only")]
    pub(super) to_channel: Option<String>,
    /// Group that may read the plans, a name or a number: that of provostd
    #[arg(long, value_name = "GROUP")]
    pub(super) group: Option<String>,
    /// Validity of this publication; nodes without state refuse it afterwards
    #[arg(long, value_name = "D", default_value = "30d")]
    pub(super) valid_for: Period,
    /// Public key that may refresh, and nothing else; or "off". Remembered; that of provostd by default
    #[arg(long, value_name = "RW…", value_parser = refresh_key)]
    pub(super) refresh_key: Option<String>,
    /// TLS port and CA of provostd, as provostd ca show --tls prints them; or "off". Remembered
    #[arg(long, value_name = "PORT:SHA256")]
    pub(super) tls: Option<NamedTls>,
    /// Sign unchanged files again, which extends their validity
    #[arg(long)]
    pub(super) refresh: bool,
    /// Check everything, and write nothing
    #[arg(long)]
    pub(super) check: bool,
    /// Show in full what would change, and write nothing
    #[arg(long)]
    pub(super) diff: bool,
    /// Publish even if many nodes lose all their scripts
    #[arg(long)]
    pub(super) allow_removal: bool,
    /// Number the bundle and all plans above N: for nodes that have seen N already
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(super) generation_above: u64,
    /// Check scripts and site.toml for mistakes only, also by shellcheck if it is installed
    #[arg(long, group = "formatted")]
    pub(super) lint_only: bool,
    /// Publish scripts despite syntax errors
    #[arg(long, conflicts_with = "lint_only")]
    pub(super) no_lint: bool,
    /// Format of what --lint-only or --rehearse finds
    #[arg(long, value_enum, default_value_t, requires = "formatted")]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) rehearse: Rehearse,
    /// Whether the command line names the validity.
    #[arg(skip)]
    pub(crate) is_validity_named: bool,
    #[arg(skip)]
    pub(super) action: Action,
    /// The key that counts no more.
    #[arg(skip)]
    pub(super) revoke: Option<PublicKey>,
    /// What is known of the keys, besides what is elsewhere.
    #[arg(skip)]
    pub(super) succession: Succession,
    /// The groups outside `site.toml` as they were, where it is published again.
    #[arg(skip)]
    pub(super) used_groups: Option<BTreeMap<String, String>>,
    /// Whether provostd has yet to start for the first time, so that no node can have seen anything.
    #[arg(skip)]
    pub(super) is_first: bool,
}

/// What `--tls` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(super) enum NamedTls {
    Off,
    On(Tls),
}

/// The line of a public key, or the word for none.
pub(super) fn refresh_key(text: &str) -> Result<String, String> {
    match text {
        Manifest::NO_REFRESH_KEY => Ok(text.to_owned()),
        line => {
            PublicKey::from_line(line).map(|key| key.line().to_owned()).map_err(|e| e.to_string())
        }
    }
}

impl FromStr for NamedTls {
    type Err = TlsLineError;

    fn from_str(text: &str) -> Result<Self, TlsLineError> {
        match text {
            "off" => Ok(Self::Off),
            line => line.parse().map(Self::On),
        }
    }
}

impl TryFrom<String> for NamedTls {
    type Error = TlsLineError;

    fn try_from(text: String) -> Result<Self, TlsLineError> {
        text.parse()
    }
}

impl From<NamedTls> for String {
    fn from(named: NamedTls) -> Self {
        named.get().map_or_else(|| "off".to_owned(), Tls::to_string)
    }
}

impl From<Option<&Tls>> for NamedTls {
    fn from(tls: Option<&Tls>) -> Self {
        tls.cloned().map_or(Self::Off, Self::On)
    }
}

impl NamedTls {
    pub(super) fn get(&self) -> Option<&Tls> {
        match self {
            Self::Off => None,
            Self::On(tls) => Some(tls),
        }
    }
}

/// The group that may read the plans, where the command line names none.
const GROUP: &str = "provost";

impl Publish {
    /// The id of the plans' group; none leaves them to the group that new files get.
    pub(super) fn group(&self) -> Result<Option<u32>, Failure> {
        let name = self.group.as_deref().unwrap_or(GROUP);
        let id = provost_fs::group_id(name).map_err(|e| {
            Failure::new(format!("reading /etc/group: {e}"), "give the group's number: --group GID")
        })?;
        match id {
            None if self.group.is_some() => {
                let error = format!("unknown group {name:?}");
                Err(Failure::new(error, "create it (groupadd), or give its number: --group GID"))
            }
            // Only root can give a file to a group that it is not a member of.
            Some(id) if self.group.is_none() && !is_member(id) => Ok(None),
            id => Ok(id),
        }
    }

    pub(super) fn read_site(&self) -> Result<Site, Failure> {
        site_file::read(&self.site)
    }

    /// The groups that `site.toml` may name beside its own.
    pub(super) fn outside(&self) -> Groups {
        self.used_groups.as_ref().map_or_else(Groups::of_clustershell, Groups::used_before)
    }

    pub(super) fn input<'a>(&'a self, site: &'a Site, texts: &'a Texts) -> Input<'a> {
        let (overrides, required) = (site.overrides(), site.required());
        let Texts { plans, secrets } = texts;
        let (scripts, is_whole) = (&*self.scripts, self.used_groups.is_some() || self.lint_only);
        Input { scripts, is_whole, overrides, required, plans, secrets }
    }
}

/// The text of each node's plan and secrets, without what the publisher sets.
pub(super) fn texts(site: &Site, salt: &str) -> Result<Texts, Failure> {
    site.texts(salt).map_err(|e| Failure::of(&e, e.hint()))
}

fn is_member(group: u32) -> bool {
    let groups = rustix::process::getgroups().unwrap_or_default();
    rustix::process::geteuid().is_root()
        || rustix::process::getegid().as_raw() == group
        || groups.iter().any(|one| one.as_raw() == group)
}
