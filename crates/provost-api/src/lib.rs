//! The contract between the programs: what a node, the daemon and the admin's command of any two versions say to each
//! other.

mod words;

pub use words::{
    Cause, NoticeKind, Outcome, Phase, Role, Service, Status, UnknownRole, UpdateStatus, Word,
};
