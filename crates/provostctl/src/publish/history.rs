//! `provostctl history`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_plan::nodes::fold;
use provost_publish::{Action, Record, history};
use provost_steplog::terminal::{escape, escape_json};
use provost_steplog::{Paint, wording};
use provost_store::{Node, Status};
use serde::Serialize;

use crate::address::Admin;
use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;

/// `provostctl history`.
#[derive(clap::Args)]
pub(crate) struct History {
    /// Published folder: www of provostd.toml
    #[arg(long, value_name = "WWW")]
    to: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A publication, as it is shown.
#[derive(Serialize)]
struct Shown {
    generation: u64,
    at: Timestamp,
    by: String,
    host: String,
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    summary: Vec<String>,
    /// Which nodes ran this generation last, by how that ended; none without a daemon, or where
    /// a newer publication has the same generation.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Nodes>,
}

#[derive(Clone, Default, Serialize)]
struct Nodes {
    booted: Vec<String>,
    failed: Vec<String>,
    /// Still at it.
    running: Vec<String>,
}

impl History {
    pub(crate) async fn run(&self, admin: &Admin) -> Result<(), Failure> {
        check_access(&self.to)?;
        let mut nodes = of_generations(admin).await;
        let all: Vec<Shown> = history(&self.to)
            .into_iter()
            .map(|record| {
                let own =
                    nodes.as_mut().and_then(|nodes| match nodes.get_mut(&record.generation) {
                        Some(own) => own.take(),
                        None => {
                            nodes.insert(record.generation, None);
                            Some(Nodes::default())
                        }
                    });
                shown(record, own)
            })
            .collect();
        let text = match self.format {
            Format::Json => {
                let json = serde_json::to_string(&all);
                format!(
                    "{}\n",
                    escape_json(&json.map_err(|e| Failure::of(&e, "report this as a bug"))?)
                )
            }
            Format::Text if all.is_empty() => "nothing was published yet\n".to_owned(),
            Format::Text => {
                let texts = all.iter().map(|one| text(one, Paint::of_stdout()));
                texts.collect::<Vec<_>>().join("\n")
            }
        };
        output::print(text.as_bytes())
    }
}

/// What can't be read would look like nothing.
fn check_access(www: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, e: std::io::Error| {
        let error = format!("reading {}: {e}", path.display());
        Failure::new(error, "name the published folder (--to WWW), as the user who publishes")
    };
    std::fs::read_dir(www).map_err(|e| failed(www, e))?;
    let folder = www.join(".provost");
    match std::fs::read_dir(&folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(failed(&folder, e)),
        _ => Ok(()),
    }
}

/// Which nodes ran which generation last, if there is a daemon that knows.
async fn of_generations(admin: &Admin) -> Option<BTreeMap<u64, Option<Nodes>>> {
    let client = Client::new(admin).ok()?;
    let nodes: Vec<Node> = client.get(provost_api::admins::NODES).await.ok()?;
    let mut all: BTreeMap<u64, Option<Nodes>> = BTreeMap::new();
    for node in nodes {
        let Some(generation) = node.bundle else { continue };
        let own = all.entry(generation).or_default().get_or_insert_default();
        match node.status {
            Status::Booted | Status::Booting => own.booted.push(node.name),
            Status::Failed => own.failed.push(node.name),
            _ => own.running.push(node.name),
        }
    }
    Some(all)
}

fn shown(record: Record, nodes: Option<Nodes>) -> Shown {
    let Record { generation, at, by, host, action, channel, summary, .. } = record;
    let summary = summary.lines().map(|line| line.trim().to_owned()).collect();
    Shown { generation, at, by, host, action, channel, summary, nodes }
}

fn text(shown: &Shown, paint: Paint) -> String {
    let what = match (shown.action, &shown.channel) {
        (Action::Publish, Some(channel)) => format!("for channel {}", escape(channel)),
        (Action::Publish, None) => "for all nodes".to_owned(),
        (Action::Promote, _) => "promoted to all nodes".to_owned(),
        (Action::Rollback, _) => "rolled back, for all nodes".to_owned(),
        (Action::Revoke, _) => "revoked a key, for all nodes".to_owned(),
        (Action::Rotate, _) => "signed by a new key, for all nodes".to_owned(),
    };
    let (at, by, host) = (shown.at, escape(&shown.by), escape(&shown.host));
    let head = format!("generation {}, {what}", shown.generation);
    let mut text = format!("{}: {at} by {by} on {host}\n", paint.strong(&head));
    if let Some(Nodes { booted, failed, running }) = &shown.nodes {
        let counted = |(word, nodes): (&str, &Vec<String>)| {
            (!nodes.is_empty()).then(|| format!("{} {word} ({})", nodes.len(), fold(nodes)))
        };
        let parts = [("booted", booted), ("failed", failed), ("running", running)];
        let parts: Vec<String> = parts.into_iter().filter_map(counted).collect();
        // Writing to a String can't fail, here and below.
        let _ = match booted.len() + failed.len() + running.len() {
            0 => writeln!(text, "  the last run of no node"),
            n => {
                let nodes = wording::count(n, "node");
                writeln!(text, "  the last run of {nodes}: {}", parts.join(", "))
            }
        };
    }
    for line in &shown.summary {
        let _ = writeln!(text, "  {}", escape(line));
    }
    text
}
