//! `provostctl plan`.

mod differences;
mod published;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use provost_plan::nodes::fold;
use provost_plan::{Explained, Site, Step};
use provost_steplog::terminal::escape_cell;
use provost_steplog::{Paint, wording};

use self::differences::{names, shown};
use self::published::{Published, runs};
use crate::failure::Failure;
use crate::node_set::NodeName;
use crate::{output, site_file};

/// `provostctl plan`.
#[derive(clap::Args)]
pub(crate) struct Plan {
    /// The node
    #[arg(required_unless_present = "script")]
    node: Option<NodeName>,
    /// Show how this node differs from another one instead
    #[arg(long, value_name = "OTHER", conflicts_with = "script")]
    diff: Option<NodeName>,
    /// Site file: which nodes run what
    #[arg(long, value_name = "FILE", required_unless_present = "to", conflicts_with = "to")]
    site: Option<PathBuf>,
    /// Published folder, in place of a site file: www of provostd.toml
    #[arg(long, value_name = "WWW")]
    to: Option<PathBuf>,
    /// List the nodes that run this script instead
    #[arg(long, value_name = "SCRIPT", conflicts_with = "node")]
    script: Option<String>,
}

impl Plan {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = match (&self.to, &self.site) {
            (Some(www), _) => self.of_published(&Published::at(www))?,
            (None, site) => self.of_site(site.as_deref().unwrap_or(Path::new("")))?,
        };
        output::print(text.as_bytes())
    }

    fn of_site(&self, path: &Path) -> Result<String, Failure> {
        let site = site_file::read(path)?;
        Ok(match (&self.node, &self.diff) {
            (Some(node), Some(other)) => {
                let (a, b) = (explain(&site, path, &node.0)?, explain(&site, path, &other.0)?);
                differences::differences(&a, &b)
            }
            (Some(node), None) => of_node(&explain(&site, path, &node.0)?),
            (None, _) => {
                let script = self.script.as_deref().unwrap_or_default();
                let plans = site.plans().into_iter();
                let nodes = plans.filter(|(_, plan)| runs(plan, script)).map(|(node, _)| node);
                of_script(script, &nodes.collect::<Vec<_>>())
            }
        })
    }

    fn of_published(&self, published: &Published<'_>) -> Result<String, Failure> {
        Ok(match (&self.node, &self.diff) {
            (Some(node), Some(other)) => {
                let (a, b) = (published.plan(&node.0)?, published.plan(&other.0)?);
                let (site_a, site_b) = (published.site_of(&a), published.site_of(&b));
                let a = published::explained(a, site_a.as_ref());
                let b = published::explained(b, site_b.as_ref());
                differences::differences(&a, &b)
            }
            (Some(node), None) => {
                let plan = published.plan(&node.0)?;
                let (head, site) = (published::head(&plan), published.site_of(&plan));
                head + &of_node(&published::explained(plan, site.as_ref()))
            }
            (None, _) => {
                let script = self.script.as_deref().unwrap_or_default();
                of_script(script, &published.nodes_that_run(script)?)
            }
        })
    }
}

/// The node's plan, by the site in the file `path`.
pub(crate) fn explain<'s>(
    site: &'s Site,
    path: &Path,
    node: &str,
) -> Result<Explained<'s>, Failure> {
    site.explain(node).ok_or_else(|| {
        let error = format!("{} names no node {node}", path.display());
        Failure::new(error, "add it to the nodes of a group, or add a section [nodes.NAME]")
    })
}

fn of_node(explained: &Explained<'_>) -> String {
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
    let section = |name: &str| explained.env.get(name).copied().unwrap_or_default();
    let env = names(explained).into_iter();
    let env = env.filter_map(|name| Some((shown(explained, name)?, section(name))));
    part(&mut text, "environment", env.collect(), paint);
    text
}

/// A head, and a line for each thing with the section that it comes from, if that is known.
fn part(text: &mut String, name: &str, lines: Vec<(String, &str)>, paint: Paint) {
    if lines.is_empty() {
        return;
    }
    let lines: Vec<_> = lines.iter().map(|(what, from)| (escape_cell(what), *from)).collect();
    let width = lines.iter().map(|(what, _)| what.chars().count()).max().unwrap_or_default();
    // Writing to a String can't fail.
    let _ = writeln!(text, "{}", paint.strong(name));
    for (what, from) in lines {
        let _ = match from {
            "" => writeln!(text, "  {what}"),
            from => writeln!(text, "  {what:<width$}  {}", paint.faint(&escape_cell(from))),
        };
    }
}

fn of_script(script: &str, nodes: &[String]) -> String {
    match nodes.len() {
        0 => format!("no node runs {}\n", escape_cell(script)),
        n => format!("{}: {}\n", wording::count(n, "node"), fold(nodes)),
    }
}
