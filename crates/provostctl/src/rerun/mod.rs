//! `provostctl rerun`: an admin's explicit run, on many nodes.

mod row;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use provost_plan::nodes::fold;
use provost_record::Paint;
use serde_json::Value;

use crate::failure::{Failure, TIMED_OUT};
use crate::format::Format;
use crate::node_set::NodeSet;
use crate::output;
use crate::ssh::{Remote, RemoteResult, Ssh};
use crate::table::{Table, Tone};
use row::{Outcome, Row};

/// Prints the run where a script failed, which is exit status 1 of `provost run`.
const REPORT: &str = "[ \"$status\" -ne 1 ] || provost status --format json </dev/null";

/// `provostctl rerun`.
#[derive(clap::Args)]
#[command(override_usage = "provostctl rerun [OPTIONS] NODES SCRIPT [ARGS]…
       provostctl rerun [OPTIONS] NODES -P LIST")]
pub(crate) struct Rerun {
    #[command(flatten)]
    ssh: Ssh,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Names and ranges, such as cn[001-512]
    nodes: NodeSet,
    #[command(flatten)]
    what: What,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// A list of scripts with their arguments, such as "s1 p1 p2,s2"
    #[arg(short = 'P', value_name = "LIST")]
    list: Option<String>,
    /// A script and its arguments
    #[arg(value_name = "SCRIPT [ARGS]…", trailing_var_arg = true, allow_hyphen_values = true)]
    script: Vec<String>,
}

impl Rerun {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let mut command = vec!["provost", "run"];
        match &self.what.list {
            Some(list) => command.extend(["-P", list]),
            None => command.extend(self.what.script.iter().map(String::as_str)),
        }
        let reports = Reports::default();
        let mut rows = Vec::new();
        let all = self.nodes.names.len();
        let ended = |node: &str, result: RemoteResult| {
            let row = Row::new(node, &result, &reports.take(node));
            output::note(&format!("[{}/{all}] {}", rows.len() + 1, row.line()));
            rows.push(row);
        };
        let remote = Remote { command: &command, report: Some(REPORT) };
        self.ssh.on_each(&self.nodes, &remote, |node| reports.open(node), ended).await;
        rows.sort_by(|a, b| a.node.cmp(&b.node));
        match self.format {
            Format::Json => {
                let rows: Vec<Value> = rows.iter().map(Row::json).collect();
                output::print(format!("{}\n", Value::Array(rows)).as_bytes())?;
            }
            Format::Text => output::print(table(&rows).as_bytes())?,
        }
        verdict(&rows)
    }
}

/// What the nodes' last lines of shell print, in files without a name.
#[derive(Default)]
struct Reports(Mutex<HashMap<String, File>>);

impl Reports {
    /// Where the report of `node` goes. A report that can't be kept is one that there isn't.
    fn open(&self, node: &str) -> Stdio {
        let Ok(file) = tempfile::tempfile() else { return Stdio::null() };
        let Ok(copy) = file.try_clone() else { return Stdio::null() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(node.to_owned(), file);
        Stdio::from(copy)
    }

    fn take(&self, node: &str) -> String {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(node);
        let mut text = String::new();
        if let Some(mut file) = file {
            // One that can't be read is one that there isn't.
            let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
        }
        text
    }
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new(["NODE", "RESULT", "EXIT", "TOOK", "WHAT"]);
    for row in rows {
        let tone = if row.outcome == Outcome::Ok { Tone::Good } else { Tone::Bad };
        table.add(row.cells(), tone);
    }
    table.render(output::width(), Paint::of_stdout())
}

/// Exit statuses: 0 all is well, 1 a node failed or couldn't be reached, 124 some took too long and
/// nothing else is wrong.
fn verdict(rows: &[Row]) -> Result<(), Failure> {
    let nodes_with = |outcome: Outcome| -> Vec<String> {
        let rows = rows.iter().filter(|row| row.outcome == outcome);
        rows.map(|row| row.node.clone()).collect()
    };
    let failed = nodes_with(Outcome::Failed);
    let unreachable = nodes_with(Outcome::Unreachable);
    let late = nodes_with(Outcome::Timeout);
    let groups = [(&failed, "failed"), (&unreachable, "unreachable"), (&late, "took too long")];
    let groups = groups.iter().filter(|(nodes, _)| !nodes.is_empty());
    let error: Vec<String> =
        groups.map(|(nodes, what)| format!("{} {what}", fold(nodes))).collect();
    let (hint, code) = match (&failed[..], &unreachable[..], &late[..]) {
        ([], [], []) => return Ok(()),
        ([node, ..], ..) => (format!("provostctl show {node}"), None),
        ([], [node, ..], _) => (format!("check that this works: ssh {node} true"), None),
        ([], [], [node, ..]) => (format!("provostctl show {node}"), Some(TIMED_OUT)),
    };
    let failure = Failure::new(error.join("; "), hint);
    Err(match code {
        Some(code) => failure.with_code(code),
        None => failure,
    })
}
