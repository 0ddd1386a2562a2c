//! Mistakes in scripts that can be found without running them.

mod finding;
mod shadow;
mod syntax;

use futures_util::{StreamExt, stream};
use provost_bundle::{Policy, Problem, PublishError, Source, When};

pub(super) use self::finding::{Depth, Finding, Level};
use crate::failure::Failure;

/// How many scripts are looked at at once.
const AT_ONCE: usize = 4;
/// How long a run may take unless a node's configuration says otherwise (`[run] deadline`), in seconds.
const RUN_DEADLINE: u64 = 2 * 3600;

/// All problems of an input that is refused.
pub(super) fn of_refusal(error: &PublishError) -> Vec<Finding> {
    match error {
        PublishError::Refused(problems) => {
            let finding =
                |problem: &Problem| Finding::of_failure(Failure::of(problem, problem.hint()));
            problems.iter().map(finding).collect()
        }
        other => vec![Finding::of_failure(Failure::of(other, other.hint()))],
    }
}

/// The mistakes in these files.
pub(super) fn of_sources(sources: &[&Source], depth: Depth) -> Result<Vec<Finding>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::of(&e, "check the limits of this process (ulimit -n)"))?;
    let findings = stream::iter(sources).map(|source| of_source(source, depth)).buffered(AT_ONCE);
    Ok(runtime.block_on(findings.concat()))
}

async fn of_source(source: &Source, depth: Depth) -> Vec<Finding> {
    // A file that has changed since it was checked is refused later.
    let Ok(content) = source.read() else { return Vec::new() };
    let mut findings: Vec<Finding> = of_policy(source, &source.entry.policy).into_iter().collect();
    if let Ok(text) = std::str::from_utf8(&content)
        && text.starts_with("#!")
        && !text.contains('\0')
    {
        findings.extend(syntax::of_script(source, text, depth).await);
        findings.extend(shadow::of_script(source, text));
    }
    findings
}

/// What stands in a header and has no effect.
fn of_policy(source: &Source, policy: &Policy) -> Option<Finding> {
    let warn = |what: &str, hint| Some(Finding::of(Level::Warning, source, what, hint));
    if !policy.inputs.is_empty() && policy.when != Some(When::Change) {
        let hint = "add when = \"change\" to its header, or remove inputs";
        return warn("inputs has no effect without when = \"change\"", hint);
    }
    let timeout = policy.timeout?.duration().as_secs();
    let hint = "shorten it, or raise deadline under [run] on the nodes that run it";
    let what = "its timeout is longer than a whole run may take (2 h by default)";
    (timeout > RUN_DEADLINE).then(|| warn(what, hint)).flatten()
}
