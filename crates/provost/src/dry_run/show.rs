//! What a dry run has found, for people and for programs.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use provost_node::failure::Failure;
use provost_node::observe::console::print;
use provost_sandbox::{Entry, Kind, Look, What};
use provost_steplog::terminal::escape;
use provost_steplog::{Paint, wording};
use serde_json::{Map, Value, json};
use similar::TextDiff;

use super::outcome::Outcome;

/// The most lines of a diff that people are shown, of one file and of all.
const MOST_LINES: usize = 200;
const MOST_LINES_OF_ALL: usize = 5_000;
/// The attribute with SELinux's label.
const LABEL: &str = "security.selinux";
/// How long a diff is made as short as can be.
const DIFF_LIMIT: Duration = Duration::from_millis(200);

/// For people, on stdout.
pub(super) fn text(outcome: &Outcome) -> Result<(), Failure> {
    let paint = Paint::of_stdout();
    let mut text = String::new();
    let mut room = MOST_LINES_OF_ALL;
    for (path, entry) in &outcome.changes.entries {
        let head = format!("{} {}", word(entry.what), path.display());
        let head = escape(&outcome.secrets.hide(&head));
        let _ = writeln!(
            text,
            "{}{}",
            paint.strong(&head),
            escape(&outcome.secrets.hide(&details(entry)))
        );
        let Some(diff) = diff(path, entry, outcome) else { continue };
        let lines: Vec<&str> = diff.lines().collect();
        let shown = lines.len().min(MOST_LINES).min(room);
        room -= shown;
        for line in &lines[..shown] {
            let line = escape(line);
            let line = match line.as_bytes().first() {
                Some(b'+') => paint.good(&line),
                Some(b'-') => paint.bad(&line),
                _ => line,
            };
            let _ = writeln!(text, "{line}");
        }
        if shown < lines.len() {
            let _ = writeln!(text, "… {} more", wording::count(lines.len() - shown, "line"));
        }
    }
    if outcome.changes.more > 0 {
        let _ = writeln!(text, "… {} more", wording::count(outcome.changes.more, "change"));
    }
    for path in &outcome.changes.unreadable {
        let _ = writeln!(text, "{}", escape(&format!("not compared: {}", path.display())));
    }
    for one in &outcome.databases {
        let line = format!("{} {} {} {}", word(one.what()), one.kind, one.name, one.values());
        let _ = writeln!(text, "{}", escape(&outcome.secrets.hide(&line)));
    }
    for would in &outcome.would {
        let command =
            would.command.as_ref().map_or(String::new(), |command| format!("{command}: "));
        let line = format!("{command}would {}", would.would);
        let _ = writeln!(text, "{}", escape(&outcome.secrets.hide(&line)));
    }
    if text.is_empty() {
        text.push_str("nothing would change\n");
    }
    print(&text)
}

/// For programs: one document on stdout.
pub(super) fn json(outcome: &Outcome) -> Result<(), Failure> {
    let hide = |text: &str| outcome.secrets.hide(text).into_owned();
    let changes: Vec<Value> = outcome
        .changes
        .entries
        .iter()
        .map(|(path, entry)| {
            let mut object = Map::new();
            object.insert("path".to_owned(), hide(&path.to_string_lossy()).into());
            object.insert("change".to_owned(), word(entry.what).into());
            for (key, look) in [("before", &entry.before), ("after", &entry.after)] {
                if let Some(look) = look {
                    object.insert(key.to_owned(), of_look(look, &hide));
                }
            }
            if let (Some(before), Some(after)) = (&entry.before, &entry.after) {
                let names: Vec<Value> = differing(before, after).map(Value::from).collect();
                if !names.is_empty() {
                    object.insert("attributes".to_owned(), names.into());
                }
            }
            if let Some(diff) = diff(path, entry, outcome) {
                object.insert("diff".to_owned(), diff.into());
            }
            Value::Object(object)
        })
        .collect();
    let paths = |paths: &[std::path::PathBuf]| -> Vec<String> {
        paths.iter().map(|path| hide(&path.to_string_lossy())).collect()
    };
    let would: Vec<Value> = outcome
        .would
        .iter()
        .map(|would| {
            let mut object = Map::from_iter([("would".to_owned(), hide(&would.would).into())]);
            if let Some(command) = &would.command {
                object.insert("command".to_owned(), hide(command).into());
            }
            Value::Object(object)
        })
        .collect();
    let mut document = json!({
        "script": hide(&outcome.script),
        "exitCode": outcome.status,
        "changes": changes,
        "would": would,
        "readOnly": paths(&outcome.read_only),
        "notCompared": paths(&outcome.changes.unreadable),
        "moreChanges": outcome.changes.more,
    });
    if !outcome.databases.is_empty() {
        let all = outcome.databases.iter().map(|one| one.json(word(one.what())));
        document["databases"] = all.collect();
    }
    let limits = [
        ("fullAtBytes", outcome.full),
        ("memoryFullAtBytes", outcome.reached.memory),
        ("processesFullAt", outcome.reached.processes),
    ];
    for (key, limit) in limits {
        if let Some(limit) = limit {
            document[key] = limit.into();
        }
    }
    if let Some(failure) = &outcome.failure {
        document["failure"] = failure.clone();
    }
    print(&format!("{document:#}\n"))
}

