//! The guard: a node that fails in run after run is held, so that it doesn't retry for ever.
//!
//! An attempt is a run of `kickstart` or `boot` that failed. Each is counted on the disk before it
//! does anything, so that a power cut can't undo the count. A run that succeeds clears all.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_fs::refusal;
use provost_record::{Cause, Service, now};
use provost_steplog::wording;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use provost_fs::atomic;

/// The attempts after the last run that succeeded or the last release: STATE/attempts.json.
pub struct Attempts {
    file: PathBuf,
    most: usize,
    attempts: Vec<Attempt>,
    /// The last release by the management node that took effect, by its clock.
    released: Option<Timestamp>,
}

/// The file.
#[derive(Default, Serialize, Deserialize)]
struct AttemptsFile {
    attempts: Vec<Attempt>,
    released: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Attempt {
    service: Service,
    run: String,
    began: Timestamp,
}

impl Attempts {
    /// Reads them. With `most` of them the node is held.
    ///
    /// With a damaged file one more attempt is left: a healthy node isn't held, and a broken one
    /// doesn't retry for ever.
    pub fn read(state: &Path, most: u32) -> io::Result<Self> {
        let file = state.join("attempts.json");
        let most = most.max(1) as usize;
        let damaged = || {
            let unknown = |_| Attempt {
                service: Service::Boot,
                run: String::new(),
                began: Timestamp::UNIX_EPOCH,
            };
            AttemptsFile { attempts: (1..most).map(unknown).collect(), released: None }
        };
        let AttemptsFile { attempts, released } = match atomic::read(&file) {
            Ok(text) => serde_json::from_slice(&text).unwrap_or_else(|_| damaged()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => AttemptsFile::default(),
            Err(e) if refusal(&e).is_some() => damaged(),
            Err(e) => return Err(e),
        };
        Ok(Self { file, most, attempts, released })
    }

    /// The failure of a run of `service` on a node that is held, if it is. `node` is its name at a
    /// management node that may release it.
    pub fn held(&self, service: Service, node: Option<&str>) -> Option<Failure> {
        let last = self.attempts.last().filter(|_| self.attempts.len() >= self.most)?;
        let message = format!(
            "this node is held: {} in a row failed, the last was the {} of {}",
            wording::count(self.attempts.len(), "run"),
            last.service,
            last.began
        );
        let there = node.map(|node| {
            format!(", or on the management node: provostctl release {node} && provostctl continue {node}")
        });
        let here = service.continue_command().map(|command| format!(" && {command}"));
        let (here, there) = (here.unwrap_or_default(), there.unwrap_or_default());
        Some(held(message, &format!(": provost release{here}{there}")))
    }

    /// The run that was counted last.
    pub fn last_run(&self) -> Option<(Service, &str)> {
        self.attempts.last().map(|attempt| (attempt.service, attempt.run.as_str()))
    }

    /// Counts a run that begins. Returns which attempt it is, from 1.
    pub fn count(&mut self, service: Service, run: &str) -> io::Result<u32> {
        self.attempts.push(Attempt { service, run: run.to_owned(), began: now() });
        self.write()?;
        Ok(self.number())
    }

    /// Which attempt the run is that was counted last.
    pub fn number(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// Forgets all attempts but the one of the run `present`, because an admin released the node. A
    /// release takes effect once. Its time is by the management node's clock: this node's may be years
    /// off.
    pub fn released(&mut self, at: Timestamp, present: &str) -> io::Result<()> {
        if self.released.is_some_and(|last| at <= last) {
            return Ok(());
        }
        self.released = Some(at);
        self.attempts.retain(|attempt| attempt.run == present);
        self.write()
    }

    /// Forgets the run `run`, which is no attempt.
    pub fn forget(&mut self, run: &str) -> io::Result<()> {
        self.attempts.retain(|attempt| attempt.run != run);
        self.write()
    }

    /// Forgets them all, after a run that succeeded or a release on this node. Returns how many there
    /// were.
    pub fn clear(&mut self) -> io::Result<usize> {
        atomic::remove(&self.file)?;
        Ok(std::mem::take(&mut self.attempts).len())
    }

    fn write(&self) -> io::Result<()> {
        let (attempts, released) = (self.attempts.clone(), self.released);
        atomic::write(&self.file, &serde_json::to_vec(&AttemptsFile { attempts, released })?)
    }
}

/// The failure of a run of `service` on a node that the management node holds, which only that can
/// release.
pub fn held_there(reason: &str, node: &str, service: Service) -> Failure {
    let here = service.continue_command().map(|command| format!("; then here: {command}"));
    let what = format!(", on the management node: provostctl release {node}");
    held(
        format!("the management node holds this node: {reason}"),
        &(what + &here.unwrap_or_default()),
    )
}

/// Nothing that the hint names leads back to it: `provost log` shows the script that failed last.
fn held(message: impl ToString, then: &str) -> Failure {
    let hint = format!("see why the last run failed: provost log; fix it, then{then}");
    Failure::new(Cause::Held, message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(state: &Path) -> Attempts {
        Attempts::read(state, 3).unwrap()
    }

    #[test]
    fn a_node_is_held_after_its_last_attempt_until_it_is_released() {
        let state = tempfile::tempdir().unwrap();
        for n in 1..=3 {
            let mut attempts = read(state.path());
            assert!(attempts.held(Service::Boot, Some("cn001")).is_none());
            assert_eq!(attempts.count(Service::Boot, &format!("run {n}")).unwrap(), n);
        }
        let mut attempts = read(state.path());
        let held = attempts.held(Service::Boot, Some("cn001")).unwrap();
        assert!(held.message.contains("3 runs in a row"), "{held}");
        assert!(held.hint.contains("provostctl release cn001"), "{held}");
        assert_eq!(attempts.clear().unwrap(), 3);
        assert_eq!(read(state.path()).number(), 0);
    }

    #[test]
    fn a_release_counts_once_whatever_this_clock_says() {
        for at in ["1970-01-02T00:00:00Z", "2200-01-01T00:00:00Z"] {
            let at = at.parse().unwrap();
            let state = tempfile::tempdir().unwrap();
            for n in 1..=3 {
                read(state.path()).count(Service::Boot, &format!("run {n}")).unwrap();
            }
            read(state.path()).released(at, "run 3").unwrap();
            assert_eq!(read(state.path()).number(), 1, "released at {at}");
            for n in 4..=5 {
                read(state.path()).count(Service::Boot, &format!("run {n}")).unwrap();
                read(state.path()).released(at, &format!("run {n}")).unwrap();
            }
            assert!(
                read(state.path()).held(Service::Boot, Some("cn001")).is_some(),
                "released at {at}, again and again"
            );
        }
    }

    #[test]
    fn a_damaged_count_leaves_one_more_try() {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join("attempts.json"), "[{\"serv").unwrap();
        let mut attempts = read(state.path());
        assert!(attempts.held(Service::Boot, Some("cn001")).is_none());
        attempts.count(Service::Boot, "run").unwrap();
        assert!(read(state.path()).held(Service::Boot, Some("cn001")).is_some());
    }
}
