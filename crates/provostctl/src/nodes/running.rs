//! Nodes whose stage has run for long.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use provost_record::terminal::escape_cell;
use provost_store::Node;

use crate::text;

/// How many stages are shown.
const MOST: usize = 5;

/// A line for each stage that some of `nodes` have been in for long, the longest first:
/// `12 in mount_scratch, cn017 for 4 min: the last line`.
pub(super) fn lines<'a>(nodes: impl Iterator<Item = &'a Node>, now: Timestamp) -> Vec<String> {
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
        let running = node.running_for.as_ref().map(|running| text::running_for(running, now));
        let line = format!("{count} in {stage}, {} {}", node.name, running.unwrap_or_default());
        escape_cell(&line)
    };
    stages.into_iter().take(MOST).map(line).collect()
}

#[cfg(test)]
mod tests {
    use provost_store::{Detail, RunningFor};

    use super::*;

    #[test]
    fn each_stage_has_a_line_with_the_node_that_has_been_in_it_the_longest() {
        let node = |name: &str, stage: &str, minutes: u64, line: &str| {
            let line = Some(line.to_owned());
            let at = Timestamp::UNIX_EPOCH;
            let running_for = Some(RunningFor { elapsed_ms: minutes * 60_000, line, at });
            let detail = Detail { stage: Some(stage.to_owned()), ..Detail::default() };
            Node { name: name.to_owned(), detail, running_for, ..Node::default() }
        };
        let short = Node { running_for: None, ..node("cn004", "mount", 0, "") };
        let nodes = [
            node("cn001", "mount", 2, "trying"),
            node("cn002", "packages", 9, "\u{1b}[2J12 %"),
            node("cn003", "mount", 4, "waiting"),
            short,
        ];
        assert_eq!(
            lines(nodes.iter(), Timestamp::UNIX_EPOCH),
            [
                "1 in packages, cn002 for 9 min: \\u{1b}[2J12 %",
                "2 in mount, cn003 for 4 min: waiting"
            ]
        );
    }
}
