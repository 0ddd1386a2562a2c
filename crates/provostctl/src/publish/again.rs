//! Publishing what was published before: `provostctl promote` and `provostctl rollback`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use provost_bundle::{Manifest, PublicKey};
use provost_publish::{Action, Record, Succession, history};

use super::keys;
use super::problems::print_problems;
use super::{Publish, Rehearse};
use crate::address::Admin;
use crate::failure::Failure;
use crate::format::Format;
use crate::period::Period;
use crate::signing::Signing;
use crate::temporary::disk;

/// How it is published.
#[derive(clap::Args)]
pub(crate) struct Again {
    /// Secret key that signs
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    #[command(flatten)]
    pub(crate) signing: Signing,
    /// Published folder: www of provostd.toml
    #[arg(long, value_name = "WWW")]
    pub(crate) to: PathBuf,
    /// Group that may read the plans, a name or a number: that of provostd
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// Validity of this publication; nodes without state refuse it afterwards
    #[arg(long, value_name = "D", default_value = "30d")]
    valid_for: Period,
    /// Check everything, and write nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// Show in full what would change, and write nothing
    #[arg(long)]
    pub(crate) diff: bool,
    /// Publish even if many nodes lose all their scripts
    #[arg(long)]
    allow_removal: bool,
}

impl Again {
    /// `provostctl promote`.
    pub(crate) fn promote(&self, admin: &Admin, channel: &str) -> Result<(), Failure> {
        let records = history(&self.to);
        let of_channel = |record: &&Record| record.channel.as_deref() == Some(channel);
        let now = self.generation();
        let record = records.iter().find(of_channel).filter(|record| record.generation > now);
        let record = record.ok_or_else(|| {
            let error =
                format!("promoting {channel}: it has nothing that isn't for all nodes already");
            Failure::new(
                error,
                format!("publish to it first: provostctl publish … --to-channel {channel}"),
            )
        })?;
        self.publish(admin, record, Action::Promote)
    }

    /// `provostctl rollback`.
    pub(crate) fn rollback(&self, admin: &Admin, generation: Option<u64>) -> Result<(), Failure> {
        let records = history(&self.to);
        let mut of_all = records.iter().filter(|record| record.channel.is_none());
        let last = of_all.next();
        let now = self.generation();
        let is_ahead = records.iter().any(|r| r.channel.is_some() && r.generation > now);
        let record = match generation {
            Some(generation) => records.iter().find(|record| record.generation == generation),
            // What a channel has is taken back first.
            None if is_ahead => last,
            None => of_all.find(|record| last.is_some_and(|last| last.content != record.content)),
        };
        let record = record.ok_or_else(|| {
            let what = match generation {
                Some(generation) => {
                    format!(" to generation {generation}: the history doesn't have it")
                }
                None => ": the history has nothing older".to_owned(),
            };
            let to = self.to.display();
            let error = format!("rolling back{what}");
            Failure::new(error, format!("see what there is: provostctl history --to {to}"))
        })?;
        self.publish(admin, record, Action::Rollback)
    }

    /// `provostctl key rotate`: what all nodes have, signed by the key in the file `next`, to which the
    /// `succession` leads.
    pub(crate) fn rotate(
        &self,
        admin: &Admin,
        next: &Path,
        succession: Succession,
    ) -> Result<(), Failure> {
        let publish = |publish| Publish { key: Some(next.to_owned()), succession, ..publish };
        self.publish_as(admin, &self.of_all()?, Action::Rotate, publish)
    }

    /// `provostctl key revoke`: what all nodes have, and that this key counts no more.
    pub(crate) fn revoke(&self, admin: &Admin, key: PublicKey) -> Result<(), Failure> {
        let publish = |publish| Publish { revoke: Some(key), ..publish };
        self.publish_as(admin, &self.of_all()?, Action::Revoke, publish)
    }

    /// What all nodes have, and none has something newer.
    fn of_all(&self) -> Result<Record, Failure> {
        let records = history(&self.to);
        let now = self.generation();
        let to = self.to.display();
        if let Some(ahead) = records.iter().find(|r| r.channel.is_some() && r.generation > now) {
            let channel = ahead.channel.as_deref().unwrap_or_default();
            let error = format!("no key can be changed while channel {channel} tries a bundle");
            let hint =
                format!("promote it, or take it back: provostctl rollback --to {to} --key …");
            return Err(Failure::new(error, hint));
        }
        let record = records.into_iter().find(|record| record.channel.is_none());
        record.ok_or_else(|| {
            let error = format!("{to} has no history of what all nodes have");
            Failure::new(error, "publish with the present key first: provostctl publish …")
        })
    }

    /// The generation of the bundle of all nodes.
    fn generation(&self) -> u64 {
        let text = fs::read(self.to.join("manifest.toml")).unwrap_or_default();
        Manifest::parse(&text).map_or(0, |manifest| manifest.generation)
    }

    fn publish(&self, admin: &Admin, record: &Record, action: Action) -> Result<(), Failure> {
        self.publish_as(admin, record, action, |publish| publish)
    }

    /// Publishes a record's files and `site.toml` as if they were an admin's, as `changed`.
    fn publish_as(
        &self,
        admin: &Admin,
        record: &Record,
        action: Action,
        changed: impl FnOnce(Publish) -> Publish,
    ) -> Result<(), Failure> {
        let key = self.signing.key(&self.key)?;
        keys::check(&self.to, &key)?;
        let folder = tempfile::tempdir().map_err(|e| disk(&e))?;
        let (scripts, site) = (folder.path().join("scripts"), folder.path().join("site.toml"));
        make(&scripts)?;
        record.restore(&self.to, &key, &scripts).map_err(print_problems)?;
        fs::write(&site, &record.site).map_err(|e| disk(&e))?;
        let publish = Publish {
            site,
            scripts,
            key: Some(self.key.clone()),
            signing: self.signing.clone(),
            to: Some(self.to.clone()),
            to_channel: None,
            group: self.group.clone(),
            valid_for: self.valid_for,
            refresh_key: None,
            tls: None,
            refresh: false,
            is_validity_named: false,
            check: self.check,
            rehearse: Rehearse::default(),
            diff: self.diff,
            allow_removal: self.allow_removal,
            generation_above: 0,
            lint_only: false,
            // It was looked at when it was published.
            no_lint: true,
            format: Format::default(),
            action,
            revoke: None,
            succession: Succession::default(),
            used_groups: Some(record.groups.clone()),
            is_first: false,
        };
        changed(publish).run(admin)
    }
}

fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir(folder).map_err(|e| disk(&e))?;
    fs::set_permissions(folder, Permissions::from_mode(0o755)).map_err(|e| disk(&e))
}
