//! What `provostctl sync` publishes, as `provostctl publish` would.

use std::path::{Path, PathBuf};

use provost_plan::Site;
use provost_publish::{Action, Succession};

use super::{Publish, Rehearse};
use crate::address::Admin;
use crate::failure::Failure;
use crate::format::Format;
use crate::period::Period;
use crate::signing::Signing;

/// What is published, for which nodes, and where to.
#[derive(clap::Args)]
pub(crate) struct Inputs {
    /// What nodes run
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// The folder of scripts; all of it is published
    #[arg(long, value_name = "DIR")]
    scripts: PathBuf,
    /// The secret key that signs it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    signing: Signing,
    /// The folder that provostd.toml calls www
    #[arg(long, value_name = "WWW")]
    to: PathBuf,
    /// Group that may read the plans, that of provostd: a name or a number
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// How long nodes that remember no earlier publication accept it
    #[arg(long, value_name = "D", default_value = "30d")]
    valid_for: Period,
    /// Publish even if many nodes lose all their scripts
    #[arg(long)]
    allow_removal: bool,
}

impl Inputs {
    /// The folder of scripts.
    pub(crate) fn scripts(&self) -> &Path {
        &self.scripts
    }

    /// What nodes run.
    pub(crate) fn read_site(&self) -> Result<Site, Failure> {
        self.publish(false, Format::Text).read_site()
    }

    /// Publishes what has changed, or, as a `preview`, shows it: on standard error where `format` is for programs.
    pub(crate) fn run(&self, admin: &Admin, preview: bool, format: Format) -> Result<(), Failure> {
        self.publish(preview, format).run(admin)
    }

    fn publish(&self, preview: bool, format: Format) -> Publish {
        Publish {
            site: self.site.clone(),
            scripts: self.scripts.clone(),
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
            check: false,
            rehearse: Rehearse::default(),
            diff: preview,
            allow_removal: self.allow_removal,
            generation_above: 0,
            lint_only: false,
            no_lint: false,
            format,
            action: Action::default(),
            revoke: None,
            succession: Succession::default(),
            used_groups: None,
            is_first: false,
        }
    }
}
