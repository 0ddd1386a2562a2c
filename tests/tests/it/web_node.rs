//! A node's page in a real Chromium: what the node is, what it runs, and where the time of a step went.

use provost_tests::Cluster;
use provost_tests::browser::{Browser, DESKTOP};
use serde_json::json;

#[test]
fn a_page_has_the_plan_and_the_time_of_each_command() {
    let browser = Browser::start(DESKTOP);
    let mut cluster = Cluster::new();
    cluster.script("syslog", "#!/bin/sh\ntrue\n");
    let script = "#!/bin/bash\nsleep 0.6\nsh -c 'sleep 0.2; true'\nls /nonexistent\nexit 3\n";
    cluster.script("slow", script);
    cluster.site(
        "[defaults]\npostscripts = [\"syslog\"]\nenv = { MASTER = \"10.0.0.1\", ROOT_PASSWORD = \"x1y2\" }\n\
         [groups.compute]\nnodes = \"cn[001-002]\"\npostscripts = [\"slow '/a b'\"]\n\
         [nodes.cn001]\nenv = { IPADDR = \"10.0.0.7\" }\n",
    );
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(1);
    node.provost(&["boot"]).expect(1);
    browser.visit(&format!("http://{}/nodes/cn001", cluster.daemon().admin()));
    let facts = browser.text("dl");
    for fact in ["groups\ncompute", "10.0.0.7; last report from 127.0.0.1"] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    let plan = browser.text("#plan");
    for part in [
        "slow '/a b' groups.compute",
        "syslog defaults",
        "10.0.0.7 nodes.cn001",
        "MASTER\n10.0.0.1 defaults",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert!(!browser.run("return document.documentElement.outerHTML").to_string().contains("x1y2"));

    // Both runs on one axis; each leads to its steps.
    let bars = browser.run("return [...document.querySelectorAll('.axis a')].map((a) => a.querySelector('rect').classList[0])");
    assert_eq!(bars, json!(["bad", "bad"]));
    let target = "const href = document.querySelector('.axis a').getAttribute('href'); return document.getElementById(href.slice(1)).className";
    assert_eq!(browser.run(target), "run");

    // The longest is longest, and what a command started stands below it.
    browser.until_text("#time h2", "Where the time of slow went");
    let bars = browser.run(
        "return [...document.querySelectorAll('.flame svg svg')].map((bar) =>
             [bar.querySelector('text').textContent, bar.getBoundingClientRect()])
             .map(([text, box]) => ({ text, x: box.x, y: box.y, width: box.width }))",
    );
    let bar = |text: &str| {
        let found = bars.as_array().unwrap().iter().find(|bar| bar["text"] == text);
        let found = found.unwrap_or_else(|| panic!("{text}: {bars:#}"));
        ["x", "y", "width"].map(|key| found[key].as_f64().unwrap())
    };
    let (long, shell, below) = (bar("sleep 0.6"), bar("sh -c 'sleep 0.2; true'"), bar("sleep 0.2"));
    assert!(long[2] > 2.0 * below[2] && below[2] > 20.0, "{bars:#}");
    assert!(below[1] > shell[1] && (below[0] >= shell[0]) && shell[0] > long[0], "{bars:#}");
    assert!(browser.text(".flame table tbody tr").starts_with("sleep 0.6"));
    let tones = "return document.querySelector('.flame rect.bad').parentNode.querySelector('title').textContent";
    let failed = browser.run(tones);
    assert!(failed.as_str().unwrap().starts_with("ls /nonexistent: "), "{failed}");
    browser.is_well_made();
    browser.picture("node-plan");
    assert_eq!(browser.complaints(), [""; 0]);
}
