use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;
use provost_plan::nodes::fold;
use provost_record::Cause;
use provost_steplog::terminal::{escape_cell, escape_json};
use provost_steplog::{Paint, wording};
use provost_store::{
    Factor, FailureGroup, Node, Status, factors_of, failure_groups, has_failed, words,
};
use serde_json::{Value, json};

use crate::client::Client;
use crate::{text, why};

/// How many lines of a group's message are shown.
const MOST_LINES: usize = 3;
/// The narrowest that a list of nodes is cut to, in columns.
const NARROWEST: usize = 20;

/// Nodes at a glance: numbers by status, failures by cause, and the others by status.
pub(crate) struct Overview<'a> {
    nodes: &'a [Node],
    failures: Vec<FailureGroup>,
    /// What distinguishes the nodes of each from the others.
    factors: Vec<Vec<Factor>>,
    /// The nodes that haven't failed.
    others: BTreeMap<Status, Vec<String>>,
}

impl<'a> Overview<'a> {
    pub(crate) fn new(nodes: &'a [Node]) -> Self {
        let mut others = BTreeMap::<Status, Vec<String>>::new();
        for node in nodes.iter().filter(|node| !has_failed(node)) {
            others.entry(node.status).or_default().push(node.name.clone());
        }
        let failures = failure_groups(nodes);
        let factors = failures.iter().map(|_| Vec::new()).collect();
        Self { nodes, failures, factors, others }
    }

    /// The same with what distinguishes the nodes that failed. The site's groups and scripts are asked for where some have.
    pub(crate) async fn explained(nodes: &'a [Node], client: &Client) -> Self {
        let mut overview = Self::new(nodes);
        let site = why::site_facts(client, &overview.failures).await;
        overview.factors = factors_of(&overview.failures, nodes.iter(), &site);
        overview
    }

    /// The likeliest reason of each failure that has one, in a line.
    pub(super) fn reasons(&self) -> Vec<String> {
        let line = |(group, factors): (&FailureGroup, &Vec<Factor>)| {
            let why = why::likeliest(factors)?;
            Some(format!("why: {}  @cause:{}", escape_cell(&why), group.id))
        };
        self.failures.iter().zip(&self.factors).filter_map(line).collect()
    }

    /// `3 nodes: 2 booted, 1 failed`.
    pub(crate) fn summary(&self) -> String {
        words::summary(self.nodes)
    }

    /// For people. Lines are cut to `width`, that of a terminal; without one nothing is cut.
    pub(crate) fn text(&self, now: Timestamp, width: Option<u16>, paint: Paint) -> String {
        let width = width.map_or(usize::MAX, usize::from);
        let mut text = format!("{}\n", paint.strong(&cut(&words::summary(self.nodes), width)));
        for (group, factors) in self.failures.iter().zip(&self.factors) {
            text.push('\n');
            let title = format!("{} {}", group.nodes.len(), group.title());
            let id = format!("@cause:{}", group.id);
            let title = cut(&escape_cell(&title), width.saturating_sub(id.len() + 2));
            // Writing to a String can't fail, here and below.
            let _ = writeln!(text, "{}  {id}", paint.bad(&title));
            for line in text::lines(&group.message()).take(MOST_LINES) {
                let _ = writeln!(text, "    {}", cut(&line, width.saturating_sub(4)));
            }
            let mut fact = |name: &str, value: &str| {
                let value = cut(&escape_cell(value), width.saturating_sub(11));
                let _ = writeln!(text, "    {}  {value}", paint.faint(&format!("{name:<5}")));
            };
            fact("nodes", &cut_list(&fold(&group.nodes), width.saturating_sub(11)));
            fact("when", &group.when(now));
            if let Some(why) = why::likeliest(factors) {
                fact("why", &why);
            }
            if let Some(hint) = &group.detail.hint {
                let nodes: Vec<&str> = group.nodes.iter().map(String::as_str).collect();
                fact("hint", &words::hint_of(hint, &nodes));
            }
            fact("next", &group.next());
            if group.detail.cause == Some(Cause::Held) {
                fact("", &format!("provostctl continue @cause:{}", group.id));
            }
        }
        if !self.others.is_empty() {
            text.push('\n');
        }
        let numbers = self.others.values().map(|nodes| nodes.len().to_string().len());
        let digits = numbers.max().unwrap_or(0);
        let words = self.others.keys().map(|status| status.as_str().len()).max().unwrap_or(0);
        for (status, nodes) in &self.others {
            let word = format!("{:<words$}", status.as_str());
            let word = match status {
                Status::Booted => paint.good(&word),
                Status::Defined => paint.faint(&word),
                _ => paint.busy(&word),
            };
            let list = cut_list(&fold(nodes), width.saturating_sub(words + digits + 4));
            let _ = writeln!(text, "{word}  {:>digits$}  {list}", nodes.len());
            let of_status = |node: &&Node| !has_failed(node) && node.status == *status;
            for line in words::running(self.nodes.iter().filter(of_status), now) {
                let _ = writeln!(text, "    {}", cut(&escape_cell(&line), width.saturating_sub(4)));
            }
        }
        self.over_quota(&mut text, width, paint);
        self.waiting(&mut text, width, paint);
        self.plain_http(&mut text, width, paint);
        text
    }

