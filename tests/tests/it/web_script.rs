//! A script's page in a real Chromium: its times, its failures by cause, its source and what changed in it.

use std::fs;

use provost_tests::Cluster;
use provost_tests::browser::{Browser, DESKTOP, PHONE, Screen};
use provost_tests::reporters::Reporters;

/// The address of a page.
fn at(cluster: &Cluster, path: &str) -> String {
    format!("http://{}{path}", cluster.daemon().admin())
}

/// A script of two generations, which fails at line 4 on cn001.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    let hostile = "#<script>document.title = 'hacked'</script> &amp; \u{1b}[2J";
    let script = |more: &str| {
        format!(
            "#!/bin/bash\n{hostile}\n{more}mount_it() {{\n\tls /none >&2\n}}\nset -e\nmount_it\n"
        )
    };
    cluster.script("mount_scratch", &script(""));
    cluster
        .site("[nodes.\"cn[001-003]\"]\npostscripts = [\"mount_scratch\"]\n")
        .publish()
        .expect(0);
    cluster.script("mount_scratch", &script("# \"quoted\"\n")).publish().expect(0);
    cluster.start();
    cluster
}

#[test]
fn a_script_has_its_source_with_the_line_that_failed_and_what_changed() {
    for screen in [DESKTOP, PHONE, Screen { scripts: false, ..DESKTOP }] {
        let browser = Browser::start(screen);
        let cluster = cluster();
        browser.visit(&at(&cluster, "/scripts/mount_scratch"));
        // Before it runs.
        browser.until_text("main", "#<script>document.title = 'hacked'</script> &amp; \\u{1b}[2J");
        cluster.ctl(&["token", "cn[001-003]"]).expect(0);
        for name in ["cn001", "cn002"] {
            cluster.node(name).provost(&["boot"]).expect(1);
        }
        // Without scripts it stays as it was when it was loaded.
        browser.until("both nodes", |browser| {
            browser.visit(&at(&cluster, "/scripts/mount_scratch"));
            browser.text("main").contains("2 failed: exit status 2")
        });
        let failure = browser.text(".failure");
        for part in ["since generation 2", "cn[001-002]", "/none", "line\n5"] {
            assert!(failure.contains(part), "{part}: {failure}");
        }
        let failed = browser.text("pre.source .failed");
        assert!(
            failed.starts_with('5')
                && failed.contains("ls /none")
                && failed.contains("failed on 2")
        );
        assert_eq!(browser.run("return document.querySelector('.failed').id"), "line-5");
        let diff = browser.text("pre.diff");
        assert!(diff.contains("\n+# \"quoted\"") && diff.contains("@@ -1,"), "{diff}");
        browser.until_text("main", "Changed since generation 1");
        browser.is_well_made();
        assert_eq!(browser.run("return document.title"), "mount_scratch · Provost");
        browser.picture(&format!("script-source-{}-{}", screen.width, screen.scripts));
        assert_eq!(browser.complaints(), [""; 0]);
    }
}

#[test]
fn a_file_that_was_changed_by_hand_is_no_source() {
    let browser = Browser::start(DESKTOP);
    let cluster = cluster();
    for folder in fs::read_dir(cluster.www().join("objects")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if fs::read_to_string(&path).unwrap().contains("quoted") {
                fs::write(path, "#!/bin/sh\nrm -rf /\n").unwrap();
            }
        }
    }
    browser.visit(&at(&cluster, "/scripts/mount_scratch"));
    browser.until_text("main", "isn't the one that the manifest names");
    assert!(!browser.text("main").contains("rm -rf"));
}

#[test]
fn many_nodes_of_one_script_are_a_histogram_and_folded_by_cause() {
    let browser = Browser::start(DESKTOP);
    let mut cluster = Cluster::new();
    cluster.script("mount_scratch", "#!/bin/sh\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"mount_scratch\"]\n").publish().expect(0);
    cluster.start();
    let nodes = Reporters::new(&cluster, "cn[001-040]");
    (0..38).for_each(|n| nodes.fails(n, "mount.nfs: timed out"));
    (38..40).for_each(|n| nodes.fails(n, "mount.nfs: access denied by server"));
    browser.visit(&at(&cluster, "/scripts/mount_scratch"));
    browser.until_text(".failure h3", "38 failed: exit status 32");
    let text = browser.text("main");
    for part in ["cn[001-038]", "cn[039-040]", "access denied", "check the file server"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(browser.run("return document.querySelectorAll('article.failure').length"), 2);
    let bars = browser.run("return document.querySelector('.histogram svg').ariaLabel");
    assert!(bars.as_str().unwrap().contains("40 nodes"), "{bars}");
    browser.is_well_made();
    browser.picture("script-many");
    browser.click(".failure h3 a");
    browser.until_text("main", "38 of 40 nodes");
    assert_eq!(browser.complaints(), [""; 0]);
}
