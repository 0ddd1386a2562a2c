use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;
use std::time::Duration;

use jiff::{Timestamp, tz::TimeZone};
use provost_bundle::Limit;
use provost_plan::nodes::fold;
use provost_store::{Node, Status, UpdateStatus};
use reqwest::Response;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::client::Client;
use crate::events::Events;
use crate::failure::{Failure, TIMED_OUT, WRONG};
use crate::node_set::NodeSet;
use crate::{output, text};

/// How long after an event the nodes are asked for, so that a burst of events costs one request.
const BURST: Duration = Duration::from_millis(200);
/// How long a lost daemon is left alone before it is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// How many ways to fail are told of.
const MOST_TOLD: usize = 20;

/// What is waited for.
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
            format!("no node ever has it; it is one of {words}, or syncing, synced")
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

    fn is_out_of_reach(self, node: &Node) -> bool {
        match self {
            Self::Status(_) => node.status == Status::Failed && !self.is_reached(node),
            Self::Update(_) => node.updatestatus == Some(UpdateStatus::Failed),
        }
    }

    /// The word that counts for this goal.
    fn present(self, node: &Node) -> &'static str {
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
    output::say(&format!(
        "waiting until {} {} {}, for at most {limit}, until {}",
        nodes.folded(),
        if nodes.names.len() == 1 { "is" } else { "are" },
        goal.as_str(),
        ends_at(limit),
    ));
    let mut wait =
        Wait { client, wanted: nodes, goal, found: Vec::new(), told: String::new(), lost: None };
    match timeout_at(deadline, wait.follow()).await {
        Ok(ended) => ended,
        Err(_) => Err(wait.missing(limit).with_code(TIMED_OUT)),
    }
}

/// When the limit ends, as the clock on the wall shows it.
fn ends_at(limit: Limit) -> String {
    let end = Timestamp::now().saturating_add(limit.duration()).unwrap_or(Timestamp::MAX);
    end.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

struct Wait<'a> {
    client: &'a Client,
    wanted: &'a NodeSet,
    goal: Goal,
    /// Those of the wanted that the daemon knows, as they were last.
    found: Vec<Node>,
    told: String,
    /// Why the daemon isn't there, if it isn't.
    lost: Option<Failure>,
}

impl Wait<'_> {
    /// Follows the events until the goal is reached or is out of reach. A daemon that isn't there
    /// is waited for, whether it was there before or not.
    async fn follow(&mut self) -> Result<(), Failure> {
        loop {
            let lost = match self.client.events().await {
                Ok(events) => {
                    self.lost = None;
                    match self.follow_stream(events).await {
                        Ok(ended) => return ended,
                        Err(why) => Failure::new(why, "see that provostd runs"),
                    }
                }
                Err(failure) if failure.may_pass => failure,
                Err(failure) => return Err(failure.with_code(WRONG)),
            };
            if self.lost.is_none() {
                output::say(&format!("{}; trying again", text::line(&lost.error)));
            }
            self.lost = Some(lost);
            sleep(RETRY).await;
        }
    }

    /// `Err` says why the stream is lost.
    async fn follow_stream(&mut self, stream: Response) -> Result<Result<(), Failure>, String> {
        let wanted: HashSet<String> = self.wanted.names.iter().cloned().collect();
        let mut events = Events::new(stream, wanted);
        // What happened before the stream began.
        let mut look_at = Some(Instant::now());
        loop {
            tokio::select! {
                of_wanted = events.next() => {
                    of_wanted?;
                    look_at.get_or_insert_with(|| Instant::now() + BURST);
                }
                () = sleep_until(look_at.unwrap_or_else(Instant::now)), if look_at.is_some() => {
                    look_at = None;
                    self.found = self.client.nodes(Some(self.wanted)).await.map_err(|e| e.error)?;
                    let names: HashSet<&str> =
                        self.wanted.names.iter().map(String::as_str).collect();
                    self.found.retain(|node| names.contains(node.name.as_str()));
                    if let Some(ended) = self.judge() {
                        return Ok(ended);
                    }
                }
            }
        }
    }

    /// What is to be said of the nodes as they are; none as long as there is something to wait
    /// for.
    fn judge(&mut self) -> Option<Result<(), Failure>> {
        let there = self.found.iter().filter(|node| self.goal.is_reached(node)).count();
        let all = self.wanted.names.len();
        let rest = self.rest().into_iter().map(|(word, names)| format!("; {} {word}", names.len()));
        let progress =
            format!("{there} of {all} {}{}", self.goal.as_str(), rest.collect::<String>());
        if progress != self.told {
            output::say(&progress);
            self.told = progress;
        }
        if there == all {
            return Some(Ok(()));
        }
        let failed: Vec<&Node> =
            self.found.iter().filter(|node| self.goal.is_out_of_reach(node)).collect();
        (!failed.is_empty()).then(|| Err(why(&failed)))
    }

    /// Those that aren't there yet, by what they are.
    fn rest(&self) -> BTreeMap<&'static str, Vec<String>> {
        let found: BTreeMap<&str, &Node> =
            self.found.iter().map(|node| (node.name.as_str(), node)).collect();
        let mut by_word = BTreeMap::<_, Vec<String>>::new();
        for name in &self.wanted.names {
            let word = match found.get(name.as_str()) {
                Some(node) if self.goal.is_reached(node) => continue,
                Some(node) => self.goal.present(node),
                None => "unknown to provostd",
            };
            by_word.entry(word).or_default().push(name.clone());
        }
        by_word
    }

    fn missing(&self, limit: Limit) -> Failure {
        if let Some(lost) = &self.lost {
            let error = format!("after {limit} it isn't known: {}", lost.error);
            return Failure::new(error, lost.hint.clone());
        }
        let rest =
            self.rest().into_iter().map(|(word, names)| format!("\n{} {word}", fold(&names)));
        let goal = self.goal.as_str();
        let error = format!("after {limit} not all are {goal}:{}", rest.collect::<String>());
        let hint = "provostctl show NODE says what a node does; --timeout gives it longer";
        Failure::new(error, hint)
    }
}

/// Why these nodes won't get there: those that failed in the same way together.
fn why(failed: &[&Node]) -> Failure {
    let mut ways = BTreeMap::<String, Vec<String>>::new();
    for node in failed {
        ways.entry(way(node)).or_default().push(node.name.clone());
    }
    let mut lines: Vec<String> = ways
        .iter()
        .take(MOST_TOLD)
        .map(|(way, names)| format!("{} failed{way}", fold(names)))
        .collect();
    if let Some(more @ 1..) = ways.len().checked_sub(MOST_TOLD) {
        lines.push(format!("and {more} more ways to fail"));
    }
    Failure::new(lines.join("\n"), format!("provostctl show {}", failed[0].name))
}

/// `: STAGE: CAUSE: LINE`, and the hint on a line of its own.
fn way(node: &Node) -> String {
    let ending =
        text::ending(node.detail.cause, node.detail.exit_code, node.detail.signal.as_deref());
    let parts =
        [node.detail.stage.as_deref(), Some(ending.as_str()), node.detail.error_line.as_deref()];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let mut way: String = parts.map(|part| format!(": {}", text::line(part))).collect();
    if let Some(hint) = &node.detail.hint {
        way.push_str(&format!("\n  hint: {}", text::line(hint)));
    }
    way
}
