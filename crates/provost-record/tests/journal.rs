//! The journal under crashes, crowds and foreign hands.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use provost_record::{Cause, Journal, Outcome, Phase, Record};
use serde_json::{Value, json};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn journal(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("services/boot.json")
}

fn record(seq: u64, phase: Phase) -> Record {
    let of_stage = matches!(phase, Phase::StageStart | Phase::StageEnd);
    Record {
        stage: of_stage.then(|| format!("stage-{seq}")),
        result: matches!(phase, Phase::StageEnd | Phase::ServiceEnd).then_some(Outcome::Success),
        service: "boot".into(),
        node: "cn001".into(),
        run: "01980000-0000-7000-8000-000000000000".into(),
        seq,
        error_message: Some("line one\nline \"two\"\n]\n".into()),
        ..Record::new(phase)
    }
}

fn entries(path: &Path) -> Vec<Value> {
    let text = std::fs::read(path).unwrap();
    let shown = String::from_utf8_lossy(&text);
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("no JSON array: {e}\n{shown}"))
}

/// The file at one instant, parsed as any program would.
fn snapshot(path: &Path) -> Vec<Value> {
    let file = std::fs::File::open(path).unwrap();
    file.lock_shared().unwrap();
    entries(path)
}

#[test]
fn an_entry_a_line_in_one_array() {
    let dir = folder();
    let path = journal(&dir);
    let mut journal = Journal::open(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim_end_matches(' '), "[\n]\n");
    for seq in 1..=3 {
        journal.append(&record(seq, Phase::StageStart)).unwrap();
        assert_eq!(entries(&path).len() as u64, seq);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.trim_end_matches(' ');
    assert_eq!(text.lines().count(), 5);
    assert!(text.ends_with("}\n]\n"), "{text}");
    let read = Journal::read(&path, 0).unwrap();
    assert_eq!(read.iter().map(|e| e.record.seq).collect::<Vec<_>>(), [1, 2, 3]);
    let rest = Journal::read(&path, read[1].end).unwrap();
    assert_eq!(rest.len(), 1, "reading goes on where it left off");
    assert_eq!(rest[0].end, read[2].end);
}

#[test]
fn twenty_writers_lose_nothing_and_a_reader_never_sees_half_an_entry() {
    let dir = folder();
    let path = journal(&dir);
    Journal::open(&path).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                let now = Journal::read(&path, 0).unwrap().len();
                assert!(snapshot(&path).len() >= now, "an entry went");
                assert!(now >= seen, "{now} entries after {seen}");
                seen = now;
            }
        });
        let writers: Vec<_> = (1..=20)
            .map(|writer| {
                let path = &path;
                s.spawn(move || {
                    let mut journal = Journal::open(path).unwrap();
                    for _ in 0..50 {
                        journal.append(&record(writer, Phase::StageStart)).unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|w| w.join().unwrap());
        done.store(true, Ordering::Relaxed);
    });
    let all = entries(&path);
    assert_eq!(all.len(), 1000);
    for writer in 1..=20 {
        assert_eq!(all.iter().filter(|e| e["seq"] == writer).count(), 50);
    }
}

#[test]
fn a_reader_that_takes_no_lock_finds_a_whole_array_but_for_the_time_of_one_write() {
    let dir = folder();
    let path = journal(&dir);
    let mut journal = Journal::open(&path).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|s| {
        let reader = s.spawn(|| {
            let (mut reads, mut torn) = (0, 0);
            while !done.load(Ordering::Relaxed) {
                let text = std::fs::read(&path).unwrap();
                reads += 1;
                torn += usize::from(serde_json::from_slice::<Vec<Value>>(&text).is_err());
            }
            (reads, torn)
        });
        for seq in 1..=300 {
            journal.append(&record(seq, Phase::StageStart)).unwrap();
            // As a run does; it gives the reader its turn.
            journal.sync().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        // Without blanks behind the array about one of 25 is torn, between a reader's two reads.
        // What is left is a write that crosses a page, seen in the very moment.
        let (reads, torn) = reader.join().unwrap();
        assert!(reads > 1 && torn * 100 <= reads.max(100), "{torn} of {reads}");
    });
    journal.append(&record(1, Phase::ServiceEnd)).unwrap();
    assert!(std::fs::read(&path).unwrap().ends_with(b"}\n]\n"), "the blanks are gone");
}

proptest! {
    /// Whatever instant the power fails at: what was whole stays, what was not goes, and the next
    /// entry has its place.
    #[test]
    fn a_torn_tail_is_cut_back_to_the_last_whole_entry(keep in 0usize..1200, nuls in 0usize..40) {
        let dir = folder();
        let path = journal(&dir);
        let mut journal = Journal::open(&path).unwrap();
        for seq in 1..=4 {
            journal.append(&record(seq, Phase::StageStart)).unwrap();
        }
        let mut text = std::fs::read(&path).unwrap();
        text.truncate(text.trim_ascii_end().len() + 1);
        let keep = keep.min(text.len());
        let torn = [&text[..keep], &vec![0; nuls][..]].concat();
        std::fs::write(&path, &torn).unwrap();
        let whole = torn.windows(2).filter(|w| *w == b"}," || *w == b"}\n").count();

        let mut journal = Journal::open(&path).unwrap();
        let repair = journal.take_repair();
        // Where no entry was begun, none is lost; nor is one where only the last newline is gone.
        let is_torn = torn.trim_ascii_end() != text.trim_ascii_end();
        prop_assert_eq!(repair.is_some(), is_torn && torn.contains(&b'{'));
        journal.append(&record(9, Phase::StageStart)).unwrap();
        let seqs: Vec<u64> = entries(&path).iter().map(|e| e["seq"].as_u64().unwrap()).collect();
        // A last entry whose newline is gone is whole all the same.
        let cut_in_newline = keep < text.len() && text[..keep].ends_with(b"}");
        let expected = (1..=(whole as u64 + u64::from(cut_in_newline))).chain([9]);
        prop_assert_eq!(seqs, expected.collect::<Vec<_>>());
    }
}

#[test]
fn an_empty_file_and_anothers_layout_are_taken_over() {
    let dir = folder();
    let path = dir.path().join("other.json");
    std::fs::write(&path, "").unwrap();
    Journal::open(&path).unwrap().append(&record(1, Phase::ServiceStart)).unwrap();
    assert_eq!(entries(&path).len(), 1);

    std::fs::write(
        &path,
        "[\n  {\n    \"phase\": \"service start\",\n    \"x\": \"a,\\nb\"\n  }\n]\n",
    )
    .unwrap();
    let mut journal = Journal::open(&path).unwrap();
    assert_eq!(journal.take_repair(), None, "nothing of it was damaged");
    journal.append(&record(2, Phase::StageStart)).unwrap();
    let all = entries(&path);
    assert_eq!((all.len(), &all[0]["x"]), (2, &Value::from("a,\nb")));
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim_end().lines().count(), 4);
}

