//! What follows a success: the marker, and the reboot that the step asks for.

use std::time::Duration;

use provost_record::{Cause, Record, Service};

use super::attempt::{Try, not_noted};
use super::dispatcher::{failed, milliseconds, ran};
use super::schedule::ScheduledStep;
use super::steps::Steps;
use crate::failure::Failure;
use crate::state::markers::Marker;
use crate::state::progress::{Again, Paused};

/// What follows a try.
pub(crate) enum Next {
    /// The step is over.
    Step,
    /// The run goes on after a reboot.
    Reboot(Box<Paused>),
    /// It is tried again after this wait.
    Retry(Duration),
}

impl Steps<'_> {
    /// Writes the marker and what the run needs to go on after the reboot `wish`. Each is on the
    /// disk before the record that says so, in an order in which a power cut between any two loses
    /// neither.
    pub(crate) fn after_success(
        &self,
        scheduled: &ScheduledStep,
        mut end: Record,
        wish: Option<String>,
        this: Try,
    ) -> (Record, Next) {
        let again = scheduled.policy.resumes;
        let script = &scheduled.step.script;
        let mut paused = None;
        let mut marker = scheduled.marker.clone();
        if let Some(reason) = wish {
            tracing::info!("{script}: asks for a reboot: {reason}");
            if let Some(failure) = self.refuse_reboot(again) {
                return (failed(end, &failure), Next::Step);
            }
            end.cause = Some(Cause::Reboot);
            match self.run.service {
                Service::Boot => {
                    marker = marker.filter(|_| !again);
                    let again = again.then(|| Again {
                        step: scheduled.step.clone(),
                        reboots: this.reboots + 1,
                        tries: this.number,
                    });
                    paused = Some(self.pause(scheduled, &end, marker.clone(), again));
                }
                Service::Kickstart => tracing::info!("the installer reboots at its end"),
                Service::Run => {}
            }
        }
        let state = &self.run.paths.state;
        if let Some(Err(e)) = paused.as_ref().map(|paused| paused.write(state)) {
            let failure = not_noted(format!("with its request to reboot: {e}"));
            return (failed(end, &failure), Next::Step);
        }
        if let Some(Err(e)) = marker.map(|marker| self.markers.put(&marker)) {
            // What it may have noted is noted no more; else it would count as done.
            let _ = Paused::forget(state);
            return (failed(end, &not_noted(e.to_string())), Next::Step);
        }
        (end, paused.map_or(Next::Step, |paused| Next::Reboot(Box::new(paused))))
    }

    /// Why the step gets no reboot, if it gets none.
    fn refuse_reboot(&self, again: bool) -> Option<Failure> {
        let (had, most) = (self.progress.reboots, self.run.settings.guard.max_reboots);
        let (message, hint) = match self.run.service {
            Service::Boot if had >= most => (
                format!("it asks for another reboot; this run has had {had}, and may have {most}"),
                "see why it wants one more; `max_reboots` under [guard] says how many a run may \
                 have",
            ),
            Service::Kickstart if again => (
                "it wants to go on after a reboot, and a kickstart doesn't".to_owned(),
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
        match &again {
            // It keeps its place.
            Some(_) => progress.begun -= 1,
            None => progress.over.push(scheduled.step.clone()),
        }
        progress.again = again;
        progress.reboots += 1;
        progress.ran_ms = milliseconds(ran(self.run, self.progress, self.executor));
        Paused {
            run: self.run.id.clone(),
            attempt: self.run.attempt,
            asked: false,
            end: self.journal.next(end),
            marker,
            progress,
        }
    }
}
