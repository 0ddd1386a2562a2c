use clap::ValueEnum;

/// How a command prints its data.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
}
