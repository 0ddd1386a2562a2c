//! What people read of a record: outcomes and durations in words, the same on the node and on the
//! management node.

use std::error::Error;
use std::time::Duration;

use provost_record::{Cause, Inner, Outcome, Repair};

/// An error with the chain of its sources, outermost first: `opening the journal /x: No space left
/// on device`. A source that the error before it repeats is left out.
pub fn error_chain(error: &(dyn Error + '_)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let cause = source.to_string();
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
        next = source.source();
    }
    text
}

/// How a stage that failed has ended, in a few words: `exit status 7`, `killed by SIGSEGV`,
/// `time-out`, or the [`Cause`] in words. What a node sends as `signal` isn't escaped here.
pub fn outcome(cause: Option<Cause>, exit_code: Option<i32>, signal: Option<&str>) -> String {
    match (cause, exit_code, signal) {
        // Its exit status is a shell's for it; its signal is ours.
        (Some(cause @ (Cause::Exec | Cause::Timeout)), ..) => cause.words().to_owned(),
        // By its exit status it didn't fail: its policy is leak = "fail".
        (Some(Cause::Exit), Some(0), _) => "left processes behind".to_owned(),
        (_, Some(code), _) => exit_status(code),
        (Some(Cause::Interrupted), _, Some(signal)) => format!("interrupted by {signal}"),
        (_, _, Some(signal)) => format!("killed by {signal}"),
        (Some(cause), ..) => cause.words().to_owned(),
        (None, ..) => "failed".to_owned(),
    }
}

/// The line to look at first, `LINE FUNCTION FILE`: where a function such as `die` ends the script by
/// `exit`, the line that calls it.
pub fn first_line<'a>(
    error_line: Option<&'a str>,
    called_from: Option<&'a str>,
    command: Option<&str>,
) -> Option<&'a str> {
    let by_exit = command.is_some_and(|command| command.split(' ').next() == Some("exit"));
    called_from.filter(|_| by_exit && error_line.is_some()).or(error_line)
}

/// How a stage that a script recorded itself has ended: `ok`, `FAILED (exit status 32)`.
pub fn inner_outcome(inner: &Inner) -> String {
    let outcome = || outcome(inner.cause, inner.exit_code, inner.signal.as_deref());
    match inner.result {
        Some(Outcome::Success) => "ok".to_owned(),
        Some(Outcome::Failure) if inner.is_stop() => format!("stopped ({})", outcome()),
        Some(Outcome::Failure) => format!("FAILED ({})", outcome()),
        Some(Outcome::Other(word)) => format!("{} ({})", word.as_str(), outcome()),
        None => "no end".to_owned(),
    }
}

/// What had to be repaired in a journal: `removed 12 bytes of an incomplete entry; kept 3 entries`.
pub fn repair(repair: &Repair) -> String {
    let kept = count(repair.kept, "entry");
    let text = match repair.cut {
        0 if repair.kept == 0 && repair.aside.is_some() => "it was no journal".to_owned(),
        0 => format!("its end was missing; kept {kept}"),
        cut => format!("removed {} of an incomplete entry; kept {kept}", count(cut, "byte")),
    };
    match &repair.aside {
        Some(path) => format!("{text}; the damaged file is {}", path.display()),
        None => text,
    }
}

/// An exit status: `exit status 7`.
pub fn exit_status(code: i32) -> String {
    format!("exit status {code}")
}

/// How many commands a step ran: `12, 3 failed`. None where none is known of.
pub fn commands(commands: u64, failed: u64) -> Option<String> {
    match (commands, failed) {
        (0, _) => None,
        (commands, 0) => Some(commands.to_string()),
        (commands, failed) => Some(format!("{commands}, {failed} failed")),
    }
}

/// A number of things: `1 record`, `2 records`, `2 retries`.
pub fn count(n: impl std::fmt::Display, what: &str) -> String {
    let n = n.to_string();
    match what.strip_suffix('y') {
        _ if n == "1" => format!("1 {what}"),
        // Not after a vowel: days.
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{n} {stem}ies"),
        _ => format!("{n} {what}s"),
    }
}

/// The steps that failed in a run that went on: `2 of 9 steps failed: a, b`.
pub fn steps_failed(failed: &[String], steps: usize) -> String {
    format!("{} of {} failed: {}", failed.len(), count(steps, "step"), failed.join(", "))
}

