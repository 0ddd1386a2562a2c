use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use jiff::{Timestamp, tz::TimeZone};
use provost_bundle::{Limit, LimitError};
use provost_plan::nodes::fold;
use provost_steplog::terminal::escape_cell;
use provost_store::{Node, Status, UpdateStatus, WaitTarget, words};
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::failure::{Failure, TIMED_OUT, WRONG};
use crate::fleet::Fleet;
use crate::node_list::NodeList;
use crate::node_set::NodeSet;
use crate::outage::Outage;
use crate::output;

/// How many different failures are shown.
const MOST_FAILURES: usize = 20;

/// `provostctl wait-for`.
#[derive(clap::Args)]
pub(crate) struct WaitFor {
    #[command(flatten)]
    nodes: NodeList,
    /// Status or updatestatus, such as booted or synced
    #[arg(long)]
    status: WaitTarget,
    /// Time limit, such as 90s or 1h 30m
    #[arg(long, default_value = "20m")]
    timeout: Limit,
    /// Accept only a status or failure newer than this: "now", as after a power cycle, or a time such as
    /// 10m. By default a status may be of any age, and a failure must be new
    #[arg(long, value_name = "D")]
    since: Option<Since>,
    /// Accept a status of any age, as is the default
    #[arg(long, conflicts_with = "since", hide = true)]
    any: bool,
    /// Wait until each node has the status or has failed, then list both
    #[arg(long)]
    settle: bool,
}

/// From when on a status is accepted.
#[derive(Clone, Copy, Debug)]
enum Since {
    Now,
    Ago(Limit),
}

impl FromStr for Since {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        if text == "now" { Ok(Self::Now) } else { text.parse().map(Self::Ago) }
    }
}

impl WaitFor {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let nodes = self.nodes.resolve(client).await?;
        let (goal, limit) = (self.status, self.timeout);
        let deadline = Instant::now() + limit.duration();
        let intent = format!(
            "waiting until {} {} {}, for at most {limit}, until {}",
            nodes.folded(),
            if nodes.names.len() == 1 { "is" } else { "are" },
            goal.as_str(),
            ends_at(limit),
        );
        let earliest = match self.since {
            None | Some(Since::Now) => None,
            Some(Since::Ago(limit)) => Timestamp::now().checked_sub(limit.duration()).ok(),
        };
        let mut wait = Wait {
            fleet: Fleet::new(client, Some(&nodes)),
            nodes: &nodes,
            goal,
            settle: self.settle,
            takes_old: self.since.is_none(),
            earliest,
            before: None,
            intent: Some(intent),
            shown: String::new(),
            outage: None,
        };
        let result = timeout_at(deadline, wait.follow()).await;
        output::end_progress(&wait.shown);
        match result {
            Ok(result) => {
                if self.settle {
                    output::print(wait.arrived().as_bytes())?;
                }
                result
            }
            Err(_) => Err(wait.missing(limit).with_code(TIMED_OUT)),
        }
    }
}

/// When the limit ends, in local time.
fn ends_at(limit: Limit) -> String {
    let end = Timestamp::now().saturating_add(limit.duration()).unwrap_or(Timestamp::MAX);
    end.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

struct Wait<'a> {
    fleet: Fleet<'a>,
    nodes: &'a NodeSet,
    goal: WaitTarget,
    settle: bool,
    /// Whether a status may be of any age.
    takes_old: bool,
    /// What is older isn't new, unless it has changed meanwhile; none for now.
    earliest: Option<Timestamp>,
    /// The nodes when the wait began.
    before: Option<HashMap<String, Before>>,
    /// What is waited for, until it is said.
    intent: Option<String>,
    /// The progress that was shown last.
    shown: String,
    /// The daemon can't be reached.
    outage: Option<Outage>,
}

/// A node when the wait began.
struct Before {
    status: Status,
    since: Option<Timestamp>,
    updatestatus: Option<UpdateStatus>,
    run: Option<String>,
}

