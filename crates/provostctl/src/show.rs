use std::fmt::Write;

use jiff::Timestamp;
use provost_record::{Cause, Outcome, Run, Stage};
use provost_steplog::terminal::{escape_cell, escape_json};
use provost_steplog::{Paint, wording};
use provost_store::{MAX_RUNS, Node, RunningFor, Status, words};
use serde_json::value::RawValue;

use crate::client::{Client, NodeHistory};
use crate::failure::Failure;
use crate::format::Format;
use crate::node_set::NodeName;
use crate::{output, text};
use provost_api::admins::NodeIdentity;

/// `provostctl show`.
pub(crate) async fn show(
    client: &Client,
    node: &NodeName,
    runs: usize,
    format: Format,
) -> Result<(), Failure> {
    if format == Format::Json {
        let json: Box<RawValue> = client.node(&node.0, runs).await?;
        return output::print(format!("{}\n", escape_json(json.get())).as_bytes());
    }
    let history: NodeHistory = client.node(&node.0, runs).await?;
    let (now, paint) = (Timestamp::now(), Paint::of_stdout());
    let identity = history.identity.as_ref();
    let view = View { node: &history.node, identity, now, paint, text: String::new() };
    output::print(view.whole(&history.runs(), runs, history.more).as_bytes())
}

struct View<'a> {
    node: &'a Node,
    identity: Option<&'a NodeIdentity>,
    now: Timestamp,
    paint: Paint,
    text: String,
}

