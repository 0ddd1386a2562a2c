//! The first stage of a run, which is no script.

use std::time::Instant;

use provost_bundle::PublicKey;
use provost_exec::{Orders, Supervisor};
use provost_record::{Cause, JournalError, Outcome, Phase, Record};
use provost_steplog::wording;
use tokio::sync::watch;

use super::clock::milliseconds;
use super::outcome::failed;
use super::request::RunRequest;
use super::run_failure::RunFailure;
use super::schedule::{ScheduledStep, names, schedule};
use crate::failure::Failure;
use crate::fetch::age;
use crate::fetch::generations::seen;
use crate::fetch::keys;
use crate::fetch::retry::StillTrying;
use crate::fetch::{Fetched, NotFetched, Source};
use crate::observe::logging;
use crate::observe::observer::RunContext;
use crate::settings::secrets::secrets;
use crate::state::journal::Recorder;
use crate::state::markers::Markers;
use crate::state::progress::{FETCH, Progress};

/// What fetching takes.
pub(crate) struct FetchStage<'a> {
    pub(crate) run: &'a RunContext,
    pub(crate) request: &'a RunRequest,
    /// What is wrong with the settings.
    pub(crate) mistakes: &'a [Failure],
    pub(crate) source: &'a mut dyn Source,
    pub(crate) journal: &'a mut Recorder,
    pub(crate) executor: &'a mut Supervisor,
    pub(crate) orders: &'a mut watch::Receiver<Orders>,
    pub(crate) progress: &'a Progress,
}

impl FetchStage<'_> {
    /// Fetches, and decides what runs.
    #[tracing::instrument(name = "fetch", level = "debug", skip_all)]
    pub(crate) async fn run(mut self) -> Result<(Fetched, Vec<ScheduledStep>), RunFailure> {
        let began = Instant::now();
        begin(self.journal, self.limit())?;
        let result = self.fetch().await.and_then(|fetched| {
            let markers = Markers::new(&self.run.paths.state);
            match schedule(self.run, self.request, &fetched, &markers, self.progress) {
                Ok(steps) => Ok((fetched, steps)),
                Err(failure) => Err(NotFetched { passed_over: fetched.passed_over, failure }),
            }
        });
        self.journal.settle().await?;
        let passed_over = match &result {
            Ok((fetched, _)) => &fetched.passed_over,
            Err(not_fetched) => &not_fetched.passed_over,
        };
        // Each of them is a stage that failed, and the next one is its other try.
        for failure in passed_over {
            self.journal.put(failed(end_record(self.journal), failure))?;
            tracing::warn!("fetch: {failure}");
            begin(self.journal, self.limit())?;
        }
        let mut end = end_record(self.journal);
        end.duration_ms = Some(milliseconds(began.elapsed()));
        let trust = keys::trust(&self.run.settings, &self.run.paths.state);
        end.keys = trust
            .map_or_else(|_| Vec::new(), |trust| trust.keys().iter().map(PublicKey::id).collect());
        match result {
            Ok((fetched, steps)) => {
                let secrets = secrets(&self.run.settings, Some(&fetched.plan));
                logging::hide(secrets.clone());
                self.journal.hide(secrets);
                end.result = Some(Outcome::Success);
                end.stages = names(&steps);
                if let Some(offline) = &fetched.offline {
                    tracing::warn!("fetch: {offline}");
                }
                end.skipped.clone_from(&fetched.offline);
                let server = fetched.server.as_ref();
                end.server = server.map(|server| server.origin().ascii_serialization());
                let what = if fetched.sections.is_some() {
                    wording::count(fetched.manifest.files.len(), "file")
                } else {
                    let (bundle, plan) = (fetched.manifest.generation, fetched.plan.generation);
                    (end.bundle, end.plan) = (Some(bundle), Some(plan));
                    let age = age(fetched.manifest.created, provost_record::now());
                    format!("bundle {bundle} of {age}, plan {plan}")
                };
                let runs = wording::count(steps.len(), "script");
                let took = wording::duration(began.elapsed());
                tracing::info!("fetch: {what}, {runs} to run ({took})");
                self.journal.put(end)?;
                Ok((fetched, steps))
            }
            Err(NotFetched { failure, .. }) => {
                if failure.cause == Cause::Verify {
                    // It may be older than this: where the management node has lost what it knew, it
                    // learns here above what it has to publish.
                    (end.bundle, end.plan) = seen(&self.run.paths.state).unzip();
                }
                self.journal.put(failed(end, &failure))?;
                tracing::warn!("fetch: FAILED");
                tracing::error!("error: {failure}");
                Err(RunFailure::by_fetch(&failure))
            }
        }
    }

    /// How long it may take, in milliseconds; not known where the settings are wrong.
    fn limit(&self) -> Option<u64> {
        let limit = milliseconds(self.run.settings.fetch.deadline.duration());
        self.mistakes.is_empty().then_some(limit)
    }

    async fn fetch(&mut self) -> Result<Fetched, NotFetched> {
        if let Some((first, others)) = self.mistakes.split_first() {
            // The first one fails the run, and is told with it.
            others.iter().for_each(|other| tracing::error!("error: {other}"));
            return Err(first.clone().into());
        }
        let limit = self.limit();
        let Self { source, journal, executor, orders, .. } = self;
        let mut unwritten = None;
        // What was tried is a stage that failed: the management node knows of it long before the end.
        let mut still_trying = |StillTrying { why, is_silence }: StillTrying| {
            tracing::info!("fetch: {}", why.text());
            if is_silence {
                return; // There is nobody to tell.
            }
            let record = failed(end_record(journal), &why);
            unwritten = journal.put(record).and_then(|()| begin(journal, limit)).err();
        };
        let fetched = source.fetch(executor, orders, &mut still_trying).await;
        match unwritten {
            Some(e) => Err(Failure::from(e).into()),
            None => fetched,
        }
    }
}

/// The record of the beginning goes to the disk while the servers are asked: nothing runs before
/// it is there.
fn begin(journal: &mut Recorder, limit_ms: Option<u64>) -> Result<(), JournalError> {
    let stage = Some(FETCH.to_owned());
    journal.put(Record { stage, limit_ms, ..journal.record(Phase::StageStart) })?;
    journal.sync_soon();
    Ok(())
}

fn end_record(journal: &Recorder) -> Record {
    let stage = Some(FETCH.to_owned());
    Record { stage, ..journal.record(Phase::StageEnd) }
}
