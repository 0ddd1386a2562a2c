//! The programs that are told of what happens to nodes.

use provost_store::NoticeKind;

use super::failed::Failed;
use super::group::Group;
use super::message::{Beside, Message, line_of};
use super::program::Hook;
use crate::config::HooksConfig;

/// The programs.
pub(super) struct Hooks {
    config: HooksConfig,
    /// The URL of the web page.
    page: Option<String>,
}

impl Hooks {
    pub(super) fn new(config: &HooksConfig, page: Option<&str>) -> Self {
        Self { config: config.clone(), page: page.map(str::to_owned) }
    }

    /// Those that are configured.
    pub(super) fn kinds(config: &HooksConfig) -> Vec<NoticeKind> {
        let kinds = [NoticeKind::Booted, NoticeKind::Failed, NoticeKind::Lost];
        kinds.into_iter().filter(|kind| hook(config, *kind).is_some()).collect()
    }

    /// Runs the program for a group.
    pub(super) async fn run(
        &self,
        group: &Group,
        why: Option<&str>,
        tries: u32,
    ) -> Result<(), Failed> {
        let kind = group.kind();
        // It was configured once, and isn't any more.
        let Some(hook) = hook(&self.config, kind) else { return Ok(()) };
        let message = Message::of(group, Beside { page: self.page.as_deref(), why });
        let json = serde_json::to_vec(&message).map_err(|e| Failed::of_message(e.to_string()))?;
        let variables = [
            ("PROVOST_EVENT", kind.as_str()),
            ("PROVOST_NODES", &message.nodes),
            ("PROVOST_COUNT", &message.count.to_string()),
            ("PROVOST_REASON", &message.reason()),
            ("PROVOST_TEXT", &message.text),
            ("PROVOST_STAGE", &line_of(message.detail.stage.as_deref().unwrap_or_default())),
            ("PROVOST_CAUSE", message.detail.cause.as_ref().map_or("", |cause| cause.as_str())),
            ("PROVOST_HINT", &line_of(message.detail.hint.as_deref().unwrap_or_default())),
            ("PROVOST_TRY", &tries.to_string()),
        ];
        let ended = hook.run(&variables, json).await;
        ended.map_err(|failure| Failed::of_message(failure.why))
    }
}

fn hook(config: &HooksConfig, kind: NoticeKind) -> Option<Hook> {
    let (key, program) = match kind {
        NoticeKind::Booted => ("on_booted", &config.on_booted),
        NoticeKind::Failed => ("on_failed", &config.on_failed),
        NoticeKind::Lost => ("on_lost", &config.on_lost),
        NoticeKind::Held | NoticeKind::Pending | NoticeKind::StormDone | NoticeKind::Other(_) => {
            return None;
        }
    };
    Some(Hook { key, program: program.clone()?, limit: config.timeout })
}
