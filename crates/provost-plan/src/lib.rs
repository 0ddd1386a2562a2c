//! What one node must run: an environment and ordered steps; made from `site.toml`, published as
//! a plan file; or from xCAT's `mypostscript`.
//!
//! A node only reads its plan. Sites and node ranges are behind the feature `site`.

#[cfg(feature = "site")]
pub mod difference;
#[cfg(feature = "site")]
mod groups;
pub mod mypostscript;
mod name;
#[cfg(feature = "site")]
pub mod nodes;
mod plan;
pub mod secret;
#[cfg(feature = "site")]
mod site;
mod step;

#[cfg(feature = "site")]
pub use groups::{Groups, Resolver};
pub use name::is_node_name;
pub use plan::{Plan, PlanError};
#[cfg(feature = "schema")]
pub use site::schema as site_schema;
#[cfg(feature = "site")]
pub use site::{Explained, Site, SiteError, Texts};
pub use step::{Step, StepError};
