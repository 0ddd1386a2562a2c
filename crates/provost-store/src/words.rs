//! What people read of nodes, the same from `provostctl` and on the web page. Nothing of it is escaped:
//! it has texts of scripts.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_api::admins::Expiring;
use provost_api::{Expires, InnerStage};
use provost_record::Cause;
use provost_steplog::wording;

use crate::{Detail, FailureGroup, Node, RunningFor, SlowStep, Status};

/// A node that has said nothing of a stage for so long may have no network: when it did is shown.
const OLD: SignedDuration = SignedDuration::from_secs(90);
/// How many stages that run for long are shown.
const MOST_STAGES: usize = 5;
/// The commands of `provost` that hints name.
const NODE_COMMANDS: [&str; 11] = [
    "analyze",
    "boot",
    "check",
    "gather",
    "install",
    "kickstart",
    "log",
    "release",
    "report",
    "run",
    "status",
];

/// How long ago `at` was, in its largest unit. A clock that is ahead counts as now.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    wording::age(now.duration_since(at).try_into().unwrap_or_default())
}

/// `3 nodes: 2 booted, 1 failed`.
pub fn summary<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> String {
    let mut counts = BTreeMap::<Status, usize>::new();
    nodes.into_iter().for_each(|node| *counts.entry(node.status).or_default() += 1);
    let words: Vec<_> =
        counts.iter().map(|(status, n)| format!("{n} {}", status.as_str())).collect();
    match counts.values().sum::<usize>() {
        0 => "no nodes".into(),
        n => format!("{}: {}", wording::count(n, "node"), words.join(", ")),
    }
}

/// How something failed, if it did: `exit status 7`.
pub fn ending(detail: &Detail) -> Option<String> {
    let Detail { cause, exit_code, signal, .. } = detail;
    let has_failed = cause.is_some() || exit_code.is_some() || signal.is_some();
    has_failed.then(|| wording::outcome(*cause, *exit_code, signal.as_deref()))
}

/// The command, where no line of a script says which one it was: one that hung, for example.
pub fn command_without_line(detail: &Detail) -> Option<&str> {
    detail.command.as_deref().filter(|_| detail.error_line.is_none())
}

/// The line of the script to look at first.
pub fn first_line(detail: &Detail) -> Option<&str> {
    let Detail { error_line, called_from, command, .. } = detail;
    wording::first_line(error_line.as_deref(), called_from.as_deref(), command.as_deref())
}

/// A node's hint, for a reader on the management node: if it names a command to run on the node, it says
/// so. `nodes` are those that have it.
pub fn hint_of(hint: &str, nodes: &[&str]) -> String {
    if !is_for_node(hint) {
        return hint.to_owned();
    }
    let machine = match nodes {
        [node] => *node,
        _ => "the node",
    };
    // Some of them say it in the middle.
    format!("on {machine}: {}", hint.replacen(" on the node:", ":", 1))
}

