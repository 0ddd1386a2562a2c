use provost_record::{Cause, Outcome, Record, Service};

use super::run::Run;
use super::step::{Job, Then};
use super::steps;
use crate::failure::Failure;
use crate::state::markers::Marker;
use crate::state::progress::{Again, Paused};

impl Run<'_> {
    /// What follows a success: the marker, and the reboot that the step wishes. Each is on the
    /// disk before the record that says so, in an order in which a power cut between any two loses
    /// neither.
    pub(crate) fn succeeded(
        &mut self,
        job: &Job<'_>,
        mut end: Record,
        marker: Option<&Marker>,
        wish: Option<String>,
        (tries, reboots): (u32, u32),
    ) -> (Record, Then) {
        let again = steps::is_resumed(job.fetched, job.step);
        let mut paused = None;
        let mut marker = marker.cloned();
        if let Some(reason) = wish {
            self.console.say(&format!("{}: asks for a reboot: {reason}", self.title(job)));
            if let Some(failure) = self.refusal(job, again) {
                return (failed(end, &failure), Then::Over);
            }
            end.cause = Some(Cause::Reboot);
            match self.service {
                Service::Boot => {
                    marker = marker.filter(|_| !again);
                    let again = again.then(|| Again {
                        step: job.step.clone(),
                        reboots: reboots + 1,
                        tries,
                    });
                    paused = Some(self.pause(job, &end, marker.clone(), again));
                }
                Service::Kickstart => self.console.say("the installer reboots at its end"),
                Service::Run => {}
            }
        }
        if let Some(Err(e)) = paused.as_ref().map(|paused| paused.write(&self.paths.state)) {
            return (failed(end, &not_noted(format!("with its wish to reboot: {e}"))), Then::Over);
        }
        if let Some(Err(e)) = marker.map(|marker| self.markers.put(&marker)) {
            // What it may have noted is noted no more; else it would count as done.
            let _ = Paused::forget(&self.paths.state);
            return (failed(end, &not_noted(e.to_string())), Then::Over);
        }
        (end, paused.map_or(Then::Over, |paused| Then::Reboot(Box::new(paused))))
    }

    /// Why the step gets no reboot, if it gets none.
    fn refusal(&self, job: &Job<'_>, again: bool) -> Option<Failure> {
        let (had, most) = (self.progress.reboots, job.settings.guard.max_reboots);
        let (message, hint) = match self.service {
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
        job: &Job<'_>,
        end: &Record,
        marker: Option<Marker>,
        again: Option<Again>,
    ) -> Paused {
        let mut progress = self.progress.clone();
        match &again {
            // It keeps its place.
            Some(_) => progress.begun -= 1,
            None => progress.over.push(job.step.clone()),
        }
        progress.again = again;
        progress.reboots += 1;
        progress.ran_ms = self.ran().as_millis().try_into().unwrap_or(u64::MAX);
        Paused {
            run: self.id.clone(),
            attempt: self.attempt,
            asked: false,
            end: self.recorder.next(end),
            marker,
            progress,
        }
    }
}

/// The end of a step that failed after all.
pub(crate) fn failed(end: Record, failure: &Failure) -> Record {
    Record {
        result: Some(Outcome::Failure),
        cause: Some(failure.cause),
        error_message: Some(failure.text()),
        hint: Some(failure.hint.clone()),
        skipped: None,
        ..end
    }
}

/// That a step is done, or isn't, could not be noted.
pub(crate) fn not_noted(why: String) -> Failure {
    let message = format!("how far it is could not be noted in STATE: {why}");
    Failure::config(message, "make room on the file system of STATE; it runs again then")
}
