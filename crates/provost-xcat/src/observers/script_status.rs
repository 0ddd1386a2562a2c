//! How a script ended, in the words that xCAT's tools look for.

use provost_record::{Cause, Record};
use provost_steplog::wording;

/// The exit status of timeout(1) after a time-out.
const TIMED_OUT: i32 = 124;
/// The exit status of a shell that doesn't find a script.
const NOT_FOUND: i32 = 127;
/// The status of a script that didn't end by itself.
const NO_STATUS: i32 = 255;

/// `return with STATUS`, and how it ended where the status doesn't say that.
pub(super) fn returned(end: &Record) -> String {
    let code = status(end);
    match end.exit_code {
        Some(own) if own == code => format!("return with {code}"),
        _ if code == 0 => "return with 0".to_owned(),
        _ => {
            let how = wording::outcome(end.cause, end.exit_code, end.signal.as_deref());
            format!("return with {code} ({how})")
        }
    }
}

/// The status that a script is said to have returned: 0 only where it succeeded.
pub(super) fn status(end: &Record) -> i32 {
    match (end.exit_code, end.cause) {
        _ if !end.is_failure() => 0,
        (Some(code), _) if code != 0 => code,
        (_, Some(Cause::Timeout)) => TIMED_OUT,
        (_, Some(Cause::Missing)) => NOT_FOUND,
        _ => NO_STATUS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_without_a_status_has_not_succeeded() {
        let end = |cause, exit_code| Record {
            result: Some(provost_record::Outcome::Failure),
            cause: Some(cause),
            exit_code,
            ..Record::new(provost_record::Phase::StageEnd)
        };
        assert_eq!(returned(&end(Cause::Exit, Some(3))), "return with 3");
        assert_eq!(returned(&end(Cause::Missing, None)), "return with 127 (missing script)");
        assert_eq!(returned(&end(Cause::Exec, Some(127))), "return with 127");
        assert_eq!(returned(&end(Cause::Timeout, None)), "return with 124 (time-out)");
        assert_eq!(returned(&end(Cause::Exit, Some(0))), "return with 255 (exit status 0)");
    }
}
