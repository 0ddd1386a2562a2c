//! The steps of a run, each with its time.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

/// What has been run, and how long each took.
#[derive(Default)]
pub(crate) struct Steps(Vec<(String, Duration)>);

impl Steps {
    /// Runs one step under a heading.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("\n=== {}: {name}", self.0.len() + 1);
        let start = Instant::now();
        let ended = step();
        let took = start.elapsed();
        self.0.push((name.to_owned(), took));
        println!(
            "=== {name}: {} after {}",
            if ended.is_ok() { "ok" } else { "FAILED" },
            seconds(took)
        );
        ended.with_context(|| format!("step {}, {name}, failed", self.0.len()))
    }

    /// Runs `steps` while `other` runs beside them; the time of `other` is how long is waited for it after them.
    pub(crate) fn run_beside(
        &mut self,
        name: &str,
        other: impl FnOnce() -> Result<()> + Send,
        steps: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        thread::scope(|scope| {
            let other = scope.spawn(other);
            steps(self)?;
            self.run(name, || other.join().map_err(|_| anyhow!("it panicked"))?)
        })
    }

    /// Prints the time of each step and of all.
    pub(crate) fn summary(&self) {
        println!();
        for (name, took) in &self.0 {
            println!("{:>8}  {name}", seconds(*took));
        }
        println!("{:>8}  in all", seconds(self.0.iter().map(|(_, took)| *took).sum()));
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
