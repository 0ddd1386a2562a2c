use jiff::Timestamp;
use provost_bundle::Limit;
use provost_store::WaitTarget;

/// Which of the nodes are shown: those to which all options apply.
#[derive(clap::Args)]
pub(crate) struct Selection {
    /// Only nodes whose kickstart, boot or last rerun failed
    #[arg(long)]
    failed: bool,
    /// Only nodes with a step that takes, or took, over three times as long as usual
    #[arg(long)]
    slow: bool,
    /// Only nodes with this status or updatestatus
    #[arg(long)]
    status: Option<WaitTarget>,
    /// Only nodes that are or failed in this stage
    #[arg(long)]
    stage: Option<String>,
    /// Only nodes that failed for this cause: a word such as timeout, or the ID of @cause:ID
    #[arg(long)]
    cause: Option<String>,
    /// Only nodes that changed their status within this time, such as 10m
    #[arg(long, value_name = "D")]
    since: Option<Limit>,
}

impl Selection {
    /// The same at the time `now`.
    pub(super) fn at(&self, now: Timestamp) -> provost_store::Selection {
        let since = self.since.map(|limit| now.checked_sub(limit.duration()));
        provost_store::Selection {
            failed: self.failed,
            slow: self.slow,
            status: self.status,
            stage: self.stage.clone(),
            cause: self.cause.clone(),
            // Before all times, all of them are new.
            since: since.map(|earliest| earliest.unwrap_or(Timestamp::MIN)),
        }
    }
}
