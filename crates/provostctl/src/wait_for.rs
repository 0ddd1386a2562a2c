use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;
use std::time::Duration;

use jiff::{Timestamp, tz::TimeZone};
use provost_bundle::Limit;
use provost_plan::nodes::fold;
use provost_record::terminal::escape_cell;
use provost_store::{Node, Status, UpdateStatus};
use reqwest::Response;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::client::Client;
use crate::events::Events;
use crate::failure::{Failure, TIMED_OUT, WRONG};
use crate::node_set::NodeSet;
use crate::nodes::ending;
use crate::output;

/// The pause between an event and the request for the nodes, so that a burst of events costs one
/// request.
const BURST: Duration = Duration::from_millis(200);
/// The pause before a retry to reach the daemon.
const RETRY: Duration = Duration::from_secs(1);
/// How many different failures are shown.
const MOST_FAILURES: usize = 20;

/// The status to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    Status(Status),
    Update(UpdateStatus),
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let status = Status::ALL.into_iter().find(|s| s.as_str() == text).map(Self::Status);
        // `failed` is a status first.
        let update = UpdateStatus::ALL.into_iter().find(|s| s.as_str() == text).map(Self::Update);
        status.or(update).ok_or_else(|| {
            let words = Status::ALL.map(Status::as_str).join(", ");
            format!("unknown status {text:?}; expected one of {words}, syncing, synced")
        })
    }
}

impl Goal {
    fn as_str(self) -> &'static str {
        match self {
            Self::Status(status) => status.as_str(),
            Self::Update(status) => status.as_str(),
        }
    }

    fn is_reached(self, node: &Node) -> bool {
        match self {
            Self::Status(status) => node.status == status,
            Self::Update(status) => node.updatestatus == Some(status),
        }
    }

    fn is_missed_by(self, node: &Node) -> bool {
        match self {
            Self::Status(_) => node.status == Status::Failed && !self.is_reached(node),
            Self::Update(_) => node.updatestatus == Some(UpdateStatus::Failed),
        }
    }

    /// The node's status of the goal's kind.
    fn current(self, node: &Node) -> &'static str {
        match self {
            Self::Status(_) => node.status.as_str(),
            Self::Update(_) => node.updatestatus.map_or("not rerun", UpdateStatus::as_str),
        }
    }
}

/// `provostctl wait-for`.
pub(crate) async fn wait_for(
    client: &Client,
    nodes: &NodeSet,
    goal: Goal,
    limit: Limit,
) -> Result<(), Failure> {
    let deadline = Instant::now() + limit.duration();
    output::note(&format!(
        "waiting until {} {} {}, for at most {limit}, until {}",
        nodes.folded(),
        if nodes.names.len() == 1 { "is" } else { "are" },
        goal.as_str(),
        ends_at(limit),
    ));
    let mut wait =
        Wait { client, nodes, goal, found: Vec::new(), shown: String::new(), lost: None };
    match timeout_at(deadline, wait.follow()).await {
        Ok(result) => result,
        Err(_) => Err(wait.missing(limit).with_code(TIMED_OUT)),
    }
}

/// When the limit ends, in local time.
fn ends_at(limit: Limit) -> String {
    let end = Timestamp::now().saturating_add(limit.duration()).unwrap_or(Timestamp::MAX);
    end.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

/// The end of following the events.
enum Verdict {
    /// All nodes have the status.
    Reached,
    /// A node won't get it.
    Missed(Failure),
    /// The daemon can't be reached.
    StreamLost(Failure),
}

struct Wait<'a> {
    client: &'a Client,
    nodes: &'a NodeSet,
    goal: Goal,
    /// Those of the nodes that the daemon knows, as of the last request.
    found: Vec<Node>,
    /// The progress that was shown last.
    shown: String,
    /// Why the daemon can't be reached, if it can't.
    lost: Option<Failure>,
}

