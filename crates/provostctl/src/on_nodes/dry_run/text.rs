//! The results of a dry run for people: each once, with the nodes that have it.

use std::fmt::Write;

use provost_plan::nodes::fold;
use provost_steplog::terminal::{escape, escape_cell};
use provost_steplog::{Paint, wording};

use super::super::row::Outcome;
use super::super::summary;
use super::document::{Change, Document, Look};
use super::groups::Group;

/// The most lines of a diff that are shown, of one file and of all.
const MOST_LINES: usize = 200;
const MOST_LINES_OF_ALL: usize = 5_000;
/// The most paths that the first line of a group names.
const MOST_NAMES: usize = 6;
/// The attribute with SELinux's label, which is shown by itself.
const LABEL: &str = "security.selinux";
/// What belongs to a group is indented by so much.
const INDENT: &str = "    ";

/// All groups.
pub(super) fn text(groups: &[Group], paint: Paint) -> String {
    let mut text = String::new();
    let mut room = MOST_LINES_OF_ALL;
    for group in groups {
        let count = wording::count(group.nodes.len(), "node");
        let head = format!("{count} {}: {}", fold(&group.nodes), summary(group, paint));
        // Writing to a String can't fail, here and below.
        let _ = writeln!(text, "{head}");
        let mut lines = failure(group);
        if let Some(document) = &group.document {
            lines.extend(details(document, paint, &mut room));
        }
        if group.differ_in_name && !lines.is_empty() {
            let first = escape_cell(&group.row.node);
            lines.insert(0, format!("as on {first}; the others differ only in the name"));
        }
        for line in lines {
            let _ = writeln!(text, "{INDENT}{line}");
        }
    }
    text
}

/// `nothing`, `/etc/chrony.conf +1 -1`, `FAILED chrony: exit status 1`.
fn summary(group: &Group, paint: Paint) -> String {
    let document = group.document.as_ref();
    let found = document.map_or_else(Vec::new, names);
    let failed = match group.row.outcome {
        Outcome::Ok if found.is_empty() => return paint.good("nothing"),
        Outcome::Ok => return found.join(", "),
        Outcome::Failed => paint.bad("FAILED"),
        Outcome::Unreachable => paint.bad("unreachable"),
        Outcome::Timeout => paint.bad("timeout"),
    };
    let why = summary::lines(&group.row.detail).into_iter().next().unwrap_or_default();
    let found = if found.is_empty() { String::new() } else { format!("; {}", found.join(", ")) };
    format!("{failed} {why}{found}")
}

/// What changes, in a few words each.
fn names(document: &Document) -> Vec<String> {
    // A package stands for its files.
    let known = document.databases.iter();
    let known = known.map(|one| escape_cell(&format!("{} {} {}", one.kind, one.name, one.change)));
    let mut all: Vec<String> = known.chain(document.changes.iter().map(name)).collect();
    all.extend(document.would.iter().map(|would| format!("would {}", escape_cell(&would.would))));
    all.dedup();
    let more = all.len().saturating_sub(MOST_NAMES);
    let more = more + usize::try_from(document.more_changes).unwrap_or(usize::MAX - more);
    all.truncate(MOST_NAMES);
    if more > 0 {
        all.push(format!("{more} more"));
    }
    all
}

fn name(change: &Change) -> String {
    let path = escape_cell(&change.path);
    match (change.counts(), change.change.as_str()) {
        (Some((added, 0)), "made") => format!("{path} made, +{added}"),
        (Some((added, removed)), "changed") => format!("{path} +{added} -{removed}"),
        (_, what) => format!("{path} {}", escape_cell(what)),
    }
}

/// How it failed, but for what the first line says.
fn failure(group: &Group) -> Vec<String> {
    summary::lines(&group.row.detail).into_iter().skip(1).collect()
}

