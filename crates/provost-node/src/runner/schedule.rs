//! Which steps a run has and how each is to be run: decided once, from what was fetched.

use std::time::Duration;

use provost_bundle::{Digest, Leak, OnFailure, Policy, Resume, Trace, When};
use provost_exec::LeakPolicy;
use provost_plan::Step;
use provost_plan::mypostscript::{self, Group, List, UnusableLine};
use provost_record::Service;

use super::environment::environment;
use super::request::RunRequest;
use crate::failure::Failure;
use crate::fetch::Fetched;
use crate::observe::observer::RunContext;
use crate::settings::Settings;
use crate::state::markers::{Marker, Markers};
use crate::state::progress::Progress;
use crate::state::root::Root;

/// A step of a run, with all that its script's policy says.
pub(crate) struct ScheduledStep {
    pub(crate) step: Step,
    /// Whether the bundle has its script.
    pub(crate) is_there: bool,
    /// Its script's, as verified.
    pub(crate) digest: Option<Digest>,
    pub(crate) policy: StepPolicy,
    /// What it leaves when it succeeds; none where it runs each time.
    pub(crate) marker: Option<Marker>,
    /// Why it can't run, where its line in a list is no step.
    pub(crate) mistake: Option<Failure>,
    /// Why it needn't run, if it needn't.
    pub(crate) skip: Option<String>,
    /// Whether bash shows builtins and functions in the log as well.
    pub(crate) trace_lines: bool,
    /// Its whole environment, but for what depends on the try.
    pub(crate) environment: Vec<(String, String)>,
}

impl ScheduledStep {
    /// Whether its script is to be run, as far as that is known.
    pub(crate) fn runs(&self) -> bool {
        self.skip.is_none() && self.mistake.is_none()
    }
}

/// How a step is run: its script's policy, resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepPolicy {
    pub(crate) timeout: Duration,
    /// How often it is tried again.
    pub(crate) retries: u32,
    pub(crate) on_failure: OnFailure,
    pub(crate) leak: LeakPolicy,
    pub(crate) trace: provost_exec::Trace,
    /// Whether it runs again after a reboot that it has asked for.
    pub(crate) resumes: bool,
}

impl StepPolicy {
    /// As the node's configuration says of `script`, else as `policy` says, else as the configuration says
    /// of every script.
    fn resolve(policy: Option<&Policy>, script: &str, settings: &Settings) -> Self {
        let policy = policy.cloned().unwrap_or_default();
        let own = settings.scripts.get(script).copied().unwrap_or_default();
        Self {
            timeout: own.timeout.or(policy.timeout).unwrap_or(settings.run.timeout).duration(),
            retries: own.retries.or(policy.retries).unwrap_or(0),
            on_failure: own.on_failure.or(policy.on_failure).unwrap_or(settings.on_failure),
            leak: match policy.leak {
                None | Some(Leak::Warn) => LeakPolicy::Warn,
                Some(Leak::Kill) => LeakPolicy::Kill,
                Some(Leak::Fail) => LeakPolicy::Fail,
            },
            trace: match policy.trace {
                None | Some(Trace::Commands) => provost_exec::Trace::Commands,
                Some(Trace::Lines) => provost_exec::Trace::Lines,
                Some(Trace::Off) => provost_exec::Trace::Off,
            },
            resumes: policy.resume == Some(Resume::Again),
        }
    }
}

/// What is left of the steps of `request`, in order. One whose script isn't there fails at its place.
///
/// # Errors
///
/// When the fetched lists can't be what the management node meant.
pub(crate) fn schedule(
    run: &RunContext,
    request: &RunRequest,
    fetched: &Fetched,
    markers: &Markers,
    progress: &Progress,
) -> Result<Vec<ScheduledStep>, Failure> {
    let steps = progress.left(select(request, fetched, run.root)?);
    let step = |selected| schedule_step(run, request, fetched, markers, selected);
    let mut steps: Vec<_> = steps.into_iter().map(step).collect();
    // As far as the plan is what it was, and no further than to the first that failed.
    let done = steps.iter_mut().zip(&progress.done).take_while(|(step, done)| step.step == **done);
    for (step, _) in done {
        step.skip.get_or_insert_with(|| "it was done in the run before".to_owned());
    }
    Ok(steps)
}

