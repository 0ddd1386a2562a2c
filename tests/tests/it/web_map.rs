//! The map of all nodes, and the site's name and color, in a real Chromium.

use provost_tests::Cluster;
use provost_tests::browser::{Browser, DESKTOP, ENTER, Screen, TAB};
use provost_tests::reporters::Reporters;
use serde_json::json;

const PAGE: &str = "[page]\nname = \"Cluster one\"\naccent = \"#0a7\"\n\
    [[page.racks]]\nracks = \"r[1-2]\"\nnodes = \"cn[001-008]\"\nper_rack = 4\nrow = \"A\"\n\
    [[page.racks]]\nname = \"io\"\nnodes = \"io1\"\nrow = \"B\"\n";

/// A site with a machine room, whose nodes have never reported.
fn start(page: &str) -> (Cluster, Reporters) {
    let mut cluster = Cluster::new();
    cluster.script("syslog", "#!/bin/sh\ntrue\n");
    cluster.site(
        "[groups.compute]\nnodes = \"cn[001-010]\"\npostscripts = [\"syslog\"]\n\
         [groups.storage]\nnodes = \"io1\"\n",
    );
    cluster.publish().expect(0);
    cluster.configure_daemon(page);
    cluster.start();
    let nodes = Reporters::new(&cluster, "cn[001-010]");
    (cluster, nodes)
}

fn at(cluster: &Cluster, path: &str) -> String {
    format!("http://{}{path}", cluster.daemon().admin())
}

/// Each section of the map, with its cells' classes.
fn sections(browser: &Browser) -> Vec<String> {
    let shown = browser.run(
        "return [...document.querySelectorAll('#map .block')].map((block) =>
             block.querySelector('p').innerText + ': ' +
             [...block.querySelectorAll('.c')].map((cell) => cell.classList[1]).join(''));",
    );
    serde_json::from_value(shown).unwrap()
}

#[test]
fn each_node_is_a_cell_in_its_rack() {
    let browser = Browser::start(DESKTOP);
    let (cluster, nodes) = start(PAGE);
    browser.visit(&at(&cluster, "/"));
    browser.until_text("#live", "live");
    assert_eq!(sections(&browser), ["r1: dddd", "r2: dddd", "io: d", "In no rack: dd"]);
    let title = browser.run("return [document.title, getComputedStyle(document.querySelector('header')).borderTopColor]");
    assert_eq!(title, json!(["Overview · Cluster one", "rgb(0, 170, 119)"]));
    let icon = || browser.run("return document.getElementById('icon').getAttribute('href')");
    let good = icon().as_str().unwrap().to_owned();
    assert!(good.starts_with("/static/icon.svg?"), "{good}");

    // It follows what nodes report, and so does the icon in the tab.
    browser.run("window.isTheSame = true");
    (0..8).for_each(|n| nodes.boots(n));
    nodes.fails(5, "mount.nfs: timed out");
    browser.until("the map is live", |browser| {
        sections(browser) == ["r1: gggg", "r2: gfgg", "io: d", "In no rack: dd"]
    });
    assert!(browser.text("#map .legend").contains(" failed 1\n"), "{}", browser.text(".legend"));
    let failed = icon().as_str().unwrap().to_owned();
    assert!(failed.starts_with("/static/icon-failed.svg?"), "{failed}");
    assert_eq!(browser.run("return window.isTheSame"), true, "without a reload");
    let image = "const image = new Image(); image.src = document.getElementById('icon').href; return image.decode().then(() => image.naturalWidth > 0)";
    assert_eq!(browser.run(image), true, "the icon can be drawn");

    // For those who see no colors.
    browser.click("#map-table summary");
    let table = browser.text("#map-table table");
    assert!(table.contains("r2\t1\t0\t0\t0\t3\t4"), "{table}");
    browser.is_well_made();
    browser.picture("map-racks");
    browser.run("document.querySelector('.cells .c.f').click()");
    browser.until_text("h1", "cn006 failed");
    let facts = browser.text("dl");
    for fact in ["compute", "r2, row A", "127.0.0.1"] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn arrows_go_over_the_map() {
    let browser = Browser::start(DESKTOP);
    let (cluster, nodes) = start("");
    (0..10).for_each(|n| nodes.boots(n));
    nodes.fails(3, "mount.nfs: timed out");
    browser.visit(&at(&cluster, "/"));
    browser.until_text("#live", "live");
    assert_eq!(sections(&browser), ["compute: gggfgggggg", "storage: d"]);
    // The map is one stop.
    let stops =
        "return [...document.querySelectorAll('.cells .c')].some((cell) => cell.tabIndex === 0)";
    assert_eq!(browser.run(stops), false);
    let focused = || browser.run("return document.activeElement.title");
    for _ in 0..40 {
        if browser.run("return document.activeElement.id") == "map-cells" {
            break;
        }
        browser.type_keys(&TAB.to_string());
    }
    let [right, down, up] = ['\u{e014}', '\u{e015}', '\u{e013}'];
    browser.type_keys(&right.to_string());
    assert_eq!(focused(), "cn001 booted");
    browser.type_keys(&format!("{right}{right}{right}"));
    assert_eq!(focused(), "cn004 failed in mount_scratch");
    assert_eq!(browser.text("#map-said"), "cn004 failed in mount_scratch");
    browser.type_keys(&down.to_string());
    assert_eq!(focused(), "io1 defined", "the next row");
    browser.type_keys(&up.to_string());
    assert_eq!(focused(), "cn001 booted");
    // What comes in meanwhile takes the focus from nobody.
    nodes.fails(0, "mount.nfs: timed out");
    browser.until("it has failed", |browser| sections(browser)[0].starts_with("compute: f"));
    assert_eq!(focused(), "cn001 failed in mount_scratch");
    browser.type_keys(&ENTER.to_string());
    browser.until_text("h1", "cn001 failed");
}

#[test]
fn without_javascript_the_map_is_links() {
    let browser = Browser::start(Screen { scripts: false, ..DESKTOP });
    let (cluster, nodes) = start(PAGE);
    nodes.fails(0, "mount.nfs: timed out");
    browser.visit(&at(&cluster, "/"));
    browser.click(".cells .c.f");
    browser.until_text("h1", "cn001 failed");
    let icon = browser.run("return document.getElementById('icon').getAttribute('href')");
    assert!(icon.as_str().unwrap().contains("icon-failed.svg"), "{icon}");
}
