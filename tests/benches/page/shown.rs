//! How soon the overview is drawn, and an open page shows a record, in a real Chromium.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use provost_tests::browser::{Browser, DESKTOP};
use provost_tests::reporters::{begins, ends, fetched};
use provost_tests::{Cluster, processes};
use serde_json::json;

use crate::common::median;
use crate::common::table::{Table, Target};
use crate::load::Load;

/// How many records come in besides, each second.
const OTHERS: usize = 1_000;
/// How many records are looked for on each page; odd.
const ROUNDS: usize = 15;
/// The longest that each may take, in milliseconds.
const GOAL: Target = Target::AtMost(1_000.0);
/// How long it is looked for.
const LIMIT: Duration = Duration::from_secs(30);
/// Between two records at most: they come at any time between two updates of the page.
const PAUSE: Duration = Duration::from_millis(700);

/// Has the page note when it has drawn a text for the first time, in milliseconds of Unix time.
const WATCH: &str = "
    const main = document.querySelector('main');
    const look = () => {
        if (!window.isDrawn && main.textContent.includes(window.text)) {
            window.isDrawn = true;
            requestAnimationFrame(() => setTimeout(() => { window.at = Date.now(); }));
        }
    };
    const all = { subtree: true, childList: true, characterData: true, attributes: true };
    new MutationObserver(look).observe(main, all);";

/// How often the overview is visited; odd.
const VISITS: usize = 5;

/// The time from a visit of the overview until it is drawn with its map.
pub(crate) fn overview(cluster: &Cluster) -> Table {
    let mut table = Table::new();
    if let Some(missing) = Browser::missing() {
        println!("no page is drawn: {missing}");
        return table;
    }
    let browser = Browser::start(DESKTOP);
    let drawn = |_| {
        browser.visit(&format!("http://{}/", cluster.daemon().admin()));
        browser.until_text("#live", "live");
        assert_eq!(browser.run("return !!document.querySelector('.map')"), json!(true));
        let at = "return performance.getEntriesByName('first-contentful-paint')[0].startTime";
        browser.run(at).as_f64().unwrap()
    };
    table.hold("the overview is drawn", "ms", median((0..VISITS).map(drawn).collect()), GOAL);
    table
}

/// The time from a record's report until it is drawn, on several pages, while others come in.
pub(crate) fn record(cluster: &Cluster, load: &Load) -> Table {
    let mut table = Table::new();
    if let Some(missing) = Browser::missing() {
        println!("no page is shown: {missing}");
        return table;
    }
    let browser = Browser::start(DESKTOP);
    let probe = load.count - 1;
    let name = load.nodes.name(probe);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| load.trickle(OTHERS, 500, || is_over.load(Ordering::Relaxed)));
        let mut run = 600;
        for (what, path) in [
            ("the overview", "/".to_owned()),
            ("a list of nodes", format!("/nodes?q={name}")),
            ("its node", format!("/nodes/{name}")),
        ] {
            browser.visit(&format!("http://{}{path}", cluster.daemon().admin()));
            browser.until_text("#live", "live");
            browser.run(WATCH);
            let mut times: Vec<f64> = Vec::new();
            for _ in 0..ROUNDS {
                run += 1;
                processes::until(PAUSE.mul_f64(fastrand::f64()), || false);
                times.push(shown(&browser, load, probe, run));
            }
            let longest = times.iter().copied().fold(0.0, f64::max);
            let what = format!("a record is shown on {what}");
            table.hold(&format!("{what}, median"), "ms", median(times), GOAL);
            table.hold(&format!("{what}, longest"), "ms", longest, GOAL);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    table
}

/// Reports a failure of a stage that nobody has heard of, and waits until the page has drawn it.
fn shown(browser: &Browser, load: &Load, probe: usize, run: usize) -> f64 {
    let stage = format!("probe-{run}");
    browser.run(&format!("window.text = {stage:?}; window.isDrawn = false; window.at = 0;"));
    let message = "mount.nfs: Connection timed out";
    let begin = json!({"phase": "stage start", "stage": stage});
    let step = json!({"phase": "stage end", "stage": stage, "result": "failure", "cause": "exit",
        "exitCode": 32, "errorMessage": message, "durationMs": 4000});
    let mut wire = load.nodes.connect();
    let reported = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1e3;
    wire.send(probe, run, 1, &[begins(), fetched(), begin, step, ends("failure", message)]);
    let mut at = 0.0;
    let is_drawn = processes::until(LIMIT, || {
        at = browser.run("return window.at").as_f64().unwrap();
        at > 0.0
    });
    assert!(is_drawn, "{}: no {stage}", browser.url());
    at - reported
}
