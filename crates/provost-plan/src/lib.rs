//! What one node must run: an environment and ordered steps; made from `site.toml`, published as
//! a plan file; or from xCAT's `mypostscript`.
//!
//! A node only reads its plan. Sites and node ranges are behind the feature `site`.

pub mod mypostscript;
#[cfg(feature = "site")]
pub mod nodes;
mod plan;
#[cfg(feature = "site")]
mod site;
mod step;

pub use plan::{Plan, PlanError};
#[cfg(feature = "site")]
pub use site::{Site, SiteError};
pub use step::{Step, StepError};

/// Whether `name` can be a node's: at once a file name, a host name and a word of a shell.
pub fn is_node_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !name.starts_with(['.', '-']) && (1..=200).contains(&name.len()) && name.chars().all(allowed)
}
