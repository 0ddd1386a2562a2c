//! What is typed on each node to carry out an order.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use provost_api::published;
use provost_bundle::Manifest;
use provost_plan::nodes::fold;
use provost_plan::{Plan, Step, is_node_name};
use provost_record::Service;
use provost_store::{RunQuery, Store};
use tokio::task::spawn_blocking;

use super::order::Order;
use crate::admin::request::{absent, invalid};
use crate::listener::refusal::Refusal;
use crate::nodes::history;
use crate::published::PublishedFolder;

/// Among how many of a node's newest runs its last kickstart or boot is looked for.
const LATEST: usize = 100;

/// The commands of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// Each with its nodes.
    pub(crate) typed: BTreeMap<String, Vec<String>>,
    /// The nodes whose plans don't have the script: they run it without arguments.
    pub(crate) unplanned: Vec<String>,
}

impl Commands {
    /// Those of `nodes`; `script` is that of a rerun.
    pub(crate) async fn new(
        order: Order,
        script: Option<&str>,
        nodes: &[String],
        store: &dyn Store,
        www: &PublishedFolder,
    ) -> Result<Self, Refusal> {
        let mut commands = Self::default();
        let mut add = |command: &str, node: &str| {
            let same: &mut Vec<String> = commands.typed.entry(command.to_owned()).or_default();
            same.push(node.to_owned());
        };
        match (order, script) {
            (Order::Boot, _) => nodes.iter().for_each(|node| add("provost boot", node)),
            (Order::Continue, _) => {
                let known = store.nodes_named(nodes.to_vec()).await?;
                let services: HashMap<_, _> =
                    known.into_iter().map(|node| (node.name, node.service)).collect();
                for node in nodes {
                    let service = services.get(node).and_then(Option::as_deref);
                    add(unfinished(store, node, service).await?, node);
                }
            }
            (Order::Rerun, None) => {
                return Err(invalid("no script is named".to_owned(), "choose one of the list"));
            }
            (Order::Rerun, Some(script)) => {
                let (www, script, nodes) = (www.clone(), script.to_owned(), nodes.to_vec());
                return spawn_blocking(move || Self::of_script(&www, &script, nodes)).await?;
            }
        }
        Ok(commands)
    }

    /// Those that run a published script as the plan of each node has it.
    fn of_script(www: &Path, script: &str, nodes: Vec<String>) -> Result<Self, Refusal> {
        if !scripts(www).iter().any(|published| published == script) {
            let error = format!("no script {script:?} is published");
            return Err(absent(error, "choose one of the list, or publish it"));
        }
        let mut commands = Self::default();
        for node in nodes {
            let steps = planned(www, &node, script);
            let command = match &steps[..] {
                [] => Step { script: script.to_owned(), args: Vec::new() }.to_string(),
                [one] => one.clone(),
                many => format!("-P {}", quoted(&many.join(","))),
            };
            if steps.is_empty() {
                commands.unplanned.push(node.clone());
            }
            commands.typed.entry(format!("provost run {command}")).or_default().push(node);
        }
        Ok(commands)
    }

    /// What an admin types instead, on a machine that can log in to the nodes.
    pub(crate) fn by_hand(&self, order: Order) -> Vec<String> {
        let by_hand = |(command, nodes): (&String, &Vec<String>)| {
            let run = command.strip_prefix("provost run ").unwrap_or_default();
            format!("provostctl rerun {} {run}", fold(nodes))
        };
        match order {
            // It finds out itself which nodes are in their installer.
            Order::Continue | Order::Boot => {
                let nodes: Vec<String> = self.typed.values().flatten().cloned().collect();
                vec![format!("provostctl {} {}", order.word(), fold(&nodes))]
            }
            Order::Rerun => self.typed.iter().map(by_hand).collect(),
        }
    }
}

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The command that runs what the last kickstart or boot of `node` left unfinished. `service` is that of its status.
async fn unfinished(
    store: &dyn Store,
    node: &str,
    service: Option<&str>,
) -> Result<&'static str, Refusal> {
    let command = |service: &str| {
        let known = Service::ALL.into_iter().find(|known| known.as_str() == service);
        known?.continue_command()
    };
    let mut last = service.and_then(command);
    // What is shown is a rerun; what is unfinished is older.
    if last.is_none() && service == Some(Service::Run.as_str()) {
        let query = RunQuery { brief: LATEST, ..RunQuery::newest(1) };
        let stored = store.runs(node, query).await?.runs;
        let mut runs = stored.iter().flat_map(|run| history::runs_of(run, &BTreeSet::new()));
        last = runs.find_map(|run| command(&run.service));
    }
    Ok(last.or_else(|| Service::Boot.continue_command()).unwrap_or_default())
}

/// The names of what is published.
pub(crate) fn scripts(www: &Path) -> Vec<String> {
    let text = fs::read(www.join(published::MANIFEST)).ok();
    let manifest = text.and_then(|text| Manifest::parse(&text).ok());
    manifest.map(|m| m.files.into_iter().map(|file| file.path).collect()).unwrap_or_default()
}

/// How the plan of `node` runs `script`, each way once, in its order.
fn planned(www: &Path, node: &str, script: &str) -> Vec<String> {
    // Else it could be the name of another file.
    if !is_node_name(node) {
        return Vec::new();
    }
    let text = fs::read(www.join(published::plan(node))).ok();
    let Some(plan) = text.and_then(|text| Plan::parse(&text).ok()) else { return Vec::new() };
    let steps = plan.postscripts.iter().chain(&plan.postbootscripts);
    let mut found: Vec<String> = Vec::new();
    for step in steps.filter(|step| step.script == script).map(Step::to_string) {
        if !found.contains(&step) {
            found.push(step);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(typed: &[(&str, &[&str])]) -> Commands {
        let one = |(command, nodes): &(&str, &[&str])| {
            (command.to_string(), nodes.iter().map(|node| node.to_string()).collect())
        };
        Commands { typed: typed.iter().map(one).collect(), unplanned: Vec::new() }
    }

    #[test]
    fn an_admin_types_the_same_by_hand() {
        let unfinished = commands(&[
            ("provost boot --continue", &["cn001", "cn003"]),
            ("provost kickstart --continue", &["cn002"]),
        ]);
        assert_eq!(unfinished.by_hand(Order::Continue), ["provostctl continue cn[001-003]"]);
        let script = commands(&[
            ("provost run mount /a", &["cn001"]),
            ("provost run mount '/b c'", &["cn002", "cn003"]),
        ]);
        let rerun =
            ["provostctl rerun cn[002-003] mount '/b c'", "provostctl rerun cn001 mount /a"];
        assert_eq!(script.by_hand(Order::Rerun), rerun);
        assert_eq!(quoted("a 'b',c"), r"'a '\''b'\'',c'");
    }
}