/// How long something took: `34 ms`, `1.1 s`, `2 min 5 s`, `1 h 3 min`. Cut off, not rounded up.
pub fn duration(duration: Duration) -> String {
    match duration.as_millis() {
        ms @ 0..1000 => format!("{ms} ms"),
        ms @ 1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        ms @ 60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
        ms => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// The same of milliseconds, as a record has them.
pub fn milliseconds(ms: u64) -> String {
    duration(Duration::from_millis(ms))
}

/// How long ago something was, in its largest unit: `59 s`, `1 min`, `23 h`, `2 d`.
pub fn age(age: Duration) -> String {
    match age.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min", s / 60),
        s @ 3600..86_400 => format!("{} h", s / 3600),
        s => format!("{} d", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_has_few_words() {
        for (cause, code, signal, words) in [
            (Some(Cause::Exit), Some(7), None, "exit status 7"),
            (Some(Cause::Exit), Some(0), None, "left processes behind"),
            (None, Some(7), None, "exit status 7"),
            (Some(Cause::Signal), None, Some("SIGSEGV"), "killed by SIGSEGV"),
            (None, None, Some("SIGSEGV"), "killed by SIGSEGV"),
            (Some(Cause::Interrupted), None, Some("SIGTERM"), "interrupted by SIGTERM"),
            (Some(Cause::Timeout), None, None, "time-out"),
            (Some(Cause::Local), None, None, "local error"),
            (None, None, None, "failed"),
        ] {
            assert_eq!(outcome(cause, code, signal), words);
        }
    }

    #[test]
    fn a_stage_of_the_scripts_own_has_an_outcome_too() {
        let inner = |result, signal: Option<&str>| Inner {
            result,
            cause: signal.map(|_| Cause::Interrupted),
            signal: signal.map(str::to_owned),
            ..Inner::default()
        };
        for (inner, words) in [
            (inner(Some(Outcome::Success), None), "ok"),
            (inner(Some(Outcome::Failure), None), "FAILED (failed)"),
            (inner(Some(Outcome::Failure), Some("SIGTERM")), "stopped (interrupted by SIGTERM)"),
            (inner(None, None), "no end"),
        ] {
            assert_eq!(inner_outcome(&inner), words);
        }
    }

    #[test]
    fn a_repair_says_what_is_lost() {
        let of = |cut, kept, aside: Option<&str>| {
            repair(&Repair { cut, kept, aside: aside.map(Into::into) })
        };
        assert_eq!(of(12, 1, None), "removed 12 bytes of an incomplete entry; kept 1 entry");
        assert_eq!(of(0, 2, None), "its end was missing; kept 2 entries");
        assert_eq!(of(0, 0, Some("/x")), "it was no journal; the damaged file is /x");
    }

    #[test]
    fn commands_are_counted() {
        let words = [(0, 0), (12, 0), (12, 3)].map(|(all, failed)| commands(all, failed));
        assert_eq!(words, [None, Some("12".to_owned()), Some("12, 3 failed".to_owned())]);
    }

    #[test]
    fn one_thing_is_singular() {
        let words =
            [(0, "record"), (1, "retry"), (2, "retry"), (3, "day")].map(|(n, w)| count(n, w));
        assert_eq!(words, ["0 records", "1 retry", "2 retries", "3 days"]);
    }

    #[test]
    fn an_error_names_each_cause_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("{what}")]
        struct Layer {
            what: &'static str,
            source: Option<Box<Layer>>,
        }
        let layer = |what, source| Layer { what, source };
        let inner = || Some(Box::new(layer("no space", None)));
        assert_eq!(error_chain(&layer("writing a", inner())), "writing a: no space");
        assert_eq!(error_chain(&layer("writing a: no space", inner())), "writing a: no space");
        assert_eq!(error_chain(&layer("alone", None)), "alone");
    }

    #[test]
    fn a_duration_has_two_units_at_most() {
        let words = [0, 38, 999, 1100, 1199, 59_999, 125_000, 3_780_000].map(milliseconds);
        let expected =
            ["0 ms", "38 ms", "999 ms", "1.1 s", "1.1 s", "59.9 s", "2 min 5 s", "1 h 3 min"];
        assert_eq!(words, expected);
    }

    #[test]
    fn an_age_has_one_unit() {
        let words = [0, 59, 60, 7199, 90_000].map(|s| age(Duration::from_secs(s)));
        assert_eq!(words, ["0 s", "59 s", "1 min", "1 h", "1 d"]);
    }
}
