//! All that a store holds, as one stream: from one store to another, into a backup and out of it.
//!
//! The stream is of one moment, whoever writes to the store meanwhile. A store takes it whole or not
//! at all.

mod place;
pub(crate) mod records;
mod stream;
mod table;

pub use self::place::{StoreLocation, copy};
pub use self::stream::{Counts, Part, Row, stream};
pub(crate) use self::stream::{Gone, Rows, cut_off, head};
pub(crate) use self::table::{TABLES, Table, columns_of, complete};
pub use crate::sql::Value;
