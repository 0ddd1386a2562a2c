use provost_record::Cause;

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

/// The status that is counted.
fn brief(state: &NodeState) -> Status {
    let json = serde_json::to_string(state).unwrap();
    serde_json::from_str::<BriefState>(&json).unwrap().status()
}

fn status(lines: &[&str]) -> (&'static str, Option<&'static str>) {
    let state = fold(lines);
    let node = state.node();
    assert_eq!(brief(&state), node.status);
    let word = |word: String| -> &'static str { word.leak() };
    (word(node.status.to_string()), node.updatestatus.map(|status| word(status.to_string())))
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
    assert_eq!((running.detail.stage.as_deref(), running.detail.cause), (Some("y"), None));

    let state = fold(&[&run[..], &["boot a end bad"]].concat());
    let failed = state.node();
    assert_eq!(
        (failed.detail.stage.as_deref(), failed.detail.cause),
        (Some("x"), Some(Cause::Exit))
    );
    assert_eq!((failed.detail.exit_code, failed.attempt), (Some(7), Some(1)));
    assert_eq!(failed.since.unwrap().to_string(), "2026-11-20T17:00:00Z");
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<NodeState>(&text).unwrap(), state);

    let ignored = fold(&[&run[..], &["boot a end ok"]].concat()).node();
    assert_eq!(
        (ignored.status, ignored.detail.stage, ignored.detail.cause),
        (Status::Booted, None, None)
    );

    let next = fold(&[&run[..], &["boot a end bad", "boot b start"]].concat()).node();
    assert_eq!((next.detail.stage, next.detail.cause, next.detail.exit_code), (None, None, None));
    assert_eq!(next.run.as_deref(), Some("b"));
}

