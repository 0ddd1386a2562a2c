//! What a whole cold boot costs, next to the least that it could: one `curl` of all scripts into
//! `tar`, and a bare loop over those that run.
//!
//! `cargo xtask bench boot` runs it with the node's binary as nodes get it, as root and with an
//! nginx. Both take turns, over the same link and from the same web server, so that whatever else
//! the machine does is done to both; what is printed are medians.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

#[path = "../common/mod.rs"]
mod common;
mod link;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::table::{Table, Target};
use common::{median, shell, time};
use link::Link;
use provost_tests::{Cluster, WebServer};

/// How many scripts run, and how many files there are in all.
const SCRIPTS: usize = 50;
const FILES: usize = 150;
/// The size of those that don't run, in bytes: 1.5 MB together.
const SIZE: usize = 15_000;
/// How often each alternative is measured; odd.
const ROUNDS: usize = 15;

fn main() {
    let mut cluster = Cluster::new();
    let names: Vec<String> = (1..=SCRIPTS).map(|n| format!("s{n:02}")).collect();
    for name in &names {
        cluster.script(name, "#!/bin/sh\necho well\n");
    }
    for n in SCRIPTS..FILES {
        cluster.script(&format!("more/{n}.sh"), &prose(n));
    }
    cluster.site(&format!("[nodes.cn001]\npostscripts = {names:?}\n")).publish().expect(0);
    cluster.start();
    let pack = cluster.www().join("floor.tar.zst");
    let mut tar = Command::new("tar");
    time(tar.arg("--zstd").arg("-cf").arg(&pack).arg("-C").arg(cluster.scripts()).arg("."));
    let all = PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(cluster.path(""), all).unwrap();
    let own = cluster.path("nginx");
    std::fs::create_dir(&own).unwrap();
    assert_eq!(WebServer::missing(), None);
    let server = WebServer::start(&own, &cluster.www(), &cluster.daemon().nodes());

    let mut table = Table::new();
    for (round_trip, target) in [(0, 2.0), (10, 1.3)] {
        let link = Link::to(server.address(), Duration::from_millis(round_trip));
        let node = cluster.node("cn001");
        node.configure(&cluster.settings_for(&[link.address()]));
        let url = format!("http://{}/floor.tar.zst", link.address());
        let floor = format!(
            "mkdir floor && cd floor && curl -fsS --noproxy '*' {url} | tar --zstd -x && \
             for script in s*; do ./$script; done"
        );
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            for ours_now in [round % 2 == 0, round % 2 == 1] {
                let old = format!("{round_trip}-{round}");
                if ours_now {
                    ours.push(milliseconds(time(&mut node.command(&["boot"]))));
                    put_aside(&node.path("state"), &old);
                    put_aside(&node.path("log"), &old);
                } else {
                    theirs.push(milliseconds(time(&mut shell(&cluster.path(""), &floor))));
                    put_aside(&cluster.path("floor"), &old);
                }
            }
        }
        let what = format!("a cold boot, round trip {round_trip} ms, to curl, tar and a loop");
        table.compare(&what, "ms", median(ours), median(theirs), Target::AtMost(target));
    }
    println!("{table}");
}

/// Text that packs about as well as scripts do.
fn prose(n: usize) -> String {
    let mut text = String::from("#!/bin/sh\n");
    let mut state = n as u32;
    while text.len() < SIZE {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let word = state >> 20;
        text.push_str(&format!("if [ -e /etc/{word} ]; then echo {}; fi\n", state >> 27));
    }
    text
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// Out of the way, and not removed: for some seconds ext4 looks at each inode that was freed before
/// it takes another one, which no boot of a new machine meets.
fn put_aside(folder: &Path, name: &str) {
    std::fs::rename(folder, folder.with_extension(name)).unwrap();
}