/// Whether it names a command of the node: `provost`, but not `provostd`, or `dmesg`.
fn is_for_node(hint: &str) -> bool {
    let words = hint.split(|c: char| c.is_whitespace() || "`'\"();:,".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_command = |pair: &[&str]| pair[0] == "provost" && NODE_COMMANDS.contains(&pair[1]);
    words.contains(&"dmesg") || words.windows(2).any(is_command)
}

/// What expires, and when: `the identity of cn001 expires in 12 d`.
pub fn expiring(one: &Expiring, now: Timestamp) -> String {
    let Expiring { what, name, expires, .. } = one;
    let subject = match what {
        Expires::Publication if name == "all" => "what is published for all nodes".to_owned(),
        Expires::Publication => format!("what is published to channel {name}"),
        Expires::Identity => format!("the identity of {name}"),
        Expires::Join => format!("the join token of {name}"),
        Expires::Admin => format!("the token of admin {name}"),
        Expires::Certificate => format!("the {name}'s certificate"),
        Expires::Other(_) => format!("{what} {name}"),
    };
    match now.duration_until(*expires).try_into().map(wording::age) {
        Ok(time) => format!("{subject} expires in {time}"),
        Err(_) => format!("{subject} expired {} ago", ago(*expires, now)),
    }
}

/// For how long a stage has run, and its script's own stage:
/// `for 4 min, bootkube: wait-for-etcd for 34 s: the last line`.
pub fn running_for(running: &RunningFor, now: Timestamp) -> String {
    let is_old = now.duration_since(running.at) > OLD;
    let then = if is_old { running.at } else { now };
    let elapsed = Duration::from_millis(running.elapsed_ms)
        + then.duration_since(running.at).try_into().unwrap_or_default();
    let mut text = format!("for {}", wording::age(elapsed));
    if let Some(InnerStage { service, stage, since }) = &running.inner {
        // The node's clock may be wrong, and a stage is no older than its step.
        let of_stage = then.duration_since(*since).try_into().unwrap_or_default();
        let of_stage = wording::age(elapsed.min(of_stage));
        text.push_str(&format!(", {service}: {stage} for {of_stage}"));
    }
    if is_old {
        text.push_str(&format!(", {} ago", ago(running.at, now)));
    }
    if let Some(line) = &running.line {
        text.push_str(&format!(": {line}"));
    }
    text
}

/// For how long the node's stage has run; or the line or command that failed, and the last line of output.
pub fn what(node: &Node, now: Timestamp) -> String {
    if let Some(running) = &node.running_for {
        let slow = node.slow.as_ref().filter(|slow| slow.running);
        let slow = slow.map(|slow| format!("slow, {}, ", usual(slow))).unwrap_or_default();
        return slow + &running_for(running, now);
    }
    let detail = &node.detail;
    // A stranger who gives a node's name hides no failure.
    if let Some(waiting) = node.waiting.as_ref().filter(|_| detail.cause.is_none()) {
        return waiting.clone();
    }
    let line = first_line(detail).and_then(|line| line.split(' ').next());
    let line = line.map(|number| format!("line {number}"));
    let command = command_without_line(detail);
    let last = detail.error_message.as_deref().and_then(|message| message.lines().last());
    let slow = node.slow.as_ref().filter(|_| detail.cause.is_none()).map(slow);
    let parts = [line.as_deref(), command, last, slow.as_deref()];
    parts.into_iter().flatten().collect::<Vec<&str>>().join(": ")
}

/// `usually 20 s on this node`.
fn usual(slow: &SlowStep) -> String {
    let place = match &*slow.of {
        "node" => "on this node",
        _ => "on half of the nodes",
    };
    format!("usually {} {place}", wording::milliseconds(slow.usual_ms))
}

/// How slow a step was: `mount_scratch took 4 min, usually 20 s on this node`.
pub fn slow(slow: &SlowStep) -> String {
    let SlowStep { stage, ms, running, .. } = slow;
    let verb = if *running { "has run for" } else { "took" };
    let time = wording::milliseconds(*ms);
    format!("{stage} {verb} {time}, {}", usual(slow))
}

impl FailureGroup {
    /// `failed in mount_scratch: exit status 1`.
    pub fn title(&self) -> String {
        let (what, place) = match self.is_of_boot {
            true => ("failed", " in "),
            false => ("failed in a rerun", ": "),
        };
        let stage = self.detail.stage.as_deref();
        match (self.detail.cause, stage, ending(&self.detail)) {
            (Some(Cause::Held), ..) => "held".into(),
            (Some(Cause::Lost), Some(stage), _) => format!("lost in {stage}"),
            (Some(Cause::Lost), None, _) => "lost".into(),
            (_, Some(stage), Some(ending)) => format!("{what}{place}{stage}: {ending}"),
            (_, None, Some(ending)) => format!("{what}: {ending}"),
            // A rerun of a node whose boot failed is running.
            (_, Some(stage), None) => format!("{what}, {stage} is running again"),
            (_, None, None) => what.into(),
        }
    }

    /// What to do about it, and what to type then.
    pub fn next(&self) -> String {
        next_step(&self.detail, self.is_of_boot, &format!("@cause:{}", self.id))
            .unwrap_or_else(|| format!("look at one: provostctl show {}", self.nodes[0]))
    }

    /// `first 12 min ago, last 3 min ago`.
    pub fn when(&self, now: Timestamp) -> String {
        let ago = |at: Option<Timestamp>| at.map(|at| format!("{} ago", self::ago(at, now)));
        match (ago(self.first), ago(self.last)) {
            (Some(first), Some(last)) if first != last => format!("first {first}, last {last}"),
            (_, last) => last.unwrap_or_else(|| "unknown".into()),
        }
    }
}

/// A line for each stage that some of `nodes` have been in for long, the longest first:
/// `12 in mount_scratch, cn017 for 4 min: the last line`.
pub fn running<'a>(nodes: impl IntoIterator<Item = &'a Node>, now: Timestamp) -> Vec<String> {
    // Of each stage: how many nodes, and the one that has been in it the longest.
    let mut stages = BTreeMap::<&str, (usize, Duration, &Node)>::new();
    for node in nodes {
        let (Some(stage), Some(running)) = (&node.detail.stage, &node.running_for) else {
            continue;
        };
        let elapsed = Duration::from_millis(running.elapsed_ms);
        let of = stages.entry(stage).or_insert((0, elapsed, node));
        of.0 += 1;
        if elapsed > of.1 {
            (of.1, of.2) = (elapsed, node);
        }
    }
    let mut stages: Vec<_> = stages.into_iter().collect();
    stages.sort_by_key(|(_, (_, elapsed, _))| std::cmp::Reverse(*elapsed));
    let line = |(stage, (count, _, node)): (&str, (usize, Duration, &Node))| {
        let running = node.running_for.as_ref().map(|running| running_for(running, now));
        format!("{count} in {stage}, {} {}", node.name, running.unwrap_or_default())
    };
    stages.into_iter().take(MOST_STAGES).map(line).collect()
}