    /// Whose tokens others can read.
    fn plain_http(&self, text: &mut String, width: usize, paint: Paint) {
        let Some((title, names)) = plain_http(self.nodes) else { return };
        let _ = writeln!(text, "\n{}", paint.busy(&cut(&title, width)));
        let _ = writeln!(text, "    {}", cut_list(&fold(&names), width.saturating_sub(4)));
    }

    /// Of which nodes nothing more is stored.
    fn over_quota(&self, text: &mut String, width: usize, paint: Paint) {
        let refused = || self.nodes.iter().filter_map(|node| node.over_quota.as_ref());
        let count = refused().count();
        if count == 0 {
            return;
        }
        let title = format!("nothing more is stored of {}", wording::count(count, "node"));
        let _ = writeln!(text, "\n{}", paint.bad(&cut(&title, width)));
        for why in refused().take(MOST_LINES) {
            let _ = writeln!(text, "    {}", cut(&escape_cell(why), width.saturating_sub(4)));
        }
    }

    /// Which nodes can't go on, and what to do.
    fn waiting(&self, text: &mut String, width: usize, paint: Paint) {
        let waiting =
            || self.nodes.iter().filter_map(|node| Some((&node.name, node.waiting.as_ref()?)));
        let count = waiting().count();
        if count == 0 {
            return;
        }
        let title = format!("waiting: {}", wording::count(count, "node"));
        let _ = writeln!(text, "\n{}", paint.bad(&cut(&title, width)));
        for (name, why) in waiting().take(MOST_LINES) {
            let line = escape_cell(&format!("{name}: {why}"));
            let _ = writeln!(text, "    {}", cut(&line, width.saturating_sub(4)));
        }
    }

    /// The same for programs, as one JSON document.
    pub(super) fn json(&self) -> String {
        let failure = |(group, factors): (&FailureGroup, &Vec<Factor>)| {
            let factors: Vec<Value> = factors.iter().map(why::factor_json).collect();
            json!({
                "id": group.id, "count": group.nodes.len(), "nodes": fold(&group.nodes),
                "first": group.first, "last": group.last, "stage": group.detail.stage,
                "cause": group.detail.cause, "exitCode": group.detail.exit_code,
                "signal": group.detail.signal, "errorLine": group.detail.error_line,
                "calledFrom": group.detail.called_from, "errorMessage": group.detail.error_message, "command": group.detail.command,
                "hint": group.detail.hint, "factors": factors,
            })
        };
        let status = |(status, nodes): (&Status, &Vec<String>)| json!({ "status": status, "count": nodes.len(), "nodes": fold(nodes) });
        let failures: Vec<_> = self.failures.iter().zip(&self.factors).map(failure).collect();
        let others: Vec<_> = self.others.iter().map(status).collect();
        let all = json!({ "count": self.nodes.len(), "failures": failures, "others": others });
        format!("{}\n", escape_json(&all.to_string()))
    }
}

fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some(_) => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A folded set, cut between two of its terms or ranges.
fn cut_list(list: &str, width: usize) -> String {
    let width = width.max(NARROWEST);
    if list.len() <= width {
        return list.to_owned();
    }
    // Terms are of ASCII, as nodes' names are.
    let kept = &list[..width.saturating_sub(1)];
    let end = kept.rfind(',').map_or(kept.len(), |comma| comma + 1);
    format!("{}…", &kept[..end])
}

/// The nodes whose tokens came by plain HTTP last, if there are any: a title, and their names.
pub(super) fn plain_http(nodes: &[Node]) -> Option<(String, Vec<String>)> {
    let plain = nodes.iter().filter(|node| node.plain_http);
    let names: Vec<String> = plain.map(|node| node.name.clone()).collect();
    let title = format!("{} sent the token by plain HTTP", wording::count(names.len(), "node"));
    (!names.is_empty()).then_some((title, names))
}

#[cfg(test)]
mod tests {
    use provost_store::{Detail, UpdateStatus};

    use super::*;

