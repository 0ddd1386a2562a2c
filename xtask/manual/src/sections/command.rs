/// Of one command.
#[derive(Clone, Copy)]
pub(crate) struct Sections {
    /// The command, with those above it.
    pub(super) name: &'static str,
    /// Each exit status with its meaning.
    pub(crate) exits: &'static [(u8, &'static str)],
    /// Each path with what it has.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// What each example does, and its command line.
    pub(crate) examples: &'static [(&'static str, &'static str)],
}
