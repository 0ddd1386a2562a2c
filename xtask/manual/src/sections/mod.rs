//! What the man pages of commands have besides the command lines: exit statuses, files, examples.

mod command;
mod management_node;
mod node;

use command::Sections;

/// The pages of the reference that each page names.
pub(crate) const SEE_ALSO: [&str; 9] = [
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

fn all() -> impl Iterator<Item = &'static Sections> {
    node::ALL.iter().chain(management_node::all())
}

/// Those of the command `name`.
pub(crate) fn of(name: &str) -> Option<Sections> {
    all().find(|sections| sections.name == name).copied()
}

/// The commands that have some.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|sections| sections.name)
}
