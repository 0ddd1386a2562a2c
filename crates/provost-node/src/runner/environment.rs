//! What a script gets as its environment: what the plan says, and little more.

use std::path::Path;
use std::sync::LazyLock;

use provost_plan::Step;

use crate::fetch::Fetched;
use crate::install::this_program;
use crate::observe::observer::RunContext;
use crate::settings::{Paths, Settings};
use crate::state::library;

/// What each script has, unless its plan sets another value: the same at boot, in an installer, by hand and
/// by ssh, whatever provost's caller has.
const ALWAYS: [(&str, &str); 5] =
    [("HOME", "/root"), ("USER", "root"), ("LOGNAME", "root"), ("SHELL", "/bin/sh"), ("LANG", "C")];
/// Of these, what an ordinary user who tries a script has of his own.
const OF_USER: [&str; 3] = ["HOME", "USER", "LOGNAME"];

/// This binary, which an installer may have anywhere.
static BINARY: LazyLock<Option<String>> =
    LazyLock::new(|| this_program().ok()?.into_os_string().into_string().ok());

/// The environment of `step`, in `run` if there is one. Of a name that is there twice the last one
/// counts.
pub(crate) fn environment(
    settings: &Settings,
    fetched: &Fetched,
    paths: &Paths,
    run: Option<&RunContext>,
    step: &Step,
) -> Vec<(String, String)> {
    let is_root = rustix::process::geteuid().is_root();
    let mut env: Vec<(String, String)> = ALWAYS
        .into_iter()
        .map(|(name, value)| {
            let own = std::env::var(name).ok().filter(|_| !is_root && OF_USER.contains(&name));
            (name.to_owned(), own.unwrap_or_else(|| value.to_owned()))
        })
        .collect();
    let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
    set("NODE", &fetched.plan.node);
    for (name, value) in &fetched.plan.env {
        set(name, value);
    }
    let library = library::folder(&paths.state).display().to_string();
    let path = fetched.plan.env.get("PATH").map_or("", String::as_str);
    set("PATH", &format!("{path}:{library}"));
    set("PROVOST_LIB", &library);
    // For the library.
    if let Some(binary) = &*BINARY {
        set("PROVOST_BIN", binary);
    }
    set("PROVOST_SERVICE", run.map_or("", |run| run.service.as_str()));
    set("PROVOST_RUN", run.map_or("", |run| &run.id));
    set("PROVOST_STAGE", &step.script);
    if let Some(config) = settings.config.as_deref().and_then(Path::to_str) {
        set("PROVOST_CONFIG", config);
    }
    env
}
