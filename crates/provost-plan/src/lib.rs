//! What one node must run: an environment and ordered steps; made from `site.toml`, published as
//! a plan file.

pub mod nodes;
mod plan;
mod site;
mod step;

pub use plan::{Plan, PlanError};
pub use site::{Site, SiteError};
pub use step::{Step, StepError};

/// The line of `text`, from 1, where `span` begins.
fn line_of(text: &str, span: Option<std::ops::Range<usize>>) -> usize {
    let at = span.map_or(0, |span| span.start).min(text.len());
    1 + text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count()
}
