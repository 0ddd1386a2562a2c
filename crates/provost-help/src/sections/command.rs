pub(super) type Exits = &'static [(u8, &'static str)];
pub(super) type Files = &'static [(&'static str, &'static str)];
type Examples = &'static [(&'static str, &'static str)];

/// Of one command.
#[derive(Clone, Copy)]
pub struct Sections {
    /// The command, with those above it.
    pub name: &'static str,
    /// Each exit status with its meaning.
    pub exits: Exits,
    /// Each path with what it has.
    pub files: Files,
    /// What each example does, and its command line.
    pub examples: Examples,
}

pub(super) const fn sections(
    name: &'static str,
    exits: Exits,
    files: Files,
    examples: Examples,
) -> Sections {
    Sections { name, exits, files, examples }
}
