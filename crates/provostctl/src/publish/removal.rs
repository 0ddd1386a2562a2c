//! A publication that takes all scripts from many nodes is often a mistake: an empty `site.toml`, or
//! a group whose range was mistyped.

use provost_publish::Changes;
use provost_steplog::wording;

use super::plan_changes::without_scripts;
use super::summary::folded;
use crate::failure::Failure;
use crate::output;

/// So many nodes may lose all their scripts without a question.
const A_FEW: usize = 3;

/// Fails if the change takes all scripts from more than a few nodes, or from all nodes.
pub(super) fn check(changes: &Changes, to: &str) -> Result<(), Failure> {
    let lost = without_scripts(&changes.plans);
    let is_all = !lost.is_empty() && changes.plans_after == 0;
    if lost.len() <= A_FEW && !is_all {
        return Ok(());
    }
    let (nodes, folded) = (wording::count(lost.len(), "node"), folded(&lost));
    Err(Failure::new(
        format!("publishing to {to} would leave no script on {nodes}: {folded}"),
        "see what changes: provostctl publish … --diff; if it is right, add --allow-removal",
    ))
}

/// Whether an admin at a terminal wants it all the same.
pub(super) fn is_confirmed(failure: &Failure) -> bool {
    if !output::can_ask() {
        return false;
    }
    output::error(failure);
    output::ask("publish it? [y/N] ")
}
