//! The commands of the management node: `provostctl` and `provostd`.

mod access;
mod common;
mod daemon;
mod nodes;
mod publishing;
mod store;

use super::command::Sections;

pub(super) fn all() -> impl Iterator<Item = &'static Sections> {
    [daemon::ALL, publishing::ALL, access::ALL, nodes::ALL, store::ALL].into_iter().flatten()
}
