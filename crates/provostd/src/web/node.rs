//! One node: its status, its runs with their steps as a timeline, and what runs now.

use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use provost_record::{Cause, Outcome, Run, Stage};
use provost_steplog::view::Part;
use provost_steplog::wording;
use provost_store::{Node, RunQuery, Status, UpdateStatus, words};

use super::flame::Flame;
use super::hint::{Piece, pieces};
use super::log_text;
use super::log_text::LogLine;
use super::node_about::{NodeAbout, NodeSources, StepLog, current};
use super::overview::tone;
use super::page::{Page, encoded, render};
use super::plan::ShownPlan;
use super::run_axis::RunAxis;
use super::why::{Why, WhySources};
use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;
use crate::nodes::beats::{self, Beats};
use crate::nodes::history;
use crate::nodes::history::{History, KnownNodes};

/// How many runs are shown with their steps.
const MOST_RUNS: usize = 20;
/// How many lines of a log are shown while its step runs.
const TAIL: usize = 200;

/// The page.
#[derive(Clone)]
pub(super) struct NodePage {
    pub(super) name: String,
    pub(super) known: Arc<KnownNodes>,
    pub(super) beats: Arc<Beats>,
    pub(super) sources: NodeSources,
    /// Whether the texts of scripts and the values of plans may be shown.
    pub(super) may_read: bool,
}

