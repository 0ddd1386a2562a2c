use jiff::Timestamp;

use crate::{Admin, Answer, AuditEntry};

/// The admins, and what they changed.
pub trait Accounts {
    /// Adds an admin, and the SHA-256 of the token; one of the same name whose token has ended is
    /// replaced. Returns whether the name was free.
    fn add_admin(&self, admin: Admin, sha256: [u8; 32]) -> Answer<'_, bool>;

    /// Removes an admin, whose token ends with that. Returns whether there was one. A full disk takes it, if it has a
    /// [reserve](crate::Quotas::reserve).
    fn remove_admin<'a>(&'a self, name: &'a str) -> Answer<'a, bool>;

    /// All admins, by name.
    fn admins(&self) -> Answer<'_, Vec<Admin>>;

    /// The admin whose token has this digest, at the server's time `at`.
    fn admin_of_token(&self, sha256: [u8; 32], at: Timestamp) -> Answer<'_, Option<Admin>>;

    /// Notes a change before it is made. Returns its id. A full disk takes it if `is_reserved`.
    fn note_change(&self, entry: AuditEntry, is_reserved: bool) -> Answer<'_, i64>;

    /// Adds the result of a change, once.
    fn note_result(&self, id: i64, result: String) -> Answer<'_, ()>;

    /// The newest changes since the time `since`, at most [`AUDIT`](provost_api::limits::AUDIT), the oldest
    /// of these first.
    fn changes(&self, since: Timestamp) -> Answer<'_, Vec<AuditEntry>>;
}
