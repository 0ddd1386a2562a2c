//! How statuses look.

use provost_store::Status;

/// The class of style of a status.
pub(super) fn tone(status: Status) -> &'static str {
    match status {
        Status::Failed => "bad",
        Status::Booted => "good",
        Status::Defined => "faint",
        _ => "busy",
    }
}
