//! `PROVOST_LOG`: which messages there are.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// The variable: a level, or targets with levels as in `provost_node::fetch=debug`.
const VARIABLE: &str = "PROVOST_LOG";
/// What the targets of all our crates begin with.
const OURS: &str = "provost";

/// What the environment asks for, and what is wrong with that.
pub(super) fn from_environment() -> (Targets, Option<String>) {
    match std::env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => read(&text),
        _ => (ours(LevelFilter::INFO), None),
    }
}

fn ours(level: LevelFilter) -> Targets {
    Targets::new().with_target(OURS, level)
}

fn read(text: &str) -> (Targets, Option<String>) {
    if let Ok(level) = text.parse() {
        return (ours(level), None);
    }
    let why = match text.parse::<Targets>() {
        Ok(targets) if text.split(',').any(is_known) => return (targets, None),
        // The library takes each word for a target: there would be no messages at all.
        Ok(_) => "no level, and no part of provost".to_owned(),
        Err(e) => e.to_string(),
    };
    let hint = "hint: set it to debug, info, warn or error";
    (ours(LevelFilter::INFO), Some(format!("reading {VARIABLE}={text:?}: {why}\n{hint}")))
}

/// Whether a level, or one of our targets.
fn is_known(word: &str) -> bool {
    word.starts_with(OURS) || word.parse::<LevelFilter>().is_ok()
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn a_level_is_for_our_own_crates_and_targets_are_as_they_say() {
        let debug = read("debug").0;
        assert!(debug.would_enable("provost_node::runner", &Level::DEBUG));
        assert!(!debug.would_enable("reqwest", &Level::ERROR));
        let fetch = read("info,provost_node::fetch=trace").0;
        assert!(fetch.would_enable("provost_node::fetch::retry", &Level::TRACE));
        assert!(!fetch.would_enable("provost_node::runner", &Level::DEBUG));
        for wrong in ["provost=loud", "zork", "hyper=debug"] {
            let (default, mistake) = read(wrong);
            assert!(default.would_enable("provost", &Level::INFO));
            assert!(mistake.unwrap().contains(&format!("PROVOST_LOG={wrong:?}")));
        }
    }
}
