//! How the commands' help reads: commands under headings, options where they are used, and below them
//! exit statuses and examples, which the man pages have too. And what a wrong command line is answered.

mod layout;
pub mod sections;
mod usage;

pub use layout::{Heading, Layout};
pub use usage::{complain, print};
