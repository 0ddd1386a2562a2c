//! How a run works with an xCAT management node.

use provost_node::fetch::source::{Connection, Source};
use provost_node::observe::observer::Observer;
use provost_node::runner::{Management, ManagementKind};
use provost_node::settings::{Input, Origin, Xcat};

use crate::commands::COMMAND;
use crate::commands::install::has_boot_unit;
use crate::observers::log::{SyslogTarget, XcatLog};
use crate::observers::node_files::NodeFiles;
use crate::source::published::PublishedScripts;
use crate::source::unmodified::UnmodifiedScripts;
use crate::status::observer::StatusReporter;

/// An xCAT management node, `kind = "xcat"` under `[source]`.
pub const XCAT: ManagementKind = ManagementKind { name: "xcat", connect };

/// # Panics
///
/// When the management node isn't xCAT's.
fn connect(input: &Input, connection: &Connection) -> Management {
    let xcat = connection.settings.xcat.clone().expect("settings of this kind have this part");
    let is_moved = origin(input, "servers") == Some(&Origin::Flag("-M"));
    let is_command = origin(input, "source.kind") == Some(&Origin::Flag(COMMAND));
    let is_of_boot_unit = is_command && has_boot_unit(&connection.paths.etc);
    let observers: Vec<Box<dyn Observer>> = vec![
        Box::new(XcatLog::new(syslog_target(input))),
        Box::new(NodeFiles::new(xcat.clone(), is_moved)),
        Box::new(StatusReporter::new(connection, xcat.clone(), is_of_boot_unit)),
    ];
    Management { source: source(connection.clone(), xcat), observers }
}

fn source(connection: Connection, xcat: Xcat) -> Box<dyn Source> {
    match connection.settings.trust.is_unsigned() {
        true => Box::new(UnmodifiedScripts::new(connection, xcat)),
        false => Box::new(PublishedScripts::new(connection, xcat)),
    }
}

fn syslog_target(input: &Input) -> SyslogTarget {
    match origin(input, "log.syslog") {
        None | Some(Origin::Default) => SyslogTarget::ManagementNode,
        Some(_) => SyslogTarget::Configured(input.messages().ok().and_then(|m| m.syslog)),
    }
}

/// Where the value of `key` comes from.
fn origin<'i>(input: &'i Input, key: &str) -> Option<&'i Origin> {
    input.values().find(|(name, ..)| *name == key).map(|(.., origin)| origin)
}
