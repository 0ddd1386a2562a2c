use provost_record::wording;
use std::sync::Arc;
use std::time::Instant;

use provost_exec::Secrets;
use provost_record::{Cause, JournalError, Outcome, Phase};

use super::broken::Broken;
use super::run::{Run, milliseconds};
use super::stages::names;
use super::{Wanted, steps};
use crate::failure::Failure;
use crate::fetch::{Fetched, NotFetched, age, fetch};
use crate::settings::secrets::secrets;
use crate::settings::{Input, Settings};
use crate::state::root::Root;
use crate::xcat::fetch::evaluate;

/// The stage that is no script.
const FETCH: &str = "fetch";

impl Run<'_> {
    /// The first stage: settings, bundle and plan.
    pub(crate) async fn fetch(
        &mut self,
        input: &Input,
        wanted: &Wanted,
        root: Root,
    ) -> Result<(Arc<Settings>, Fetched), Broken> {
        let began = Instant::now();
        // Settings that are wrong fail at once, in the stage itself.
        let deadline = input.settings().ok().map(|settings| settings.fetch.deadline.duration());
        let limit_ms = deadline.and_then(|deadline| deadline.as_millis().try_into().ok());
        self.begin_fetch(limit_ms)?;
        let fetched =
            self.try_fetch(input, root).await.and_then(|(settings, fetched)| match steps::mistake(
                wanted, &fetched, root,
            ) {
                None => Ok((settings, fetched)),
                Some(failure) => Err(NotFetched { passed_over: fetched.passed_over, failure }),
            });
        self.recorder.settle().await?;
        let passed_over = match &fetched {
            Ok((_, fetched)) => &fetched.passed_over,
            Err(not) => &not.passed_over,
        };
        // Each of them is a stage that failed, and the next one is its other try.
        for failure in passed_over {
            self.fetch_failed(failure, None)?;
            self.console.say(&format!("fetch: {failure}"));
            self.begin_fetch(limit_ms)?;
        }
        let mut end = self.recorder.record(Phase::StageEnd);
        end.stage = Some(FETCH.to_owned());
        end.duration_ms = Some(milliseconds(began.elapsed()));
        match fetched {
            Ok((settings, fetched)) => {
                self.hide(secrets(&settings, &fetched.plan.env));
                end.result = Some(Outcome::Success);
                end.stages = names(&self.progress.left(steps::select(wanted, &fetched, root)));
                if let Some(offline) = &fetched.offline {
                    self.console.say(&format!("fetch: {offline}"));
                }
                end.skipped.clone_from(&fetched.offline);
                let what = if fetched.mypostscript.is_some() {
                    count(fetched.manifest.files.len(), "file")
                } else {
                    let (bundle, plan) = (fetched.manifest.generation, fetched.plan.generation);
                    (end.bundle, end.plan) = (Some(bundle), Some(plan));
                    let age = age(fetched.manifest.created, provost_record::now());
                    format!("bundle {bundle} of {age}, plan {plan}")
                };
                self.console.say(&format!(
                    "fetch: {what}, {} to run ({})",
                    count(end.stages.len(), "script"),
                    wording::duration(began.elapsed())
                ));
                let runs = !end.stages.is_empty();
                self.recorder.put(end)?;
                self.planned(input, &fetched.plan, root, runs).await;
                Ok((settings, fetched))
            }
            Err(NotFetched { failure, .. }) => {
                self.fetch_failed(&failure, end.duration_ms)?;
                self.console.say(&format!("fetch: FAILED\nerror: {failure}"));
                Err(Broken::by(&failure))
            }
        }
    }

    /// Lets nobody see these from now on.
    pub(crate) fn hide(&mut self, secrets: Secrets) {
        self.console.hide(secrets.clone());
        self.recorder.hide(secrets);
    }

    /// The records of what begins go to the disk while the servers are asked: nothing runs before
    /// they are there.
    fn begin_fetch(&mut self, limit_ms: Option<u64>) -> Result<(), JournalError> {
        let mut start = self.recorder.record(Phase::StageStart);
        start.stage = Some(FETCH.to_owned());
        start.limit_ms = limit_ms;
        self.recorder.put(start)?;
        self.recorder.sync_soon();
        Ok(())
    }

    fn fetch_failed(&mut self, failure: &Failure, ms: Option<u64>) -> Result<(), JournalError> {
        let mut end = self.recorder.record(Phase::StageEnd);
        end.stage = Some(FETCH.to_owned());
        end.result = Some(Outcome::Failure);
        end.cause = Some(failure.cause);
        end.error_message = Some(failure.text());
        end.hint = Some(failure.hint.clone());
        end.duration_ms = ms;
        self.recorder.put(end)
    }

    async fn try_fetch(
        &mut self,
        input: &Input,
        root: Root,
    ) -> Result<(Arc<Settings>, Fetched), NotFetched> {
        // Reporting comes first, so that a fetch that fails is reported, too.
        let (settings, client) = self.connect(input, root).await?;
        let head_start = self.exchange.head_start.take();
        let mut orders = self.orders.clone();
        let console = &mut *self.console;
        let mut fetched = tokio::select! {
            fetched = fetch(&settings, &client, self.paths, &self.id, head_start, console) => {
                fetched?
            }
            wanted = orders.wait_for(|orders| orders.stop.is_some()) => {
                let signal = wanted.ok().and_then(|orders| orders.stop).unwrap_or("a signal");
                let message = format!("the run was ended by {signal} while fetching");
                return Err(Failure::new(Cause::Interrupted, message, "start it again").into());
            }
        };
        let (supervisor, orders) = (&mut self.supervisor, &mut self.orders);
        let bounds = (&*self.paths.state, settings.run.timeout.duration());
        match evaluate(&mut fetched, bounds, supervisor, orders).await {
            Ok(()) => Ok((settings, fetched)),
            Err(failure) => Err(NotFetched { passed_over: fetched.passed_over, failure }),
        }
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