/// All that changes, with diffs.
fn details(document: &Document, paint: Paint, room: &mut usize) -> Vec<String> {
    let mut lines = Vec::new();
    for change in &document.changes {
        let head = format!("{} {}", change.change, change.path);
        lines.push(format!("{}{}", paint.strong(&escape_cell(&head)), differences(change)));
        let diff: Vec<&str> = change.diff.iter().flat_map(|diff| diff.lines()).collect();
        let shown = diff.len().min(MOST_LINES).min(*room);
        *room -= shown;
        lines.extend(diff[..shown].iter().map(|line| painted(line, paint)));
        if shown < diff.len() {
            lines.push(format!("… {} more", wording::count(diff.len() - shown, "line")));
        }
    }
    if document.more_changes > 0 {
        lines.push(format!("… {} more", wording::count(document.more_changes, "change")));
    }
    let not_compared = document.not_compared.iter();
    lines.extend(not_compared.map(|path| escape_cell(&format!("not compared: {path}"))));
    lines.extend(document.databases.iter().map(|known| escape_cell(&known.line())));
    lines.extend(document.would.iter().map(|would| escape_cell(&would.line())));
    if let Some(bytes) = document.full_at_bytes {
        lines.push(format!("the room for what changes was full ({} MiB)", bytes >> 20));
    }
    if let Some(bytes) = document.memory_full_at_bytes {
        lines.push(format!("the limit of {} MiB of memory was reached", bytes >> 20));
    }
    if let Some(processes) = document.processes_full_at {
        lines.push(format!("the limit of {processes} processes was reached"));
    }
    lines
}

fn painted(line: &str, paint: Paint) -> String {
    let line = escape(line);
    match line.as_bytes().first() {
        Some(b'+') => paint.good(&line),
        Some(b'-') => paint.bad(&line),
        _ => line,
    }
}

/// `: mode 0644 -> 0600`, as the node's own program says it.
fn differences(change: &Change) -> String {
    let parts = match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            let mut parts = between(before, after, change.diff.is_some());
            let attributes = change.attributes.iter().filter(|name| *name != LABEL);
            parts.extend(attributes.map(|name| format!("attribute {name}")));
            parts
        }
        (None, Some(after)) => of_new(after, change.diff.is_some()),
        (Some(before), None) => before.to.iter().map(|to| format!("link to {to}")).collect(),
        (None, None) => Vec::new(),
    };
    let parts = escape_cell(&parts.join(", "));
    if parts.is_empty() { parts } else { format!(": {parts}") }
}

fn between(before: &Look, after: &Look, has_diff: bool) -> Vec<String> {
    let size = |look: &Look| look.size.map(|size| size.to_string());
    let owner = |look: &Look| format!("{}:{}", look.uid, look.gid);
    let has_mode = after.kind != "link";
    let pairs = [
        ("", Some(before.kind.clone()), Some(after.kind.clone()), ""),
        ("to ", before.to.clone(), after.to.clone(), ""),
        ("mode ", Some(before.mode.clone()), Some(after.mode.clone()).filter(|_| has_mode), ""),
        ("owner ", Some(owner(before)), Some(owner(after)), ""),
        ("label ", before.label.clone(), after.label.clone(), ""),
        ("", size(before), size(after).filter(|_| !has_diff), " bytes"),
    ];
    let differing = pairs.into_iter().filter_map(|(word, before, after, unit)| {
        let (before, after) = (before?, after?);
        (before != after).then(|| format!("{word}{before} -> {after}{unit}"))
    });
    differing.collect()
}

fn of_new(look: &Look, has_diff: bool) -> Vec<String> {
    if let Some(to) = &look.to {
        return vec![format!("link to {to}")];
    }
    let mut parts = Vec::new();
    if look.kind != "file" {
        parts.push(look.kind.clone());
    }
    parts.push(format!("mode {}", look.mode));
    if (look.uid, look.gid) != (0, 0) {
        parts.push(format!("owner {}:{}", look.uid, look.gid));
    }
    let size = look.size.filter(|_| !has_diff);
    parts.extend(size.map(|size| format!("{size} bytes")));
    parts
}