#[test]
fn a_rerun_that_went_well_does_not_hide_why_the_boot_failed() {
    let boot = ["boot a start", "boot a stage x", "boot a ended x bad", "boot a end bad"];
    let rerun = ["run b start", "run b stage z"];
    let during = fold(&[&boot[..], &rerun].concat()).node();
    assert_eq!(
        (during.service.as_deref(), during.detail.stage.as_deref()),
        (Some("run"), Some("z"))
    );
    let after = fold(&[&boot[..], &rerun, &["run b ended z ok", "run b end ok"]].concat()).node();
    assert_eq!(
        (after.service.as_deref(), after.detail.stage.as_deref()),
        (Some("boot"), Some("x"))
    );
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

fn step(phase: Phase, seq: u64, stage: &str) -> Record {
    let (service, run) = ("boot".into(), "a".into());
    Record { service, run, seq, stage: Some(stage.into()), ..new(phase) }
}

fn ended(seq: u64, stage: &str, result: Outcome, cause: Option<Cause>) -> Record {
    Record { result: Some(result), cause, ..step(Phase::StageEnd, seq, stage) }
}

fn applied(records: &[Record]) -> NodeState {
    let mut state = NodeState::new("cn001", Timestamp::UNIX_EPOCH);
    for (at, record) in records.iter().enumerate() {
        state.apply(record, at == 0);
        state.note_report(&record.run, None, Timestamp::UNIX_EPOCH);
    }
    state
}

#[test]
fn what_was_tried_again_and_ended_well_is_not_what_broke_the_run() {
    use Outcome::{Failure, Success};
    let again = |seq, stage| Record { attempt: Some(2), ..step(Phase::StageStart, seq, stage) };
    let end = Record {
        service: "boot".into(),
        run: "a".into(),
        seq: 12,
        result: Some(Failure),
        ..new(Phase::ServiceEnd)
    };
    let records = [
        step(Phase::StageStart, 1, "fetch"),
        ended(2, "fetch", Failure, Some(Cause::Verify)),
        step(Phase::StageStart, 3, "fetch"),
        ended(4, "fetch", Success, None),
        step(Phase::StageStart, 5, "x"),
        ended(6, "x", Failure, Some(Cause::Exit)),
        again(7, "x"),
        ended(8, "x", Success, None),
        step(Phase::StageStart, 9, "y"),
        ended(10, "y", Failure, Some(Cause::Timeout)),
        end.clone(),
    ];
    assert_eq!(applied(&records[..2]).node().detail.cause, Some(Cause::Verify));
    assert_eq!(applied(&records[..4]).node().detail.cause, None);
    let node = applied(&records).node();
    assert_eq!(
        (node.detail.stage.as_deref(), node.detail.cause),
        (Some("y"), Some(Cause::Timeout))
    );

    // The guard's word counts, whatever failed before it.
    let held = Record { cause: Some(Cause::Held), ..end };
    let node = applied(&[&records[..6], &[held]].concat()).node();
    assert_eq!(
        (node.status, node.detail.stage, node.detail.cause),
        (Status::Failed, None, Some(Cause::Held))
    );
}

#[test]
fn a_node_is_due_when_its_stage_must_have_ended() {
    let due = |records: &[Record]| {
        applied(records).due().map(|due| due.duration_since(Timestamp::UNIX_EPOCH).as_secs())
    };
    let start = |limit_ms| Record { limit_ms, ..step(Phase::StageStart, 1, "x") };
    assert_eq!(due(&[]), None);
    assert_eq!(due(&[start(Some(7_500))]), Some(7));
    assert_eq!(due(&[start(None)]), Some(31 * 60), "an older node doesn't say");
    assert_eq!(due(&[step(Phase::StageStart, 1, "fetch")]), Some(10 * 60));
    let after = ended(2, "x", Outcome::Success, None);
    assert_eq!(due(&[start(Some(7_500)), after]), Some(5 * 60));
    let reboots = ended(2, "x", Outcome::Success, Some(Cause::Reboot));
    assert_eq!(due(&[start(Some(7_500)), reboots]), Some(15 * 60));
    let over = Record {
        service: "boot".into(),
        run: "a".into(),
        seq: 2,
        result: Some(Outcome::Failure),
        ..new(Phase::ServiceEnd)
    };
    assert_eq!(due(&[start(Some(7_500)), over]), None);
    assert_eq!(due(&[start(Some(u64::MAX))]), None, "beyond the calendar");
}

#[test]
fn a_node_that_is_given_up_is_taken_back_when_its_run_speaks_again() {
    let at = |second| Timestamp::from_second(second).unwrap();
    let start = Record { limit_ms: Some(1000), ..step(Phase::StageStart, 1, "x") };
    let mut state = applied(&[Record { seq: 1, ..service_start("boot", "a") }]);
    state.apply(&Record { seq: 2, ..start }, false);
    state.note_report("a", None, at(10));
    assert!(!state.lose(at(10), at(12)), "it isn't due yet");
    assert!(state.lose(at(11), at(12)));
    assert_eq!(state.due(), None, "it is given up once");
    let lost = state.node();
    assert_eq!((lost.status, lost.detail.cause), (Status::Failed, Some(Cause::Lost)));
    assert_eq!((lost.detail.stage.as_deref(), lost.since), (Some("x"), Some(at(12))));
    let said = lost.detail.error_message.unwrap();
    assert!(said.contains("1970-01-01T00:00:10Z") && said.contains("1s"), "{said}");

    // A rerun by hand says nothing of the boot that was cut off.
    state.apply(&Record { seq: 1, ..service_start("run", "b") }, true);
    state.note_report("b", None, at(20));
    assert_eq!(
        (state.node().status, state.node().service.as_deref()),
        (Status::Failed, Some("run"))
    );
    assert!(state.lose(at(1000), at(1000)));
    let rerun = state.node();
    assert_eq!(
        (rerun.updatestatus, rerun.detail.cause),
        (Some(UpdateStatus::Failed), Some(Cause::Lost))
    );
    let end = Record { seq: 2, result: Some(Outcome::Success), ..service_start("run", "b") };
    state.apply(&Record { phase: Phase::ServiceEnd, ..end }, false);
    state.note_report("b", None, at(1001));
    let why = state.node();
    assert_eq!(
        (why.updatestatus, why.detail.cause),
        (Some(UpdateStatus::Synced), Some(Cause::Lost))
    );

    state.note_report("a", None, at(2000));
    assert_eq!((state.node().status, state.node().detail.cause), (Status::Netbooting, None));
    assert_eq!(state.due(), Some(at(2001)));
    state.restart_deadlines(at(3000));
    assert_eq!(state.due(), Some(at(3001)));
}

fn service_start(service: &str, run: &str) -> Record {
    Record { service: service.into(), run: run.into(), ..new(Phase::ServiceStart) }
}

#[test]
fn a_failure_outside_any_stage_has_a_cause() {
    let node = fold(&["boot a start", "boot a end bad"]).node();
    assert_eq!((node.detail.stage, node.detail.cause), (None, Some(Cause::Exit)));
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

#[test]
fn a_node_that_is_held_shows_what_it_failed_by() {
    let of = |run: &str, seq, record: Record| Record {
        service: "boot".into(),
        run: run.into(),
        seq,
        ..record
    };
    let mut state = NodeState::new("cn001", Timestamp::UNIX_EPOCH);
    for run in ["a", "b", "c"] {
        state.apply(&of(run, 1, new(Phase::ServiceStart)), true);
        let message = "mount.nfs: trying\nlustre01 does not answer\nafter 3 s";
        let failed = Record {
            exit_code: Some(1),
            error_message: Some(message.into()),
            ..ended(2, "mount_scratch", Outcome::Failure, Some(Cause::Exit))
        };
        state.apply(&of(run, 2, failed), false);
        let end = Record { result: Some(Outcome::Failure), ..new(Phase::ServiceEnd) };
        state.apply(&of(run, 3, end), false);
    }
    let held = |state: &mut NodeState, run| {
        state.apply(&of(run, 1, new(Phase::ServiceStart)), true);
        let (result, cause) = (Some(Outcome::Failure), Some(Cause::Held));
        let end = Record { result, cause, ..new(Phase::ServiceEnd) };
        state.apply(&of(run, 2, end), false);
        state.node().detail
    };
    let why =
        "held after 3 failures; the last: mount_scratch, exit status 1, lustre01 does not answer";
    // It is so however often the node tries.
    for run in ["d", "e"] {
        let detail = held(&mut state, run);
        assert_eq!((detail.cause, detail.error_message.as_deref()), (Some(Cause::Held), Some(why)));
    }
    state.apply(&of("f", 1, new(Phase::ServiceStart)), true);
    let end = Record { result: Some(Outcome::Success), ..new(Phase::ServiceEnd) };
    state.apply(&of("f", 2, end), false);
    assert_eq!(held(&mut state, "g").error_message, None, "what failed before is over");
}

/// A node that came too early isn't failed, until something else is wrong with it.
#[test]
fn a_run_that_waits_for_its_plan_leaves_a_node_as_it_was_defined() {
    let mut state = NodeState::new("cn001", "2026-11-20T16:00:00Z".parse().unwrap());
    let mut seq = 0;
    let mut apply = |state: &mut NodeState, run: &str, phase, why: Option<&str>, minute: u8| {
        seq += 1;
        let of_stage = matches!(phase, Phase::StageStart | Phase::StageEnd);
        let ends = matches!(phase, Phase::StageEnd | Phase::ServiceEnd);
        let result = match why {
            Some("ok") => Outcome::Success,
            _ => Outcome::Failure,
        };
        let record = Record {
            timestamp: format!("2026-11-20T17:{minute:02}:00Z").parse().unwrap(),
            service: "boot".to_owned(),
            run: run.to_owned(),
            seq,
            stage: of_stage.then(|| "fetch".to_owned()),
            result: ends.then_some(result),
            cause: (ends && why != Some("ok")).then_some(Cause::Fetch),
            waiting: why.filter(|why| *why == "no plan").map(str::to_owned),
            ..Record::new(phase)
        };
        let notice = state.apply(&record, phase == Phase::ServiceStart);
        let node = state.node();
        assert_eq!(brief(state), node.status);
        (node.status.to_string(), node.waiting, node.detail.cause, notice)
    };
    let waits = |since: u8| Some(format!("no plan (since 2026-11-20T17:{since:02}:00Z)"));
    let defined = |since: u8| ("defined".to_owned(), waits(since), None, None);
    use Phase::{ServiceEnd, ServiceStart, StageEnd, StageStart};
    let begins = ("netbooting".to_owned(), None, None, None);
    assert_eq!(apply(&mut state, "a", ServiceStart, None, 0), begins);
    assert_eq!(apply(&mut state, "a", StageStart, None, 0), begins);
    let first = ("defined".to_owned(), waits(1), None, Some(NoticeKind::Pending));
    assert_eq!(apply(&mut state, "a", StageEnd, Some("no plan"), 1), first);
    assert_eq!(apply(&mut state, "a", StageStart, None, 2), defined(1));
    assert_eq!(apply(&mut state, "a", StageEnd, Some("no plan"), 3), defined(1));
    assert_eq!(apply(&mut state, "a", ServiceEnd, Some("no plan"), 4), defined(1));
    // It asks again, and is refused for another reason, …
    assert_eq!(apply(&mut state, "b", ServiceStart, None, 5), defined(1));
    assert_eq!(apply(&mut state, "b", StageStart, None, 5), defined(1));
    let refused = apply(&mut state, "b", StageEnd, Some("refused"), 6);
    assert_eq!((&*refused.0, refused.1, refused.2), ("netbooting", None, Some(Cause::Fetch)));
    let failed = apply(&mut state, "b", ServiceEnd, Some("refused"), 6);
    assert_eq!((&*failed.0, failed.3), ("failed", Some(NoticeKind::Failed)));
    // … or finds what it waits for.
    apply(&mut state, "c", ServiceStart, None, 7);
    assert_eq!(apply(&mut state, "c", StageEnd, Some("no plan"), 8).1, waits(8));
    assert_eq!(apply(&mut state, "c", StageEnd, Some("ok"), 9).0, "netbooting");
}
