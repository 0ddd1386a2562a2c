//! What the man pages of commands have besides the command lines: exit statuses, files, examples.

mod management_node;
mod node;

/// Of one command.
#[derive(Clone, Copy)]
pub(crate) struct Sections {
    /// The command, with those above it.
    name: &'static str,
    /// Each exit status with its meaning.
    pub(crate) exits: &'static [(u8, &'static str)],
    /// Each path with what it has.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// What each example does, and its command line.
    pub(crate) examples: &'static [(&'static str, &'static str)],
}

/// The pages of the reference that each page names.
pub(crate) const SEE_ALSO: [&str; 8] = [
    "provost(8)",
    "provostctl(8)",
    "provostd(8)",
    "provost.toml(5)",
    "provostd.toml(5)",
    "provost-site.toml(5)",
    "provost-script(5)",
    "provost-json(5)",
];

fn all() -> impl Iterator<Item = &'static Sections> {
    node::ALL.iter().chain(management_node::ALL)
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