impl Wait<'_> {
    /// Follows the events until all nodes have the status, or one has failed. Waits for a daemon that
    /// can't be reached, at the beginning and later.
    async fn follow(&mut self) -> Result<(), Failure> {
        loop {
            let lost = match self.client.events().await {
                Ok(events) => {
                    self.lost = None;
                    match self.follow_stream(events).await {
                        Verdict::Reached => return Ok(()),
                        Verdict::Missed(failure) => return Err(failure),
                        Verdict::StreamLost(failure) => failure,
                    }
                }
                Err(failure) if failure.is_transient => failure,
                Err(failure) => return Err(failure.with_code(WRONG)),
            };
            if self.lost.is_none() {
                let error = escape_cell(&lost.error);
                output::note(&format!("{error}; retrying every {} s", RETRY.as_secs()));
            }
            self.lost = Some(lost);
            sleep(RETRY).await;
        }
    }

    async fn follow_stream(&mut self, stream: Response) -> Verdict {
        let nodes: HashSet<String> = self.nodes.names.iter().cloned().collect();
        let mut events = Events::new(stream, nodes);
        // At once for what happened before the stream began.
        let mut look_at = Some(Instant::now());
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Ok(()) => {
                        look_at.get_or_insert_with(|| Instant::now() + BURST);
                    }
                    Err(why) => {
                        let hint = "check that provostd runs: systemctl status provostd";
                        return Verdict::StreamLost(Failure::new(why, hint));
                    }
                },
                () = sleep_until(look_at.unwrap_or_else(Instant::now)), if look_at.is_some() => {
                    look_at = None;
                    match self.client.nodes(Some(self.nodes)).await {
                        Ok(found) => self.found = found,
                        Err(failure) => return Verdict::StreamLost(failure),
                    }
                    let names: HashSet<&str> =
                        self.nodes.names.iter().map(String::as_str).collect();
                    self.found.retain(|node| names.contains(node.name.as_str()));
                    if let Some(verdict) = self.judge() {
                        return verdict;
                    }
                }
            }
        }
    }

    /// The verdict on the nodes as they are; none as long as there is something to wait for.
    fn judge(&mut self) -> Option<Verdict> {
        let there = self.found.iter().filter(|node| self.goal.is_reached(node)).count();
        let all = self.nodes.names.len();
        let rest = self.rest().into_iter().map(|(word, names)| format!("; {} {word}", names.len()));
        let progress =
            format!("{there} of {all} {}{}", self.goal.as_str(), rest.collect::<String>());
        if progress != self.shown {
            output::note(&progress);
            self.shown = progress;
        }
        if there == all {
            return Some(Verdict::Reached);
        }
        let failed: Vec<&Node> =
            self.found.iter().filter(|node| self.goal.is_missed_by(node)).collect();
        (!failed.is_empty()).then(|| Verdict::Missed(why(&failed)))
    }

    /// The nodes that don't have the status yet, by the one that they have.
    fn rest(&self) -> BTreeMap<&'static str, Vec<String>> {
        let found: BTreeMap<&str, &Node> =
            self.found.iter().map(|node| (node.name.as_str(), node)).collect();
        let mut by_word = BTreeMap::<_, Vec<String>>::new();
        for name in &self.nodes.names {
            let word = match found.get(name.as_str()) {
                Some(node) if self.goal.is_reached(node) => continue,
                Some(node) => self.goal.current(node),
                None => "unknown to provostd",
            };
            by_word.entry(word).or_default().push(name.clone());
        }
        by_word
    }

    fn missing(&self, limit: Limit) -> Failure {
        if let Some(lost) = &self.lost {
            let error = format!("waiting for {limit}: {}", lost.error);
            return Failure::new(error, lost.hint.clone());
        }
        let rest =
            self.rest().into_iter().map(|(word, names)| format!("\n{} {word}", fold(&names)));
        let goal = self.goal.as_str();
        let error = format!("after {limit} not all are {goal}:{}", rest.collect::<String>());
        let hint = "see what a node does: provostctl show NODE; or wait longer: --timeout D";
        Failure::new(error, hint)
    }
}

/// Why these nodes won't get the status; nodes that failed in the same way are grouped.
fn why(failed: &[&Node]) -> Failure {
    let mut ways = BTreeMap::<String, Vec<String>>::new();
    for node in failed {
        ways.entry(way(node)).or_default().push(node.name.clone());
    }
    let mut lines: Vec<String> = ways
        .iter()
        .take(MOST_FAILURES)
        .map(|(way, names)| format!("{} failed{way}", fold(names)))
        .collect();
    if let Some(more @ 1..) = ways.len().checked_sub(MOST_FAILURES) {
        lines.push(format!("and {more} more failures"));
    }
    Failure::new(lines.join("\n"), format!("provostctl show {}", failed[0].name))
}

/// `: STAGE: CAUSE: LINE`, and the hint on a line of its own.
fn way(node: &Node) -> String {
    let ending = ending(&node.detail);
    let parts =
        [node.detail.stage.as_deref(), ending.as_deref(), node.detail.error_line.as_deref()];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let mut way: String = parts.map(|part| format!(": {}", escape_cell(part))).collect();
    if let Some(hint) = &node.detail.hint {
        way.push_str(&format!("\n  hint: {}", escape_cell(hint)));
    }
    way
}
