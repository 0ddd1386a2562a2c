//! Cells of the map that are selected for what is to be done with their nodes, in a real Chromium.

use provost_tests::Cluster;
use provost_tests::browser::{Browser, DESKTOP};
use serde_json::{Value, json};

use crate::web_actions::{at, log_in, start_with};

const SHIFT: u32 = 8;

/// Twelve nodes that have never reported, and an operator's browser with the map.
fn start() -> (Cluster, Browser) {
    let (cluster, browser) = start_with(DESKTOP, "");
    cluster.site("[groups.compute]\nnodes = \"cn[001-010]\"\npostscripts = [\"syslog\"]\n[groups.io]\nnodes = \"io1,io2\"\n");
    cluster.publish().expect(0);
    log_in(&cluster, &browser, "lee", "operate");
    browser.until("the map", |browser| browser.run(NAMES).as_array().unwrap().len() == 12);
    // Before the login it said that one is needed.
    browser.complaints();
    (cluster, browser)
}

const NAMES: &str = "return [...document.querySelectorAll('#map .cells .c')].map((cell) => cell.title.split(' ')[0])";

/// The cells that look selected.
fn selected(browser: &Browser) -> Value {
    browser.run("return [...document.querySelectorAll('#map .c.s')].map((cell) => cell.title.split(' ')[0])")
}

fn place(browser: &Browser, node: &str) -> (f64, f64) {
    let cell = format!("#map .c[href=\"/nodes/{node}\"]");
    let script = format!(
        "document.querySelector({0}).scrollIntoView({{block: 'center'}}); const box = document.querySelector({0}).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]",
        json!(cell)
    );
    let place = browser.run(&script);
    (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
}

/// What a pointer does at a node's cell.
fn mouse(browser: &Browser, kind: &str, node: &str, modifiers: u32) {
    let (x, y) = place(browser, node);
    let buttons = u32::from(kind != "mouseReleased");
    let event = json!({
        "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1,
        "modifiers": modifiers,
    });
    browser.devtools("Input.dispatchMouseEvent", &event);
}

fn click(browser: &Browser, node: &str, modifiers: u32) {
    mouse(browser, "mousePressed", node, modifiers);
    mouse(browser, "mouseReleased", node, modifiers);
}

fn key(browser: &Browser, (key, code): (&str, u32), modifiers: u32) {
    for kind in ["keyDown", "keyUp"] {
        let event = json!({
            "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
            "modifiers": modifiers,
        });
        browser.devtools("Input.dispatchKeyEvent", &event);
    }
}

#[test]
fn a_pointer_selects_cells_and_they_lead_to_the_same_confirmation_as_a_filter() {
    let (cluster, browser) = start();
    let url = browser.url();
    browser.click("[data-select]");
    assert_eq!(browser.run("return document.querySelector('[data-select]').ariaPressed"), "true");
    click(&browser, "cn002", 0);
    click(&browser, "cn009", 0);
    click(&browser, "io1", 0);
    click(&browser, "io1", 0);
    assert_eq!(selected(&browser), json!(["cn002", "cn009"]));
    // A range, from the last one on.
    click(&browser, "cn009", 0);
    click(&browser, "cn004", 0);
    click(&browser, "cn006", SHIFT);
    assert_eq!(selected(&browser), json!(["cn002", "cn004", "cn005", "cn006"]));
    // Pulled too far, and back.
    mouse(&browser, "mousePressed", "cn008", 0);
    for node in ["cn009", "cn010", "cn009"] {
        mouse(&browser, "mouseMoved", node, 0);
    }
    mouse(&browser, "mouseReleased", "cn009", 0);
    let all = json!(["cn002", "cn004", "cn005", "cn006", "cn008", "cn009"]);
    assert_eq!(selected(&browser), all);
    assert_eq!(browser.url(), url, "no cell was opened");
    let bar = browser.text("#map-chosen");
    assert!(bar.contains("6 cells: cn[002,004-006,008-009]"), "{bar}");
    browser.is_well_made();
    browser.picture("map-selected");

    // What comes in meanwhile leaves it alone.
    let node = cluster.node("cn002");
    std::fs::write(cluster.path("broken"), "").unwrap();
    node.provost(&["boot"]).expect(1);
    let failed = "return document.querySelector('#map .cells .c.f')?.title";
    browser.until("it failed", |browser| browser.run(failed) == "cn002 failed in syslog");
    assert_eq!(selected(&browser), all);

    browser.click("#map-chosen a");
    browser.until_text("main", "6 of 12 nodes");
    browser.click("nav.actions a[href*='/act/boot?']");
    browser.until_text("h1", "Boot 6 nodes?");
    browser.until_text("dd.names", "cn[002,004-006,008-009]");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_keyboard_selects_cells() {
    let (cluster, browser) = start();
    let [right, space, escape] = [("ArrowRight", 39), (" ", 32), ("Escape", 27)];
    browser.run("document.getElementById('map-cells').focus()");
    (0..3).for_each(|_| key(&browser, right, 0));
    key(&browser, space, 0);
    assert_eq!(selected(&browser), json!(["cn003"]));
    (0..2).for_each(|_| key(&browser, right, SHIFT));
    assert_eq!(selected(&browser), json!(["cn003", "cn004", "cn005"]));
    key(&browser, escape, 0);
    assert_eq!(selected(&browser), json!([]));
    assert_eq!(browser.run("return document.querySelector('#map-chosen a').hidden"), true);
    key(&browser, space, 0);
    browser.run("document.querySelector('#map-chosen a').focus()");
    key(&browser, ("Enter", 13), 0);
    browser.visit(&at(&cluster, "/"));
    // Without Select a click opens a cell, as ever.
    click(&browser, "cn007", 0);
    browser.until_text("h1", "cn007");
}

#[test]
fn a_cell_without_a_short_set_of_names_says_that_it_cant_be_selected() {
    // Three nodes with long names in each of so many racks that each is a cell.
    let name = |n: u32| {
        (0..60).map(|at| char::from(b'a' + (n >> (at % 13) & 1) as u8)).collect::<String>()
    };
    let names: Vec<String> = (0..603).map(name).collect();
    let racks = format!(
        "[[page.racks]]\nracks = \"r[001-201]\"\nnodes = \"{}\"\nper_rack = 3\n",
        names.join(",")
    );
    let (cluster, browser) = start_with(DESKTOP, &racks);
    cluster.ctl(&["token", "--force", &names.join(",")]).expect(0);
    log_in(&cluster, &browser, "lee", "operate");
    let count = "return document.querySelectorAll('#map .c[data-some]').length";
    browser.until("the map", |browser| browser.run(count) == 201);
    browser.complaints();
    let title = browser.run("return document.querySelector('#map .cells .c').title");
    assert_eq!(title, "r001: 3 defined (can't be selected)");
    browser.until_text("#map", "No short set names the nodes of some cells");
    browser.click("[data-select]");
    browser.click("#map .c[data-some]");
    let why = "1 cell can't be selected: no short set names the nodes";
    browser.until_text("#map-chosen output", why);
    assert_eq!(selected(&browser), json!([]));
    browser.is_well_made();
    browser.picture("map-unnamed");
    browser.click("[data-select]");
    assert_eq!(browser.text("#map-chosen output"), "");
    assert_eq!(browser.complaints(), [""; 0]);
}
