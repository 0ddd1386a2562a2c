//! Each parser that meets bytes from outside takes any bytes: it neither panics nor takes long.
//!
//! A test tries inputs for two seconds; `PROVOST_FUZZ=600 cargo test -p provost-tests --test parsers`
//! has each try for ten minutes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod mutate;
mod ports;

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;
use provost_bundle::{Limit, Manifest, Policy, PublicKey, Tls, Trust};
use provost_plan::mypostscript::MyPostscript;
use provost_plan::{Plan, Site, Step, nodes};
use provost_record::step_log::view::{Part, Reader, View};
use provost_record::{Journal, Paint, Record, judge, runs, service_records};
use rustix::time::{ClockId, clock_gettime};

use mutate::mutated;

/// How much of a processor's time a parser may take for 64 KiB, in a debug build.
const LONG: Duration = Duration::from_secs(10);

const MANIFEST: &str = include_str!("seeds/manifest.toml");
const PLAN: &str = include_str!("seeds/plan.toml");
const JOURNAL: &str = include_str!("seeds/boot.json");
const STEP_LOG: &str = include_str!("seeds/step.log");
const MYPOSTSCRIPT: &str = include_str!("seeds/mypostscript");
const SITE: &str = include_str!("../../../dist/examples/site.toml");
const HEADER: &str = "#!/bin/bash\n# /// provost\n# timeout = \"20m\"\n# when = \"change\"\n\
                      # inputs = [\"A\"]\n# retries = 2\n# on_failure = \"stop\"\n# leak = \"warn\"\n\
                      # ///\ntrue\n";
const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
const SIGNATURE: &str = "untrusted comment: signature from minisign secret key\n\
    RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n\
    trusted comment: timestamp:1633700835\tfile:test\tprehashed\n\
    wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==\n";

/// Calls `parse` with inputs made of `seeds`, each of which it must survive.
#[track_caller]
fn survives(seeds: &[&str], parse: impl Fn(&[u8])) {
    let seconds = std::env::var("PROVOST_FUZZ").map_or(2, |seconds| seconds.parse().unwrap());
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    seeds.iter().for_each(|seed| parse(seed));
    let (mut rng, end) = (Rng::new(), Instant::now() + Duration::from_secs(seconds));
    let mut count = 0_u64;
    while Instant::now() < end {
        let input = mutated(&seeds, &mut rng);
        let begun = used();
        let survived = catch_unwind(AssertUnwindSafe(|| parse(&input))).is_ok();
        let took = used().saturating_sub(begun);
        if !survived || took > LONG {
            let path = std::env::temp_dir().join(format!("provost-input-{:08x}", rng.u32(..)));
            std::fs::write(&path, &input).unwrap();
            panic!("after {count} inputs, {took:?} for {}", path.display());
        }
        count += 1;
    }
    assert!(count > 100, "only {count} inputs");
}

/// The processor's time that this thread has used.
fn used() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn manifests() {
    survives(&[MANIFEST], |bytes| {
        if let Ok(manifest) = Manifest::parse(bytes) {
            let again = Manifest::parse(manifest.to_toml().unwrap().as_bytes()).unwrap();
            assert_eq!(again, manifest);
        }
    });
}

#[test]
fn plans() {
    survives(&[PLAN], |bytes| {
        if let Ok(plan) = Plan::parse(bytes) {
            let _ = plan.body();
        }
    });
}

#[test]
fn headers_and_limits() {
    survives(&[HEADER], |bytes| {
        let _ = Policy::from_script(bytes);
        let _ = text(bytes).parse::<Limit>();
    });
}

#[test]
fn keys_and_signatures() {
    let trust = Trust::new(&[KEY.to_owned()], None, false).unwrap();
    survives(&[SIGNATURE, KEY], |bytes| {
        let signature = text(bytes);
        let _ = PublicKey::from_line(&signature);
        assert!(trust.check_manifest(b"forged", Some(&signature)).is_err());
    });
}

#[test]
fn what_a_manifest_says_of_tls() {
    let digest = "ab".repeat(32);
    survives(&[&format!("8482:{digest},{digest}"), &format!("1:{digest}")], |bytes| {
        if let Ok(tls) = text(bytes).parse::<Tls>() {
            assert_eq!(tls.to_string().parse::<Tls>().ok(), Some(tls));
        }
    });
}

#[test]
fn journals_and_service_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boot.json");
    survives(&[JOURNAL], |bytes| {
        if let Ok(records) = service_records(bytes) {
            let _ = judge(&records);
            let _ = runs(&records);
        }
        std::fs::write(&path, bytes).unwrap();
        if let Ok(mut journal) = Journal::open(&path) {
            let _ = journal.close_interrupted(|_| Vec::new());
        }
        let _ = Journal::read(&path, 0);
    });
}

#[test]
fn records() {
    let record = JOURNAL.lines().nth(1).unwrap().trim_end_matches(',');
    survives(&[record], |bytes| {
        if let Ok(record) = serde_json::from_slice::<Record>(bytes) {
            let _ = record.check_reportable();
            let _ = runs([&record]);
            let text = serde_json::to_vec(&record).unwrap();
            serde_json::from_slice::<Record>(&text).unwrap();
        }
    });
}

#[test]
fn step_logs() {
    let reader = Reader { is_terminal: true, paint: Paint::always(false), width: Some(80) };
    survives(&[STEP_LOG], |bytes| {
        for part in [Part::All, Part::Output, Part::Commands] {
            for json in [false, true] {
                let view = View { part, failed: json, json, reader };
                let mut shown = Vec::new();
                let _ = view.show(Cursor::new(bytes), &mut shown);
                assert!(!shown.contains(&0x1b), "a script writes to the terminal");
            }
        }
    });
}

#[test]
fn mypostscripts() {
    survives(&[MYPOSTSCRIPT], |bytes| {
        let _ = MyPostscript::parse(&text(bytes));
    });
}

#[test]
fn sites_and_steps() {
    survives(&[SITE], |bytes| {
        let text = text(bytes);
        if let Ok(site) = Site::parse(&text, Path::new("site.toml")) {
            let _ = site.plans();
        }
        for line in text.lines() {
            let _ = Step::parse(line);
            let _ = Step::parse_list(line);
        }
    });
}

#[test]
fn node_sets() {
    survives(&["cn[001-004,007],mn1", "a[1-3]b", "x[09-11]"], |bytes| {
        if let Ok(names) = nodes::expand(&text(bytes)) {
            let again = nodes::expand(&nodes::fold(&names));
            assert_eq!(
                again
                    .map(|mut again| {
                        again.sort();
                        again.dedup();
                        again
                    })
                    .ok(),
                Some({
                    let mut names = names.clone();
                    names.sort();
                    names.dedup();
                    names
                })
            );
        }
    });
}
