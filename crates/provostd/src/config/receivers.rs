//! Who is told of what happens to nodes.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use provost_bundle::Limit;
use provost_store::NoticeKind;
use reqwest::Url;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A receiver over HTTP.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WebhookConfig {
    /// What it is called in the log, in metrics and in the queue: letters, digits, `-` and `_`.
    pub name: String,
    /// Where messages are sent. It may have a secret: it isn't shown.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub url: Secret,
    /// What it is told: failed, held, lost, pending, storm-done, booted.
    #[serde(default = "events")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub events: Vec<NoticeKind>,
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
#[serde(deny_unknown_fields, default)]
pub struct HooksConfig {
    /// Run when nodes have booted.
    pub on_booted: Option<PathBuf>,
    /// Run when kickstarts or boots of nodes have failed.
    pub on_failed: Option<PathBuf>,
    /// Run when nodes have stopped reporting.
    pub on_lost: Option<PathBuf>,
    /// Run when an admin continues a node on the web page.
    pub on_continue: Option<PathBuf>,
    /// How long one may take.
    pub timeout: Limit,
    /// For how long nodes are gathered for one call.
    pub window: Limit,
}

impl Default for HooksConfig {
    fn default() -> Self {
        let (timeout, window) = (Limit::seconds(60), Limit::seconds(5));
        let [on_booted, on_failed, on_lost, on_continue] = Default::default();
        Self { on_booted, on_failed, on_lost, on_continue, timeout, window }
    }
}

fn events() -> Vec<NoticeKind> {
    use NoticeKind::{Failed, Held, Lost, Pending, StormDone};
    vec![Failed, Held, Lost, Pending, StormDone]
}

fn window() -> Limit {
    Limit::seconds(10)
}

/// `[[webhooks]]`, each with a name of its own and a usable address.
pub(super) fn webhooks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<WebhookConfig>, D::Error> {
    let all = Vec::<WebhookConfig>::deserialize(from)?;
    let mut names = BTreeSet::new();
    for webhook in &all {
        let name = &webhook.name;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name == HOOKS || !name.chars().all(is_plain) {
            let why = "a name is of letters, digits, - and _, and isn't \"hooks\"";
            return Err(D::Error::custom(format!("webhook {name:?}: {why}")));
        }
        if !names.insert(name) {
            return Err(D::Error::custom(format!("two webhooks have the name {name:?}")));
        }
        let url = Url::parse(&webhook.url.0).ok();
        if !url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
            let why = "`url` must be http://… or https://…";
            return Err(D::Error::custom(format!("webhook {name:?}: {why}")));
        }
        if webhook.template == Template::Alertmanager
            && webhook.events.contains(&NoticeKind::StormDone)
        {
            let why = "Alertmanager has no alert for storm-done; set `events`, such as [\"failed\", \
                       \"held\", \"lost\", \"booted\"]: booted ends the others";
            return Err(D::Error::custom(format!("webhook {name:?}: {why}")));
        }
    }
    Ok(all)
}

/// The receiver that hooks are.
pub(crate) const HOOKS: &str = "hooks";
