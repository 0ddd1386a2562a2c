use super::*;

/// A node's records as they arrive: `"SERVICE RUN PHASE [STAGE] [ok|bad]"`.
fn fold(lines: &[&str]) -> NodeState {
    let mut state = NodeState::new("cn001", "2026-11-20T16:00:00Z".parse().unwrap());
    let mut runs = std::collections::HashMap::<String, u64>::new();
    for line in lines {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (service, run, phase) = (word(), word(), word());
        let seq = runs.entry(format!("{service} {run}")).or_default();
        *seq += 1;
        let (phase, stage) = match phase.as_str() {
            "start" => (Phase::ServiceStart, None),
            "end" => (Phase::ServiceEnd, None),
            "stage" => (Phase::StageStart, Some(word())),
            _ => (Phase::StageEnd, Some(word())),
        };
        let (result, cause) = match word().as_str() {
            "ok" => (Some(Outcome::Success), None),
            "bad" => (Some(Outcome::Failure), Some(Cause::Exit)),
            _ => (None, None),
        };
        let exit_code = cause.and(stage.as_ref()).map(|_| 7);
        let attempt = (phase == Phase::ServiceStart).then_some(1);
        let seq = *seq;
        state.apply(
            &Record { service, run, seq, stage, result, cause, exit_code, attempt, ..new(phase) },
            seq == 1,
        );
    }
    state
}

fn new(phase: Phase) -> Record {
    Record { timestamp: "2026-11-20T17:00:00Z".parse().unwrap(), ..Record::new(phase) }
}

fn status(lines: &[&str]) -> (&'static str, Option<&'static str>) {
    let node = fold(lines).node();
    (node.status.as_str(), node.updatestatus.map(UpdateStatus::as_str))
}

#[test]
fn the_words_are_xcats() {
    let life = [
        "kickstart a start",
        "kickstart a end ok",
        "boot b start",
        "boot b end ok",
        "boot c start",
        "boot c end bad",
        "run d start",
        "run d end bad",
        "run e start",
        "run e end ok",
        "kickstart f start",
        "kickstart f end bad",
        "boot g start",
    ];
    let words: Vec<_> = (0..=life.len()).map(|n| status(&life[..n])).collect();
    assert_eq!(
        words,
        [
            ("defined", None),
            ("installing", None),
            ("booting", None),
            ("postbooting", None),
            ("booted", None),
            ("postbooting", None),
            ("failed", None),
            ("failed", Some("syncing")),
            ("failed", Some("failed")),
            ("failed", Some("syncing")),
            ("failed", Some("synced")),
            ("installing", Some("synced")),
            ("failed", Some("synced")),
            ("netbooting", Some("synced")),
        ]
    );
}

#[test]
fn the_first_failure_is_shown_and_stays_until_the_next_run() {
    let run = [
        "boot a start",
        "boot a stage x",
        "boot a ended x bad",
        "boot a stage y",
        "boot a ended y bad",
    ];
    let running = fold(&run[..4]).node();
    assert_eq!((running.stage.as_deref(), running.cause), (Some("y"), None));

    let state = fold(&[&run[..], &["boot a end bad"]].concat());
    let failed = state.node();
    assert_eq!((failed.stage.as_deref(), failed.cause), (Some("x"), Some(Cause::Exit)));
    assert_eq!((failed.exit_code, failed.attempt), (Some(7), Some(1)));
    assert_eq!(failed.since.unwrap().to_string(), "2026-11-20T17:00:00Z");
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<NodeState>(&text).unwrap(), state);

    let ignored = fold(&[&run[..], &["boot a end ok"]].concat()).node();
    assert_eq!((ignored.status, ignored.stage, ignored.cause), (Status::Booted, None, None));

    let next = fold(&[&run[..], &["boot a end bad", "boot b start"]].concat()).node();
    assert_eq!((next.stage, next.cause, next.exit_code), (None, None, None));
    assert_eq!(next.run.as_deref(), Some("b"));
}

#[test]
fn a_rerun_that_went_well_does_not_hide_why_the_boot_failed() {
    let boot = ["boot a start", "boot a stage x", "boot a ended x bad", "boot a end bad"];
    let rerun = ["run b start", "run b stage z"];
    let during = fold(&[&boot[..], &rerun].concat()).node();
    assert_eq!((during.service.as_deref(), during.stage.as_deref()), (Some("run"), Some("z")));
    let after = fold(&[&boot[..], &rerun, &["run b ended z ok", "run b end ok"]].concat()).node();
    assert_eq!((after.service.as_deref(), after.stage.as_deref()), (Some("boot"), Some("x")));
    assert_eq!(after.updatestatus, Some(UpdateStatus::Synced));
}

#[test]
fn late_records_of_a_run_that_was_superseded_move_nothing() {
    let late = ["boot a start", "boot b start", "boot b end ok", "boot a end bad"];
    assert_eq!(status(&late), ("booted", None));
    // A rerun supersedes no boot: the boot's end may come after it.
    let spooled = ["boot a start", "run b start", "boot a end bad"];
    assert_eq!(status(&spooled), ("failed", Some("syncing")));
}

#[test]
fn a_failure_outside_any_stage_has_a_cause() {
    let node = fold(&["boot a start", "boot a end bad"]).node();
    assert_eq!((node.stage, node.cause), (None, Some(Cause::Exit)));
}

#[test]
fn a_service_of_another_program_moves_nothing() {
    assert_eq!(status(&["boot a start", "bootkube b start", "bootkube b end bad"]).0, "netbooting");
}

#[test]
fn a_record_that_arrives_after_a_later_one_of_its_run_moves_nothing() {
    let record = |seq, phase, result| Record {
        service: "boot".into(),
        run: "a".into(),
        seq,
        result,
        ..new(phase)
    };
    let mut state = NodeState::default();
    state.apply(&record(2, Phase::ServiceEnd, Some(Outcome::Success)), true);
    state.apply(&record(1, Phase::ServiceStart, None), false);
    assert_eq!(state.node().status, Status::Booted);
}
