//! What a node gets is small, and stays small whatever is fetched and printed.

use std::fmt::Write;
use std::path::Path;

use provost_tests::{Cluster, skip};

/// The most memory of the runner and of its keeper while a script prints, in KiB. The pages of the program that
/// they run are among it.
const MOST_KIB: u64 = 10 * 1024;
/// The most memory of the runner while it fetches, in KiB.
const MOST_FETCHING_KIB: u64 = 16 * 1024;

/// Prints 1 GB, then the peaks of memory: of the runner until then, and of the runner and its
/// keeper, which is the script's parent, meanwhile.
const LOUD: &str = r#"#!/bin/bash
peak() { awk '/^VmHWM:/ { print $2 }' /proc/$1/status; }
runner=$(awk '/^PPid:/ { print $2 }' /proc/$PPID/status)
fetching=$(peak $runner)
for pid in $runner $PPID; do
    # From now on; see proc(5).
    echo 5 >/proc/$pid/clear_refs
done
yes 'a line of some length, as scripts print them' | head -c 1000000000
echo
echo "peaks: $fetching $(peak $runner) $(peak $PPID) $(cat /proc/$runner/comm /proc/$PPID/comm)"
"#;

#[test]
fn the_runner_stays_small_while_20_mb_are_fetched_and_1_gb_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let program = root.join("dist/provost");
    if !program.exists() {
        skip("no dist/provost (cargo xtask dist makes it)")
    }
    let mut cluster = Cluster::new();
    let mut seed = 1_u64;
    for n in 0..20 {
        let mut text = "#!/bin/sh\n".to_owned();
        while text.len() < 1 << 20 {
            // Hardly to be compressed.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            writeln!(text, "{seed:x}").unwrap();
        }
        cluster.script(&format!("data{n}"), &text);
    }
    cluster.script("loud", LOUD);
    cluster.site("[nodes.cn001]\npostscripts = [\"loud\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let config = node.path("provost.toml");
    let run = std::process::Command::new(program)
        .args(["boot", "--config", config.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let log = node.status()["stages"][1]["log"].as_str().unwrap().to_owned();
    assert!(std::fs::metadata(&log).unwrap().len() > 1_000_000_000, "all of it is kept");
    let file = std::fs::File::open(&log).unwrap();
    let mut tail = vec![0; 100];
    let from = file.metadata().unwrap().len() - 100;
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut tail, from).unwrap();
    let tail = String::from_utf8_lossy(&tail).into_owned();
    let (_, peaks) = tail.split_once("peaks: ").unwrap_or_else(|| panic!("{tail}"));
    println!("peaks of memory, in KiB: {peaks}");
    assert!(peaks.contains("provost\n"), "the runner's and no other's: {peaks}");
    let mut peaks = peaks.split([' ', '\n']).map_while(|peak| peak.parse::<u64>().ok());
    let (fetching, runner, keeper) = (peaks.next(), peaks.next(), peaks.next());
    assert!(fetching.is_some_and(|peak| peak <= MOST_FETCHING_KIB), "{fetching:?}");
    assert!(runner.is_some_and(|peak| peak <= MOST_KIB), "{runner:?}");
    assert!(keeper.is_some_and(|peak| peak <= MOST_KIB), "{keeper:?}");
}
