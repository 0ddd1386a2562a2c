//! What is printed.

use std::time::Duration;

use crate::Measured;
use crate::usage::Usage;

/// Prints what a storm was like, beside another one; `names` says what each of them is.
pub(crate) fn compare(names: [&str; 2], ours: &Measured, theirs: &Measured) {
    println!("{:<28}{:>10}{:>10} {:<6}{:>6}", "", names[0], names[1], "", "ratio");
    let line = |what: &str, unit: &str, value: &dyn Fn(&Measured) -> f64| {
        line(what, unit, value(ours), value(theirs));
    };
    line("all booted after", "s", &|m| m.storm.took.as_secs_f64());
    for (name, per) in [("p50", 50), ("p99", 99), ("max", 100)] {
        line(&format!("boot {name}"), "ms", &|m| {
            percentile(m.storm.boots.iter().map(|boot| boot.whole).collect(), per)
        });
        line(&format!("fetch {name}"), "ms", &|m| {
            percentile(m.storm.boots.iter().map(|boot| boot.fetch).collect(), per)
        });
        line(&format!("ack {name}"), "ms", &|m| percentile(m.storm.requests.acks.clone(), per));
        line(&format!("ack {name}, nodes apart"), "ms", &|m| {
            percentile(m.storm.acks_apart.clone(), per)
        });
    }
    line("records", "/s", &|m| {
        let records: usize = m.storm.boots.iter().map(|boot| boot.records).sum();
        records as f64 / m.storm.took.as_secs_f64()
    });
    line("reports of a node", "", &|m| {
        m.storm.requests.acks.len() as f64 / m.storm.boots.len() as f64
    });
    line("reports refused (5xx, 429)", "", &|m| m.storm.requests.refused as f64);
    line("reports tried again", "", &|m| m.storm.requests.reports.values().sum::<usize>() as f64);
    line("fetches tried again", "", &|m| m.storm.requests.fetches.values().sum::<usize>() as f64);
    line("told when to come again", "", &|m| m.storm.requests.told as f64);
    line("boot max, of its median", "", &|m| {
        let times = || m.storm.boots.iter().map(|boot| boot.whole).collect();
        percentile(times(), 100) / percentile(times(), 50)
    });
    line("fetched nothing", "nodes", &|m| {
        m.storm.boots.iter().filter(|boot| boot.gave_up.is_some()).count() as f64
    });
    line("not reported in time", "nodes", &|m| {
        m.storm.boots.iter().filter(|boot| boot.unreported > 0).count() as f64
    });
    line("processor, the nodes'", "s", &|m| m.processor.as_secs_f64());
}

/// Prints how many nodes were done a second in each fifth of the storm, the first of which has the highest
/// load, and why fetches and reports were tried again.
pub(crate) fn course(what: &str, measured: &Measured) {
    let fifth = measured.storm.took / 5;
    let in_fifth = |n: u32| {
        let (from, until) = (fifth * n, if n == 4 { Duration::MAX } else { fifth * (n + 1) });
        let ended = measured.storm.boots.iter().map(|boot| boot.ended);
        ended.filter(|ended| (from..until).contains(ended)).count() as f64
    };
    let rates: Vec<String> =
        (0..5).map(|n| format!("{:.0}", in_fifth(n) / fifth.as_secs_f64())).collect();
    println!("{what}: nodes done a second, in each fifth of the time: {}", rates.join(" "));
    if let Some(why) = measured.storm.boots.iter().find_map(|boot| boot.gave_up.as_ref()) {
        println!("{what}: a node has fetched nothing: {why}");
    }
    let requests = &measured.storm.requests;
    for (name, reasons) in [("fetches", &requests.fetches), ("reports", &requests.reports)] {
        for (why, count) in reasons {
            println!("{what}: {count} {name} tried again: {why}");
        }
    }
}

/// Prints a value beside another one.
pub(crate) fn line(what: &str, unit: &str, ours: f64, theirs: f64) {
    let ratio = if theirs > 0.0 { format!("{:.2}", ours / theirs) } else { "-".to_owned() };
    println!("{what:<28}{ours:>10.1}{theirs:>10.1} {unit:<6}{ratio:>6}");
}

/// Prints what was used for each of so many boots.
pub(crate) fn of_each_boot(what: &str, used: &Usage, boots: usize) {
    let of_boot = |total: f64| total / boots as f64;
    let kib = |bytes: u64| of_boot(bytes as f64 / 1024.0);
    println!("{what}, for each boot of a node");
    println!("  processor time     {:>9.2} ms", of_boot(used.processor.as_secs_f64() * 1e3));
    println!("  written to disk    {:>9.1} KiB", kib(used.written));
    println!("  written in all     {:>9.1} KiB (calls of write)", kib(used.calls));
    println!("  peak memory        {:>9.1} MiB, of all together", used.memory as f64 / 1048576.0);
}

/// In milliseconds.
fn percentile(mut times: Vec<Duration>, per: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len() * per / 100).min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default().as_secs_f64() * 1e3
}
