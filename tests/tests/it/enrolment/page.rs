//! Keys that wait, on the web page: a real node's program asks, and an admin decides in a real Chromium.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use provost_tests::browser::{Browser, DESKTOP, ENTER, PHONE, Screen};

use crate::enrolment::cluster_with;
use crate::enrolment::nodes::node;
use crate::web_actions::{at, log_in};

const TLS: &str = "[tls]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n";

/// The key by which a node that has begun to boot waits.
fn waits(boot: &mut Child) -> (String, BufReader<std::process::ChildStderr>) {
    let mut stderr = BufReader::new(boot.stderr.take().unwrap());
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it doesn't say that it waits");
        if let Some((_, key)) = line.split_once("waiting for provostctl approve ") {
            let key = key.split([' ', ',']).nth(1).unwrap();
            return (key.to_owned(), stderr);
        }
    }
}

#[test]
fn an_operator_approves_one_key_and_rejects_another() {
    let browser = Browser::start(PHONE);
    browser.devtools("Security.setIgnoreCertificateErrors", &serde_json::json!({"ignore": true}));
    let cluster = cluster_with(TLS);
    let (first, _proxy) = node(&cluster, "cn001", "60s");
    let (second, _other) = node(&cluster, "cn003", "60s");
    let mut boots = [first.spawn(&["boot"]), second.spawn(&["boot"])];
    let [(own, mut told), (others, mut refused)] = boots.each_mut().map(waits);

    log_in(&cluster, &browser, "lee", "operate");
    browser.visit(&at(&cluster, "/"));
    browser.click(".note a[href='/pending']");
    browser.until_text("main", &own);
    let list = browser.text("main");
    assert!(list.contains(&others), "{list}");
    browser.is_well_made();
    browser.picture("pending");
    // By keyboard.
    browser.run("document.querySelector('td.key a').focus()");
    browser.type_keys(&ENTER.to_string());
    browser.until_text("h1", "Key of cn001");
    browser.until_text("main", "127.0.0.1");
    browser.until_text("main", &own);
    browser.is_well_made();
    browser.picture("pending-key");
    browser.click("form[action='/pending/approve'] button");
    browser.until("the list", |browser| browser.url().ends_with("/pending"));
    browser.until("it is gone", |browser| !browser.text("main").contains(&own));
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!(boots[0].wait().unwrap().code(), Some(0), "{rest}");
    assert_eq!(cluster.status("cn001")["status"], "booted");

    browser.click("td.key a");
    browser.until_text("h1", "Key of cn003");
    browser.click("form[action='/pending/reject'] button");
    browser.until("it is gone", |browser| !browser.text("main").contains(&others));
    rest.clear();
    refused.read_to_string(&mut rest).unwrap();
    assert!(boots[1].wait().unwrap().code() != Some(0) && rest.contains("has rejected the key"));
    let audit = cluster.ctl(&["audit"]).expect(0).stdout;
    for (action, key) in [("approve", &own), ("reject", &others)] {
        let is_hers = |line: &str| {
            line.contains("  done ")
                && line.contains("lee")
                && line.contains(action)
                && line.contains(&**key)
        };
        assert!(audit.lines().any(is_hers), "{audit}");
    }
}

#[test]
fn a_reader_sees_a_key_and_decides_nothing_without_javascript_as_well() {
    let browser = Browser::start(Screen { scripts: false, ..DESKTOP });
    browser.devtools("Security.setIgnoreCertificateErrors", &serde_json::json!({"ignore": true}));
    let cluster = cluster_with(TLS);
    let (node, _proxy) = node(&cluster, "cn001", "60s");
    let mut boot = node.spawn(&["boot"]);
    let (key, _stderr) = waits(&mut boot);
    log_in(&cluster, &browser, "ann", "read");
    browser.visit(&at(&cluster, "/pending"));
    browser.click("td.key a");
    browser.until_text("main", &key);
    browser.until_text("main", &format!("provostctl approve cn001 {key}"));
    assert_eq!(browser.run("return document.querySelectorAll('main button:not(.copy)').length"), 0);
    // What the page of another admin would send.
    browser.run(
        "const form = document.createElement('form');
         form.method = 'post';
         form.action = '/pending/approve';
         document.body.append(form);
         form.submit();",
    );
    browser.until_text("main", "ann has the role read, and approve needs the role operate");
    assert_eq!(cluster.ctl_json(&["pending"])[0]["key"], serde_json::json!(key));
    boot.kill().unwrap();
    boot.wait().unwrap();
}
