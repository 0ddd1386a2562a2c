//! What a dry run has found.

use std::path::PathBuf;

use provost_exec::Secrets;
use provost_sandbox::{Changes, Limits};
use serde_json::Value;

use super::databases::Difference;
use super::would::Would;

/// What a dry run has found.
pub(super) struct Outcome {
    /// The script, with its arguments.
    pub(super) script: String,
    /// The exit status of the program that ran it.
    pub(super) status: i32,
    /// What was refused, or isn't seen in files.
    pub(super) would: Vec<Would>,
    /// Packages, users and groups.
    pub(super) databases: Vec<Difference>,
    /// The files.
    pub(super) changes: Changes,
    /// What was read-only.
    pub(super) read_only: Vec<PathBuf>,
    /// How many bytes there was room for, if that is full.
    pub(super) full: Option<u64>,
    /// The limits that were reached.
    pub(super) reached: Limits,
    /// The record of the step that failed.
    pub(super) failure: Option<Value>,
    /// What nobody is to see.
    pub(super) secrets: Secrets,
}
