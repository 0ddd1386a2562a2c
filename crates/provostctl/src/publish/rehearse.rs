//! `provostctl publish --rehearse`: what would change for nodes runs there, where it can change nothing.

use std::collections::{BTreeMap, BTreeSet};

use provost_plan::nodes::fold;
use provost_plan::{Plan, Step};
use provost_publish::{Changes, PlanChange, Prepared, Rehearsal};
use provost_steplog::wording;

use super::problems::print_problems;
use crate::address::Admin;
use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::format::Format;
use crate::node_query::NodeQuery;
use crate::node_set::NodeSet;
use crate::on_nodes::dry_run;
use crate::output;
use crate::ssh::{Remote, Ssh};

/// What runs in the folder with the rehearsal.
const DRY_RUN: [&str; 7] = ["provost", "run", "--dry-run", "--bundle", ".", "--format", "json"];

/// Where it is rehearsed.
#[derive(Clone, Default, clap::Args)]
#[command(next_help_heading = "Rehearsal")]
pub(crate) struct Rehearse {
    /// Show what would change on these nodes, by running it there without effect; publish nothing
    #[arg(long = "rehearse", value_name = "NODES", group = "formatted")]
    #[arg(conflicts_with_all = ["lint_only", "check", "diff"])]
    nodes: Option<NodeQuery>,
    #[command(flatten)]
    ssh: Ssh,
}

impl Rehearse {
    pub(super) fn is_wanted(&self) -> bool {
        self.nodes.is_some()
    }

    /// Runs what `changes`, and prints what that would change on the nodes.
    pub(super) fn run(
        &self,
        admin: &Admin,
        prepared: &Prepared<'_>,
        changes: &Changes,
        plans: &BTreeMap<String, String>,
        format: Format,
    ) -> Result<(), Failure> {
        let Some(query) = &self.nodes else { return Ok(()) };
        let client = Client::new(admin)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Failure::of(&e, "check the limits of this process (ulimit -n)"))?;
        let nodes = runtime.block_on(crate::node_list::of_query(query, &client))?;
        let lists = Lists::new(prepared, changes, plans, &nodes)?;
        let NodeSet { names } = &nodes;
        let (names, idle): (Vec<_>, Vec<_>) =
            names.iter().cloned().partition(|node| lists.0.contains_key(node));
        if !idle.is_empty() {
            let count = wording::count(idle.len(), "node");
            output::note(&format!("note: nothing changes for {count}: {}", fold(&idle)));
        }
        let named: BTreeSet<String> = names.iter().cloned().collect();
        let rehearsal = prepared.rehearsal(&named).map_err(print_problems)?;
        if !names.is_empty() {
            let steps = lists.0.values().flatten();
            let scripts: BTreeSet<&str> = steps.map(|step| step.script.as_str()).collect();
            let scripts = scripts.into_iter().collect::<Vec<_>>().join(", ");
            let (count, generation) = (wording::count(names.len(), "node"), rehearsal.generation);
            output::note(&format!(
                "rehearsing generation {generation} on {count}: {scripts}; nothing is published"
            ));
        }
        let lists = lists.texts();
        let remote = |node: &str| Remote {
            command: [&DRY_RUN[..], &["-P", lists.get(node).map_or("", String::as_str)]].concat(),
            report: None,
            // In memory nothing fails.
            files: archive(&rehearsal, node).ok(),
        };
        let nodes = NodeSet { names };
        runtime.block_on(dry_run::on_each(&self.ssh, format, &client, &nodes, remote))
    }
}

/// What runs on each node: the steps of its plan that change, or that anything changes for. Nodes where
/// nothing does aren't in it.
struct Lists(BTreeMap<String, Vec<Step>>);

impl Lists {
    fn new(
        prepared: &Prepared<'_>,
        changes: &Changes,
        plans: &BTreeMap<String, String>,
        nodes: &NodeSet,
    ) -> Result<Self, Failure> {
        let unknown: Vec<String> =
            nodes.names.iter().filter(|node| !plans.contains_key(*node)).cloned().collect();
        if !unknown.is_empty() {
            let error = format!("rehearsing on {}: the site doesn't name them", fold(&unknown));
            return Err(Failure::new(error, "name nodes that have a plan").with_code(WRONG));
        }
        let files = affected(prepared, changes)?;
        let changed: BTreeMap<&str, &PlanChange> =
            changes.plans.iter().map(|change| (change.node.as_str(), change)).collect();
        let mut lists = BTreeMap::new();
        for node in &nodes.names {
            let Some(plan) = plans.get(node).and_then(|body| parse(body)) else { continue };
            let before = changed.get(node.as_str()).map(|change| Before::of(change));
            let mut steps: Vec<Step> =
                plan.postscripts.iter().chain(&plan.postbootscripts).cloned().collect();
            steps.retain(|step| {
                let is_new = before.as_ref().is_some_and(|before| before.lacks(step, &plan));
                is_new || files.contains(&step.script)
            });
            let mut seen = Vec::new();
            steps.retain(|step| {
                let is_first = !seen.contains(step);
                seen.push(step.clone());
                is_first
            });
            if !steps.is_empty() {
                lists.insert(node.clone(), steps);
            }
        }
        Ok(Self(lists))
    }

    /// In the form of `provost run -P`.
    fn texts(self) -> BTreeMap<String, String> {
        let text =
            |steps: Vec<Step>| steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        self.0.into_iter().map(|(node, steps)| (node, text(steps))).collect()
    }
}

/// A plan that changes, as it was.
struct Before {
    plan: Option<Plan>,
    has_other_secrets: bool,
}

impl Before {
    fn of(change: &PlanChange) -> Self {
        let plan = change.before.as_ref().and_then(|(_, body)| parse(body));
        Self { plan, has_other_secrets: !change.secrets.is_empty() }
    }

    /// Whether it didn't have the step, or had it with another environment.
    fn lacks(&self, step: &Step, after: &Plan) -> bool {
        let Some(plan) = &self.plan else { return true };
        let mut steps = plan.postscripts.iter().chain(&plan.postbootscripts);
        self.has_other_secrets
            || plan.env != after.env
            || plan.secret_env != after.secret_env
            || !steps.any(|one| one == step)
    }
}

fn parse(body: &str) -> Option<Plan> {
    Plan::parse(format!("generation = 1\n{body}").as_bytes()).ok()
}

/// The files that change, and those that mention one of these, whatever for.
fn affected(prepared: &Prepared<'_>, changes: &Changes) -> Result<BTreeSet<String>, Failure> {
    let mut all: BTreeSet<String> = changes.files.iter().map(|file| file.path.clone()).collect();
    let mut texts = Vec::new();
    for source in prepared.sources() {
        let content = source.read().map_err(print_problems)?;
        texts.push((source.entry.path.as_str(), String::from_utf8_lossy(&content).into_owned()));
    }
    let mut found: Vec<String> = all.iter().cloned().collect();
    while let Some(path) = found.pop() {
        let name = path.rsplit('/').next().unwrap_or(&path);
        for (other, text) in &texts {
            if !all.contains(*other) && text.contains(name) {
                all.insert((*other).to_owned());
                found.push((*other).to_owned());
            }
        }
    }
    Ok(all)
}

/// What the node gets.
fn archive(rehearsal: &Rehearsal, node: &str) -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in rehearsal.files(node) {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        archive.append_data(&mut header, name, &**content)?;
    }
    archive.into_inner()
}
