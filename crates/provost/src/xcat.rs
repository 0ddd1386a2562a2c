//! Everything that this program has of xCAT: commands, and parts of other commands. Without the feature
//! `xcat` it has none of it.

#[cfg(not(feature = "xcat"))]
pub(crate) use absent::*;
#[cfg(feature = "xcat")]
pub(crate) use present::*;

#[cfg(feature = "xcat")]
mod present {
    use provost_node::failure::Failure;
    use provost_node::settings::{Flag, Input};
    use provost_record::ExitCode;
    use provost_xcat::commands::call::Call;
    use provost_xcat::commands::{install, source_kind};

    pub(crate) use provost_xcat::check::{try_monitor, try_server};
    pub(crate) use provost_xcat::commands::call::called;
    pub(crate) use provost_xcat::commands::install::check as check_installation;
    pub(crate) use provost_xcat::{StatusMessage, describe, status_messages};

    #[derive(clap::Subcommand)]
    pub(crate) enum Command {
        /// Replace xCAT's programs by calls of provost, or undo it
        #[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
        Install {
            /// Replace xcatdsklspost, and xcatinstallpost on a node that xCAT has installed
            #[arg(long, group = "what")]
            xcat: bool,
            /// Restore the originals
            #[arg(long, group = "what")]
            remove: bool,
            /// Also configure this node to behave as xCAT does, such as continuing after a failure:
            /// provost.d/as-xcat.toml, which says what each line gives up
            #[arg(long, requires = "xcat", conflicts_with = "remove")]
            as_xcat: bool,
        },
        /// Stand in for xCAT's program, for its boot unit and updatenode
        Xcatdsklspost {
            /// As xcatdsklspost takes them
            #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
            args: Vec<String>,
        },
        /// Stand in for xCAT's program at the first boot
        Xcatinstallpost,
    }

    impl Command {
        /// The settings that it gives.
        pub(crate) fn flags(&self) -> Result<Vec<Flag>, Failure> {
            match self {
                Self::Install { .. } => Ok(vec![source_kind("install --xcat")]),
                Self::Xcatdsklspost { args } => Call::read(args).map(|call| call.flags),
                Self::Xcatinstallpost => Ok(Call::first_boot().flags),
            }
        }

        pub(crate) fn run(self, input: &Input) -> Result<ExitCode, Failure> {
            match self {
                Self::Install { remove, as_xcat, .. } => Ok(install::main(input, remove, as_xcat)),
                Self::Xcatdsklspost { args } => Call::read(&args).map(|call| call.run(input)),
                Self::Xcatinstallpost => Ok(Call::first_boot().run(input)),
            }
        }
    }
}

#[cfg(not(feature = "xcat"))]
mod absent {
    use std::ffi::OsString;
    use std::path::Path;
    use std::time::Duration;

    use provost_http::Client;
    use provost_node::failure::Failure;
    use provost_node::finding::{Finding, ServerCheck};
    use provost_node::settings::{Flag, Input, Paths, Settings};
    use provost_record::ExitCode;
    use reqwest::Url;

    #[derive(clap::Subcommand)]
    pub(crate) enum Command {}

    impl Command {
        pub(crate) fn flags(&self) -> Result<Vec<Flag>, Failure> {
            match *self {}
        }

        pub(crate) fn run(self, _: &Input) -> Result<ExitCode, Failure> {
            match self {}
        }
    }

    /// There is none.
    #[derive(serde::Serialize)]
    pub(crate) enum StatusMessage {}

    impl StatusMessage {
        pub(crate) fn is_waiting(&self) -> bool {
            match *self {}
        }
    }

    pub(crate) fn called(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
        args.collect()
    }

    pub(crate) fn describe(_: &[StatusMessage]) -> String {
        String::new()
    }

    pub(crate) fn status_messages(_: &Path) -> Vec<StatusMessage> {
        Vec::new()
    }

    pub(crate) fn check_installation(_: &Paths) -> Option<Finding> {
        None
    }

    pub(crate) async fn try_monitor(_: &Settings, _: Duration) -> Option<Finding> {
        None
    }

    pub(crate) async fn try_server(_: &Client, _: &Url, _: &Settings) -> Option<ServerCheck> {
        None
    }
}
