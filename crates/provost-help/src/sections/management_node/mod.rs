//! The commands of the management node: `provostctl` and `provostd`.

mod access;
mod common;
mod daemon;
mod nodes;
mod publishing;
mod store;

use super::command::Sections;

pub use common::PLAIN;

pub(super) const ALL: &[&[Sections]] =
    &[daemon::ALL, publishing::ALL, access::ALL, nodes::ALL, store::ALL];
