//! The management node's daemon.

use std::process::ExitCode;

/// Thousands of connections come and go on all threads, and what they leave is used again.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    provostd::main()
}
