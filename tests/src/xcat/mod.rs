//! An xCAT management node, as its nodes see it.

pub mod monitor;
