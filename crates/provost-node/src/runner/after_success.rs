//! What follows a success: the marker, and the reboot that the step asks for.

use std::time::Duration;

use provost_record::{Cause, Record, Service};

use super::clock::milliseconds;
use super::outcome::{failed, not_noted};
use super::schedule::ScheduledStep;
use crate::failure::Failure;
use crate::observe::observer::RunContext;
use crate::state::journal::Recorder;
use crate::state::markers::{Marker, Markers};
use crate::state::progress::{Again, Paused, Progress};

/// A step that has succeeded.
pub(crate) struct AfterSuccess<'a> {
    pub(crate) run: &'a RunContext,
    pub(crate) progress: &'a Progress,
    pub(crate) journal: &'a Recorder,
    pub(crate) markers: &'a Markers,
    /// How long the run has run.
    pub(crate) ran: Duration,
    /// How often the step has run.
    pub(crate) tries: u32,
    /// How many reboots it has asked for before.
    pub(crate) reboots: u32,
}

impl AfterSuccess<'_> {
    /// Writes the marker and what the run needs to go on after the reboot `wish`. Each is on the
    /// disk before the record that says so, in an order in which a power cut between any two loses
    /// neither. Returns the record, and the run as it waits for the reboot, if it does.
    pub(crate) fn note(
        &self,
        scheduled: &ScheduledStep,
        mut end: Record,
        wish: Option<String>,
    ) -> (Record, Option<Paused>) {
        let again = scheduled.policy.resumes;
        let script = &scheduled.step.script;
        let mut paused = None;
        let mut marker = scheduled.marker.clone();
        if let Some(reason) = wish {
            tracing::info!("{script}: requests a reboot: {reason}");
            if let Some(failure) = self.refuse_reboot(again) {
                return (failed(end, &failure), None);
            }
            end.cause = Some(Cause::Reboot);
            match self.run.service {
                Service::Boot => {
                    marker = marker.filter(|_| !again);
                    let again = again.then(|| Again {
                        step: scheduled.step.clone(),
                        reboots: self.reboots + 1,
                        tries: self.tries,
                    });
                    paused = Some(self.pause(scheduled, &end, marker.clone(), again));
                }
                Service::Kickstart => tracing::info!("the installer reboots at its end"),
                Service::Run | Service::Other(_) => {}
            }
        }
        let state = &self.run.paths.state;
        if let Some(Err(e)) = paused.as_ref().map(|paused| paused.write(state)) {
            let failure = not_noted(format!("with its request to reboot: {e}"));
            return (failed(end, &failure), None);
        }
        if let Some(Err(e)) = marker.map(|marker| self.markers.put(&marker)) {
            // What it may have noted is noted no more; else it would count as done.
            let _ = Paused::forget(state);
            return (failed(end, &not_noted(e.to_string())), None);
        }
        (end, paused)
    }

    /// Why the step gets no reboot, if it gets none.
    fn refuse_reboot(&self, again: bool) -> Option<Failure> {
        let (had, most) = (self.progress.reboots, self.run.settings.guard.max_reboots);
        let (message, hint) = match self.run.service {
            Service::Boot if had >= most => (
                format!("it requests another reboot; this run has had {had} of at most {most}"),
                "check why it requests one more, or raise `max_reboots` under [guard]",
            ),
            Service::Kickstart if again => (
                "it requests to continue after a reboot, which a kickstart can't".to_owned(),
                "make it a postbootscript, which runs when the installed system boots",
            ),
            _ => return None,
        };
        Some(Failure::new(Cause::Reboot, message, hint))
    }

    /// This run, waiting for a reboot after `end`, the end of the present step.
    fn pause(
        &self,
        scheduled: &ScheduledStep,
        end: &Record,
        marker: Option<Marker>,
        again: Option<Again>,
    ) -> Paused {
        let mut progress = self.progress.clone();
        // What is skipped until now is over.
        progress.done.clear();
        match &again {
            // It keeps its place.
            Some(_) => progress.begun -= 1,
            None => progress.over.push(scheduled.step.clone()),
        }
        progress.again = again;
        progress.reboots += 1;
        progress.ran_ms = milliseconds(self.ran);
        Paused {
            run: self.run.id.clone(),
            attempt: self.run.attempt,
            asked: false,
            refused: false,
            end: self.journal.next(end),
            marker,
            progress,
        }
    }
}
