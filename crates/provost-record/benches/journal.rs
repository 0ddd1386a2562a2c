//! What a record costs in a journal that already holds 5,000 entries, without the sync, beside
//! the way of the shell: jq reads the whole array and writes it anew.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

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

/// How many stages a script has whose time is taken.
const STAGES: u32 = 20;

/// What a stage costs a bash script, begun and ended, by `provost record` and by jq, at 600 entries.
fn stage(c: &mut Criterion) {
    let Some(programs) = std::env::var_os("PROVOST_PROGRAMS") else {
        eprintln!("PROVOST_PROGRAMS isn't set: `cargo xtask bench record` measures scripts, too");
        return;
    };
    let library = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../lib-sh/bootstrap-service-record.sh")
        .canonicalize()
        .expect("the library is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("bench.json");
    let begin = || {
        let _ = std::fs::remove_file(&file);
        let mut journal = Journal::open(&file).expect("a journal in a temporary folder");
        for seq in 1..=600 {
            journal.append(&record(seq)).expect("room in the temporary folder");
        }
    };
    // Both print the nanoseconds that their stages took, without the start of bash.
    let clock = format!(
        "began=$(date +%s%N); for i in {{1..{STAGES}}}; do record_service_stage_start s; \
         record_service_stage_success; done; echo $(($(date +%s%N) - began))"
    );
    let provost = format!(". '{}'\n{clock}", library.display());
    let jq = format!(
        r#"add() {{ jq --argjson e "$1" '. + [$e]' "$F" >"$F.new" && mv "$F.new" "$F"; }}
        at() {{ date -u +%Y-%m-%dT%H:%M:%SZ; }}
        record_service_stage_start() {{ add "{{\"timestamp\":\"$(at)\",\"stage\":\"$1\",\"phase\":\"stage start\"}}"; }}
        record_service_stage_success() {{ add "{{\"timestamp\":\"$(at)\",\"stage\":\"s\",\"phase\":\"stage end\"}}"; }}
        {clock}"#
    );
    let mut group = c.benchmark_group("a stage of a bash script at 600 entries");
    group.sample_size(10);
    for (name, script) in [("provost", provost), ("jq", jq)] {
        group.bench_function(name, |b| {
            b.iter_custom(|times| {
                let one = |_| {
                    begin();
                    let mut bash = Command::new("bash");
                    bash.args(["-c", &script]).env("F", &file).env("SERVICE_NAME", "bench");
                    bash.env("SERVICE_RECORDS_DIR", folder.path());
                    bash.env("PROVOST_BIN", Path::new(&programs).join("provost"));
                    let out = bash.output().expect("bash");
                    let took = String::from_utf8_lossy(&out.stdout).trim().parse();
                    Duration::from_nanos(took.expect("nanoseconds")) / STAGES
                };
                (0..times).map(one).sum()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, append, stage);
criterion_main!(benches);
