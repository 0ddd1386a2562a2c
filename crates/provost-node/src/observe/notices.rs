//! A line at the login prompt and after a login, while the last run has failed.

use std::path::Path;

use provost_fs::Durability;
use provost_record::{Cause, Journal, Phase, Record, Service};
use provost_steplog::wording;

use crate::settings::Paths;

/// The files, below `/etc`: agetty(8) shows the first, pam_motd(8) the second.
const PLACES: [&str; 2] = ["issue.d/provost.issue", "motd.d/provost"];
/// The longest line, in characters.
const MOST: usize = 240;
/// How much of that is for an error message.
const MOST_MESSAGE: usize = 120;
/// The end of the line, unless the node is held.
const SEE: &str = "; see: provost status";

/// Puts up how the last run of `service` failed.
pub fn write_login_notice(paths: &Paths, service: Service) {
    let Ok(records) = Journal::last_run_in(&paths.journal(service)) else { return };
    let failed = |r: &&Record| r.phase == Phase::ServiceEnd && r.is_failure();
    let Some(end) = records.last().filter(failed) else { return };
    // The end of the run has the message of the stage that made it fail, not of one whose failure
    // is ignored.
    let to_blame = |r: &&Record| {
        r.phase == Phase::StageEnd
            && r.is_failure()
            && (&r.error_line, &r.error_message) == (&end.error_line, &end.error_message)
    };
    let at = records.iter().rfind(to_blame).unwrap_or(end);
    write(&paths.etc, &line(end, at));
}

/// Removes the line: nothing is wrong any more, as far as is known.
pub fn remove_login_notice(paths: &Paths) {
    for place in PLACES {
        // Without the right to do so nobody can.
        let _ = provost_fs::remove(&paths.etc.join(place), Durability::PowerCut);
    }
}

/// Puts up that a run of `service` on `node` failed before it could begin, and why.
pub fn say_failure(paths: &Paths, service: Service, node: &str, why: &str) {
    let end = Record {
        service: service.to_string(),
        node: node.to_owned(),
        error_message: Some(why.to_owned()),
        ..Record::new(Phase::ServiceEnd)
    };
    write(&paths.etc, &line(&end, &end));
}

/// The line about a run with the end `end` that failed at `at`.
fn line(end: &Record, at: &Record) -> String {
    let message = at.error_message.as_ref().and_then(|m| m.lines().next()).unwrap_or_default();
    let head = format!("provost: {} of {}", end.service, end.node);
    let held = [end.cause, at.cause].contains(&Some(Cause::Held));
    // The message of a node that is held ends with the cause.
    let most = if held { MOST } else { MOST_MESSAGE };
    let message: String = message.chars().take(most).collect();
    let what = match &at.stage {
        _ if held => format!("{head} is held: {message}"),
        None => format!("{head} failed: {message}"),
        Some(stage) => format!("{head} failed: {stage}: {}", blame(at, &message)),
    };
    let by_itself = end.hint.as_deref().is_some_and(|hint| hint.contains("provost release"));
    let more = if by_itself { "; see: provost status; then: provost release" } else { SEE };
    // However long it is, what shows more is there.
    let what: String = harmless(&what).chars().take(MOST - more.len()).collect();
    what + more
}

/// How and where a stage failed; nothing of its output if it is a script.
fn blame(at: &Record, message: &str) -> String {
    let how = wording::outcome(at.cause, at.exit_code, at.signal.as_deref());
    let place = first_line(at).and_then(|line| {
        let mut words = line.splitn(3, ' ');
        Some((words.next()?, words.nth(1)?))
    });
    match place {
        Some((line, file)) => format!("{how} at line {line} of {file}"),
        None if at.exit_code.is_some() && at.cause != Some(Cause::Exec) => how,
        None => format!("{how}: {message}"),
    }
}

/// The line of the script to look at first.
pub(super) fn first_line(record: &Record) -> Option<&str> {
    let Record { error_line, called_from, command, .. } = record;
    wording::first_line(error_line.as_deref(), called_from.as_deref(), command.as_deref())
}

fn write(etc: &Path, line: &str) {
    if !etc.is_dir() {
        return;
    }
    let text = format!("{line}\n");
    for place in PLACES {
        // Who may not write there is no admin of this machine.
        let _ = replace(&etc.join(place), text.as_bytes());
    }
}

fn replace(path: &Path, text: &[u8]) -> std::io::Result<()> {
    if provost_fs::read(path, text.len() as u64).is_ok_and(|old| old == text) {
        return Ok(());
    }
    provost_fs::create_folder_of(path)?;
    provost_fs::replace_with_mode(path, text, 0o644, Durability::PowerCut)
}

/// `line` without the characters that terminals and gettys interpret: agetty(8) the backslash,
/// busybox' getty the per cent sign, others the at sign.
fn harmless(line: &str) -> String {
    let harmless = |c: char| match c {
        '\\' | '%' | '@' => '?',
        c if c == ' ' || c.is_ascii_graphic() => c,
        _ => '?',
    };
    line.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use provost_record::Outcome;

    use super::*;

    fn failed(stage: &str) -> Record {
        Record {
            service: "boot".into(),
            node: "cn001".into(),
            stage: Some(stage.into()),
            result: Some(Outcome::Failure),
            error_message: Some("the script's own words\nmore".into()),
            ..Record::new(Phase::StageEnd)
        }
    }

    #[test]
    fn a_notice_says_what_failed_where_and_what_shows_more() {
        let at = Record {
            error_line: Some("88 install_all /xcatpost/otherpkgs".into()),
            exit_code: Some(100),
            cause: Some(Cause::Exit),
            ..failed("otherpkgs")
        };
        assert_eq!(
            line(&at, &at),
            "provost: boot of cn001 failed: otherpkgs: exit status 100 at line 88 of \
             /xcatpost/otherpkgs; see: provost status"
        );
        let hint = |text: &str| Some(text.to_owned());
        let held = Record { cause: Some(Cause::Held), stage: None, ..at.clone() };
        let there = Record { hint: hint("provostctl release cn001"), ..held.clone() };
        assert!(line(&there, &there).ends_with("words; see: provost status"));
        let held = Record { hint: hint("provost release"), ..held };
        assert!(line(&held, &held).ends_with("words; see: provost status; then: provost release"));
        let fetch = Record { cause: Some(Cause::Fetch), ..failed("fetch") };
        assert!(
            line(&fetch, &fetch).contains("failed: fetch: fetch error: the script's own words;")
        );
    }

    #[test]
    fn terminals_and_gettys_interpret_nothing_in_a_notice() {
        let text = harmless("a\\n@b%s\x1b[2J\u{202e}\nx");
        assert_eq!(text, "a?n?b?s?[2J??x");
        let long = Record { stage: Some("\\x".repeat(1000)), ..failed("") };
        let line = line(&long, &long);
        assert!(line.len() == MOST && line.ends_with(SEE) && !line.contains('\\'), "{line}");
    }
}
