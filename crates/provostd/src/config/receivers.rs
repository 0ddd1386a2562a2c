//! Who is told of what happens to nodes.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use provost_bundle::Limit;
use provost_store::NoticeKind;
use reqwest::Url;
use rustix::fs::{Access, access};
use serde::Deserialize;

/// A receiver over HTTP.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct WebhookConfig {
    /// What it is called in the log, in metrics and in the queue: letters, digits, `-` and `_`.
    pub name: String,
    /// Where messages are sent. It may have a secret: it isn't shown.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub url: Secret,
    /// What it is told: failed, held, lost, pending, storm-done, booted. By default all but booted; with
    /// the template alertmanager, all but storm-done.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<String>>"))]
    pub events: Option<Vec<NoticeKind>>,
    /// The form of a message.
    #[serde(default)]
    pub template: Template,
    /// By what messages are signed, so that the receiver knows that they are provostd's.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub secret: Option<Secret>,
    /// The certificates, PEM, of whom signs the receiver's; by default the system's.
    pub ca: Option<PathBuf>,
    /// For how long nodes with one cause are gathered for one message.
    #[serde(default = "window")]
    pub window: Limit,
}

/// The form of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Template {
    /// Provost's own.
    #[default]
    Json,
    /// For Slack, Mattermost and others that take `{"text": …}`.
    Slack,
    /// For Alertmanager's `/api/v2/alerts`.
    Alertmanager,
}

/// A text that isn't shown.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Programs on this machine.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct HooksConfig {
    /// Run when nodes have booted.
    pub on_booted: Option<PathBuf>,
    /// Run when kickstarts or boots of nodes have failed.
    pub on_failed: Option<PathBuf>,
    /// Run when nodes have stopped reporting.
    pub on_lost: Option<PathBuf>,
    /// Run when an admin continues nodes on the web page.
    pub on_continue: Option<PathBuf>,
    /// Run when an admin has nodes boot again there.
    pub on_boot: Option<PathBuf>,
    /// Run when an admin has nodes run a script there.
    pub on_rerun: Option<PathBuf>,
    /// How long one may take.
    pub timeout: Limit,
    /// For how long nodes are gathered for one call.
    pub window: Limit,
}

impl Default for HooksConfig {
    fn default() -> Self {
        let (timeout, window) = (Limit::seconds(60), Limit::seconds(5));
        let [on_booted, on_failed, on_lost] = Default::default();
        let [on_continue, on_boot, on_rerun] = Default::default();
        Self { on_booted, on_failed, on_lost, on_continue, on_boot, on_rerun, timeout, window }
    }
}

impl HooksConfig {
    /// The programs that can't be run as things are now, each with its key and why: a start works without them.
    pub(crate) fn unusable(&self) -> Vec<String> {
        let all = [
            ("on_booted", &self.on_booted),
            ("on_failed", &self.on_failed),
            ("on_lost", &self.on_lost),
            ("on_continue", &self.on_continue),
            ("on_boot", &self.on_boot),
            ("on_rerun", &self.on_rerun),
        ];
        let of_one = |(key, program): (&str, &Option<PathBuf>)| {
            let program = program.as_ref()?;
            let why = match program.metadata() {
                Ok(file) if !file.is_file() => "it isn't a file".to_owned(),
                Ok(_) => access(program, Access::EXEC_OK).err()?.to_string(),
                Err(e) => e.to_string(),
            };
            Some(format!("[hooks] {key}: {}: {why}", program.display()))
        };
        all.into_iter().filter_map(of_one).collect()
    }
}

impl WebhookConfig {
    /// What it is told.
    pub(crate) fn kinds(&self) -> Vec<NoticeKind> {
        use NoticeKind::{Booted, Failed, Held, Lost, Pending, StormDone};
        self.events.clone().unwrap_or_else(|| match self.template {
            // There is an alert for no storm, and what ends an alert is that the node has booted.
            Template::Alertmanager => vec![Failed, Held, Lost, Pending, Booted],
            Template::Json | Template::Slack => vec![Failed, Held, Lost, Pending, StormDone],
        })
    }

    /// Why it can't be used, if it can't.
    fn mistake(&self) -> Option<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if self.name.is_empty() || self.name == HOOKS || !self.name.chars().all(is_plain) {
            return Some("a name is of letters, digits, - and _, and isn't \"hooks\"".into());
        }
        let url = Url::parse(&self.url.0).ok();
        if !url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
            return Some("`url` must be http://… or https://…".into());
        }
        let unknown = |kind: &NoticeKind| match kind {
            NoticeKind::Other(word) => Some(word.as_str().to_owned()),
            _ => None,
        };
        if let Some(word) = self.events.iter().flatten().find_map(unknown) {
            return Some(format!(
                "unknown event {word:?}; expected some of failed, held, lost, pending, storm-done, booted"
            ));
        }
        let is_alert = self.template == Template::Alertmanager;
        (is_alert && self.kinds().contains(&NoticeKind::StormDone)).then_some(
            "Alertmanager has no alert for storm-done; leave it out of `events`, or leave `events` out"
                .to_owned(),
        )
    }
}

fn window() -> Limit {
    Limit::seconds(10)
}

/// What is wrong with `[[webhooks]]`, a line each.
pub(super) fn mistakes(webhooks: &[WebhookConfig]) -> Vec<String> {
    let mut names = BTreeSet::new();
    let of_one = |webhook: &WebhookConfig| {
        let name = &webhook.name;
        let why = match webhook.mistake() {
            None if !names.insert(name.clone()) => "another webhook has this name, too".to_owned(),
            mistake => mistake?,
        };
        Some(format!("webhook {name:?}: {why}"))
    };
    webhooks.iter().filter_map(of_one).collect()
}

/// The receiver that hooks are.
pub(crate) const HOOKS: &str = "hooks";
