//! The kinds of management nodes: what a node fetches from each, and who there is notified of a run.

use crate::fetch::folder::Folder;
use crate::fetch::published::Published;
use crate::fetch::source::{Connection, Source};
use crate::observe::observer::Observer;
use crate::observe::report::Reporting;
use crate::settings::Input;

/// A kind of management node, as `source.kind` names it.
pub struct ManagementKind {
    /// The word in the configuration.
    pub name: &'static str,
    /// What it takes to work with one. Nothing is sent before [`Source::prefetch`] or
    /// [`Observer::run_started`].
    pub connect: fn(&Input, &Connection) -> Management,
}

/// A management node as one run knows it.
pub struct Management {
    /// Where the scripts and the plan come from.
    pub source: Box<dyn Source>,
    /// Who there is notified of the run.
    pub observers: Vec<Box<dyn Observer>>,
}

/// A management node that serves what `provostctl publish` made and takes records.
pub const PUBLISHED: ManagementKind = ManagementKind {
    name: "provost",
    connect: |_, connection| Management {
        source: Box::new(Published::new(connection.clone())),
        observers: vec![Box::new(Reporting::new(connection.clone()))],
    },
};

/// No management node at all: scripts and plan are on this machine, and nobody is notified.
pub const FOLDER: ManagementKind = ManagementKind {
    name: "folder",
    connect: |_, connection| Management {
        source: Box::new(Folder::new(connection.clone())),
        observers: Vec::new(),
    },
};
