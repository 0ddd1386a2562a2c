//! What scripts can do to the programs that run them, and why it doesn't help them.
//!
//! Each script of `tests/hostile` is run by the real programs, with cgroups and without, and has
//! to end in time, be recorded as what it was, and leave nobody behind. What isn't tested is a
//! process that hangs in the kernel, since none can be made on demand; a step of the wall clock is
//! in `clock_steps.rs`.

mod leftovers;
mod output;
mod pauses;
mod pipes;
mod places;
mod refusals;
mod runner;
mod scripts;
mod surroundings;
