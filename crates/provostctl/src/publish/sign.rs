//! Publishing, once the command line is read: what changes, whether it may, and the writing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use provost_bundle::Manifest;
use provost_plan::Site;
use provost_plan::nodes::fold;
use provost_publish::lint::{self, Depth, Level};
use provost_publish::{
    Access, Action, Changes, Channel, Origin, Prepared, Progress, Publication, SecretKey, channels,
    prepare, salt,
};
use provost_steplog::{Paint, wording};

use super::generations::{self, Entry, Ledger};
use super::last_tls::LastTls;
use super::options::{NamedTls, Publish, texts};
use super::plan_changes::{self, Groups};
use super::problems::print_problems;
use super::{diff, findings, keys, removal, summary, who};
use crate::address::Admin;
use crate::failure::Failure;
use crate::format::Format;
use crate::live::LiveLine;
use crate::{output, site_file};

impl Publish {
    /// Publishes to the folder `to`, or shows what that would change.
    pub(super) fn sign(&self, admin: &Admin, key_file: &Path, to: &Path) -> Result<(), Failure> {
        let site_text = site_file::text(&self.site)?;
        let site = site_file::parse(&site_text, &self.site, self.outside())?;
        let key = self.signing.key(key_file)?;
        if key.readable_by_others() {
            let path = key_file.display();
            output::note(&format!("warning: others can read {path}\n  hint: chmod 600 {path}"));
        }
        self.warn_of_readers(&site);
        let salt = match site.has_secrets() {
            true => salt(to).map_err(print_problems)?,
            false => String::new(),
        };
        let texts = texts(&site, &salt)?;
        let www = generations::place(to);
        let ledger = Ledger::beside(key_file)?;
        let (reported, not_asked) = match self.is_first {
            true => (None, None),
            false => match generations::reported(admin, &www, key.public()) {
                Ok(reported) => (reported, None),
                Err(why) => (None, Some(why)),
            },
        };
        let succession = keys::known(self.succession.clone(), Some(key_file), reported.as_ref())?;
        let nodes = self.nodes_of_channel(&key, to, &texts.plans)?;
        let channel = self.to_channel.as_deref().zip(nodes.as_ref());
        let used = generations::used(&ledger, &www, reported.as_ref(), self.generation_above);
        let last_tls = LastTls::of(&ledger, &www, &used, reported.as_ref());
        let publication = Publication {
            input: self.input(&site, &texts),
            groups: &site.groups(),
            key: &key,
            succession: &succession,
            to,
            group: self.group()?,
            salt: &salt,
            valid_for: self.valid_for.0,
            refresh_key: self.refresh_key.as_deref(),
            daemons_key: reported.as_ref().and_then(|daemon| daemon.refresh_key.as_deref()),
            revoke: self.revoke.as_ref(),
            tls: self.tls.as_ref().map(NamedTls::get),
            last_tls: last_tls.get(),
            // A validity that is named is that of all that is published.
            refresh: self.refresh || self.is_validity_named,
            used,
            channel: channel.map(|(name, nodes)| Channel { name, nodes }),
            ends_channels: self.action == Action::Rollback,
        };
        let is_preview = self.check || self.diff || self.rehearse.is_wanted();
        let access = if is_preview { Access::Read } else { Access::Write };
        let prepared = prepare(&publication, access).map_err(print_problems)?;
        not_asked.iter().for_each(|why| generations::note_not_asked(why));
        keys::check_nodes(&publication, &prepared, reported.as_ref())?;
        generations::note_if_older(&www, prepared.generations(), &publication.used);
        if self.tls.is_none() {
            last_tls.check(&prepared, &www)?;
        }
        let changes = prepared.changes().map_err(print_problems)?;
        self.lint(&prepared, &changes, is_preview)?;
        let groups = plan_changes::groups(&changes.plans);
        if texts.plans.is_empty() {
            self.warn_of_no_plans();
        }
        if site.has_secrets() && prepared.tls().is_none() {
            self.warn_of_no_tls();
        }
        if let Some(key) = reported.as_ref().and_then(|daemon| daemon.refresh_key.as_deref()) {
            warn_of_other_refresher(key, prepared.refresh_key().as_deref());
        }
        match is_preview {
            true if self.rehearse.is_wanted() => {
                self.rehearse.run(admin, &prepared, &changes, &texts.plans, self.format)
            }
            true => self.preview(&prepared, to, &changes, &groups),
            false => {
                let succession = prepared.succession();
                let ledger = (ledger, &*www);
                self.publish(prepared, to, &changes, &groups, ledger, (&site_text, &site))?;
                keys::note(&succession, key_file, reported.map(|_| admin));
                Ok(())
            }
        }
    }

