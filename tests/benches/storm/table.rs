//! What is printed.

use std::time::Duration;

use crate::Measured;
use crate::usage::Usage;

/// Prints what a storm was like at provostd, beside the null server.
pub(crate) fn compare(ours: &Measured, theirs: &Measured) {
    println!("{:<28}{:>10}{:>10} {:<6}{:>6}", "", "provostd", "null", "", "ratio");
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
    }
    line("records", "/s", &|m| {
        let records: usize = m.storm.boots.iter().map(|boot| boot.records).sum();
        records as f64 / m.storm.took.as_secs_f64()
    });
    line("reports of a node", "", &|m| {
        m.storm.requests.acks.len() as f64 / m.storm.boots.len() as f64
    });
    line("reports refused (5xx, 429)", "", &|m| m.storm.requests.refused as f64);
    line("reports failed", "", &|m| m.storm.requests.failed as f64);
    line("fetches tried again", "", &|m| m.storm.requests.fetches as f64);
    line("not reported in time", "nodes", &|m| {
        m.storm.boots.iter().filter(|boot| boot.unreported > 0).count() as f64
    });
    line("processor, the nodes'", "s", &|m| m.processor.as_secs_f64());
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
