//! `provostctl why`: what nodes that failed have in common and the others don't, and what has changed on a node since it
//! last succeeded.

use std::fmt::Write;
use std::str::FromStr;

use provost_api::admins;
use provost_plan::nodes::{expand, fold};
use provost_record::{Outcome, Run, Stage};
use provost_steplog::terminal::{escape_cell, escape_json};
use provost_steplog::{Paint, wording};
use provost_store::{
    Factor, FailureGroup, GroupsOfNode, MAX_RUNS, Node, factors_of, failure_groups, has_failed,
};
use serde_json::{Value, json};

use crate::client::{Client, NodeHistory};
use crate::failure::Failure;
use crate::format::Format;
use crate::node_set::NodeName;
use crate::output;

/// How many factors of a failure are shown.
const MOST_FACTORS: usize = 8;

/// `provostctl why`.
#[derive(clap::Args)]
pub(crate) struct Why {
    /// A node: what has changed since its last success, too; or a failure, @cause:ID; without it, all failures
    #[arg(value_name = "NODE|@cause:ID")]
    of: Option<Subject>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone)]
enum Subject {
    Node(NodeName),
    /// The failure of that id.
    Cause(String),
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("@cause:") {
            Some(id) => Ok(Self::Cause(id.to_owned())),
            None => text.parse().map(Self::Node),
        }
    }
}

/// A failure, and what distinguishes its nodes.
struct Explained {
    failure: FailureGroup,
    factors: Vec<Factor>,
}

/// What has changed on a node between a stage's last success and its failure.
struct Changed {
    stage: String,
    /// The runs of the success and of the failure.
    runs: [String; 2],
    /// The name, the value then, and the value now.
    differences: Vec<(String, String, String)>,
}

impl Why {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let nodes: Vec<Node> = client.nodes(None).await?;
        let failures = failure_groups(&nodes);
        let groups = groups_of_nodes(client, &failures).await;
        let factors = factors_of(&failures, &nodes, &groups);
        let mut explained: Vec<Explained> = failures
            .into_iter()
            .zip(factors)
            .map(|(failure, factors)| Explained { failure, factors })
            .collect();
        let mut changed = None;
        match &self.of {
            None => {}
            Some(Subject::Cause(id)) => {
                explained.retain(|one| one.failure.id == *id);
                if explained.is_empty() {
                    let hint = "list the failures: provostctl nodes --group";
                    return Err(Failure::new(format!("no failure has the id {id}"), hint));
                }
            }
            Some(Subject::Node(NodeName(name))) => {
                let history: NodeHistory = client.node(name, MAX_RUNS).await?;
                explained.retain(|one| one.failure.nodes.contains(name));
                if has_failed(&history.node) {
                    changed = changes(&history.runs());
                }
            }
        }
        let others = nodes.iter().filter(|node| !has_failed(node) && node.run.is_some()).count();
        let text = match self.format {
            Format::Json => {
                let all: Vec<Value> = explained.iter().map(Explained::json).collect();
                let mut document = json!({ "failures": all, "others": others });
                if let Some(changed) = &changed {
                    document["changed"] = changed.json();
                }
                escape_json(&document.to_string()) + "\n"
            }
            Format::Text => self.text(&explained, changed.as_ref(), others),
        };
        output::print(text.as_bytes())
    }

    fn text(&self, explained: &[Explained], changed: Option<&Changed>, others: usize) -> String {
        let paint = Paint::of_stdout();
        let mut parts = Vec::new();
        if explained.is_empty() {
            parts.push(match &self.of {
                Some(Subject::Node(NodeName(name))) => {
                    format!("{} has not failed\n", escape_cell(name))
                }
                _ => "no node has failed\n".to_owned(),
            });
        }
        for Explained { failure, factors } in explained {
            let title = format!("{} {}", failure.nodes.len(), failure.title());
            let mut part = format!("{}  @cause:{}\n", paint.bad(&escape_cell(&title)), failure.id);
            // Writing to a String can't fail, here and below.
            for factor in factors.iter().take(MOST_FACTORS) {
                let _ = writeln!(part, "    {}", escape_cell(&factor.to_string()));
            }
            if factors.is_empty() {
                let count = wording::count(others, "other");
                let _ = writeln!(part, "    nothing distinguishes them from {count}");
            }
            parts.push(part);
        }
        if let Some(Changed { stage, runs: [then, now], differences }) = changed {
            let mut part = format!("since {} last succeeded\n", escape_cell(stage));
            for (name, then, now) in differences {
                let line = escape_cell(&format!("{name:<10}  {then} -> {now}"));
                let _ = writeln!(part, "    {line}");
            }
            if differences.is_empty() {
                part += "    nothing has changed of what the node tells\n";
            }
            let _ = writeln!(part, "    run {}, then {}", escape_cell(then), escape_cell(now));
            parts.push(part);
        }
        parts.join("\n")
    }
}

