//! What scripts have printed on nodes: read there by `provost log`, and shown with equal texts together.

use std::fmt::Write as _;

use provost_plan::nodes::fold;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::text;

/// How much of a script's output is kept of each node, in bytes: its end.
const MOST: usize = 256 << 10;
/// Stands before the lines of each script; those are objects.
const HEAD: &str = "printed by ";

/// What one script has printed on a node.
#[derive(Clone)]
pub(super) struct Printed {
    script: String,
    text: String,
}

#[derive(Deserialize)]
struct Line {
    text: String,
    partial: bool,
}

/// Lines of shell that print the run's status, and then what each of `scripts` has printed.
pub(super) fn on_the_node(scripts: &[String]) -> String {
    let scripts = shell_words::join(scripts);
    format!(
        "provost status --format json </dev/null\n\
         for script in {scripts}; do\n\
         echo \"{HEAD}$script\"\n\
         provost log --output --format json -- \"$script\" </dev/null 2>/dev/null | tail -c {MOST}\n\
         done"
    )
}

/// The status, and what each script has printed.
pub(super) fn read(report: &str) -> (&str, Vec<Printed>) {
    let Some(at) = report.lines().position(|line| line.starts_with(HEAD)) else {
        return (report, Vec::new());
    };
    let end: usize = report.split_inclusive('\n').take(at).map(str::len).sum();
    let (status, logs) = report.split_at(end);
    let mut printed: Vec<Printed> = Vec::new();
    for line in logs.lines() {
        if let Some(script) = line.strip_prefix(HEAD) {
            printed.push(Printed { script: script.to_owned(), text: String::new() });
            continue;
        }
        // The first one may be cut off.
        let line = serde_json::from_str::<Line>(line.trim_end_matches(','));
        if let (Ok(line), Some(last)) = (line, printed.last_mut()) {
            last.text += &line.text;
            last.text += if line.partial { "" } else { "\n" };
        }
    }
    (status, printed)
}

/// Without what an earlier run has printed: only `ran` ran in this one.
pub(super) fn of_run(mut printed: Vec<Printed>, ran: &[String]) -> Vec<Printed> {
    printed.retain(|printed| ran.contains(&printed.script));
    printed
}

pub(super) fn json(printed: &[Printed]) -> Value {
    printed.iter().map(|p| json!({"script": p.script, "text": p.text})).collect()
}

/// What each script has printed on each node, for people: nodes with the same text together.
pub(super) fn text<'a>(nodes: impl Iterator<Item = (&'a str, &'a [Printed])>) -> String {
    let mut groups: Vec<(&Printed, Vec<String>)> = Vec::new();
    for (node, all) in nodes {
        for printed in all {
            let same = |(other, _): &&mut (&Printed, _)| {
                (&other.script, &other.text) == (&printed.script, &printed.text)
            };
            match groups.iter_mut().find(same) {
                Some((_, nodes)) => nodes.push(node.to_owned()),
                None => groups.push((printed, vec![node.to_owned()])),
            }
        }
    }
    groups.sort_by(|a, b| a.0.script.cmp(&b.0.script).then(b.1.len().cmp(&a.1.len())));
    let mut shown = String::new();
    for (Printed { script, text }, nodes) in groups {
        let nothing = if text.is_empty() { " no output" } else { "" };
        let _ = writeln!(shown, "\n{script} on {}:{nothing}", fold(&nodes));
        for line in text::lines(text) {
            let _ = writeln!(shown, "    {line}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_script_has_its_own_text_and_an_earlier_run_none() {
        let report = "{\n  \"run\": \"x\"\n}\nprinted by a\n[\n{\"text\":\"one\",\"partial\":true},\n\
                      {\"text\":\"printed by b\",\"partial\":false}\n]\nprinted by b\n\
                      cut off\"},\n{\"text\":\"two\",\"partial\":false}\n]\nprinted by c\n";
        let (status, printed) = read(report);
        assert_eq!(status, "{\n  \"run\": \"x\"\n}\n");
        let texts: Vec<_> = printed.iter().map(|p| (&*p.script, &*p.text)).collect();
        assert_eq!(texts, [("a", "oneprinted by b\n"), ("b", "two\n"), ("c", "")]);
        let ran = of_run(printed, &["b".to_owned()]);
        assert_eq!(json(&ran), json!([{"script": "b", "text": "two\n"}]));
        assert_eq!(read("Killed\n").0, "Killed\n");
    }
}
