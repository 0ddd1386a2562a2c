use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use provost_plan::nodes::fold;
use provost_plan::{Explained, Site, Step, secret};
use provost_record::terminal::escape_cell;
use provost_record::{Paint, wording};
use similar::ChangeTag;

use crate::failure::Failure;
use crate::node_set::NodeName;
use crate::{output, site_file};

/// `provostctl plan`.
#[derive(clap::Args)]
pub(crate) struct Plan {
    /// The node
    #[arg(required_unless_present = "script")]
    node: Option<NodeName>,
    /// Show in what this node differs from another one instead
    #[arg(long, value_name = "OTHER", conflicts_with = "script")]
    diff: Option<NodeName>,
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
        let text = match (&self.node, &self.diff, &self.script) {
            (Some(node), Some(other), _) => self.differences(&site, &node.0, &other.0)?,
            (Some(node), None, _) => self.of_node(&site, &node.0)?,
            (None, _, script) => of_script(&site, script.as_deref().unwrap_or_default()),
        };
        output::print(text.as_bytes())
    }

    fn explain<'s>(&self, site: &'s Site, node: &str) -> Result<Explained<'s>, Failure> {
        site.explain(node).ok_or_else(|| {
            let error = format!("{} names no node {node}", self.site.display());
            Failure::new(error, "add it to the nodes of a group, or add a section [nodes.NAME]")
        })
    }

    /// What one node runs and the other doesn't, or at another place, or with another value.
    fn differences(&self, site: &Site, node: &str, other: &str) -> Result<String, Failure> {
        let (a, b) = (self.explain(site, node)?, self.explain(site, other)?);
        let paint = Paint::of_stdout();
        let mut text = String::new();
        let mut line = |is_added: bool, what: &str, section: &str| {
            let (sign, section) = (if is_added { '+' } else { '-' }, escape_cell(section));
            let what = format!("{sign} {}", escape_cell(what));
            let what = if is_added { paint.good(&what) } else { paint.bad(&what) };
            // Writing to a String can't fail.
            let _ = writeln!(text, "{what}  {}", paint.faint(&section));
        };
        let lists = [
            (
                "postscript",
                (&a.plan.postscripts, &a.postscripts),
                (&b.plan.postscripts, &b.postscripts),
            ),
            (
                "postbootscript",
                (&a.plan.postbootscripts, &a.postbootscripts),
                (&b.plan.postbootscripts, &b.postbootscripts),
            ),
        ];
        for (list, (old, old_from), (new, new_from)) in lists {
            let names = |steps: &[Step]| steps.iter().map(Step::to_string).collect::<Vec<_>>();
            let (old, new) = (names(old), names(new));
            let parts = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
            for change in parts.iter().flat_map(|part| part.iter_changes(&old, &new)) {
                let what = format!("{list} {}", change.value());
                match (change.tag(), change.old_index(), change.new_index()) {
                    (ChangeTag::Delete, Some(at), _) => line(false, &what, old_from[at]),
                    (ChangeTag::Insert, _, Some(at)) => line(true, &what, new_from[at]),
                    _ => {}
                }
            }
        }
        let names: BTreeSet<&String> = a.plan.env.keys().chain(b.plan.env.keys()).collect();
        for name in names.into_iter().filter(|name| a.plan.env.get(*name) != b.plan.env.get(*name))
        {
            for (is_added, of) in [(false, &a), (true, &b)] {
                let Some(value) = of.plan.env.get(name) else { continue };
                let section = of.env.get(name.as_str()).copied().unwrap_or_default();
                line(is_added, &format!("env {}", shown(name, value)), section);
            }
        }
        if a.plan.runbootscripts != b.plan.runbootscripts {
            line(false, &format!("runbootscripts = {}", a.plan.runbootscripts), "");
            line(true, &format!("runbootscripts = {}", b.plan.runbootscripts), "");
        }
        Ok(match text.is_empty() {
            true => format!("{node} and {other} run the same\n"),
            false => format!("--- {node}\n+++ {other}\n{text}"),
        })
    }

    fn of_node(&self, site: &Site, node: &str) -> Result<String, Failure> {
        let explained = self.explain(site, node)?;
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
        let env = plan.env.iter().map(|(name, text)| {
            (shown(name, text), explained.env.get(name.as_str()).copied().unwrap_or_default())
        });
        part(&mut text, "environment", env.collect(), paint);
        Ok(text)
    }
}

/// A variable, without its value if that is secret.
fn shown(name: &str, value: &str) -> String {
    match secret::is_secret(name) {
        true => format!("{name}=(hidden)"),
        false => format!("{name}={value}"),
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