    /// Looks for mistakes: in what is new, or, where nothing is written, in everything.
    fn lint(
        &self,
        prepared: &Prepared<'_>,
        changes: &Changes,
        is_preview: bool,
    ) -> Result<(), Failure> {
        let changed: BTreeSet<&str> = changes.files.iter().map(|file| file.path.as_str()).collect();
        let sources = prepared.sources().iter();
        let sources: Vec<_> = sources
            .filter(|source| is_preview || changed.contains(source.entry.path.as_str()))
            .collect();
        let depth = if is_preview { Depth::Full } else { Depth::Quick };
        let found = lint::of_sources(&sources, depth).map_err(|e| findings::no_resources(&e))?;
        let mut errors = 0;
        for finding in &found {
            match finding.level {
                Level::Error if !self.no_lint => {
                    errors += 1;
                    output::error(&findings::failure(finding));
                }
                _ => findings::warn(finding),
            }
        }
        match errors {
            0 => Ok(()),
            n => Err(Failure::new(
                format!("{} to fix; nothing was published", wording::count(n, "problem")),
                "fix them and publish again; where that is an error of the check: --no-lint",
            )),
        }
    }

    /// The nodes of the channel that the command line names.
    fn nodes_of_channel(
        &self,
        key: &SecretKey,
        www: &Path,
        plans: &BTreeMap<String, String>,
    ) -> Result<Option<BTreeSet<String>>, Failure> {
        let Some(name) = &self.to_channel else { return Ok(None) };
        let mut all = channels(www, Some(key)).map_err(print_problems)?;
        let nodes = all.remove(name).ok_or_else(|| {
            let error = format!("publishing to channel {name}: there is no such channel");
            let hint =
                format!("name its nodes: provostctl channel set {name} NODES --key … --to …");
            Failure::new(error, hint)
        })?;
        let absent: Vec<_> = nodes.iter().filter(|node| !plans.contains_key(*node)).collect();
        match absent.is_empty() {
            true => Ok(Some(nodes)),
            false => {
                let absent = fold(&absent.into_iter().cloned().collect::<Vec<_>>());
                let site = self.site.display();
                let error = format!("publishing to channel {name}: {site} doesn't name {absent}");
                let hint =
                    format!("add them, or take them out: provostctl channel set {name} NODES …");
                Err(Failure::new(error, hint))
            }
        }
    }

    /// For whom it is, if not for all nodes.
    fn audience(&self) -> String {
        let name = self.to_channel.as_ref();
        name.map_or_else(String::new, |name| format!(" for channel {name}"))
    }

    /// Warns where others can read the secrets of the file that the admin names.
    fn warn_of_readers(&self, site: &Site) {
        let mode = |path: &Path| path.metadata().map_or(0, |file| file.mode());
        if site.has_secrets() && self.used_groups.is_none() && mode(&self.site) & 0o004 != 0 {
            let path = self.site.display();
            output::note(&format!(
                "warning: others can read the secrets of {path}\n  hint: chmod o-r {path}"
            ));
        }
    }

    /// Secrets go over TLS alone.
    fn warn_of_no_tls(&self) {
        let site = self.site.display();
        output::note(&format!(
            "warning: {site} has secrets, and the manifest names no TLS: runs fail on nodes that have \
             no https:// server\n  hint: publish with --tls \"$(provostd ca show --tls)\""
        ));
    }

    fn warn_of_no_plans(&self) {
        let site = self.site.display();
        output::note(&format!(
            "warning: {site} names no nodes, so that no node gets a plan\n  hint: add a section such \
             as [groups.compute] with nodes = \"cn[001-512]\""
        ));
    }

