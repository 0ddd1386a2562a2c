//! What a storm of all nodes leaves in a tab's memory.

use std::fs;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use provost_tests::browser::{Browser, DESKTOP};
use provost_tests::processes::Process;
use provost_tests::{Cluster, processes};
use serde_json::json;

use crate::common::table::{Table, Target};
use crate::load::Load;

/// The most that a tab may grow by, in megabytes.
const GOAL: Target = Target::AtMost(100.0);
/// How often its memory is looked at.
const EVERY: Duration = Duration::from_millis(500);

/// All nodes boot while two pages are open: the overview, and the events, of which each line is a new one.
pub(crate) fn through_a_storm(cluster: &Cluster, load: &Load) -> Table {
    let mut table = Table::new();
    if let Some(missing) = Browser::missing() {
        println!("no page is open: {missing}");
        return table;
    }
    let open = |path: &str| {
        let browser = Browser::start(DESKTOP);
        browser.visit(&format!("http://{}{path}", cluster.daemon().admin()));
        browser.until_text("#live", "live");
        browser
    };
    let tabs = [("the overview", open("/")), ("the events", open("/events"))];
    let before: Vec<f64> = tabs.iter().map(|(_, tab)| memory(tab)).collect();
    assert!(before.iter().all(|megabytes| *megabytes > 1.0), "{before:?}");
    let is_over = AtomicBool::new(false);
    let began = Instant::now();
    let most: Vec<f64> = thread::scope(|scope| {
        let watching = tabs.iter().map(|(_, tab)| {
            let (mark, is_over) = (tab.mark(), &is_over);
            scope.spawn(move || {
                let mut most = 0.0_f64;
                while !processes::until(EVERY, || is_over.load(Ordering::Relaxed)) {
                    most = most.max(resident(mark));
                }
                most
            })
        });
        let watching: Vec<_> = watching.collect();
        load.boot_all(1);
        is_over.store(true, Ordering::Relaxed);
        watching.into_iter().map(|tab| tab.join().unwrap()).collect()
    });
    println!("all of them booted within {:.0} s", began.elapsed().as_secs_f64());
    for (((what, tab), before), most) in tabs.iter().zip(before).zip(most) {
        tab.until_text("#live", "live");
        let after = memory(tab);
        println!("{what}: {before:.0} MB, at most {most:.0}, then {after:.0}");
        table.hold(&format!("a tab of {what} grows in the storm"), "MB", most - before, GOAL);
        table.hold(&format!("a tab of {what} has grown after it"), "MB", after - before, GOAL);
    }
    table
}

/// What a tab's processes have in memory once they have given up what they don't need, in megabytes.
fn memory(tab: &Browser) -> f64 {
    tab.devtools("HeapProfiler.collectGarbage", &json!({}));
    resident(tab.mark())
}

/// What the processes of a browser that run pages have in memory for themselves, in megabytes.
fn resident(mark: &str) -> f64 {
    let marked: Vec<i32> = processes::marked(mark).iter().map(|process| process.pid).collect();
    // Their command lines are longer than they were, and written over the environment with the mark.
    let is_ours = |pid: i32| {
        let parent = |process: &Process| processes::look(process.parent);
        iter::successors(processes::look(pid), parent).any(|one| marked.contains(&one.pid))
    };
    let of = |pid: i32| {
        let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
        let is_one = words.contains("--type=renderer") && is_ours(pid);
        is_one.then_some(kib * 1024.0 / 1e6)
    };
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| of(entry.ok()?.file_name().to_str()?.parse().ok()?)).sum()
}
