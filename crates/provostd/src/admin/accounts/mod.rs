//! Admins: who uses the admin API, what each may do, and what was changed.

pub(crate) mod actor;
pub(crate) mod api;
pub(crate) mod audit;
pub(crate) mod login;
pub(crate) mod sessions;

pub(crate) use actor::{Actor, May, over_read_only, over_socket};
pub(crate) use audit::{AuditId, AuditLog, LaterResult};
pub(crate) use login::{Logins, over_tls, refuse_other_sites};

pub(crate) use api::{add, audit as list_changes, list, remove};
