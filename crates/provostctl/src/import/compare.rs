//! What a node would get by an imported plan that xCAT doesn't hand it today, or the other way round.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use provost_plan::{Plan, Site, nodes};
use provost_steplog::terminal::escape_cell;
use provost_steplog::wording;

use super::mypostscripts::{Handed, words};
use crate::failure::Failure;
use crate::output;

/// Prints each difference, and the nodes that have it. Fails if there is one.
pub(super) fn compare(
    handed: &BTreeMap<String, Handed>,
    site: &Site,
    path: &Path,
) -> Result<(), Failure> {
    let mut of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut different = BTreeSet::new();
    for (node, handed) in handed {
        let explained = site.explain(node);
        let lines = match &explained {
            None => vec![format!("{} has no such node", path.display())],
            Some(explained) => differences(handed, &explained.plan),
        };
        for line in lines {
            different.insert(node);
            of.entry(line).or_default().push(node.clone());
        }
    }
    for (line, nodes) in &of {
        let line = format!("{}: {}\n", nodes::fold(nodes), escape_cell(line));
        output::print(line.as_bytes())?;
    }
    let all = wording::count(handed.len(), "node");
    if different.is_empty() {
        output::note(&format!("{all}; no difference"));
        return Ok(());
    }
    let error =
        format!("{} of {all} would run something else than xCAT hands them today", different.len());
    let hint = format!("change {}, or leave it so on purpose", path.display());
    Err(Failure::new(error, hint))
}

/// Each in a line. What is empty for xCAT isn't set here.
fn differences(handed: &Handed, plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    let names: BTreeSet<&String> = handed.env.keys().chain(plan.env.keys()).collect();
    for name in names {
        let value =
            |env: &BTreeMap<String, String>| env.get(name).filter(|v| !v.is_empty()).cloned();
        let (there, here) = (value(&handed.env), value(&plan.env));
        // Nobody can say whether it is the same.
        let is_computed = there.is_none() && handed.computed.contains(name);
        if there != here && !is_computed {
            let shown =
                |value: Option<String>| value.map_or("not set".into(), |v| format!("{v:?}"));
            lines.push(format!("{name} is {} by xCAT, {} here", shown(there), shown(here)));
        }
    }
    let unset = handed.computed.iter().filter(|name| !plan.env.contains_key(*name));
    lines.extend(unset.map(|name| format!("{name} is computed on the node by xCAT, not set here")));
    lines.extend(handed.unusable.iter().map(|what| format!("{what}; it isn't here")));
    for (list, steps) in
        [("postscripts", &plan.postscripts), ("postbootscripts", &plan.postbootscripts)]
    {
        let here: Vec<String> = steps.iter().map(words).collect();
        // Here a script that is listed twice runs once.
        let mut there: Vec<String> = Vec::new();
        for (_, step) in handed.steps.get(list).into_iter().flatten() {
            if !there.contains(step) {
                there.push(step.clone());
            }
        }
        if there != here {
            lines.push(format!("{list} are {there:?} by xCAT, {here:?} here"));
        }
    }
    lines
}
