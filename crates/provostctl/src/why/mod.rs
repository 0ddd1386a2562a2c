//! `provostctl why`: what nodes that failed have in common and the others don't, and what has changed on a node since it
//! last succeeded.

mod changed;

use std::fmt::Write;
use std::str::FromStr;

use provost_api::admins;
use provost_plan::nodes::{expand, fold};
use provost_record::Cause;
use provost_steplog::terminal::{escape_cell, escape_json};
use provost_steplog::{Paint, wording};
use provost_store::{
    Factor, FailureGroup, MAX_RUNS, Node, SinceSuccess, SiteFacts, are_comparable, factors_of,
    failure_groups, has_failed,
};
use serde_json::{Value, json};

use crate::client::{Client, NodeHistory};
use crate::failure::Failure;
use crate::format::Format;
use crate::node_set::NodeName;
use crate::output;
use changed::changed;

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

impl Why {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let nodes: Vec<Node> = client.nodes(None).await?;
        let failures = failure_groups(&nodes);
        let site = site_facts(client, &failures).await;
        let factors = factors_of(&failures, nodes.iter(), &site);
        let mut explained: Vec<Explained> = failures
            .into_iter()
            .zip(factors)
            .map(|(failure, factors)| Explained { failure, factors })
            .collect();
        let mut changes = None;
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
                    changes = changed(client, name, &history.runs()).await;
                }
            }
        }
        let others = nodes.iter().filter(|node| !has_failed(node) && node.run.is_some()).count();
        let text = match self.format {
            Format::Json => {
                let all: Vec<Value> = explained.iter().map(Explained::json).collect();
                let mut document = json!({ "failures": all, "others": others });
                if let Some(changed) = &changes {
                    document["changed"] = serde_json::to_value(changed)
                        .unwrap_or_else(|e| json!({ "error": e.to_string() }));
                }
                escape_json(&document.to_string()) + "\n"
            }
            Format::Text => self.text(&explained, changes.as_ref(), others),
        };
        output::print(text.as_bytes())
    }

    fn text(
        &self,
        explained: &[Explained],
        changed: Option<&SinceSuccess>,
        others: usize,
    ) -> String {
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
            if failure.detail.cause == Some(Cause::Held)
                && let Some(why) = &failure.detail.error_message
            {
                // The guard's own line: which failures they were.
                let _ = writeln!(part, "    {}", escape_cell(why));
            }
            for factor in factors.iter().take(MOST_FACTORS) {
                let _ = writeln!(part, "    {}", escape_cell(&factor.to_string()));
            }
            if factors.is_empty() {
                let _ = match others {
                    0 => writeln!(part, "    there is no other node to compare with"),
                    n => {
                        let count = wording::count(n, "other");
                        writeln!(part, "    nothing distinguishes them from {count}")
                    }
                };
            }
            parts.push(part);
        }
        if let Some(changed) = changed {
            parts.push(changed::text(changed, paint));
        }
        parts.join("\n")
    }
}

/// The groups of the published site and what was published, where there are failures to compare by them.
pub(crate) async fn site_facts(client: &Client, failures: &[FailureGroup]) -> SiteFacts {
    if !are_comparable(failures) {
        return SiteFacts::default();
    }
    // Without them the other factors are still compared.
    let published = client.get::<admins::Groups>(admins::GROUPS).await;
    let groups = published.map(|site| site.groups).unwrap_or_default();
    let groups = groups.into_iter().map(|(name, nodes)| (name, expand(&nodes).unwrap_or_default()));
    let publications: Vec<admins::Publication> =
        client.get(admins::PUBLICATIONS).await.unwrap_or_default();
    SiteFacts::new(groups, &publications)
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
