//! What a publication changes, in a few lines.

use std::collections::BTreeMap;

use provost_plan::difference::Difference;
use provost_plan::nodes::fold;
use provost_publish::{Changes, FileChange};
use provost_steplog::terminal::escape;
use provost_steplog::wording;

use super::plan_changes::{Groups, Kind};

/// How many names a line has, until the rest is counted.
const MOST_NAMES: usize = 5;
/// How long a text of folded node names may be, in characters, until it is cut.
const MOST_NODES: usize = 60;

/// The lines: scripts, nodes, steps, environment; and the manifest's keys, where these change.
pub(super) fn summary(changes: &Changes, groups: &Groups) -> String {
    let generation = match changes.from {
        Some(from) if from == changes.to => format!("generation {from}"),
        Some(from) => format!("generation {from} -> {}", changes.to),
        None => format!("generation {}", changes.to),
    };
    let keys: Vec<&str> = changes.keys.iter().map(|key| key.name).collect();
    let keys =
        if keys.is_empty() { String::new() } else { format!("  manifest: {}\n", keys.join(", ")) };
    format!(
        "  scripts: {}; {generation}\n  nodes: {}\n  steps: {}\n  environment: {}\n{keys}",
        or_none(scripts(&changes.files)),
        or_none(nodes(groups)),
        or_none(steps(groups)),
        or_none(environment(groups)),
    )
}

fn or_none(parts: Vec<String>) -> String {
    match parts.is_empty() {
        true => "no change".to_owned(),
        false => parts.join(", "),
    }
}

fn scripts(files: &[FileChange]) -> Vec<String> {
    let of_kind = |had: bool, has: bool| -> Vec<&str> {
        let is_of_kind =
            |file: &&FileChange| (file.before.is_some(), file.after.is_some()) == (had, has);
        files.iter().filter(is_of_kind).map(|file| file.path.as_str()).collect()
    };
    let kinds = [("added", (false, true)), ("changed", (true, true)), ("removed", (true, false))];
    let kinds = kinds.map(|(word, (had, has))| (word, of_kind(had, has)));
    let some = kinds.iter().filter(|(_, names)| !names.is_empty());
    some.map(|(word, names)| format!("{} {word} ({})", names.len(), first(names))).collect()
}

fn nodes(groups: &Groups) -> Vec<String> {
    let kinds =
        [(Kind::Changed, "changed"), (Kind::New, "new"), (Kind::Gone, "without a plan now")];
    let mut parts = Vec::new();
    for (kind, word) in kinds {
        let of_kind = groups.iter().filter(|((other, _), _)| *other == kind);
        let names: Vec<String> = of_kind.flat_map(|(_, group)| group.nodes.clone()).collect();
        if !names.is_empty() {
            parts.push(format!("{} {word} ({})", names.len(), folded(&names)));
        }
    }
    parts
}

fn steps(groups: &Groups) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for ((_, differences), group) in groups {
        for difference in differences {
            let what = match difference {
                Difference::Step { step, is_added: true, .. } => format!("+ {}", escape(step)),
                Difference::Step { step, .. } => format!("- {}", escape(step)),
                Difference::Order(list) => format!("order of {list}s"),
                Difference::RunBootScripts(value) => format!("runbootscripts = {value}"),
                Difference::Env { .. } | Difference::Secret { .. } => continue,
            };
            *counts.entry(what).or_default() += group.nodes.len();
        }
    }
    counted(counts)
}

fn environment(groups: &Groups) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for ((_, differences), group) in groups {
        for difference in differences {
            if let Difference::Env { name, .. } | Difference::Secret { name, .. } = difference {
                *counts.entry(name.clone()).or_default() += group.nodes.len();
            }
        }
    }
    counted(counts)
}

/// What most nodes get first.
fn counted(counts: BTreeMap<String, usize>) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let more = counts.len().saturating_sub(MOST_NAMES);
    let shown = counts.iter().take(MOST_NAMES);
    let shown = shown.map(|(what, n)| format!("{what} ({})", wording::count(n, "node")));
    shown.chain((more > 0).then(|| format!("{more} more"))).collect()
}

fn first(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => shown,
        Some(more) => format!("{shown}, {more} more"),
    }
}

/// The nodes in a few words.
pub(super) fn folded(names: &[String]) -> String {
    let text = fold(names);
    match text.char_indices().nth(MOST_NODES) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