#[derive(Template)]
#[template(path = "node.html")]
struct Content {
    name: String,
    status: Status,
    tone: &'static str,
    facts: Vec<(&'static str, String)>,
    /// Of a failure that is no step's.
    outcome: Vec<(&'static str, String)>,
    /// What its failure has in common with others', and what differs from its last success.
    why: Option<Why>,
    /// What to do about a failure.
    next: Vec<Vec<Piece>>,
    now: Option<Now>,
    /// All runs that are shown, by time.
    axis: Option<RunAxis>,
    /// A step of the run that counts, and where its time went.
    timed: Option<StepLog>,
    flame: Option<Flame>,
    plan: Option<ShownPlan>,
    runs: Vec<ShownRun>,
    /// Whether there are runs that aren't shown.
    more: bool,
}

/// A step that runs for long.
struct Now {
    stage: String,
    words: String,
    /// The end of its log, once the node has sent some.
    lines: Vec<LogLine>,
}

struct ShownRun {
    id: String,
    service: String,
    result: String,
    tone: &'static str,
    started: String,
    facts: String,
    is_open: bool,
    steps: Vec<Step>,
    not_run: Vec<String>,
}

struct Step {
    id: String,
    name: String,
    href: String,
    args: String,
    result: String,
    tone: &'static str,
    took: String,
    /// Where its bar begins and how wide it is, in thousandths of the run.
    bar: (u64, u64),
    notes: Vec<String>,
    inner: Vec<String>,
    facts: Vec<(&'static str, String)>,
    log: Option<String>,
}

impl Page for NodePage {
    fn title(&self) -> String {
        self.name.clone()
    }

    fn section(&self) -> &'static str {
        "nodes"
    }

    async fn node(&self) -> Option<&str> {
        // Where that can't be read, an action says why.
        let is_stored = self.known.is_stored(&self.name).await.unwrap_or(true);
        is_stored.then_some(&*self.name)
    }

    fn audience(&self) -> &'static str {
        if self.may_read { "operate" } else { "read" }
    }

    fn stamp(&self, snapshot: &Snapshot) -> u64 {
        let version = snapshot.member(&self.name).map_or(0, |member| member.version);
        version.wrapping_add(self.beats.stamp(&self.name))
    }

    async fn content(&self) -> Result<String, Refusal> {
        let name = &self.name;
        let node = self.known.node(name).await?;
        let query = RunQuery { also: node.run.clone(), ..RunQuery::newest(MOST_RUNS) };
        let History { newest, uploaded, place } = self.known.history(name, query).await?;
        let runs = newest.runs.iter().flat_map(|run| history::runs_of(run, &uploaded));
        let runs: Vec<Run> = runs.collect();
        drop(place);
        let now = Timestamp::now();
        let is_of_step = |run: &&Run| Some(&run.run) == node.run.as_ref();
        let NodeAbout { rows, plan } = self.sources.about(name, now).await?;
        let (timed, flame) = match current(&runs, &node) {
            Some(run) => self.sources.step_time(name, run).await?.unzip(),
            None => (None, None),
        };
        let Self { known, sources, may_read, .. } = self;
        let why = WhySources { known, sources, may_read: *may_read };
        let has_step = runs.iter().find(is_of_step).is_some_and(|run| run.failed_stage().is_some());
        render(&Content {
            name: name.clone(),
            status: node.status,
            tone: tone(node.status),
            facts: facts(&node, now).into_iter().chain(rows).collect(),
            outcome: if has_step { Vec::new() } else { outcome(&node) },
            why: why.why(&node, &runs, newest.more).await?,
            next: next(&node).iter().map(|next| pieces(next)).collect(),
            now: self.running(&node, now),
            axis: RunAxis::new(&runs, now),
            timed,
            flame,
            plan,
            runs: runs
                .iter()
                .enumerate()
                .map(|(at, run)| ShownRun::of(run, &node, at == 0))
                .collect(),
            more: newest.more,
        })
    }
}

/// What is known of the node, in rows.
fn facts(node: &Node, now: Timestamp) -> Vec<(&'static str, String)> {
    let since = |at: Timestamp| format!("{at} ({} ago)", words::ago(at, now));
    let generations = [
        node.program.as_ref().map(|version| format!("provost {version}")),
        node.bundle.map(|generation| format!("bundle {generation}")),
        node.plan.map(|generation| format!("plan {generation}")),
    ];
    let generations: Vec<String> = generations.into_iter().flatten().collect();
    let plain = "its token came by plain HTTP, where others can read it";
    let rows = [
        ("since", node.since.map(since)),
        ("last report", node.last_seen.map(since)),
        ("claimed by", node.claimed_by.map(|address| format!("{address}, without a token"))),
        ("last rerun", node.updatestatus.map(|status| status.as_str().to_owned())),
        ("last ran", Some(generations.join(", ")).filter(|text| !text.is_empty())),
        ("machine", node.facts.line()),
        ("refused", node.over_quota.clone()),
        ("waiting", node.waiting.clone()),
        ("warning", node.plain_http.then(|| plain.to_owned())),
    ];
    let programs = node.appstatus.iter().map(|(program, status)| format!("{program}: {status}"));
    let rows = rows.into_iter().filter_map(|(name, value)| Some((name, value?)));
    rows.chain(programs.map(|status| ("program", status))).collect()
}

/// How the node failed.
fn outcome(node: &Node) -> Vec<(&'static str, String)> {
    let detail = &node.detail;
    let rows = [
        ("outcome", words::ending(detail)),
        ("output", detail.error_message.clone()),
        ("hint", detail.hint.as_ref().map(|hint| words::hint_of(hint, &[&node.name]))),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// What to do about its failure, if it has failed.
fn next(node: &Node) -> Vec<String> {
    let (name, is_of_boot) = (&node.name, node.status == Status::Failed);
    let has_failed = is_of_boot || node.updatestatus == Some(UpdateStatus::Failed);
    let next = has_failed.then(|| words::next_step(&node.detail, is_of_boot, name)).flatten();
    let is_held = node.detail.cause == Some(Cause::Held);
    let then = is_held.then(|| format!("provostctl continue {name}"));
    next.into_iter().chain(then).collect()
}

impl NodePage {
    /// The step that runs for long, with its log, for which the node is asked from now on.
    fn running(&self, node: &Node, now: Timestamp) -> Option<Now> {
        let running = node.running_for.as_ref()?;
        let stage = node.detail.stage.clone()?;
        let log = beats::text(&self.beats.follow(&node.name, &stage, 0));
        let lines = log_text::lines(log.into_bytes(), Part::All, 0, TAIL);
        Some(Now { stage, words: words::running_for(running, now), lines })
    }
}

impl ShownRun {
    fn of(run: &Run, node: &Node, is_newest: bool) -> Self {
        let is_current = node.run.as_ref() == Some(&run.run);
        let (result, tone) = match &run.result {
            Some(Outcome::Success) => ("succeeded", "good"),
            Some(Outcome::Failure) => ("failed", "bad"),
            Some(other) => (other.as_str(), "busy"),
            None if is_newest && node.detail.cause.is_none() => ("running", "busy"),
            None => ("has no end", "busy"),
        };
        let facts = [
            run.duration_ms.map(|ms| format!("after {}", wording::milliseconds(ms))),
            run.attempt.map(|n| format!("attempt {n}")),
            run.bundle.map(|n| format!("bundle {n}")),
            run.plan.map(|n| format!("plan {n}")),
        ];
        // The stage that runs has run for some time, too.
        let running = node.running_for.as_ref().filter(|_| is_current);
        let took = |stage: &Stage| match stage.result {
            None => running.map_or(0, |running| running.elapsed_ms),
            Some(_) => stage.duration_ms.unwrap_or_default(),
        };
        // These are the node's own numbers, however large.
        let all = run.stages.iter().map(took).fold(0, u64::saturating_add);
        let mut at = 0_u64;
        let steps = run.stages.iter().enumerate().map(|(index, stage)| {
            let begins = at;
            at = at.saturating_add(took(stage));
            Step::of(run, node, index, stage, (begins, at, all.max(1)))
        });
        Self {
            id: run.run.clone(),
            service: run.service.clone(),
            result: result.to_owned(),
            tone,
            started: run.started.map(|at| at.to_string()).unwrap_or_default(),
            facts: facts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            is_open: is_newest || is_current,
            steps: steps.collect(),
            not_run: run.not_run.clone(),
        }
    }
}

impl Step {
    /// `span`: when it began and ended, and how long the run took, in milliseconds.
    fn of(run: &Run, node: &Node, index: usize, stage: &Stage, span: (u64, u64, u64)) -> Self {
        let (began, ended, all) = span;
        let (result, tone) = match &stage.result {
            Some(Outcome::Success) if stage.skipped.is_some() => ("skipped", "faint"),
            Some(Outcome::Success) if stage.wants_reboot() => ("reboot", "busy"),
            Some(Outcome::Success) => ("ok", "good"),
            Some(Outcome::Failure) => ("FAILED", "bad"),
            Some(other) => (other.as_str(), "busy"),
            None if run.result.is_none() => ("running", "busy"),
            None => ("has no end", "busy"),
        };
        let left = (!stage.leaked.is_empty()).then(|| stage.leaked.join(", "));
        let notes = [
            stage.attempt.filter(|n| *n > 1).map(|n| format!("try {n}")),
            stage.skipped.clone(),
            left.map(|left| format!("left behind: {left}")),
        ];
        let log = |name: &String| {
            let (node, run, name) = (encoded(&node.name), encoded(&run.run), encoded(name));
            format!("/nodes/{node}/logs/{run}/{name}")
        };
        let is_failed = stage.result == Some(Outcome::Failure);
        let inner = stage.inner.iter();
        Self {
            id: format!("step-{}-{index}", run.run),
            name: stage.stage.clone(),
            href: format!("/scripts/{}", encoded(&stage.stage)),
            args: stage.args.join(" "),
            result: result.to_owned(),
            tone,
            took: stage.duration_ms.map(wording::milliseconds).unwrap_or_default(),
            // Wide enough to be seen.
            bar: (share(began, 996, all), share(ended - began, 1000, all).max(4)),
            notes: notes.into_iter().flatten().collect(),
            inner: inner
                .map(|i| format!("{}: {}", i.title(&stage.stage), wording::inner_outcome(i)))
                .collect(),
            facts: if is_failed { failure(node, index, stage) } else { Vec::new() },
            log: stage.log.as_ref().map(log),
        }
    }
}

/// What `part` is of `all`, in a drawing that is `wide`.
fn share(part: u64, wide: u64, all: u64) -> u64 {
    let share = u128::from(part) * u128::from(wide) / u128::from(all);
    u64::try_from(share).unwrap_or(wide)
}

/// Why a step failed.
fn failure(node: &Node, index: usize, stage: &Stage) -> Vec<(&'static str, String)> {
    let outcome = wording::outcome(stage.cause, stage.exit_code, stage.signal.as_deref());
    // `fetch` isn't a script and has no log.
    let here = format!("ssh {} provost log {}", node.name, stage.stage);
    let rows = [
        ("outcome", Some(outcome)),
        ("caller", stage.called_from.clone()),
        ("line", stage.error_line.clone()),
        ("command", stage.command.clone()),
        ("commands", wording::commands(stage.commands, stage.commands_failed)),
        ("output", stage.error_message.clone()),
        ("hint", stage.hint.as_ref().map(|hint| words::hint_of(hint, &[&node.name]))),
        ("log", (index > 0 && stage.log.is_none()).then_some(here)),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some((name, value?)));
    rows.chain(stage.passed_over.iter().map(|text| ("passed over", text.clone()))).collect()
}
