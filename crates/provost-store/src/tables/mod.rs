//! The tables that aren't hot: each statement once, for every store.

mod admins;
mod queues;
