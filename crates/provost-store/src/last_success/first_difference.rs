//! The first line of a script's output that differs between two runs.

use std::io::BufReader;

use provost_record::{FETCH, Run, Stage};
use provost_steplog::{Entry, Lines};
use serde::Serialize;

/// The longest piece of a line that is shown, in characters.
const MOST: usize = 120;

/// What differs; nothing where all of it is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FirstDifference {
    /// The number of the line; the first is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The line at the success; absent where the output had ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<String>,
    /// The line at the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<String>,
    /// Where a log isn't at the management node: the command that shows what differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

/// A stage of a run, with its log if that was uploaded.
pub(super) type Logged<'r> = ((&'r Run, &'r Stage), Option<&'r [u8]>);

impl FirstDifference {
    /// What differs between the logs of a stage on `node`, where both were uploaded. Fetching has none anywhere.
    pub(super) fn between(node: &str, (then, old): Logged, (now, new): Logged) -> Option<Self> {
        (now.1.stage != FETCH).then(|| Self::of_script(node, (then, old), (now, new)))
    }

    fn of_script(node: &str, (then, old): Logged, (now, new): Logged) -> Self {
        let (Some(before), Some(after)) = (old.map(output), new.map(output)) else {
            return Self { command: Some(command(node, then, now)), ..Self::default() };
        };
        let differs = |index: &usize| before.get(*index) != after.get(*index);
        match (0..before.len().max(after.len())).find(differs) {
            Some(index) => Self {
                line: Some(index + 1),
                then: before.get(index).cloned(),
                now: after.get(index).cloned(),
                command: None,
            },
            None => Self::default(),
        }
    }

    pub(super) fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    /// For people.
    pub fn text(&self) -> String {
        let shown = |line: &Option<String>| match line {
            Some(line) => format!("{:?}", line.chars().take(MOST).collect::<String>()),
            None => "nothing more".to_owned(),
        };
        match (&self.command, self.line) {
            (Some(command), _) => command.clone(),
            (None, Some(line)) => {
                format!("line {line}: {} -> {}", shown(&self.then), shown(&self.now))
            }
            (None, None) => "the same".to_owned(),
        }
    }
}

/// The lines that a stage printed.
fn output(log: &[u8]) -> Vec<String> {
    let (mut lines, mut pieces) = (Vec::new(), String::new());
    let mut log = Lines::new(BufReader::new(log));
    while let Ok(Some(line)) = log.read() {
        if let Entry::Output { whole, text, .. } = line.entry {
            pieces.push_str(&String::from_utf8_lossy(text));
            if whole {
                lines.push(std::mem::take(&mut pieces));
            }
        }
    }
    lines.extend(Some(pieces).filter(|rest| !rest.is_empty()));
    lines
}

/// Shows on the node what differs.
fn command(node: &str, then: (&Run, &Stage), now: (&Run, &Stage)) -> String {
    let log = |(run, stage): (&Run, &Stage)| {
        let at = run.stages.iter().position(|one| std::ptr::eq(one, stage)).unwrap_or_default();
        let name = Stage::log_name(at, &stage.stage, stage.attempt);
        format!("<(sed -n \"$out\" {}/{name}.log)", run.run)
    };
    format!(
        "ssh {node} 'cd /var/log/provost/scripts; out=\"s/^[^ ]* std... . //p\"; diff {} {}'",
        log(then),
        log(now)
    )
}
