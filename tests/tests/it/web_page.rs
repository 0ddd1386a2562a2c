//! The web page in a real Chromium. With `PROVOST_SCREENSHOTS=DIR` each test leaves pictures there.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use provost_tests::browser::{Browser, DESKTOP, ENTER, PHONE, Screen, TAB};
use provost_tests::reporters::Reporters;
use provost_tests::{Cluster, Node};
use serde_json::Value;

/// A management node without nodes, and a browser.
fn start(screen: Screen) -> (Cluster, Browser) {
    let browser = Browser::start(screen);
    let mut cluster = Cluster::new();
    cluster.script("syslog", "#!/bin/sh\ntrue\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"syslog\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    (cluster, browser)
}

/// The address of a page.
fn at(cluster: &Cluster, path: &str) -> String {
    format!("http://{}{path}", cluster.daemon().admin())
}

#[test]
fn the_overview_follows_what_nodes_report() {
    let (cluster, browser) = start(DESKTOP);
    browser.visit(&at(&cluster, "/"));
    browser.until_text("h1", "1 node");
    browser.until_text("#live", "live");
    browser.run("window.isTheSame = true");
    // A pointer that moves before there is a history shows nothing.
    browser.run(
        "document.querySelector('.history .value')?.remove();
         document.dispatchEvent(new PointerEvent('pointermove'));",
    );
    let nodes = Reporters::new(&cluster, "cn[001-012]");
    browser.until_text("h1", "12 nodes");
    (0..8).for_each(|n| nodes.boots(n));
    (8..12).for_each(|n| nodes.fails(n, &format!("mount.nfs: timed out for port {n}")));
    browser.until_text(".numbers", "8\nbooted");
    browser.until_text(".failure h3", "4 failed in mount_scratch: exit status 32");
    let failure = browser.text(".failure");
    assert!(failure.contains("cn[009-012]") && failure.contains("check the file server"));
    assert!(failure.contains("provostctl continue @cause:"), "{failure}");
    browser.until_text("figcaption", "12 runs began, 8 succeeded, 4 failed");
    assert_eq!(browser.run("return window.isTheSame"), true, "without a reload");
    browser.is_well_made();
    browser.picture("overview");

    browser.click(".failure h3 a");
    browser.until_text("main", "4 of 12 nodes");
    browser.visit(&at(&cluster, "/scripts/mount_scratch"));
    assert!(browser.text("main").contains("4\nfailed, since generation 1"));
    browser.is_well_made();
    browser.picture("script");
    for (path, part) in [
        ("/scripts", "mount_scratch"),
        ("/published", "Generation 1 now"),
        ("/events", "exit status 32"),
    ] {
        browser.visit(&at(&cluster, path));
        assert!(browser.text("main").contains(part), "{path}: {}", browser.text("main"));
        browser.is_well_made();
        browser.picture(&path[1..]);
    }
    // A node that is removed goes away, too, though that is no event.
    browser.visit(&at(&cluster, "/"));
    browser.until_text("#live", "live");
    cluster.ctl(&["remove", "--yes", "cn012"]).expect(0);
    browser.until_text("h1", "11 nodes");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn ten_thousand_nodes_are_filtered_sorted_and_shown_in_parts() {
    let (cluster, browser) = start(DESKTOP);
    let nodes = Reporters::new(&cluster, "n[00001-10000]");
    (0..20).for_each(|n| nodes.boots(n));
    (20..25).for_each(|n| nodes.fails(n, "mount.nfs: timed out"));
    browser.visit(&at(&cluster, "/nodes"));
    assert!(browser.text("main").contains("10,001 nodes, 1 to 100"));
    browser.picture("nodes");
    browser.click("a[rel=next]");
    browser.until_text("tbody", "n00101");
    browser.visit(&at(&cluster, "/nodes?sort=status&down=true"));
    let first = browser.text("tbody tr");
    assert!(first.contains("failed") && first.contains("mount_scratch"), "{first}");
    browser.run("document.querySelector('[name=status]').value = 'booted'");
    browser.click("form.filter button");
    browser.until_text("main", "20 of 10,001 nodes");
    browser.visit(&at(&cluster, "/nodes?q=n%5B00024-00026%5D"));
    assert!(browser.text("main").contains("3 of 10,001 nodes"));
    browser.visit(&at(&cluster, "/nodes?q=n%5B1"));
    assert!(browser.text("main").contains("hint:"), "{}", browser.text("main"));
    // It said that the address was wrong.
    assert_eq!(browser.complaints().len(), 1);
    // A list that is open follows what nodes report.
    browser.visit(&at(&cluster, "/nodes?failed=true"));
    browser.until_text("#live", "live");
    nodes.fails(9_999, "mount.nfs: timed out");
    browser.until_text("tbody", "n10000");
    browser.is_well_made();
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Names without a blank at which a line could break.
#[test]
fn long_names_fit_a_phone() {
    let browser = Browser::start(PHONE);
    let (node, script) = ("n".repeat(80) + ".example.org", "s".repeat(120));
    let mut cluster = Cluster::new();
    cluster.script(&script, "#!/bin/sh\necho \"$0 $1\" >&2\nexit 1\n");
    let steps = format!("postscripts = [\"{script} {}\"]", "a".repeat(200));
    cluster.site(&format!("[nodes.\"{node}\"]\n{steps}\n")).publish().expect(0);
    cluster.start();
    cluster.node(&node).provost(&["boot"]).expect(1);
    let pages = ["/", "/nodes", "/scripts", "/published", "/events"].map(str::to_owned);
    let more = [format!("/nodes/{node}"), format!("/scripts/{script}"), "/nodes/none".to_owned()];
    for path in pages.iter().chain(&more) {
        browser.visit(&at(&cluster, path));
        browser.is_well_made();
        browser.picture(&format!("long-{}", path.split('/').nth(1).unwrap()));
    }
    browser.visit(&at(&cluster, &more[0]));
    browser.click(".more a");
    browser.until_text(".log", &script);
    browser.is_well_made();
    browser.picture("long-log");
}

/// A node that runs `script`.
fn node_with(cluster: &mut Cluster, script: &str) -> Node {
    let gate = cluster.path("gate");
    provost_tests::pipe(&gate);
    cluster.script("slow", script).script("next", "#!/bin/sh\necho next\n");
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"slow\", \"next\"]\nenv = {{ GATE = {gate:?} }}\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    cluster.node("cn001")
}

#[test]
fn a_script_shows_the_stage_of_its_own_that_it_is_in() {
    let browser = Browser::start(DESKTOP);
    let mut cluster = Cluster::new();
    let script = "#!/bin/bash\nSERVICE_NAME=bootkube SERVICE_RECORDS_DIR=${GATE%/*}\n\
        . bootstrap-service-record.sh\nwhile read -r stage; do\n\
        record_service_stage_start \"$stage\"\nread -r\nrecord_service_stage_success\n\
        done <\"$GATE\"\n";
    let node = node_with(&mut cluster, script);
    let mut boot = node.command(&["boot"]).stderr(Stdio::null()).spawn().unwrap();
    let mut gate = File::options().read(true).write(true).open(cluster.path("gate")).unwrap();
    browser.visit(&at(&cluster, "/"));
    gate.write_all(b"wait-for-etcd\n").unwrap();
    browser.until_text("main", "cn001 in slow for");
    browser.until_text("main", "bootkube: wait-for-etcd for");
    browser.is_well_made();
    browser.visit(&at(&cluster, "/nodes"));
    browser.until_text("table", "bootkube: wait-for-etcd for");
    browser.is_well_made();
    browser.visit(&at(&cluster, "/nodes/cn001"));
    browser.until_text("#now", "bootkube: wait-for-etcd for");
    gate.write_all("\n<b>apply\u{202e}\n".as_bytes()).unwrap();
    browser.until_text("#now", "bootkube: <b>apply\\u{202e} for");
    browser.is_well_made();
    browser.picture("own-stage");
    drop(gate);
    browser.until_text("h1", "cn001 booted");
    assert_eq!(browser.run("return document.querySelector('#now')"), Value::Null);
    assert_eq!(boot.wait().unwrap().code(), Some(0));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_step_shows_its_log_while_it_runs() {
    let browser = Browser::start(DESKTOP);
    let mut cluster = Cluster::new();
    let slow = "#!/bin/bash\necho begun\nwhile read -r line; do\n  echo \"got $line\"\n\
                [[ $line = end ]] && exit 7\ndone <\"$GATE\"\n";
    let node = node_with(&mut cluster, slow);
    browser.visit(&at(&cluster, "/nodes/cn001"));
    browser.until_text("main", "No reports yet.");
    let mut boot =
        node.command(&["boot"]).env("PROVOST_BEAT", "100ms").stderr(Stdio::null()).spawn().unwrap();
    // For writing alone it would wait for the script.
    let mut gate = File::options().read(true).write(true).open(cluster.path("gate")).unwrap();
    browser.until_text("main", "Now: slow");
    gate.write_all(b"one\n").unwrap();
    browser.until_text(".tail", "got one");
    gate.write_all(b"two\n").unwrap();
    browser.until_text(".tail", "got two");
    browser.picture("live-log");
    gate.write_all(b"end\n").unwrap();
    browser.until_text("h1", "cn001 failed");
    browser.until_text(".steps", "Log of slow");
    assert_eq!(boot.wait().unwrap().code(), Some(1));
    let steps = browser.text(".steps");
    assert!(steps.contains("exit status 7") && steps.contains("not run\nnext"), "{steps}");
    assert_eq!(browser.run("return document.querySelector('#now')"), Value::Null);
    browser.is_well_made();
    browser.picture("node");
    browser.click(".more a");
    browser.until_text(".log", "| got two");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn what_a_script_prints_is_text() {
    let browser = Browser::start(DESKTOP);
    let mut cluster = Cluster::new();
    let hostile = "#!/bin/bash\n\
        head -c 1000000 /dev/zero | tr '\\0' x\necho\n\
        LC_ALL=C.UTF-8\n\
        printf '\\033[2J\\033[31mred \\u202egnp.exe\\n'\n\
        echo '<script>window.isHacked = 1</script><img src=x onerror=\"window.isHacked = 1\">'\n\
        exit 3\n";
    let node = node_with(&mut cluster, hostile);
    node.provost(&["boot"]).expect(1);
    for path in ["/nodes/cn001", "/", "/nodes", "/events"] {
        browser.visit(&at(&cluster, path));
        let text = browser.text("main");
        let has_message = text.contains("<img src=x onerror=\"window.isHacked = 1\">");
        // On a wide screen.
        assert!(has_message, "{path}: {text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{path}: {text}");
        assert_eq!(
            browser.run("return document.querySelector('main script, main img')"),
            Value::Null
        );
        browser.is_well_made();
    }
    browser.visit(&at(&cluster, "/nodes/cn001"));
    browser.picture("hostile-node");
    browser.click(".more a");
    browser.until_text(".log", "<script>window.isHacked = 1</script>");
    let log = browser.text(".log");
    assert!(log.contains("| red \\u{202e}gnp.exe"), "{log}");
    assert!(log.contains(" more characters") && log.len() < 20_000, "{log}");
    browser.is_well_made();
    browser.picture("hostile-log");
    assert_eq!(browser.run("return window.isHacked === undefined"), true);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_keyboard_is_enough() {
    let (cluster, browser) = start(DESKTOP);
    let nodes = Reporters::new(&cluster, "cn[001-012]");
    (0..12).for_each(|n| nodes.fails(n, "mount.nfs: timed out"));
    browser.visit(&at(&cluster, "/"));
    browser.type_keys(&TAB.to_string());
    let focused = || browser.run("return document.activeElement.innerText").to_string();
    assert!(focused().contains("Skip to the content"));
    browser.picture("keyboard");
    // The name, the overview, the nodes.
    browser.type_keys(&format!("{TAB}{TAB}{TAB}{ENTER}"));
    browser.until("the nodes are open", |browser| browser.url().ends_with("/nodes"));
    browser.until_text("#live", "live");
    browser.type_keys("/");
    browser.type_keys(&format!("cn007{ENTER}"));
    browser.until_text("main", "1 of 12 nodes");
    let script = "return document.activeElement.getAttribute('href')";
    let is_there = || browser.run(script) == "/nodes/cn007";
    for _ in 0..30 {
        if is_there() {
            break;
        }
        browser.type_keys(&TAB.to_string());
    }
    assert!(is_there(), "{}", focused());
    let outline = "return getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(browser.run(outline), "solid", "the focus is seen");
    // What comes in meanwhile takes the focus from nobody.
    cluster.ctl(&["release", "cn007"]).expect(0);
    nodes.boots(0);
    browser.type_keys(&ENTER.to_string());
    browser.until_text("h1", "cn007 failed");
}

#[test]
fn without_javascript_all_pages_can_be_read() {
    let (cluster, browser) = start(Screen { scripts: false, ..DESKTOP });
    let nodes = Reporters::new(&cluster, "cn[001-300]");
    (0..3).for_each(|n| nodes.boots(n));
    (3..5).for_each(|n| nodes.fails(n, "mount.nfs: timed out"));
    for (path, part) in [
        ("/", "2 failed in mount_scratch"),
        ("/nodes?failed=true", "2 of 300 nodes"),
        ("/nodes/cn004", "mount_scratch"),
        ("/scripts", "mount_scratch"),
        ("/scripts/mount_scratch", "half within"),
        ("/published", "Generation 1"),
        ("/events", "exit status 32"),
    ] {
        browser.visit(&at(&cluster, path));
        let text = browser.text("main");
        assert!(text.contains(part), "{path}: {text}");
        assert_eq!(browser.text("#live"), "");
    }
    browser.visit(&at(&cluster, "/nodes"));
    browser.click("[name=failed]");
    browser.click("form.filter button");
    browser.until_text("main", "2 of 300 nodes");
    browser.picture("no-javascript");
}

#[test]
fn pages_fit_a_phone_and_the_dark() {
    for (screen, name) in [
        (PHONE, "phone"),
        (Screen { dark: true, ..DESKTOP }, "dark"),
        (Screen { dark: true, ..PHONE }, "dark-phone"),
    ] {
        let (cluster, browser) = start(screen);
        let nodes = Reporters::new(&cluster, "cn[001-120]");
        (0..90).for_each(|n| nodes.boots(n));
        (90..110)
            .for_each(|n| nodes.fails(n, "mount.nfs: Connection timed out for lustre01:/scratch"));
        for path in
            ["/", "/nodes", "/nodes/cn100", "/scripts/mount_scratch", "/published", "/events"]
        {
            browser.visit(&at(&cluster, path));
            browser.is_well_made();
            let script = "return getComputedStyle(document.body).backgroundColor";
            let back = if screen.dark { "rgb(20, 23, 28)" } else { "rgb(255, 255, 255)" };
            assert_eq!(browser.run(script), back);
            let page = path.trim_matches('/').replace('/', "-");
            browser.picture(&format!("{name}-{page}"));
        }
    }
}
