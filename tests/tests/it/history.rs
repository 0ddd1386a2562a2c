//! What runs did and how nodes stood over time: the same whatever is killed, on the page and for programs.

use std::time::Duration;

use provost_tests::browser::{Browser, DESKTOP, PHONE, Screen};
use provost_tests::reporters::{Reporters, begins, ends, fetched};
use provost_tests::{Cluster, Postgres, processes};
use serde_json::{Value, json};

/// The longest that the page may take to show what has come in.
const SOON: Duration = Duration::from_secs(60);
/// How many nodes report, and how many daemons are killed meanwhile.
const NODES: usize = 24;
const KILLS: usize = 6;

fn cluster(store: &str) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("syslog", "#!/bin/sh\ntrue\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"syslog\"]\n").publish().expect(0);
    cluster.configure_daemon(store);
    cluster.start();
    cluster
}

fn history(cluster: &Cluster, range: &str) -> Value {
    serde_json::from_str(&cluster.daemon().get(&format!("/v1/history?range={range}"))).unwrap()
}

/// How many runs began, succeeded and failed, in all points together.
fn sums(history: &Value) -> [u64; 3] {
    let points = history["points"].as_array().unwrap();
    ["began", "succeeded", "failed"]
        .map(|name| points.iter().map(|point| point[name].as_u64().unwrap()).sum())
}

/// Sends a batch until it is acknowledged, as nodes do: also when its first answer was lost.
fn send(nodes: &Reporters, number: usize, records: &[Value]) {
    let run = Reporters::run(number, 0);
    let numbered = (1..).zip(records);
    let all =
        numbered.map(|(seq, own)| Reporters::record(nodes.name(number), &run, seq, own.clone()));
    let body = Value::from_iter(all).to_string();
    let is_sent = || {
        let try_it = || nodes.connect().try_post(number, &body);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(try_it))
            .is_ok_and(|answer| answer.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 ")))
    };
    assert!(processes::until(SOON, is_sent), "{number}");
}

/// A boot that began, and one that ended: each batch twice, and a daemon killed in between.
fn is_whole_after_kills(store: &str) {
    let mut cluster = cluster(store);
    let nodes = Reporters::new(&cluster, &format!("n[01-{NODES}]"));
    for number in 0..NODES {
        let end = if number % 3 == 0 { "failure" } else { "success" };
        send(&nodes, number, &[begins(), fetched()]);
        if number % (NODES / KILLS) == 0 {
            let address = cluster.kill_daemon();
            cluster.start_at(&address);
        }
        send(&nodes, number, &[begins(), fetched(), ends(end, "no disk")]);
    }
    let address = cluster.kill_daemon();
    cluster.start_at(&address);
    let all = NODES as u64;
    let expected = [all, all - all / 3, all / 3];
    for range in ["hour", "day", "week", "year"] {
        let shown = || history(&cluster, range);
        assert_eq!(sums(&shown()), expected, "{range}");
        let points = shown()["points"].as_array().unwrap().clone();
        let step = shown()["stepSeconds"].as_i64().unwrap();
        let at = |point: &Value| -> i64 {
            point["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second()
        };
        assert!(points.windows(2).all(|two| at(&two[1]) - at(&two[0]) == step), "no gap");
    }
    let p50 = history(&cluster, "week")["points"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .find_map(|p| p["p50Ms"].as_u64());
    assert!(p50.is_some_and(|ms| (4850..=5150).contains(&ms)), "{p50:?}");
    // A daemon that has started counts nodes, and their number stays with the point.
    let count = || history(&cluster, "hour")["points"][59]["nodes"].clone();
    let expected = json!({"booted": all - all / 3, "defined": 1, "failed": all / 3});
    assert!(processes::until(SOON, || count() == expected), "{}", count());
}

#[test]
fn nothing_is_missed_or_counted_twice_when_daemons_are_killed() {
    is_whole_after_kills("");
}

#[test]
fn nothing_is_missed_or_counted_twice_over_a_database() {
    let server = Postgres::start();
    is_whole_after_kills(&format!("store = {:?}\n", server.database("site")));
}

/// Twelve nodes that boot at once, of which one fails.
fn storm(nodes: &Reporters) {
    (0..12).for_each(|n| nodes.send(n, 1, &[begins(), fetched()]));
    (0..11).for_each(|n| nodes.send(n, 3, &[ends("success", "")]));
    nodes.send(11, 3, &[ends("failure", "no disk")]);
}

#[test]
fn the_overview_shows_the_last_day_with_its_values_and_storms() {
    let browser = Browser::start(DESKTOP);
    let cluster = cluster("");
    let nodes = Reporters::new(&cluster, "cn[001-012]");
    browser.visit(&format!("http://{}/", cluster.daemon().admin()));
    browser.until_text("#live", "live");
    browser.until_text(".history", "No run in the last day.");
    storm(&nodes);
    browser.until_text(".history", "12 runs began, 11 succeeded, 1 failed");
    browser.until_text(".storms", "1 failed");
    assert!(browser.text(".storms").contains("11 booted in "));
    let result = &history(&cluster, "hour")["storms"][0];
    assert_eq!((&result["nodes"], &result["failed"]), (&json!(12), &json!(1)), "{result}");
    let paths = "return [...document.querySelectorAll('#history-runs path')].map(p => p.getAttribute('class'))";
    assert_eq!(browser.run(paths), json!(["storm", "bad", "good", "busy line"]));
    browser.until_text("#history-boots", "half of them within ");
    // The values at the right end, under the pointer.
    browser.run(
        "const plot = document.querySelector('#history-runs svg');
         plot.scrollIntoView();
         const box = plot.getBoundingClientRect();
         plot.dispatchEvent(new PointerEvent('pointermove',
             {bubbles: true, clientX: box.right - 1, clientY: box.top + 5}));",
    );
    let value = browser.text(".history .value");
    assert!(value.contains("11 succeeded, 1 failed"), "{value}");
    // The same as a table.
    browser.click(".history summary");
    assert!(browser.text(".history tbody tr:last-child").contains("12\t11\t1"));
    browser.is_well_made();
    browser.picture("history-day");
    for range in ["hour", "week", "year"] {
        browser.visit(&format!("http://{}/?range={range}", cluster.daemon().admin()));
        let shown = format!("Last {range}: 12 runs began, 11 succeeded, 1 failed");
        browser.until_text(".history figcaption", &shown);
        browser.until_text(".history [aria-current]", range);
        browser.is_well_made();
        browser.picture(&format!("history-{range}"));
    }
    assert_eq!(browser.complaints(), [""; 0]);
    browser.visit(&format!("http://{}/?range=decade", cluster.daemon().admin()));
    assert!(browser.text("main").contains("hour, day, week, year"));
}

#[test]
fn the_history_fits_a_phone_and_needs_no_script() {
    let browser = Browser::start(Screen { scripts: false, dark: true, ..PHONE });
    let cluster = cluster("");
    storm(&Reporters::new(&cluster, "cn[001-012]"));
    let has_storm = || history(&cluster, "day")["storms"] != json!([]);
    assert!(processes::until(SOON, has_storm));
    browser.visit(&format!("http://{}/", cluster.daemon().admin()));
    assert!(browser.text(".history").contains("11 succeeded, 1 failed"));
    browser.is_well_made();
    browser.click(".history summary");
    browser.is_well_made();
    browser.picture("history-phone");
}
