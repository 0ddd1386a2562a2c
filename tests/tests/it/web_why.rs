//! Why a node failed, on its page: the same as `provostctl why NODE`, and no more than who looks may read.

use provost_tests::browser::DESKTOP;

use crate::web_actions::{at, log_in, start_with};

#[test]
fn a_failed_node_says_what_differs_from_its_last_success() {
    let (cluster, browser) = start_with(DESKTOP, "");
    let publish = |ending: &str, disk: &str| {
        let script = format!("#!/bin/sh\necho looking for $DISK\n{ending}\n");
        cluster.script("disk", &script);
        cluster.site(&format!(
            "[groups.all]\nnodes = \"cn[001-006]\"\npostscripts = [\"disk\"]\nenv = {{ DISK = \"{disk}\" }}\n"
        ));
        cluster.publish().expect(0);
    };
    publish("true", "sda");
    cluster.ctl(&["token", "cn[003-006]"]).expect(0);
    let nodes: Vec<_> = (1..=6).map(|n| cluster.node(&format!("cn00{n}"))).collect();
    nodes.iter().for_each(|node| drop(node.provost(&["boot"]).expect(0)));
    publish("exit 3", "sdb");
    nodes[..3].iter().for_each(|node| drop(node.provost(&["boot"]).expect(1)));

    log_in(&cluster, &browser, "lee", "operate");
    browser.visit(&at(&cluster, "/nodes/cn002"));
    let shown = browser.text("#why");
    let told = cluster.ctl(&["why", "cn002"]).expect(0).stdout;
    let mut count = 0;
    for line in told.lines().filter(|line| !line.trim().is_empty()) {
        // The command has a column of its own on the page, and the hour a factor only at times.
        let line = line.split("  @cause:").next().unwrap();
        let (name, what) = line.trim().split_once("  ").unwrap_or(("", line.trim()));
        let what = what.trim_start();
        if line.starts_with("    time ") || line.starts_with("since ") {
            continue;
        }
        count += 1;
        for part in [name, what] {
            // On the page the one is a title, and the other begins a sentence.
            let begin = ["3 ", "nothing "].into_iter().find(|begin| part.starts_with(begin));
            let part = &part[begin.map_or(0, str::len)..];
            assert!(shown.contains(part), "{part:?} of {line:?}: {shown}\n{told}");
        }
    }
    assert!(count > 8 && told.contains("\n+exit 3\n"), "{told}");
    assert!(shown.contains("Since disk last succeeded"), "{shown}");
    assert!(shown.contains("env DISK\nsda -> sdb"), "{shown}");
    browser.is_well_made();
    browser.run("document.getElementById('why').scrollIntoView()");
    browser.picture("node-why");

    // Who only reads gets names and digests, also in the page that stays open.
    let page = cluster.daemon().get("/nodes/cn002");
    let why =
        page.split_once("<section class=\"why\"").unwrap().1.split_once("</section>").unwrap().0;
    assert!(why.contains("disk changed by generation"), "{why}");
    assert!(why.contains("texts and values are for the role operate"), "{why}");
    assert!(!why.contains("exit 3<") && !why.contains("sdb"), "{why}");
    // One that is well has nothing to explain.
    assert!(!cluster.daemon().get("/nodes/cn005").contains("id=\"why\""));
}
