use clap::ValueEnum;

/// How a command prints its data: for people, or as one JSON document. The help lists the words alone.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}
