//! `provostctl sync`: publishes what has changed, then has nodes install the files of their lists.

use std::collections::BTreeMap;

use provost_plan::nodes::fold;
use provost_plan::{Plan, Site, Step};
use provost_steplog::wording;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::address::Admin;
use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::format::Format;
use crate::on_nodes::OnNodes;
use crate::output;
use crate::publish::Inputs;

/// The postscript that installs files.
const SYNCFILES: &str = "syncfiles";

/// `provostctl sync`.
#[derive(clap::Args)]
pub(crate) struct Sync {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    on: OnNodes,
    /// Show what would be published, and which nodes would sync; change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Sync {
    /// `runtime` isn't entered while it publishes, which asks the daemon by itself.
    pub(crate) fn run(
        self,
        admin: &Admin,
        client: &Client,
        runtime: &Runtime,
    ) -> Result<(), Failure> {
        self.check_script()?;
        // Before anything is published: a name that stands for no node changes nothing.
        let nodes = runtime.block_on(self.on.nodes(client))?;
        let lists = Lists::of(&self.inputs.read_site()?);
        let format = self.on.format();
        self.inputs.run(admin, self.dry_run, format)?;
        if self.dry_run {
            let count = wording::count(nodes.names.len(), "node");
            let text = match format {
                Format::Text => format!("would sync {count}: {}\n", fold(&nodes.names)),
                Format::Json => {
                    let call = |node: &String| {
                        let command = shell_words::join(lists.command(node));
                        json!({"node": node, "command": command})
                    };
                    format!("{}\n", nodes.names.iter().map(call).collect::<Value>())
                }
            };
            return output::print(text.as_bytes());
        }
        runtime.block_on(self.on.run_each(client, &nodes, |node| lists.command(node)))
    }

    fn check_script(&self) -> Result<(), Failure> {
        let scripts = self.inputs.scripts();
        if scripts.join(SYNCFILES).is_file() {
            return Ok(());
        }
        let folder = scripts.display();
        let error = format!("{folder} has no postscript {SYNCFILES}, which installs the files");
        let hint = format!("copy it there: cp /usr/share/provost/postscripts/{SYNCFILES} {folder}");
        Err(Failure::new(error, hint).with_code(WRONG))
    }
}

/// What each node's plan calls `syncfiles` with, in the form of `provost run -P`.
struct Lists(BTreeMap<String, String>);

impl Lists {
    fn of(site: &Site) -> Self {
        let plans = site.plans().into_iter();
        Self(plans.filter_map(|(node, plan)| Some((node, calls(&plan)?))).collect())
    }

    /// The command of `node`: as its plan has it, else without arguments.
    fn command(&self, node: &str) -> Vec<&str> {
        match self.0.get(node) {
            Some(list) => vec!["provost", "run", "-P", list],
            None => vec!["provost", "run", SYNCFILES],
        }
    }
}

fn calls(plan: &Plan) -> Option<String> {
    let steps = plan.postscripts.iter().chain(&plan.postbootscripts);
    let mut calls: Vec<String> =
        steps.filter(|step| step.script == SYNCFILES).map(Step::to_string).collect();
    calls.dedup();
    (!calls.is_empty()).then(|| calls.join(","))
}