/// Which node is in which groups of the published site, where there are failures to compare by them.
pub(crate) async fn groups_of_nodes(client: &Client, failures: &[FailureGroup]) -> GroupsOfNode {
    let mut all = GroupsOfNode::new();
    if failures.is_empty() {
        return all;
    }
    // Without them the other factors are still compared.
    let published = client.get::<admins::Groups>(admins::GROUPS).await;
    for (group, nodes) in published.map(|site| site.groups).unwrap_or_default() {
        for node in expand(&nodes).unwrap_or_default() {
            all.entry(node).or_default().push(group.clone());
        }
    }
    all
}

/// One line for people: the factor that is least by chance.
pub(crate) fn likeliest(factors: &[Factor]) -> Option<String> {
    factors.first().map(Factor::to_string)
}

/// A factor, as programs get it.
pub(crate) fn factor_json(factor: &Factor) -> Value {
    json!({
        "name": factor.name, "value": factor.value,
        "failed": factor.failed.having, "ofFailed": factor.failed.of,
        "others": factor.others.having, "ofOthers": factor.others.of,
        "probability": factor.probability,
    })
}

impl Explained {
    fn json(&self) -> Value {
        let Self { failure, factors } = self;
        let factors: Vec<Value> = factors.iter().map(factor_json).collect();
        json!({
            "id": failure.id, "count": failure.nodes.len(), "nodes": fold(&failure.nodes),
            "title": failure.title(), "factors": factors,
        })
    }
}

impl Changed {
    fn json(&self) -> Value {
        let Self { stage, runs: [then, now], differences } = self;
        let difference = |(name, then, now): &(String, String, String)| json!({ "name": name, "then": then, "now": now });
        let differences: Vec<Value> = differences.iter().map(difference).collect();
        json!({ "stage": stage, "success": then, "failure": now, "differences": differences })
    }
}

/// What has changed between the newest failure among `runs`, the newest of which is the first, and the last success of
/// the same stage before it.
fn changes(runs: &[Run]) -> Option<Changed> {
    let at = runs.iter().position(|run| run.failed_stage().is_some())?;
    let now = &runs[at];
    let failed = now.failed_stage()?;
    let succeeded = |run: &'_ &Run| stage_of(run, &failed.stage, Outcome::Success).is_some();
    let then = runs[at + 1..].iter().find(succeeded)?;
    let before = stage_of(then, &failed.stage, Outcome::Success)?;
    let mut differences = Vec::new();
    let mut compare = |name: &str, then: Option<String>, now: Option<String>| {
        if let (Some(then), Some(now)) = (then, now)
            && then != now
        {
            differences.push((name.to_owned(), then, now));
        }
    };
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    compare("bundle", number(then.bundle), number(now.bundle));
    compare("plan", number(then.plan), number(now.plan));
    compare("service", Some(then.service.clone()), Some(now.service.clone()));
    compare("arguments", Some(before.args.join(" ")), Some(failed.args.join(" ")));
    for (name, value) in now.facts.iter() {
        compare(name, then.facts.get(name).map(str::to_owned), Some(value.to_owned()));
    }
    let time = |stage: &Stage| stage.duration_ms.map(wording::milliseconds);
    compare("took", time(before), time(failed));
    Some(Changed {
        stage: failed.stage.clone(),
        runs: [then, now].map(|run| run.run.clone()),
        differences,
    })
}

fn stage_of<'r>(run: &'r Run, name: &str, result: Outcome) -> Option<&'r Stage> {
    run.stages.iter().find(|stage| {
        stage.stage == name && stage.result == Some(result) && stage.skipped.is_none()
    })
}
