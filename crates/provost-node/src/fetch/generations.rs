//! The newest generations that a node has seen. Nothing older is run.

use std::io;
use std::path::{Path, PathBuf};

use provost_bundle::Manifest;
use provost_plan::Plan;
use provost_record::Cause;
use serde::{Deserialize, Serialize};

use super::bundles::Bundles;
use super::error::FetchError;
use crate::failure::Failure;
use provost_fs::atomic;

/// One of the bundle, and one of the plan.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Generations {
    bundle: u64,
    plan: u64,
}

impl Generations {
    fn of(bundle: &Manifest, plan: &Plan) -> Self {
        Self { bundle: bundle.generation, plan: plan.generation }
    }

    /// What the node whose state is in the folder `state` has seen. A file that can't be read is an
    /// error: without it, an older bundle could be accepted.
    fn seen(state: &Path) -> Result<Self, Failure> {
        let file = file(state);
        let unreadable = |e: &dyn std::fmt::Display| {
            let message = format!("reading the last generations in {}: {e}", file.display());
            let hint = "if it is damaged, remove it; then this node forgets what it has seen";
            Failure::local(message, hint)
        };
        match atomic::read(&file) {
            Ok(text) => {
                toml::from_slice(&text).map_err(|e: toml::de::Error| unreadable(&e.message()))
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(unreadable(&e)),
        }
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("generations.toml")
}

impl Bundles {
    /// Refuses generations older than those that this node has seen, or a bundle older than the
    /// `newest` that a server offers. `from` is who serves them. Returns whether this node has seen
    /// these before.
    pub(crate) fn check_generations(
        &self,
        from: &str,
        newest: u64,
        bundle: &Manifest,
        plan: &Plan,
    ) -> Result<bool, FetchError> {
        let seen = Generations::seen(&self.state).map_err(FetchError::abort)?;
        refuse_older(seen, from, bundle, plan, &self.state).map_err(FetchError::give_up)?;
        if bundle.generation < newest {
            let got = bundle.generation;
            let message = format!(
                "the bundle from {from} is generation {got}; another server offers {newest}"
            );
            let hint = "bring that server up to date: its folder is older than the other's";
            return Err(FetchError::give_up(Failure::new(Cause::Verify, message, hint)));
        }
        Ok(seen == Generations::of(bundle, plan))
    }

    /// Whether this node remembers no generation.
    pub(crate) fn remembers_none(&self) -> bool {
        Generations::seen(&self.state).is_ok_and(|seen| seen == Generations::default())
    }

    /// Remembers the generations durably.
    pub(crate) fn remember_generations(
        &self,
        bundle: &Manifest,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let new = Generations::of(bundle, plan);
        if Generations::seen(&self.state)? == new {
            return Ok(());
        }
        let text = format!("bundle = {}\nplan = {}\n", new.bundle, new.plan);
        atomic::write(&file(&self.state), text.as_bytes())
            .map_err(|e| self.disk("remembering the generations", e))
    }
}

/// Refuses generations older than those that a node has seen. `from` is who serves them.
fn refuse_older(
    seen: Generations,
    from: &str,
    bundle: &Manifest,
    plan: &Plan,
    state: &Path,
) -> Result<(), Failure> {
    let check = |what: &str, got: u64, seen: u64| {
        if got >= seen {
            return Ok(());
        }
        let message = format!("the {what} from {from} is generation {got}, older than {seen}");
        let hint = format!(
            "update that server, where its published folder was lost by: provostctl publish … \
             --generation-above {seen}; or, if it was installed anew, remove {} here",
            file(state).display()
        );
        Err(Failure::new(Cause::Verify, message, hint))
    };
    check("bundle", bundle.generation, seen.bundle)?;
    check("plan", plan.generation, seen.plan)
}

/// Refuses generations that a run would refuse, of the node whose state is in the folder `state`.
/// `from` is who serves them.
pub fn check_generations(
    state: &Path,
    from: &str,
    bundle: &Manifest,
    plan: &Plan,
) -> Result<(), Failure> {
    refuse_older(Generations::seen(state)?, from, bundle, plan, state)
}

/// Whether the node whose state is in the folder `state` has seen these generations last.
pub fn has_seen(state: &Path, manifest: &Manifest, plan: &Plan) -> bool {
    Generations::seen(state).is_ok_and(|seen| seen == Generations::of(manifest, plan))
}

/// The generations of bundle and plan that the node whose state is in the folder `state` has seen last, if
/// it remembers any.
pub(crate) fn seen(state: &Path) -> Option<(u64, u64)> {
    let seen = Generations::seen(state).ok()?;
    (seen.bundle > 0).then_some((seen.bundle, seen.plan))
}
