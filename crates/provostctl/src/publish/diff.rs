//! What a publication changes, in full: each script's lines, each kind of node's plan.

use std::fmt::Write;

use provost_bundle::Policy;
use provost_plan::difference::{Difference, Values};
use provost_plan::nodes::fold;
use provost_plan::secret;
use provost_publish::{Changes, FileChange, FileVersion, KeyChange};
use provost_steplog::terminal::escape;
use provost_steplog::{Paint, wording};
use similar::TextDiff;

use super::plan_changes::{Groups, Kind, SameChange};

/// The text of all changes.
pub(super) fn diff(changes: &Changes, groups: &Groups, paint: Paint) -> String {
    let mut text = String::new();
    // Writing to a String can't fail, here and below.
    let _ = match changes.from {
        Some(from) if from == changes.to => writeln!(text, "bundle: generation {from}, no change"),
        Some(from) => writeln!(text, "bundle: generation {from} -> {}", changes.to),
        None => writeln!(text, "bundle: generation {}, the first", changes.to),
    };
    if !changes.keys.is_empty() {
        let _ = writeln!(text, "\n{}", paint.strong("manifest: changed"));
    }
    let or_none = |value: &Option<String>| value.as_deref().map_or("none".to_owned(), escape);
    for KeyChange { name, before, after } in &changes.keys {
        let _ = writeln!(text, "  {name}: {} -> {}", or_none(before), or_none(after));
    }
    for file in &changes.files {
        text.push_str(&of_file(file, changes, paint));
    }
    for ((kind, differences), group) in groups {
        text.push_str(&of_nodes(*kind, differences, group, paint));
    }
    text
}

fn of_file(file: &FileChange, changes: &Changes, paint: Paint) -> String {
    let head =
        |how: String| format!("\n{}\n", paint.strong(&format!("script {}: {how}", file.path)));
    match (&file.before, &file.after) {
        (Some(before), Some(after)) => {
            let mut text = head("changed".to_owned());
            of_entries(before, after, &mut text);
            of_content(&file.path, before, after, changes, paint, &mut text);
            text
        }
        (_, Some(after)) => head(format!("added, {} bytes", after.entry.size)),
        _ => head("removed".to_owned()),
    }
}

/// What the manifest says of the file besides its content.
fn of_entries(before: &FileVersion, after: &FileVersion, text: &mut String) {
    let (old, new) = (&before.entry, &after.entry);
    if old.mode != new.mode {
        let _ = writeln!(text, "  mode: {:04o} -> {:04o}", old.mode.bits(), new.mode.bits());
    }
    let keys = |policy: &Policy| toml::Table::try_from(policy).unwrap_or_default();
    let (old, new) = (keys(&old.policy), keys(&new.policy));
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let shown = |value: Option<&toml::Value>| {
            value.map_or_else(|| "default".to_owned(), ToString::to_string)
        };
        if old.get(name) != new.get(name) {
            let (old, new) = (shown(old.get(name)), shown(new.get(name)));
            let _ = writeln!(text, "  {name}: {old} -> {new}");
        }
    }
}

fn of_content(
    path: &str,
    before: &FileVersion,
    after: &FileVersion,
    changes: &Changes,
    paint: Paint,
    text: &mut String,
) {
    if before.entry.sha256 == after.entry.sha256 {
        return;
    }
    let lines = |version: &FileVersion| {
        let content = version.content.as_ref()?;
        let is_text = !content.contains(&0);
        is_text.then(|| String::from_utf8(content.clone()).ok()).flatten()
    };
    let (Some(old), Some(new)) = (lines(before), lines(after)) else {
        let _ = writeln!(text, "  {} -> {} bytes, no text", before.entry.size, after.entry.size);
        return;
    };
    let (from, to) = (changes.from.unwrap_or_default(), changes.to);
    let diff = TextDiff::from_lines(&old, &new);
    let (old, new) = (format!("{path} (generation {from})"), format!("{path} (generation {to})"));
    let unified = diff.unified_diff().header(&old, &new).to_string();
    for line in unified.lines().map(escape) {
        let line = match line.as_bytes().first() {
            Some(b'+') => paint.good(&line),
            Some(b'-') => paint.bad(&line),
            _ => line,
        };
        text.push_str(&line);
        text.push('\n');
    }
}

fn of_nodes(kind: Kind, differences: &[Difference], group: &SameChange, paint: Paint) -> String {
    let count = wording::count(group.nodes.len(), "node");
    let what = match kind {
        Kind::Changed => format!("plan {}", generations(group)),
        Kind::New => format!("new, plan {}", generations(group)),
        Kind::Gone => "no plan any more".to_owned(),
    };
    let mut text =
        format!("\n{}\n", paint.strong(&format!("{}: {count}, {what}", fold(&group.nodes))));
    for difference in differences {
        let line = match difference {
            Difference::Step { list, step, is_added: true } => {
                paint.good(&escape(&format!("  + {list} {step}")))
            }
            Difference::Step { list, step, .. } => {
                paint.bad(&escape(&format!("  - {list} {step}")))
            }
            Difference::Order(list) => format!("  {list}s in another order"),
            Difference::RunBootScripts(value) => format!("  runbootscripts = {value}"),
            Difference::Env { name, .. } => of_variable(name, group, paint),
            Difference::Secret { name, had: false, .. } => {
                paint.good(&format!("  + env {name} = (secret)"))
            }
            Difference::Secret { name, has: false, .. } => {
                paint.bad(&format!("  - env {name} = (secret)"))
            }
            Difference::Secret { name, .. } => format!("  env {name}: changed (secret)"),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn of_variable(name: &str, group: &SameChange, paint: Paint) -> String {
    let Some(((before, after), is_same)) = group.values.get(name) else { return String::new() };
    if secret::is_secret(name) && before.is_some() && after.is_some() {
        return format!("  env {name}: changed, hidden");
    }
    let values: Values = match secret::is_secret(name) {
        true => (hidden(before.as_ref()), hidden(after.as_ref())),
        false => (quoted(before.as_ref()), quoted(after.as_ref())),
    };
    let such = match group.nodes.first() {
        Some(node) if !is_same => format!(" on {node}, other values on other nodes"),
        _ => String::new(),
    };
    match values {
        (None, Some(after)) => paint.good(&format!("  + env {name} = {after}{such}")),
        (Some(before), None) => paint.bad(&format!("  - env {name} = {before}{such}")),
        (before, after) => {
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            format!("  env {name}: {before} -> {after}{such}")
        }
    }
}

fn hidden(value: Option<&String>) -> Option<String> {
    value.map(|_| "(hidden)".to_owned())
}

fn quoted(value: Option<&String>) -> Option<String> {
    value.map(|value| format!("{value:?}"))
}

/// `3 -> 4`, or `3…7 -> 4…8` where the nodes have several.
fn generations(group: &SameChange) -> String {
    let range = |(least, greatest): (u64, u64)| match least == greatest {
        true => least.to_string(),
        false => format!("{least}…{greatest}"),
    };
    [group.before, group.after].into_iter().flatten().map(range).collect::<Vec<_>>().join(" -> ")
}