#[test]
fn a_torn_file_of_another_layout_is_cut_back_as_well() {
    for (torn, kept, cut) in [
        (r#"[{"seq":1,"x":"}, {"},{"seq":2},{"seq":3"#, 2, 8),
        (r#"[{"seq":1},{"seq":2},"#, 2, 0),
        ("[\n  {\n    \"seq\": 1\n  },\n  {\n    \"seq\"", 1, 11),
        (r#"[{"seq":1}, 7, {"seq":2}]"#, 1, 13),
    ] {
        let dir = folder();
        let path = dir.path().join("other.json");
        std::fs::write(&path, torn).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        let repair = journal.take_repair().unwrap();
        assert_eq!((repair.kept, repair.cut, &repair.aside), (kept, cut, &None), "{torn}");
        assert_eq!(entries(&path).len(), kept, "{torn}");
    }
}

#[test]
fn what_is_no_journal_at_all_is_put_aside() {
    let dir = folder();
    let path = dir.path().join("boot.json");
    std::fs::write(&path, "once upon a time").unwrap();
    let mut journal = Journal::open(&path).unwrap();
    let aside = journal.take_repair().unwrap().aside.unwrap();
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "once upon a time");
    assert!(entries(&path).is_empty());
}

#[test]
fn what_was_cut_off_is_closed_as_interrupted_once() {
    let dir = folder();
    let path = journal(&dir);
    let mut journal = Journal::open(&path).unwrap();
    assert!(journal.close_interrupted(|_| Vec::new()).unwrap().is_empty(), "nothing has begun");
    journal.append(&record(1, Phase::ServiceStart)).unwrap();
    journal.append(&record(2, Phase::StageStart)).unwrap();
    let stages = ["syslog".to_owned(), "ntp".to_owned()].to_vec();
    journal.append(&Record { stages, ..record(3, Phase::StageEnd) }).unwrap();
    journal.append(&record(4, Phase::StageStart)).unwrap();

    let mut journal = Journal::open(&path).unwrap();
    let closed = journal.close_interrupted(|_| Vec::new()).unwrap();
    let told: Vec<_> = closed.iter().map(|r| (r.seq, r.phase, r.cause, r.result)).collect();
    let (cause, result) = (Some(Cause::Interrupted), Some(Outcome::Failure));
    assert_eq!(told, [(5, Phase::StageEnd, cause, result), (6, Phase::ServiceEnd, cause, result)]);
    assert_eq!(closed[0].stage.as_deref(), Some("stage-4"));
    assert_eq!(closed[1].not_run, ["ntp"]);
    assert!(journal.close_interrupted(|_| Vec::new()).unwrap().is_empty(), "it is closed");
    assert_eq!(entries(&path).len(), 6);
}

#[test]
fn the_last_run_is_found_behind_a_long_history() {
    let dir = folder();
    let mut journal = Journal::open(journal(&dir)).unwrap();
    for seq in 1..=3000 {
        let phase = if seq == 10 { Phase::ServiceStart } else { Phase::StageStart };
        journal.append(&record(seq, phase)).unwrap();
    }
    let run = journal.last_run().unwrap();
    assert_eq!((run[0].seq, run.len()), (10, 2991));
}

#[test]
fn a_rotated_journal_is_left_whole_and_writers_follow() {
    let dir = folder();
    let path = journal(&dir);
    let mut journal = Journal::open(&path).unwrap();
    let mut other = Journal::open(&path).unwrap();
    journal.append(&record(1, Phase::StageStart)).unwrap();
    assert_eq!(journal.rotate(1 << 20, 0).unwrap(), None);
    assert!(journal.rotate(10, 0).unwrap().is_some());
    other.append(&record(2, Phase::StageStart)).unwrap();
    journal.append(&record(3, Phase::StageStart)).unwrap();
    assert_eq!(entries(&path.with_extension("1.json")).len(), 1);
    assert_eq!(entries(&path).len(), 2);
}

#[test]
fn a_rotated_journal_keeps_the_newest_whole_runs_that_there_is_room_for() {
    let dir = folder();
    let path = journal(&dir);
    let mut journal = Journal::open(&path).unwrap();
    for run in 0..10 {
        for (seq, phase) in [(1, Phase::ServiceStart), (2, Phase::StageStart)] {
            journal.append(&record(10 * run + seq, phase)).unwrap();
        }
    }
    let whole = journal.len();
    let left = journal.rotate(whole - 1, whole / 3).unwrap().unwrap();
    let kept = entries(&path);
    assert_eq!(left + kept.len(), 20);
    assert_eq!(kept.len(), 6, "three runs of ten");
    assert_eq!((&kept[0]["phase"], &kept[0]["seq"]), (&json!("service start"), &json!(71)));
    assert_eq!(entries(&path.with_extension("1.json")).len(), 20);
    journal.append(&record(101, Phase::ServiceEnd)).unwrap();
    assert_eq!(entries(&path).len(), 7);
    let again = journal.rotate(10, 10).unwrap();
    assert_eq!((again, entries(&path).len()), (Some(7), 0), "no run is that short");
}