impl Wait<'_> {
    /// Follows the events until all nodes have the status, or one has failed. Waits for a daemon that
    /// can't be reached, at the beginning and later.
    async fn follow(&mut self) -> Result<(), Failure> {
        loop {
            match self.fleet.update().await {
                Ok(()) => {
                    self.outage = None;
                    if let Some(result) = self.judge() {
                        return result;
                    }
                }
                Err(lost) if lost.is_transient => {
                    let mut outage = Outage::after(self.outage.take(), lost);
                    if let Some(news) = outage.news() {
                        self.say_intent();
                        output::end_progress(&std::mem::take(&mut self.shown));
                        output::note(&news);
                    }
                    self.outage = Some(outage);
                    Outage::pause().await;
                }
                Err(failure) => return Err(failure.with_code(WRONG)),
            }
        }
    }

    /// The result with the nodes as they are; none as long as there is something to wait for.
    fn judge(&mut self) -> Option<Result<(), Failure>> {
        if self.before.is_none() {
            if let Some(failure) = self.unknown() {
                return Some(Err(failure));
            }
            self.say_intent();
            let before = |node: &Node| (node.name.clone(), Before::from(node));
            self.before = Some(self.fleet.nodes.values().map(before).collect());
        }
        let there = self.fleet.nodes.values().filter(|node| self.has_arrived(node)).count();
        let all = self.nodes.names.len();
        let rest = self.rest().into_iter().map(|(word, names)| format!("; {} {word}", names.len()));
        let progress =
            format!("{there} of {all} {}{}", self.goal.as_str(), rest.collect::<String>());
        if progress != self.shown {
            output::progress(&progress);
            self.shown = progress;
        }
        if there == all {
            return Some(Ok(()));
        }
        let failed: Vec<&Node> =
            self.fleet.nodes.values().filter(|node| self.has_failed(node)).collect();
        let is_done = if self.settle { there + failed.len() == all } else { !failed.is_empty() };
        is_done.then(|| Err(why(&failed)))
    }

    fn say_intent(&mut self) {
        self.intent.take().iter().for_each(|intent| output::note(intent));
    }

    fn unknown(&self) -> Option<Failure> {
        let is_unknown = |name: &&String| !self.fleet.nodes.contains_key(*name);
        let unknown: Vec<String> = self.nodes.names.iter().filter(is_unknown).cloned().collect();
        let error = format!("unknown to provostd: {}", fold(&unknown));
        let hint = "list all nodes: provostctl nodes; or name them in site.toml, and publish";
        (!unknown.is_empty()).then(|| Failure::new(error, hint).with_code(WRONG))
    }

    fn has_arrived(&self, node: &Node) -> bool {
        self.goal.is_reached(node)
            && self.goal.is_settled(node)
            && (self.takes_old || self.is_new(node))
    }

    fn has_failed(&self, node: &Node) -> bool {
        self.goal.is_missed_by(node) && node.boot_sent.is_none() && self.is_new(node)
    }

    /// Whether the node's status is new. A node's clock may be wrong, but its status doesn't change
    /// without a run.
    fn is_new(&self, node: &Node) -> bool {
        let is_known = |before: &Before| match self.goal {
            WaitTarget::Status(_) => (before.status, before.since) == (node.status, node.since),
            WaitTarget::Update(_) => {
                before.updatestatus == node.updatestatus
                    && (!node.is_rerun() || before.run == node.run)
            }
        };
        let before = self.before.as_ref().and_then(|before| before.get(&node.name));
        let earliest = self.earliest.unwrap_or(Timestamp::MAX);
        !before.is_some_and(is_known) || self.goal.changed_at(node) >= Some(earliest)
    }

    /// The nodes that have the status, as one line.
    fn arrived(&self) -> String {
        let there = self.fleet.nodes.values().filter(|node| self.has_arrived(node));
        let there: Vec<String> = there.map(|node| node.name.clone()).collect();
        let names = if there.is_empty() { String::new() } else { format!(": {}", fold(&there)) };
        format!("{} {}{names}\n", there.len(), self.goal.as_str())
    }

    /// The nodes that don't have the status yet, by the one that they have.
    fn rest(&self) -> BTreeMap<String, Vec<String>> {
        let mut by_word = BTreeMap::<_, Vec<String>>::new();
        for node in self.fleet.nodes.values().filter(|node| !self.has_arrived(node)) {
            let current = self.goal.current(node);
            // One that has it is at something else now, or had it before.
            let is_old = self.goal.is_missed_by(node) && !self.has_failed(node);
            let word = match self.goal.is_reached(node) || is_old {
                true => format!("{current} before"),
                false => current.to_owned(),
            };
            by_word.entry(word).or_default().push(node.name.clone());
        }
        by_word
    }

    fn missing(&self, limit: Limit) -> Failure {
        if let Some(Outage { failure, .. }) = &self.outage {
            let error = format!("waiting for {limit}: {}", failure.error);
            return Failure::new(error, failure.hint.clone());
        }
        let rest =
            self.rest().into_iter().map(|(word, names)| format!("\n{} {word}", fold(&names)));
        let goal = self.goal.as_str();
        let error = format!("after {limit} not all are {goal}:{}", rest.collect::<String>());
        let any = |is: &dyn Fn(&Node) -> bool| self.fleet.nodes.values().any(is);
        let is_old = |node: &Node| self.goal.is_reached(node) && self.goal.is_settled(node);
        let has_failed = |node: &Node| self.goal.is_missed_by(node);
        let hint = if !self.takes_old && any(&is_old) {
            "accept a status that is older: leave --since out, or name a longer time"
        } else if any(&has_failed) {
            "see why a node failed: provostctl show NODE; or end at a failure that is older: --since D"
        } else {
            "see what a node does: provostctl show NODE; or wait longer: --timeout D"
        };
        Failure::new(error, hint)
    }
}

impl From<&Node> for Before {
    fn from(node: &Node) -> Self {
        let Node { status, since, updatestatus, .. } = *node;
        Self { status, since, updatestatus, run: node.run.clone() }
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

/// `: STAGE: CAUSE: LINE or COMMAND`, and the hint on a line of its own.
fn way(node: &Node) -> String {
    let ending = words::ending(&node.detail);
    let detail = &node.detail;
    let place = words::first_line(detail).or(detail.command.as_deref());
    let parts = [detail.stage.as_deref(), ending.as_deref(), place];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let mut way: String = parts.map(|part| format!(": {}", escape_cell(part))).collect();
    if let Some(hint) = &detail.hint {
        // Of all nodes that failed in the same way.
        way.push_str(&format!("\n  hint: {}", escape_cell(&words::hint_of(hint, &[]))));
    }
    way
}
