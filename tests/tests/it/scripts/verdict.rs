//! Holds what Provost did and named against the script's plain run and its header.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::run::{Behaviour, Job, Recorded};
use super::script::{Facet, Mode};

/// How much longer than without Provost a script may take; the wait for processes that it leaves
/// behind is longer.
const LATE: Duration = Duration::from_millis(1500);

/// How many characters are shown of a line that differs.
const MOST_LINE: usize = 150;

/// How many failures are named how.
#[derive(Debug, Default)]
struct Count {
    failures: usize,
    /// Right, not named, wrong.
    lines: [usize; 3],
    commands: [usize; 3],
}

/// For each interpreter and mode.
#[derive(Debug, Default)]
pub(super) struct Table(BTreeMap<(String, usize), Count>);

/// How something named compares with what a person would name.
#[derive(Clone, Copy)]
enum Naming {
    Right,
    None,
    Wrong,
}

/// Something that is wrong.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) facet: Facet,
    pub(super) text: String,
}

/// Compares; returns what is wrong, and counts what is named.
pub(super) fn compare(
    job: &Job<'_>,
    mode: Mode,
    plain: &Behaviour,
    recorded: &Recorded,
    table: &mut Table,
) -> Vec<Problem> {
    let script = &job.script;
    let by_provost = &recorded.behaviour;
    let mut problems = Vec::new();
    let mut hold = |facet: Facet, is_right: bool, actual: String| {
        if !is_right {
            let (name, mode) = (&job.interpreter.name, mode.as_str());
            let text = format!("{name}/{}, {mode}: {}: {actual:?}", script.name, facet.as_str());
            problems.push(Problem { facet, text });
        }
    };
    hold(Facet::Status, plain.status == by_provost.status, by_provost.status.clone());
    for (facet, plain, other) in [
        (Facet::Stdout, &plain.stdout, &by_provost.stdout),
        (Facet::Stderr, &plain.stderr, &by_provost.stderr),
    ] {
        hold(facet, plain == other, difference(plain, other));
    }
    // Only if the streams themselves are the same.
    if !script.is_unordered
        && plain.stdout == by_provost.stdout
        && plain.stderr == by_provost.stderr
    {
        let difference = difference(&plain.output, &by_provost.output);
        hold(Facet::Order, plain.output == by_provost.output, difference);
    }
    let is_late = script.leaves.is_empty() && by_provost.took > plain.took + LATE;
    hold(Facet::Time, !is_late, if is_late { "late".to_owned() } else { "in time".to_owned() });
    hold(Facet::Leaves, script.leaves == recorded.leaves, list(&recorded.leaves));
    let at = |place: &Option<[String; 3]>, actual: &Option<[String; 3]>| {
        naming(actual.as_ref(), |actual| place.as_ref().is_some_and(|place| is_at(place, actual)))
    };
    let line = at(&script.line, &recorded.line);
    let command = naming(recorded.command.as_ref(), |actual| script.commands.contains(actual));
    let caller = at(&script.called_from, &recorded.called_from);
    let has_line = script.line.as_ref().is_some_and(|line| line[0] != "none");
    let has_command = script.commands.iter().any(|command| command != "none");
    let words = |place: &Option<[String; 3]>| place.as_ref().map(|place| place.join(" "));
    let named = [
        (Facet::Line, line, has_line, words(&recorded.line)),
        (Facet::Command, command, has_command, recorded.command.clone()),
        (Facet::CalledFrom, caller, script.called_from.is_some(), words(&recorded.called_from)),
    ];
    for (facet, naming, is_nameable, actual) in named {
        let actual = actual.unwrap_or_else(|| "none".to_owned());
        let may_lack = mode == Mode::Off || !is_nameable || script.status == "0";
        let is_unnamed = script.is_unnamed(facet, mode);
        let is_right = match naming {
            Naming::Right => !is_unnamed,
            Naming::None => may_lack || is_unnamed,
            Naming::Wrong => false,
        };
        let unnamed = if is_unnamed { ", which the header says isn't named" } else { "" };
        hold(facet, is_right, actual + unnamed);
    }
    if plain.status != "0" {
        let key = (job.interpreter.name.clone(), mode as usize);
        let count = table.0.entry(key).or_default();
        count.failures += 1;
        count.lines[line as usize] += 1;
        count.commands[command as usize] += 1;
    }
    problems
}

fn naming<T>(actual: Option<&T>, is_right: impl FnOnce(&T) -> bool) -> Naming {
    match actual {
        None => Naming::None,
        Some(actual) if is_right(actual) => Naming::Right,
        Some(_) => Naming::Wrong,
    }
}

/// Whether that is the place; `-` stands for a function that isn't known.
fn is_at(expected: &[String; 3], actual: &[String; 3]) -> bool {
    let is_function = actual[1] == "-" || actual[1] == expected[1];
    is_function && expected[0] == actual[0] && expected[2] == actual[2]
}

/// The first line that differs.
fn difference(plain: &[String], by_provost: &[String]) -> String {
    let lines = plain.len().max(by_provost.len());
    let differs = |n: &usize| plain.get(*n) != by_provost.get(*n);
    let line = |lines: &[String], n: usize| -> String {
        lines.get(n).map_or("(no line)", String::as_str).chars().take(MOST_LINE).collect()
    };
    (0..lines).find(differs).map_or_else(String::new, |n| {
        format!("line {}: {} instead of {}", n + 1, line(by_provost, n), line(plain, n))
    })
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl Table {
    /// How many lines and commands are wrong.
    pub(super) fn wrong(&self) -> usize {
        self.0.values().map(|count| count.lines[2] + count.commands[2]).sum()
    }

    /// Adds the counts of another one.
    pub(super) fn add(&mut self, other: Self) {
        for (key, counted) in other.0 {
            let count = self.0.entry(key).or_default();
            count.failures += counted.failures;
            for n in 0..3 {
                count.lines[n] += counted.lines[n];
                count.commands[n] += counted.commands[n];
            }
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "                            line                command")?;
        writeln!(f, "             trace     failures  right  none wrong  right  none wrong")?;
        for ((interpreter, mode), Count { failures, lines, commands }) in &self.0 {
            let mode = Mode::ALL[*mode].as_str();
            write!(f, "{interpreter:<12} {mode:<9} {failures:>8}")?;
            for [right, none, wrong] in [lines, commands] {
                write!(f, "  {right:>5} {none:>5} {wrong:>5}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
