//! How the commands' help reads: commands under headings, options where they are used, and below them
//! exit statuses and examples, which the man pages have too.

mod layout;
pub mod sections;

pub use layout::{Heading, Layout};
