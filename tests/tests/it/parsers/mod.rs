//! Each parser that meets bytes from outside takes any bytes: it neither panics nor takes long.
//!
//! A test tries inputs for four seconds; `PROVOST_FUZZ=600 cargo nextest run parsers::`
//! has each try for ten minutes. Inputs are made of those in `fuzz/corpus`.

mod imports;
mod mutate;
mod ports;
#[expect(unreachable_pub, reason = "a crate of cargo-fuzz exports them")]
#[path = "../../../../fuzz/src/lib.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;
use provost_tests::seed;
use rustix::time::{ClockId, clock_gettime};

use mutate::mutated;

/// How much of a processor's time a parser may take for 64 KiB, in a debug build.
const LONG: Duration = Duration::from_secs(10);

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus");

/// Calls `parse` with inputs made of `seeds`, each of which it must survive.
#[track_caller]
fn survives(seeds: &[&str], parse: impl Fn(&[u8])) {
    survives_all(seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect(), parse);
}

#[track_caller]
fn survives_all(seeds: Vec<Vec<u8>>, parse: impl Fn(&[u8])) {
    let seconds = std::env::var("PROVOST_FUZZ").map_or(4, |seconds| seconds.parse().unwrap());
    seeds.iter().for_each(|seed| parse(seed));
    let (mut rng, end) = (Rng::with_seed(seed()), Instant::now() + Duration::from_secs(seconds));
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
    assert!(count > 10, "only {count} inputs");
}

/// The processor's time that this thread has used.
fn used() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32)
}

/// Runs a target of cargo-fuzz with inputs made of its corpus.
#[track_caller]
fn target_survives(name: &str) {
    let folder = std::fs::read_dir(Path::new(CORPUS).join(name)).unwrap();
    let seeds = folder.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    survives_all(seeds, targets::target(name));
}

/// A test of each target.
macro_rules! targets_survive {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            target_survives(stringify!($name));
        })*

        #[test]
        fn no_target_is_forgotten() {
            let here = [$(stringify!($name)),*];
            assert_eq!(here, targets::TARGETS.map(|(name, _)| name));
            let manifest = include_str!("../../../../fuzz/Cargo.toml");
            for name in here {
                assert!(manifest.contains(&format!("[[bin]]\nname = {name:?}\n")), "{name}");
            }
        }
    };
}

targets_survive! {
    header journal kernel_line lease manifest mypostscript node_set plan record refresh signature
    site step_log tls
}
