//! Admins: who uses the admin API, what each may do, and what was changed.

mod actor;
mod api;
mod audit;
mod login;
mod sessions;

pub(crate) use actor::{Actor, May, over_read_only, over_socket};
pub(crate) use audit::change;
pub(crate) use login::{over_tls, refuse_other_sites};
pub(crate) use sessions::Sessions;

pub(crate) use api::{add, audit as list_changes, list, remove};