/// What to do about a failure of `nodes`, a set, and what to type then; nothing if they are lost.
pub fn next_step(detail: &Detail, is_of_boot: bool, nodes: &str) -> Option<String> {
    let command = match (detail.cause, &detail.stage) {
        (Some(Cause::Lost), _) => return None,
        (Some(Cause::Held), _) => format!("release {nodes}"),
        (_, Some(stage)) if !is_of_boot => format!("rerun {nodes} {stage}"),
        _ => format!("continue {nodes}"),
    };
    Some(format!("fix it, publish, then: provostctl {command}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap_or_default()
    }

    #[test]
    fn a_hint_with_a_nodes_command_names_the_node() {
        let see =
            "see all its output on the node: provost log x; fix it, then: provost boot --continue";
        assert_eq!(
            hint_of(see, &["cn001"]),
            "on cn001: see all its output: provost log x; fix it, then: provost boot --continue"
        );
        assert_eq!(
            hint_of("look for it in `dmesg`", &["a", "b"]),
            "on the node: look for it in `dmesg`"
        );
        for elsewhere in [
            "check the file server",
            "check the daemon's log: journalctl -u provostd",
            "publish it: provostctl publish",
            "install the version of provost that provostctl has",
        ] {
            assert_eq!(hint_of(elsewhere, &["cn001"]), elsewhere);
        }
    }

    #[test]
    fn a_stage_that_runs_shows_for_how_long_and_its_last_line() {
        let line = Some("copying".to_owned());
        let running = RunningFor { elapsed_ms: 250_000, line, inner: None, at: at(0) };
        assert_eq!(running_for(&running, at(30)), "for 4 min: copying");
        assert_eq!(running_for(&running, at(60)), "for 5 min: copying");
        assert_eq!(running_for(&running, at(180)), "for 4 min, 3 min ago: copying");
        let running = RunningFor { line: None, ..running };
        assert_eq!(running_for(&running, at(0)), "for 4 min");
    }

    #[test]
    fn a_scripts_own_stage_is_shown_for_no_longer_than_its_step_whatever_the_nodes_clock_says() {
        let running = |since| {
            let (service, stage) = ("bootkube".to_owned(), "wait-for-etcd".to_owned());
            let inner = Some(InnerStage { service, stage, since });
            RunningFor { elapsed_ms: 250_000, line: Some("no".to_owned()), inner, at: at(1000) }
        };
        for (since, now, shown) in [
            (at(980), 1014, "for 4 min, bootkube: wait-for-etcd for 34 s: no"),
            (at(980), 1200, "for 4 min, bootkube: wait-for-etcd for 20 s, 3 min ago: no"),
            (at(9999), 1014, "for 4 min, bootkube: wait-for-etcd for 0 s: no"),
            (Timestamp::MIN, 1060, "for 5 min, bootkube: wait-for-etcd for 5 min: no"),
        ] {
            assert_eq!(running_for(&running(since), at(now)), shown);
        }
    }

    #[test]
    fn a_failure_shows_its_line_or_the_command_that_hung() {
        let text = |text: &str| Some(text.to_owned());
        let failed = |error_line, command| Node {
            detail: Detail {
                error_line,
                command,
                error_message: text("a\nb"),
                ..Detail::default()
            },
            ..Node::default()
        };
        let shown = |line, command| what(&failed(line, command), at(0));
        assert_eq!(shown(text("12 main disk"), text("mkfs /dev/sdb")), "line 12: b");
        assert_eq!(shown(None, text("mkfs /dev/sdb")), "mkfs /dev/sdb: b");
        assert_eq!(shown(None, None), "b");
        let mut node = failed(text("2 die disk"), text("exit 1"));
        node.detail.called_from = text("12 main disk");
        assert_eq!(what(&node, at(0)), "line 12: b", "where die is called");
        node.detail.command = text("mkfs /dev/sdb");
        assert_eq!(what(&node, at(0)), "line 2: b");
    }

    #[test]
    fn a_time_in_the_future_is_now() {
        assert_eq!(ago(at(0), at(7199)), "1 h");
        assert_eq!(ago(at(9), at(0)), "0 s");
    }

    #[test]
    fn each_stage_has_a_line_with_the_node_that_has_been_in_it_the_longest() {
        let node = |name: &str, stage: &str, minutes: u64, line: &str| {
            let line = Some(line.to_owned());
            let running_for =
                Some(RunningFor { elapsed_ms: minutes * 60_000, line, inner: None, at: at(0) });
            let detail = Detail { stage: Some(stage.to_owned()), ..Detail::default() };
            Node { name: name.to_owned(), detail, running_for, ..Node::default() }
        };
        let short = Node { running_for: None, ..node("cn004", "mount", 0, "") };
        let nodes = [
            node("cn001", "mount", 2, "trying"),
            node("cn002", "packages", 9, "12 %"),
            node("cn003", "mount", 4, "waiting"),
            short,
        ];
        let expected =
            ["1 in packages, cn002 for 9 min: 12 %", "2 in mount, cn003 for 4 min: waiting"];
        assert_eq!(running(&nodes, at(0)), expected);
    }
}
