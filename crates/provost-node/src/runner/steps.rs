//! Which steps a run has, and how each is to be run.

use std::path::Path;
use std::sync::LazyLock;

use provost_bundle::{Leak, OnFailure, Policy, Resume, Trace, When};
use provost_exec::{LeakPolicy, Limits, Secrets};
use provost_plan::Step;
use provost_plan::mypostscript::{Group, List};
use provost_record::Service;

use super::Wanted;
use crate::failure::Failure;
use crate::fetch::Fetched;
use crate::install::this_program;
use crate::settings::{Paths, Settings};
use crate::state::library;
use crate::state::root::Root;

/// Variables that a script gets from provost's own environment, where they are set there.
const INHERITED: [&str; 3] = ["HOME", "LANG", "TZ"];
/// Where programs are looked for before the bundle, where the plan doesn't say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// This binary, which an installer may have anywhere.
static BINARY: LazyLock<Option<String>> =
    LazyLock::new(|| this_program().ok()?.into_os_string().into_string().ok());

/// The steps of this run, in order.
pub(crate) fn select(wanted: &Wanted, fetched: &Fetched, root: Root) -> Vec<Step> {
    if let Wanted::Named(steps) | Wanted::Secured(steps) = wanted {
        return steps.clone();
    }
    let (lists, group) = lists(wanted, fetched, root);
    let steps = |list: &List| match (&fetched.mypostscript, list) {
        (Some(read), _) => read.steps(*list, group),
        (None, List::Postscripts) => fetched.plan.postscripts.clone(),
        (None, List::Postbootscripts) => fetched.plan.postbootscripts.clone(),
    };
    lists.iter().flat_map(steps).collect()
}

/// What keeps this run from being as its lists say.
pub(crate) fn mistake(wanted: &Wanted, fetched: &Fetched, root: Root) -> Option<Failure> {
    let read = fetched.mypostscript.as_ref()?;
    let (lists, group) = lists(wanted, fetched, root);
    let e = lists.iter().find_map(|list| read.mistake(*list, group))?;
    Some(Failure::config(format!("{e}; it is that of {}", fetched.plan.node), e.hint()))
}

/// The lists of this run, or the one group of a list.
fn lists<'w>(wanted: &'w Wanted, fetched: &Fetched, root: Root) -> (&'w [List], Option<Group>) {
    match (wanted, root) {
        (Wanted::Named(_) | Wanted::Secured(_), _) => (&[], None),
        (Wanted::Postscripts, _) => (&[List::Postscripts], None),
        (Wanted::Listed(Some((list, group))), _) => (std::slice::from_ref(list), *group),
        (Wanted::Listed(None), _) | (Wanted::Boot, Root::Other) => (&List::ALL, None),
        (_, Root::Booted) if !fetched.plan.runbootscripts => (&[], None),
        (Wanted::Boot | Wanted::FirstBoot | Wanted::Reboot, _) => (&[List::Postbootscripts], None),
    }
}

/// What goes for the script that `step` runs.
pub(crate) fn policy<'f>(fetched: &'f Fetched, step: &Step) -> Option<&'f Policy> {
    fetched.manifest.file(&step.script).map(|entry| &entry.policy)
}

/// What the script gets as its environment: what the plan says, and little more.
pub(crate) fn environment(
    settings: &Settings,
    fetched: &Fetched,
    paths: &Paths,
    service: Option<Service>,
    run: &str,
    step: &Step,
) -> Vec<(String, String)> {
    let plan = &fetched.plan;
    let mut env: Vec<(String, String)> = INHERITED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
    set("NODE", &plan.node);
    for (name, value) in &plan.env {
        set(name, value);
    }
    let path = plan.env.get("PATH").map_or(PATH, String::as_str);
    let library = library::folder(&paths.state).display().to_string();
    match &settings.xcat {
        // Last, so that a script that is called as a command doesn't take its place.
        None => set("PATH", &format!("{path}:{}:{library}", fetched.folder.display())),
        Some(xcat) => {
            set("PATH", &format!("{}:{library}", crate::xcat::path(&fetched.folder, path)));
            let service = service.unwrap_or(Service::Boot);
            let server = fetched.server.as_ref().or(settings.servers.first());
            for (name, value) in crate::xcat::environment(xcat, server, service) {
                set(name, &value);
            }
        }
    }
    set("PROVOST_LIB", &library);
    // For the library.
    if let Some(binary) = &*BINARY {
        set("PROVOST_BIN", binary);
    }
    set("PROVOST_SERVICE", service.map_or("", Service::as_str));
    set("PROVOST_RUN", run);
    set("PROVOST_STAGE", &step.script);
    env
}

/// The step as the executor takes it. `index` is its place among the run's stages.
pub(crate) fn prepare(
    settings: &Settings,
    fetched: &Fetched,
    step: &Step,
    env: Vec<(String, String)>,
    log: &Path,
    trace: &Path,
) -> provost_exec::Step {
    let policy = policy(fetched, step);
    let limits = &settings.run;
    let timeout = policy.and_then(|p| p.timeout).unwrap_or(limits.timeout);
    provost_exec::Step {
        name: step.script.clone(),
        args: step.args.clone(),
        folder: fetched.folder.clone(),
        env,
        log: log.to_owned(),
        trace: match policy.and_then(|p| p.trace) {
            None | Some(Trace::Commands) => provost_exec::Trace::Commands,
            Some(Trace::Lines) => provost_exec::Trace::Lines,
            Some(Trace::Off) => provost_exec::Trace::Off,
        },
        bash_trace: Some(trace.to_owned()),
        trace_lines: false,
        limits: Limits {
            timeout: timeout.duration(),
            slow: limits.slow.duration(),
            grace: limits.grace.duration(),
            leak: limits.leak.duration(),
        },
        leak: match policy.and_then(|p| p.leak) {
            None | Some(Leak::Warn) => LeakPolicy::Warn,
            Some(Leak::Kill) => LeakPolicy::Kill,
            Some(Leak::Fail) => LeakPolicy::Fail,
        },
        xtrace: settings.xcat.is_some() && crate::xcat::is_debugged(&fetched.plan.env),
        lines: false,
        secrets: Secrets::default(),
    }
}

/// What a failure of the step means for the run.
pub(crate) fn on_failure(fetched: &Fetched, step: &Step) -> OnFailure {
    policy(fetched, step).and_then(|p| p.on_failure).unwrap_or(OnFailure::Stop)
}

/// When the step runs.
pub(crate) fn when(fetched: &Fetched, step: &Step) -> When {
    policy(fetched, step).and_then(|p| p.when).unwrap_or_default()
}

/// How often the step is tried again.
pub(crate) fn retries(fetched: &Fetched, step: &Step) -> u32 {
    policy(fetched, step).and_then(|p| p.retries).unwrap_or(0)
}

/// Whether the step runs again after a reboot that it has asked for.
pub(crate) fn is_resumed(fetched: &Fetched, step: &Step) -> bool {
    policy(fetched, step).and_then(|p| p.resume) == Some(Resume::Again)
}
