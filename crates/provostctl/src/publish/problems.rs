use provost_publish::PublishError;

use crate::failure::Failure;
use crate::output;

/// Prints all problems at once: fixing one after the other would be tedious.
pub(crate) fn print_problems(error: PublishError) -> Failure {
    if let PublishError::Refused(problems) = &error {
        for problem in problems {
            let hint = problem.hint();
            output::error(&Failure::of(problem, hint));
        }
    }
    Failure::of(&error, error.hint())
}
