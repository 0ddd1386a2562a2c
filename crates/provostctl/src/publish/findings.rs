//! What lint finds, as this command shows it.

use provost_publish::lint::{Finding, Level};
use provost_publish::{Problem, PublishError};

use crate::failure::Failure;
use crate::output;

/// What publishing would fail with.
pub(super) fn of_failure(failure: Failure) -> Finding {
    Finding { level: Level::Error, file: None, what: failure.error, hint: failure.hint }
}

/// All problems of an input that is refused.
pub(super) fn of_refusal(error: &PublishError) -> Vec<Finding> {
    match error {
        PublishError::Refused(problems) => {
            let finding = |problem: &Problem| of_failure(Failure::of(problem, problem.hint()));
            problems.iter().map(finding).collect()
        }
        other => vec![of_failure(Failure::of(other, other.hint()))],
    }
}

/// Why lint can't look at anything.
pub(super) fn no_resources(e: &std::io::Error) -> Failure {
    Failure::of(e, "check the limits of this process (ulimit -n)")
}

/// A finding as an error of the command.
pub(super) fn failure(finding: &Finding) -> Failure {
    let what = match &finding.file {
        Some(file) => format!("{file}: {}", finding.what),
        None => finding.what.clone(),
    };
    Failure::new(what, finding.hint.clone())
}

/// Prints a finding as a warning or a note.
pub(super) fn warn(finding: &Finding) {
    let word = if finding.level == Level::Note { "note" } else { "warning" };
    let failure = failure(finding);
    output::note(&format!("{word}: {}\n  hint: {}", failure.error, failure.hint));
}
