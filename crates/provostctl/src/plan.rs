use std::fmt::Write;
use std::path::PathBuf;

use provost_plan::nodes::fold;
use provost_plan::{Site, Step, secret};
use provost_record::terminal::escape_cell;
use provost_record::{Paint, wording};

use crate::failure::Failure;
use crate::node_set::NodeName;
use crate::{output, site_file};

/// `provostctl plan`.
#[derive(clap::Args)]
pub(crate) struct Plan {
    /// The node
    #[arg(required_unless_present = "script")]
    node: Option<NodeName>,
    /// What nodes run
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// List the nodes that run this script instead
    #[arg(long, value_name = "SCRIPT", conflicts_with = "node")]
    script: Option<String>,
}

impl Plan {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let site = site_file::read(&self.site)?;
        let text = match (&self.node, &self.script) {
            (Some(node), _) => self.of_node(&site, &node.0)?,
            (None, script) => of_script(&site, script.as_deref().unwrap_or_default()),
        };
        output::print(text.as_bytes())
    }

    fn of_node(&self, site: &Site, node: &str) -> Result<String, Failure> {
        let explained = site.explain(node).ok_or_else(|| {
            let error = format!("{} names no node {node}", self.site.display());
            Failure::new(error, "add it to the nodes of a group, or add a section [nodes.NAME]")
        })?;
        let (plan, paint) = (&explained.plan, Paint::of_stdout());
        let mut text = String::new();
        let lists = [
            ("postscripts", &plan.postscripts, &explained.postscripts),
            ("postbootscripts", &plan.postbootscripts, &explained.postbootscripts),
        ];
        for (name, steps, sections) in lists {
            let lines = steps.iter().map(Step::to_string).zip(sections.iter().copied());
            part(&mut text, name, lines.collect(), paint);
        }
        let value = |name: &str, value: &str| match secret::is_secret(name) {
            true => format!("{name}=(hidden)"),
            false => format!("{name}={value}"),
        };
        let env = plan.env.iter().map(|(name, text)| {
            (value(name, text), explained.env.get(name.as_str()).copied().unwrap_or_default())
        });
        part(&mut text, "environment", env.collect(), paint);
        Ok(text)
    }
}

/// A head, and a line for each thing with the section that it comes from.
fn part(text: &mut String, name: &str, lines: Vec<(String, &str)>, paint: Paint) {
    if lines.is_empty() {
        return;
    }
    let lines: Vec<_> = lines.iter().map(|(what, from)| (escape_cell(what), from)).collect();
    let width = lines.iter().map(|(what, _)| what.chars().count()).max().unwrap_or_default();
    // Writing to a String can't fail.
    let _ = writeln!(text, "{}", paint.strong(name));
    for (what, from) in lines {
        let _ = writeln!(text, "  {what:<width$}  {}", paint.faint(&escape_cell(from)));
    }
}

fn of_script(site: &Site, script: &str) -> String {
    let runs = |plan: &provost_plan::Plan| {
        plan.postscripts.iter().chain(&plan.postbootscripts).any(|step| step.script == script)
    };
    let nodes = site.plans().into_iter().filter(|(_, plan)| runs(plan)).map(|(node, _)| node);
    let nodes: Vec<String> = nodes.collect();
    match nodes.len() {
        0 => format!("no node runs {}\n", escape_cell(script)),
        n => format!("{}: {}\n", wording::count(n, "node"), fold(&nodes)),
    }
}