    fn nodes() -> Vec<Node> {
        let node = |name: String, status| Node { name, status, ..Node::default() };
        let failed = |n: u32, cause, stage: Option<&str>, message: &str| {
            let detail = Detail {
                stage: stage.map(str::to_owned),
                cause: Some(cause),
                exit_code: (cause == Cause::Exit).then_some(32),
                error_message: Some(message.to_owned()),
                hint: n.is_multiple_of(2).then(|| "check the file server".to_owned()),
                ..Detail::default()
            };
            let since = Timestamp::from_second(i64::from(n) * 60).ok();
            Node { detail, since, ..node(format!("cn{n:03}"), Status::Failed) }
        };
        let mount = "trying 10.0.0.1\n\u{1b}mount.nfs: Connection timed out for lustre01:/scratch";
        let mut nodes: Vec<Node> =
            (1..=40).map(|n| node(format!("cn{:03}", 2 * n + 100), Status::Booted)).collect();
        nodes.extend((4..8).map(|n| failed(2 * n, Cause::Exit, Some("mount_scratch"), mount)));
        nodes.push(failed(21, Cause::Held, None, "held after 3 failures"));
        nodes.push(failed(23, Cause::Lost, Some("otherpkgs"), "it has not reported"));
        let rerun = failed(25, Cause::Timeout, Some("syslog"), "12 %");
        let (status, updatestatus) = (Status::Booted, Some(UpdateStatus::Failed));
        nodes.push(Node { status, updatestatus, last_seen: rerun.since, ..rerun });
        nodes.push(node("cn900".into(), Status::Netbooting));
        nodes
    }

    fn shown(width: Option<u16>) -> String {
        let now = Timestamp::from_second(3600).unwrap();
        Overview::new(&nodes()).text(now, width, Paint::always(false))
    }

    #[test]
    fn the_nodes_of_which_nothing_more_is_stored_are_named() {
        let over_quota = Some("storing logs of cn001: it is over its quota".to_owned());
        let nodes = [Node { name: "cn001".to_owned(), over_quota, ..Node::default() }];
        let text = Overview::new(&nodes).text(Timestamp::UNIX_EPOCH, None, Paint::always(false));
        let end = "\n\nnothing more is stored of 1 node\n    storing logs of cn001: it is over its quota\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn the_nodes_that_cannot_go_on_are_named_with_what_to_do() {
        let waiting = Some("no token, from 10.0.0.1: provostctl join cn001".to_owned());
        let nodes = [Node { name: "cn001".to_owned(), waiting, ..Node::default() }];
        let text = Overview::new(&nodes).text(Timestamp::UNIX_EPOCH, None, Paint::always(false));
        let end =
            "\n\nwaiting: 1 node\n    cn001: no token, from 10.0.0.1: provostctl join cn001\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn the_nodes_whose_tokens_others_can_read_are_named() {
        let node =
            |name: &str, plain_http| Node { name: name.into(), plain_http, ..Node::default() };
        let nodes = [node("cn001", true), node("cn002", false), node("cn003", true)];
        let text = Overview::new(&nodes).text(Timestamp::UNIX_EPOCH, None, Paint::always(false));
        let end = "\n\n2 nodes sent the token by plain HTTP\n    cn[001,003]\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn failures_are_grouped_by_cause_between_the_numbers_and_the_rest() {
        assert_eq!(
            shown(None),
            "\
48 nodes: 1 netbooting, 41 booted, 6 failed

4 failed in mount_scratch: exit status 32  @cause:ba2448
    \\u{1b}mount.nfs: Connection timed out for lustre01:/scratch
    nodes  cn[008,010,012,014]
    when   first 52 min ago, last 46 min ago
    hint   check the file server
    next   fix it, publish, then: provostctl continue @cause:ba2448

1 held  @cause:1ca9b7
    held after 3 failures
    nodes  cn021
    when   39 min ago
    next   fix it, publish, then: provostctl release @cause:1ca9b7
           provostctl continue @cause:1ca9b7

1 failed in a rerun: syslog: time-out  @cause:3242d3
    12 %
    nodes  cn025
    when   35 min ago
    next   fix it, publish, then: provostctl rerun @cause:3242d3 syslog

1 lost in otherpkgs  @cause:cb7f83
    it has not reported
    nodes  cn023
    when   37 min ago
    next   look at one: provostctl show cn023

netbooting   1  cn900
booted      40  cn[102,104,106,108,110,112,114,116,118,120,122,124,126,128,130,132,134,136,138,140,\
142,144,146,148,150,152,154,156,158,160,162,164,166,168,170,172,174,176,178,180]
"
        );
    }

    #[test]
    fn a_terminal_has_no_line_that_is_longer() {
        for width in [60, 80, 200] {
            let text = shown(Some(width));
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width.into()), "{text}");
            assert_eq!(text.lines().count(), shown(None).lines().count());
            let commands = text.matches("provostctl ").count();
            assert_eq!(commands, shown(None).matches("provostctl ").count());
        }
    }
}