impl View<'_> {
    /// The `newest` runs with their steps, and the others in a line each; `more` says whether there are
    /// older ones.
    fn whole(mut self, runs: &[Run], newest: usize, more: bool) -> String {
        self.head();
        let (newest, older) = runs.split_at(newest.min(runs.len()));
        // After a rerun that succeeded, the node's status is still about this older run.
        let why = older.iter().find(|run| Some(&run.run) == self.node.run.as_ref());
        for run in newest.iter().chain(why) {
            self.line("");
            self.run(run);
        }
        let rest: Vec<_> =
            older.iter().filter(|run| why.is_none_or(|why| why.run != run.run)).collect();
        if !rest.is_empty() {
            self.line("\nearlier:");
        }
        for run in &rest {
            let title = self.title(run);
            self.line(&format!("  {title}"));
        }
        if more {
            let node = escape_cell(&self.node.name);
            self.line(&format!("older runs: provostctl show {node} --runs {MAX_RUNS}"));
        }
        if runs.is_empty() {
            self.line("no reports yet");
        }
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn head(&mut self) {
        let (node, now) = (self.node, self.now);
        let status = match node.status {
            Status::Failed => self.paint.bad("failed"),
            Status::Booted => self.paint.good("booted"),
            other => self.paint.busy(other.as_str()),
        };
        let mut head = format!("{}: {status}", self.paint.strong(&escape_cell(&node.name)));
        // Writing to a String can't fail, here and below.
        if let Some(since) = node.since {
            let _ = write!(head, " since {since} ({} ago)", words::ago(since, now));
        }
        if let Some(address) = node.claimed_by {
            let _ = write!(head, ", claimed by {address} without a token");
        }
        if let Some(updatestatus) = node.updatestatus {
            let _ = write!(head, ", last rerun {}", updatestatus.as_str());
        }
        if let Some(seen) = node.last_seen {
            let _ = write!(head, ", last report {} ago", words::ago(seen, now));
        }
        if let Some(sent) = node.boot_sent {
            let _ = write!(head, ", sent a boot {} ago", words::ago(sent, now));
        }
        self.line(&head);
        if node.claimed_by.is_some() {
            self.fact("claims", node.detail.error_message.as_deref());
        }
        let facts: Vec<String> = [
            node.program.as_ref().map(|version| format!("provost {version}")),
            node.bundle.map(|generation| format!("bundle {generation}")),
            node.plan.map(|generation| format!("plan {generation}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !facts.is_empty() {
            self.line(&format!("  last ran {}", escape_cell(&facts.join(", "))));
        }
        self.fact("machine", node.facts.line().as_deref());
        self.identity();
        self.fact("refused", node.over_quota.as_deref());
        self.fact("waiting", node.waiting.as_deref());
        if node.plain_http {
            self.line("  its token came by plain HTTP, where others can read it");
        }
        for (program, appstatus) in &node.appstatus {
            self.line(&format!("  {}: {}", escape_cell(program), escape_cell(appstatus)));
        }
    }

    fn identity(&mut self) {
        let Some(NodeIdentity { key, until, revoked, .. }) = self.identity else { return };
        let key = escape_cell(key);
        let line = match revoked {
            Some(at) => self.paint.bad(&format!("identity {key}, revoked at {at}")),
            None if *until < self.now => {
                self.paint.bad(&format!("identity {key}, ended at {until}"))
            }
            None => format!("identity {key} until {until}"),
        };
        self.line(&format!("  {line}"));
    }

    /// `boot 0198… of 2026-11-20T17:00:01Z: failed after 8.2 s (attempt 1, bundle 42, plan 7)`
    fn title(&self, run: &Run) -> String {
        let mut title = format!("{} {}", escape_cell(&run.service), escape_cell(&run.run));
        if let Some(started) = run.started {
            let _ = write!(title, " of {started}");
        }
        title.push_str(": ");
        title.push_str(&match &run.result {
            Some(Outcome::Success) => self.paint.good("succeeded"),
            Some(Outcome::Failure) => self.paint.bad("failed"),
            Some(other) => self.paint.busy(other.as_str()),
            None => self.paint.busy("running"),
        });
        if let Some(ms) = run.duration_ms {
            let _ = write!(title, " after {}", wording::milliseconds(ms));
        }
        let facts: Vec<String> = [
            run.attempt.map(|n| format!("attempt {n}")),
            run.bundle.map(|n| format!("bundle {n}")),
            run.plan.map(|n| format!("plan {n}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !facts.is_empty() {
            let _ = write!(title, " ({})", facts.join(", "));
        }
        title
    }

    fn run(&mut self, run: &Run) {
        let title = self.title(run);
        self.line(&title);
        for (index, stage) in run.stages.iter().enumerate() {
            let is_this = |_: &&RunningFor| self.node.run.as_ref() == Some(&run.run);
            let running = self.node.running_for.as_ref().filter(is_this);
            self.stage(index, stage, running);
        }
        // A failure of no stage, for example of a node that the guard holds.
        let node = self.node;
        if run.failed_stage().is_none() && node.run.as_ref() == Some(&run.run) {
            self.fact("outcome", words::ending(&node.detail).as_deref());
            self.fact("output", node.detail.error_message.as_deref());
            self.hint(node.detail.hint.as_deref());
        }
        for stage in &run.not_run {
            let not_run = self.paint.faint("not run");
            self.line(&format!("  {not_run}  {}", escape_cell(stage)));
        }
    }

    fn stage(&mut self, index: usize, stage: &Stage, running: Option<&RunningFor>) {
        let mut words = vec![stage.stage.as_str()];
        words.extend(stage.args.iter().map(String::as_str));
        let mut what = escape_cell(&words.join(" "));
        if let Some(ms) = stage.duration_ms {
            let _ = write!(what, "  {}", self.paint.faint(&wording::milliseconds(ms)));
        }
        if let Some(attempt @ 2..) = stage.attempt {
            let _ = write!(what, "  try {attempt}");
        }
        if stage.cause == Some(Cause::Reboot) && stage.result == Some(Outcome::Success) {
            what.push_str("  asked for a reboot");
        }
        if let Some(why) = &stage.skipped {
            let _ = write!(what, "  {}", escape_cell(why));
        }
        if !stage.leaked.is_empty() {
            let _ = write!(what, "  left behind: {}", escape_cell(&stage.leaked.join(", ")));
        }
        match &stage.result {
            Some(Outcome::Success) => {
                let how = match () {
                    () if stage.skipped.is_some() => self.paint.faint("skipped"),
                    () if stage.cause == Some(Cause::Reboot) => self.paint.busy("reboot") + " ",
                    () => self.paint.good("ok") + "     ",
                };
                self.line(&format!("  {how}  {what}"));
            }
            Some(Outcome::Failure) => {
                self.line(&format!("  {}   {what}", self.paint.bad("FAILED")));
                self.failure(index, stage);
            }
            Some(other) => {
                self.line(&format!("  {}  {what}", self.paint.busy(other.as_str())));
            }
            None => {
                let running = running.map(|running| words::running_for(running, self.now));
                let running =
                    running.map_or(String::new(), |text| escape_cell(&format!(" {text}")));
                self.line(&format!("  {}  {what}{running}", self.paint.busy("running")));
            }
        }
        for inner in &stage.inner {
            let title = escape_cell(&inner.title(&stage.stage));
            self.line(&format!(
                "           {title}  {}",
                escape_cell(&wording::inner_outcome(inner))
            ));
        }
        for failure in &stage.passed_over {
            self.fact("passed over", Some(failure));
        }
    }

    fn failure(&mut self, index: usize, stage: &Stage) {
        let outcome = wording::outcome(stage.cause, stage.exit_code, stage.signal.as_deref());
        let inner = stage.title();
        let inner = inner.strip_prefix(&stage.stage).and_then(|rest| rest.strip_prefix(": "));
        let outcome = inner.map_or(outcome.clone(), |inner| format!("{inner}: {outcome}"));
        self.fact("outcome", Some(&outcome));
        self.fact("caller", stage.called_from.as_deref());
        self.fact("line", stage.error_line.as_deref());
        self.fact("command", stage.command.as_deref());
        let commands = wording::commands(stage.commands, stage.commands_failed);
        self.fact("commands", commands.as_deref());
        self.fact("output", stage.error_message.as_deref());
        self.hint(stage.hint.as_deref());
        // `fetch` isn't a script and has no log.
        if index > 0 {
            let (node, script) = (&self.node.name, &stage.stage);
            let log = match stage.log {
                Some(_) => format!("provostctl log {node} {script}"),
                None => format!("ssh {node} provost log {script}"),
            };
            self.fact("log", Some(&log));
        }
    }

    fn hint(&mut self, hint: Option<&str>) {
        let hint = hint.map(|hint| words::hint_of(hint, &[&self.node.name]));
        self.fact("hint", hint.as_deref());
    }

    fn fact(&mut self, name: &str, value: Option<&str>) {
        let mut name = name;
        for line in value.map(text::lines).into_iter().flatten().filter(|line| !line.is_empty()) {
            self.line(&format!("           {name:<8}  {line}"));
            name = "";
        }
    }
}
