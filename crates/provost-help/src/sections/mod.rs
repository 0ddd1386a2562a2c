//! What commands have besides their command lines, in help and man pages: exit statuses, files, examples.

mod command;
mod management_node;
mod node;

pub use command::Sections;
pub use management_node::PLAIN;

/// The pages of the reference that each man page names.
pub const SEE_ALSO: [&str; 9] = [
    "provost(8)",
    "provostctl(8)",
    "provostd(8)",
    "provost.toml(5)",
    "provostd.toml(5)",
    "provostctl.toml(5)",
    "provost-site.toml(5)",
    "provost-script(5)",
    "provost-json(5)",
];

/// Those of `provost`.
pub const NODE: &[&[Sections]] = &[node::ALL];
/// Those of `provostctl` and `provostd`.
pub const MANAGEMENT_NODE: &[&[Sections]] = management_node::ALL;

/// Those of all programs.
pub fn all() -> impl Iterator<Item = &'static Sections> {
    NODE.iter().chain(MANAGEMENT_NODE).copied().flatten()
}

/// Those of the command `name`.
pub fn of(name: &str) -> Option<Sections> {
    all().find(|sections| sections.name == name).copied()
}