fn schedule_step(
    run: &RunContext,
    request: &RunRequest,
    fetched: &Fetched,
    markers: &Markers,
    Selected { step, mistake }: Selected,
) -> ScheduledStep {
    let entry = fetched.manifest.file(&step.script);
    let mut environment = environment(&run.settings, fetched, &run.paths, Some(run), &step);
    environment.extend(request.environment().iter().cloned());
    let marker = entry.and_then(|entry| Marker::of(&step, entry, &environment));
    let policy = entry.map(|entry| &entry.policy);
    let when = policy.and_then(|policy| policy.when).unwrap_or_default();
    ScheduledStep {
        is_there: entry.is_some(),
        mistake,
        digest: entry.map(|entry| entry.sha256),
        policy: StepPolicy::resolve(policy, &step.script, &run.settings),
        skip: skip(run.service, when, &step, marker.as_ref(), markers),
        marker,
        trace_lines: matches!(request, RunRequest::Named { trace_lines: true, .. }),
        environment,
        step,
    }
}

/// Why a step needn't run. What an admin runs by hand always runs.
fn skip(
    service: Service,
    when: When,
    step: &Step,
    marker: Option<&Marker>,
    markers: &Markers,
) -> Option<String> {
    match when {
        _ if service == Service::Run => None,
        When::Always => None,
        When::Manual => Some(format!("it runs only by hand: provost run {step}")),
        when => markers.done(marker?, when),
    }
}

/// A step that a request names.
pub(crate) struct Selected {
    pub(crate) step: Step,
    /// Why it can't run, where its line in a list is no step.
    pub(crate) mistake: Option<Failure>,
}

impl AsRef<Step> for Selected {
    fn as_ref(&self) -> &Step {
        &self.step
    }
}

impl From<Step> for Selected {
    fn from(step: Step) -> Self {
        Self { step, mistake: None }
    }
}

impl From<Result<Step, UnusableLine>> for Selected {
    fn from(read: Result<Step, UnusableLine>) -> Self {
        let of_line = |UnusableLine { script, message, hint }| Self {
            step: Step { script, args: Vec::new() },
            mistake: Some(Failure::config(message, hint)),
        };
        read.map_or_else(of_line, Self::from)
    }
}

/// The steps that `request` names, in order.
pub(crate) fn select(
    request: &RunRequest,
    fetched: &Fetched,
    root: Root,
) -> Result<Vec<Selected>, Failure> {
    let env = &fetched.plan.env;
    match request {
        RunRequest::Named { steps, .. } => {
            return Ok(steps.iter().cloned().map(Selected::from).collect());
        }
        RunRequest::Lines { lines, .. } => {
            return Ok(lines.iter().map(|line| mypostscript::step(line, env).into()).collect());
        }
        _ => {}
    }
    let runs_again = fetched.plan.runbootscripts;
    let (lists, group) = lists(request, root, runs_again);
    let Some(sections) = &fetched.sections else {
        if group.is_some() {
            let message = "what is published for this node has no sections, only two lists";
            let hint = "name the scripts, or postscripts-start-here, or postbootscripts-start-here";
            return Err(Failure::config(message, hint));
        }
        let steps = |list: &List| match list {
            List::Postscripts => fetched.plan.postscripts.clone(),
            List::Postbootscripts => fetched.plan.postbootscripts.clone(),
        };
        return Ok(lists.iter().flat_map(steps).map(Selected::from).collect());
    };
    if let Some(e) = lists.iter().find_map(|list| sections.cut_short(*list)) {
        let message = format!("{e}, in the mypostscript of {}", fetched.plan.node);
        return Err(Failure::config(message, e.hint()));
    }
    let steps = lists.iter().flat_map(|list| sections.steps(*list, group, env));
    Ok(steps.map(Selected::from).collect())
}

/// The lists that `request` runs, or the one section of a list.
fn lists(request: &RunRequest, root: Root, runs_again: bool) -> (&[List], Option<Group>) {
    match (request, root) {
        (RunRequest::Named { .. } | RunRequest::Lines { .. }, _) => (&[], None),
        (RunRequest::Continue(of), root) => lists(of, root, runs_again),
        (RunRequest::Postscripts, _) => (&[List::Postscripts], None),
        (RunRequest::Lists { part: Some((list, group)), .. }, _) => {
            (std::slice::from_ref(list), *group)
        }
        (RunRequest::Lists { part: None, .. }, _) | (RunRequest::Boot, Root::Other) => {
            (&List::ALL, None)
        }
        (_, Root::Booted) if !runs_again => (&[], None),
        (RunRequest::Boot | RunRequest::FirstBoot | RunRequest::Reboot, _) => {
            (&[List::Postbootscripts], None)
        }
    }
}

/// The scripts of `steps`.
pub(crate) fn names<'s>(steps: impl IntoIterator<Item = &'s ScheduledStep>) -> Vec<String> {
    steps.into_iter().map(|scheduled| scheduled.step.script.clone()).collect()
}
