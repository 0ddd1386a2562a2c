//! What a record costs in a journal that already holds 5,000 entries, without the sync, beside
//! the way of the shell: jq reads the whole array and writes it anew.

use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use provost_record::{Journal, Outcome, Phase, Record};

const HISTORY: u64 = 5_000;

fn record(seq: u64) -> Record {
    Record {
        stage: Some("otherpkgs".into()),
        result: Some(Outcome::Success),
        service: "boot".into(),
        node: "cn001".into(),
        run: "01980000-0000-7000-8000-000000000000".into(),
        seq,
        duration_ms: Some(212),
        ..Record::new(Phase::StageEnd)
    }
}

fn with_history(folder: &Path) -> Journal {
    let path = folder.join("boot.json");
    let mut journal = Journal::open(path).expect("a journal in a temporary folder");
    for seq in 1..=HISTORY {
        journal.append(&record(seq)).expect("room in the temporary folder");
    }
    journal
}

fn append(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut journal = with_history(folder.path());
    let mut group = c.benchmark_group("a record at 5,000 entries");
    let mut seq = HISTORY;
    group.bench_function("provost", |b| {
        b.iter(|| {
            seq += 1;
            journal.append(&record(seq)).expect("room in the temporary folder");
        });
    });
    if !Command::new("jq")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
    {
        eprintln!("jq isn't here: nothing to compare with");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(with_history(folder.path()));
    let journal = folder.path().join("boot.json");
    let entry = serde_json::to_string(&record(1)).expect("a record is JSON");
    group.sample_size(10);
    group.bench_function("jq", |b| {
        b.iter_batched(
            || (),
            |()| {
                let script = r#"jq --argjson e "$2" '. + [$e]' "$1" >"$1.new" && mv "$1.new" "$1""#;
                let mut jq = Command::new("sh");
                jq.args(["-c", script, "sh"]).arg(&journal).arg(&entry);
                assert!(jq.status().expect("sh").success());
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, append);
criterion_main!(benches);
