//! What an admin changes on the web page, in a real Chromium, and what another site's page can't.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use provost_tests::Cluster;
use provost_tests::browser::{Browser, DESKTOP, PHONE, Screen};
use serde_json::json;

/// A management node with the nodes cn001 and cn002, and a browser that accepts its certificate.
fn start(screen: Screen) -> (Cluster, Browser) {
    start_with(screen, "")
}

/// The same with more of provostd.toml.
pub(crate) fn start_with(screen: Screen, more: &str) -> (Cluster, Browser) {
    let browser = Browser::start(screen);
    let mut cluster = Cluster::new();
    browser.devtools("Security.setIgnoreCertificateErrors", &json!({"ignore": true}));
    let broken = cluster.path("broken");
    cluster.script("syslog", &format!("#!/bin/sh\n[ ! -e {broken:?} ]\n"));
    cluster.site("[groups.all]\nnodes = \"cn[001-002]\"\npostscripts = [\"syslog\"]\n");
    cluster.publish().expect(0);
    let tls = "[tls]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n";
    cluster.configure_daemon(&format!("{tls}{more}"));
    cluster.start();
    cluster.ctl(&["token", "cn[001-002]"]).expect(0);
    (cluster, browser)
}

/// The address of a page of the listener with a login.
pub(crate) fn at(cluster: &Cluster, path: &str) -> String {
    let admins = cluster.daemon().address("adminTls");
    let port = admins.rsplit(':').next().unwrap();
    format!("https://localhost:{port}{path}")
}

pub(crate) fn log_in(cluster: &Cluster, browser: &Browser, name: &str, role: &str) {
    let token = cluster.ctl(&["admin", "add", name, "--role", role]).expect(0).stdout;
    browser.visit(&at(cluster, "/"));
    browser.is_well_made();
    browser.picture("login");
    browser.click("[name=token]");
    browser.type_keys(token.trim());
    browser.click("main button, form button");
    browser.until_text("header", &format!("Log out {name}"));
}

/// A page of another site, which sends its visitor's browser to change something here.
fn attacker(target: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let page = format!(
        "<!doctype html><title>prize</title><form method=post action=\"{target}\"></form>\
         <script>document.forms[0].submit()</script>"
    );
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            // To the end of the head.
            let _ = lines.find(|line| line.is_empty());
            let length = page.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
            );
            let _ = (&stream).write_all((head + &page).as_bytes());
        }
    });
    address
}

#[test]
fn an_operator_releases_and_removes_after_a_question() {
    let (cluster, browser) = start(PHONE);
    log_in(&cluster, &browser, "lee", "operate");
    browser.is_well_made();
    browser.visit(&at(&cluster, "/nodes/cn001"));
    // There is no program for it.
    browser.click("nav.actions a[href$=continue]");
    browser.until_text("main", "provostctl continue cn001");
    assert_eq!(browser.run("return document.querySelectorAll('main form').length"), 0);
    browser.is_well_made();
    browser.visit(&at(&cluster, "/nodes/cn001"));
    browser.click("nav.actions a[href$=release]");
    browser.until_text("h1", "Release cn001?");
    browser.is_well_made();
    browser.picture("release");
    browser.click("main button.danger");
    browser.until("the node's page", |browser| browser.url().ends_with("/nodes/cn001"));
    browser.click("nav.actions a[href$=remove]");
    browser.until_text("main", "This can't be undone");
    browser.picture("remove");
    browser.click("main form a");
    browser.until_text("h1", "cn001 defined");
    browser.visit(&at(&cluster, "/nodes/cn001/remove"));
    browser.click("main button.danger");
    browser.until("the list", |browser| browser.url().ends_with("/nodes"));
    browser.until_text("main", "cn002");
    // The site still has it.
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("no reports yet"), "{shown}");
    let audit = cluster.ctl(&["audit"]).expect(0).stdout;
    for action in ["release", "remove"] {
        let is_his = |line: &str| line.contains("lee") && line.contains(action);
        assert!(audit.lines().any(is_his), "{audit}");
    }

    // His cookie is still in the browser when he visits another site.
    browser.visit(&attacker(&at(&cluster, "/nodes/cn002/remove")));
    browser.until("the answer", |browser| browser.url().contains("/nodes/cn002/remove"));
    cluster.ctl(&["show", "cn002"]).expect(0);
    let text = browser.text("body");
    assert!(text.contains("another site"), "{text}");
}

#[test]
fn a_reader_is_offered_nothing_and_refused_all_without_javascript_as_well() {
    let (cluster, browser) = start(Screen { scripts: false, ..DESKTOP });
    log_in(&cluster, &browser, "ann", "read");
    browser.visit(&at(&cluster, "/nodes/cn001"));
    let page = browser.text("body");
    assert!(page.contains("cn001 defined") && !page.contains("Release"), "{page}");
    browser.visit(&at(&cluster, "/nodes/cn001/remove"));
    browser.until_text("main", "ann has the role read, and remove needs the role operate");
    cluster.ctl(&["show", "cn001"]).expect(0);
    browser.visit(&at(&cluster, "/nodes?q=cn"));
    assert!(!browser.text("body").contains("Remove"), "{}", browser.text("body"));
    for action in ["continue", "boot", "rerun", "release", "remove"] {
        browser.visit(&at(&cluster, &format!("/act/{action}?q=cn")));
        browser.until_text("main", &format!("and {action} needs the role operate"));
    }
}

#[test]
fn all_nodes_of_a_list_are_released_and_removed_without_javascript() {
    let (cluster, browser) = start(Screen { scripts: false, ..DESKTOP });
    log_in(&cluster, &browser, "lee", "operate");
    browser.visit(&at(&cluster, "/nodes"));
    let all = browser.text("body");
    assert!(!all.contains("Remove"), "nothing was chosen: {all}");
    for (action, done) in [("release", "Release 2 nodes"), ("remove", "Remove 2 nodes")] {
        browser.visit(&at(&cluster, "/nodes?q=cn%5B001-002%5D"));
        browser.click(&format!("nav.actions a[href*='/act/{action}?']"));
        browser.until_text("h1", &format!("{done}?"));
        browser.until_text("main", "cn[001-002]");
        assert!(!browser.text("main").contains("Copy"), "it needs a script");
        browser.click("main button.danger");
        browser.until_text("h1", done);
        browser.until_text("main", "2 of 2 done");
    }
    let audit = cluster.ctl(&["audit"]).expect(0).stdout;
    for action in ["release", "remove"] {
        let is_hers = |line: &str| {
            line.contains("  done ") && line.contains(action) && line.contains("nodes=cn[001-002]")
        };
        assert!(audit.lines().any(is_hers), "{audit}");
    }
    browser.visit(&at(&cluster, "/act/remove?q=cn%5B001-002%5D"));
    browser.until_text("main", "nothing is stored of cn[001-002]");
}
