//! What many of these commands have.

use crate::sections::command::Exits;

pub(super) const DONE: (u8, &str) = (0, "Done.");
pub(super) const FAILED: (u8, &str) = (1, "It failed; the error says why, and what to do.");
pub(super) const WRONG: (u8, &str) = (2, "The command line is wrong.");
/// The exit statuses of most commands.
pub const PLAIN: Exits = &[DONE, FAILED, WRONG];
pub(super) const SOCKET: (&str, &str) = (
    "/var/lib/provostd/admin.sock",
    "Where provostd answers, for root and the group provost-operators.",
);
