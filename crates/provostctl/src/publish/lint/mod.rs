//! Mistakes in scripts that can be found without running them.

mod calls;
mod finding;
mod header;
mod library;
mod shadow;
mod syntax;

use futures_util::{StreamExt, stream};
use provost_publish::{Problem, PublishError, Source};

use self::calls::Calls;
pub(super) use self::finding::{Depth, Finding, Level};
use crate::failure::Failure;

/// How many scripts are looked at at once.
const AT_ONCE: usize = 4;

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
    let text = std::str::from_utf8(&content).ok().filter(|text| !text.contains('\0'));
    let Some(text) = text else { return Vec::new() };
    let mut findings = header::of_file(source, text);
    if text.starts_with("#!") {
        findings.extend(syntax::of_script(source, text, depth).await);
        if syntax::is_shell(text) && !findings.iter().any(|f| f.level == Level::Error) {
            let calls = Calls::of(text);
            findings.extend(shadow::of_script(source, &calls));
            findings.extend(library::of_script(source, &calls));
        }
    }
    findings
}
