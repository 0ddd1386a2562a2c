//! `provostctl rerun`: an admin's explicit run, on many nodes.

use std::process::Stdio;

use provost_plan::nodes::fold;
use serde_json::{Value, json};

use crate::cli::Format;
use crate::failure::{Failure, TIMED_OUT};
use crate::node_set::NodeSet;
use crate::output::{self, Paint};
use crate::ssh::{Ended, Lost, Ssh};
use crate::table::Table;
use crate::text;

/// The shell's status where there is no such command.
const NO_SUCH_COMMAND: i32 = 127;

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
    /// A list of scripts with their arguments, as in "s1 p1 p2,s2"
    #[arg(short = 'P', value_name = "LIST")]
    list: Option<String>,
    /// A script and its arguments
    #[arg(value_name = "SCRIPT [ARGS]…", trailing_var_arg = true, allow_hyphen_values = true)]
    script: Vec<String>,
}

/// How it went on one node.
struct Row {
    node: String,
    result: &'static str,
    exit_code: Option<i32>,
    detail: String,
    /// In milliseconds.
    took: u64,
}

impl Rerun {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let mut command = vec!["provost", "run"];
        match &self.what.list {
            Some(list) => command.extend(["-P", list]),
            None => command.extend(self.what.script.iter().map(String::as_str)),
        }
        let mut rows = Vec::new();
        let all = self.nodes.names.len();
        let report = |node: &str, ended: Ended| {
            let row = Row::of(node, &ended);
            output::say(&format!("[{}/{all}] {}", rows.len() + 1, row.line()));
            rows.push(row);
        };
        self.ssh.on_each(&self.nodes, &command, |_| Stdio::null(), report).await;
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

impl Row {
    fn of(node: &str, ended: &Ended) -> Self {
        let said = || {
            let tell = |line: &&String| line.contains("error: ") || line.contains("FAILED");
            let line = ended.lines.iter().find(tell).or(ended.lines.last());
            let line = line.map_or("", |line| line.as_str());
            line.strip_prefix("provost: ").unwrap_or(line).to_owned()
        };
        let (result, exit_code, detail) = match &ended.result {
            Ok(status) if status.success() => ("ok", Some(0), String::new()),
            Ok(status) => match status.code() {
                Some(NO_SUCH_COMMAND) => {
                    ("failed", Some(NO_SUCH_COMMAND), "there is no provost on this node".to_owned())
                }
                code => ("failed", code, said()),
            },
            Err(Lost::Unreachable(why)) => ("unreachable", None, why.clone()),
            Err(Lost::TimedOut(limit)) => ("timeout", None, format!("not done within {limit}")),
        };
        Self { node: node.to_owned(), result, exit_code, detail, took: ended.took }
    }

    fn line(&self) -> String {
        let colon = if self.detail.is_empty() { "" } else { ": " };
        let took = text::took(self.took);
        format!("{}: {} after {took}{colon}{}", self.node, self.result, self.detail)
    }

    fn json(&self) -> Value {
        let mut row = json!({
            "node": self.node,
            "result": self.result,
            "durationMs": self.took,
        });
        if let Some(code) = self.exit_code {
            row["exitCode"] = code.into();
        }
        if !self.detail.is_empty() {
            row["detail"] = self.detail.clone().into();
        }
        row
    }
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new(["NODE", "RESULT", "EXIT", "TOOK", "WHAT"]);
    for row in rows {
        let exit = row.exit_code.map(|code| code.to_string()).unwrap_or_default();
        let took = text::took(row.took);
        table.add([row.node.clone(), row.result.to_owned(), exit, took, row.detail.clone()]);
    }
    let paint = Paint::of_stdout();
    table.render(output::width(), |row, column, cell| match (row, column) {
        (0, _) => paint.strong(cell),
        (row, 1) if rows[row - 1].result == "ok" => paint.good(cell),
        (_, 1) => paint.bad(cell),
        _ => cell.to_owned(),
    })
}

/// Exit codes: 0 all is well, 1 a node failed or couldn't be reached, 124 some took too long and
/// nothing else is wrong.
fn verdict(rows: &[Row]) -> Result<(), Failure> {
    let of = |result: &str| -> Vec<String> {
        rows.iter().filter(|row| row.result == result).map(|row| row.node.clone()).collect()
    };
    let bad = [
        ("failed", "failed"),
        ("unreachable", "couldn't be reached"),
        ("timeout", "took too long"),
    ];
    let bad: Vec<_> = bad.map(|(result, what)| (of(result), what)).into_iter().collect();
    let told: Vec<String> = bad
        .iter()
        .filter(|(nodes, _)| !nodes.is_empty())
        .map(|(nodes, what)| format!("{} {what}", fold(nodes)))
        .collect();
    let Some(first) = bad.iter().find_map(|(nodes, _)| nodes.first()) else { return Ok(()) };
    let hint = match bad[1].0.first() {
        Some(node) if bad[0].0.is_empty() => format!("see that `ssh {node} true` works by itself"),
        _ => format!("provostctl show {first}"),
    };
    let failure = Failure::new(told.join("; "), hint);
    let only_late = bad[0].0.is_empty() && bad[1].0.is_empty();
    Err(if only_late { failure.with_code(TIMED_OUT) } else { failure })
}