    /// Shows what publishing would change.
    fn preview(
        &self,
        prepared: &Prepared<'_>,
        to: &Path,
        changes: &Changes,
        groups: &Groups,
    ) -> Result<(), Failure> {
        prepared.check().map_err(print_problems)?;
        if self.diff {
            let diff = diff::diff(changes, groups, Paint::of_stdout());
            self.say(&diff)?;
        } else {
            let plans = wording::count(changes.plans_after, "plan");
            let (to, audience) = (to.display(), self.audience());
            let head = format!("would publish generation {} to {to}{audience}", changes.to);
            let summary = summary::summary(changes, groups);
            let text = format!("{head}: {plans}; nothing was written\n{summary}");
            self.say(&text)?;
        }
        self.check_removal(changes, to)
    }

    /// For people, also where standard output is for the results of what comes after it.
    fn say(&self, text: &str) -> Result<(), Failure> {
        match self.format {
            Format::Text => output::print(text.as_bytes()),
            Format::Json => {
                output::note(text.trim_end());
                Ok(())
            }
        }
    }

    fn check_removal(&self, changes: &Changes, to: &Path) -> Result<(), Failure> {
        match self.allow_removal {
            true => Ok(()),
            false => removal::check(changes, &to.display().to_string()),
        }
    }

    fn publish(
        &self,
        prepared: Prepared<'_>,
        to: &Path,
        changes: &Changes,
        groups: &Groups,
        (ledger, www): (Ledger, &Path),
        (text, site): (&str, &Site),
    ) -> Result<(), Failure> {
        self.check_removal(changes, to).or_else(|failure| {
            match removal::is_confirmed(&failure) {
                true => Ok(()),
                false => Err(failure),
            }
        })?;
        let has_group = prepared.has_group();
        let tls = Some(NamedTls::from(prepared.tls()));
        let ahead = prepared.nodes_ahead();
        let summary = summary::summary(changes, groups);
        let (by, host) = (who::user(), who::host());
        let (action, by, host) = (self.action, by.as_str(), host.as_str());
        let groups = site.used_groups();
        let origin = Origin { action, by, host, summary: &summary, site: text, groups };
        let line = LiveLine::new();
        let progress = |progress| {
            line.show(&match progress {
                Progress::Signing { done, plans } => format!("signed {done} of {plans} plans"),
                Progress::Writing => "writing and syncing".to_owned(),
            });
        };
        let published = prepared.publish(Some(origin), &progress).map_err(print_problems);
        drop(line);
        let published = published?;
        ledger.note(www, Entry { generations: published.generations, tls });
        let files = wording::count(published.files, "file");
        let plans = wording::count(published.plans, "plan");
        let (generation, to) = (published.generation, to.display());
        // For people: where the daemon can't read a plan, it says so itself.
        if published.changed && !has_group && io::stderr().is_terminal() {
            output::note(
                "note: only this user and its group can read the plans\n  hint: create the group \
                 that provostd runs as (groupadd provost), or name another one: --group GROUP",
            );
        }
        let audience = self.audience();
        if self.to_channel.is_none() {
            note_of_channels(ahead);
        }
        if !published.changed {
            let text = format!(
                "{to} is up to date{audience}: generation {generation}, {files}, {plans}\n"
            );
            return self.say(&text);
        }
        let mut text =
            format!("published generation {generation} to {to}{audience}: {files}, {plans}\n");
        let is_signed_anew = changes.from == Some(changes.to) && changes.plans.is_empty();
        text.push_str(match is_signed_anew {
            true => "  scripts and plans: no change; the manifest is signed anew\n",
            false => &summary,
        });
        self.say(&text)
    }
}

/// Warns where the daemon that serves it, which has `key`, isn't `named`: it was set up anew.
fn warn_of_other_refresher(key: &str, named: Option<&str>) {
    if named.is_some_and(|named| named != key && named != Manifest::NO_REFRESH_KEY) {
        output::note(&format!(
            "warning: this provostd can't refresh what is published, which names the key of another one\n  \
             hint: if that is no more, publish with --refresh-key {key}"
        ));
    }
}

/// Says what becomes of the nodes that had a newer bundle than all others.
fn note_of_channels((before, kept): (usize, usize)) {
    if kept > 0 {
        let (nodes, keep) =
            (wording::count(kept, "node"), if kept == 1 { "keeps" } else { "keep" });
        output::note(&format!(
            "note: {nodes} of a channel {keep} a newer bundle\n  hint: publish it to all nodes: \
             provostctl promote CHANNEL …; or take it back: provostctl rollback …"
        ));
    } else if before > 0 {
        let nodes = wording::count(before, "node");
        output::note(&format!("note: this ends what {nodes} got through a channel"));
    }
}