fn of_look(look: &Look, hide: &dyn Fn(&str) -> String) -> Value {
    let mut object = json!({
        "kind": kind(look),
        "mode": format!("{:04o}", look.mode),
        "uid": look.uid,
        "gid": look.gid,
    });
    if let Some(label) = label(look) {
        object["label"] = label.into();
    }
    match &look.kind {
        Kind::File => object["size"] = look.size.into(),
        Kind::Link(to) => object["to"] = hide(&to.to_string_lossy()).into(),
        _ => {}
    }
    object
}

fn word(what: What) -> &'static str {
    match what {
        What::Made => "made",
        What::Changed => "changed",
        What::Removed => "removed",
    }
}

fn kind(look: &Look) -> &'static str {
    match look.kind {
        Kind::File => "file",
        Kind::Folder => "folder",
        Kind::Link(_) => "link",
        Kind::Other => "other",
    }
}

/// `: folder, mode 0755`, or what is different.
fn details(entry: &Entry) -> String {
    let mut parts = Vec::new();
    match (&entry.before, &entry.after) {
        (Some(before), Some(after)) => {
            if kind(before) != kind(after) {
                parts.push(format!("{} -> {}", kind(before), kind(after)));
            }
            if let (Kind::Link(was), Kind::Link(is)) = (&before.kind, &after.kind)
                && was != is
            {
                parts.push(format!("to {} -> {}", was.display(), is.display()));
            }
            let is_link = matches!(after.kind, Kind::Link(_));
            if before.mode != after.mode && !is_link {
                parts.push(format!("mode {:04o} -> {:04o}", before.mode, after.mode));
            }
            let owner = |look: &Look| format!("{}:{}", look.uid, look.gid);
            if owner(before) != owner(after) {
                parts.push(format!("owner {} -> {}", owner(before), owner(after)));
            }
            parts.extend(attributes(before, after));
            let has_text = before.text.is_some() && after.text.is_some();
            if before.kind == Kind::File && after.kind == Kind::File && !has_text {
                parts.push(format!("{} -> {} bytes", before.size, after.size));
            }
        }
        (Some(look), None) | (None, Some(look)) => {
            match &look.kind {
                Kind::Link(to) => parts.push(format!("link to {}", to.display())),
                Kind::File => {}
                _ => parts.push(kind(look).to_owned()),
            }
            if entry.after.is_some() && !matches!(look.kind, Kind::Link(_)) {
                parts.push(format!("mode {:04o}", look.mode));
                if (look.uid, look.gid) != (0, 0) {
                    parts.push(format!("owner {}:{}", look.uid, look.gid));
                }
            }
            if look.kind == Kind::File && look.text.is_none() {
                parts.push(format!("{} bytes", look.size));
            }
        }
        (None, None) => {}
    }
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

/// SELinux's label.
fn label(look: &Look) -> Option<String> {
    let label = look.attributes.get(LABEL)?;
    Some(String::from_utf8_lossy(label).trim_end_matches('\0').to_owned())
}

/// The names of the attributes that aren't the same.
fn differing<'a>(before: &'a Look, after: &'a Look) -> impl Iterator<Item = &'a str> {
    let (had, has) = (&before.attributes, &after.attributes);
    let removed = had.keys().filter(|name| !has.contains_key(*name));
    let names = has.keys().filter(|name| had.get(*name) != has.get(*name)).chain(removed);
    names.map(String::as_str)
}

/// `label A -> B`, `attribute user.x`.
fn attributes<'a>(before: &'a Look, after: &'a Look) -> impl Iterator<Item = String> + 'a {
    let of = |look| label(look).unwrap_or_else(|| "none".to_owned());
    differing(before, after).map(move |name| match name {
        LABEL => format!("label {} -> {}", of(before), of(after)),
        _ => format!("attribute {name}"),
    })
}

/// A unified diff, where what was there and what is there are texts, or nothing.
fn diff(path: &Path, entry: &Entry, outcome: &Outcome) -> Option<String> {
    let text = |look: &Option<Look>| match look {
        None => Some(String::new()),
        // Secrets are hidden before lines are compared: the diff is of what is shown.
        Some(look) => look.text.as_ref().map(|text| outcome.secrets.hide(text).into_owned()),
    };
    if entry.what == What::Removed {
        return None;
    }
    let is_same_text = || {
        // What isn't there has as much text as an empty file.
        let of = |look: &Option<Look>| look.as_ref().and_then(|look| look.text.clone());
        of(&entry.before).unwrap_or_default() == of(&entry.after).unwrap_or_default()
    };
    let (before, after) = (text(&entry.before)?, text(&entry.after)?);
    if is_same_text() {
        return None;
    }
    if before == after {
        return Some(" a secret in it is another one\n".to_owned());
    }
    let path = path.to_string_lossy();
    let name = |look: &Option<Look>| if look.is_some() { path.as_ref() } else { "/dev/null" };
    let diff = TextDiff::configure().timeout(DIFF_LIMIT).diff_lines(&before, &after);
    let (from, to) = (name(&entry.before), name(&entry.after));
    Some(diff.unified_diff().header(from, to).to_string())
}
