//! Each page, empty, small and big, on both kinds of screen, light and dark: what axe-core finds, and pictures to look at.
//! With `PROVOST_SCREENSHOTS=DIR` it leaves them there.

use provost_tests::axe::Axe;
use provost_tests::browser::{Browser, DESKTOP, Screen, WIDE_PHONE};
use provost_tests::reporters::Reporters;
use provost_tests::{Cluster, Node};

const WIDE: Screen = Screen { width: 1400, height: 1000, ..DESKTOP };
const NARROWEST: Screen = Screen { width: 320, height: 900, ..DESKTOP };

fn screens() -> [(Screen, &'static str); 4] {
    [
        (WIDE, "wide"),
        (Screen { dark: true, ..WIDE }, "wide-dark"),
        (WIDE_PHONE, "phone"),
        (Screen { dark: true, ..WIDE_PHONE }, "phone-dark"),
    ]
}

/// Looks at pages on all screens; `pages` are paths with the names of their pictures.
fn look(axe: &Axe, cluster: &Cluster, pages: &[(&str, &str)]) {
    for (screen, name) in screens() {
        let browser = Browser::start(screen);
        for (path, page) in pages {
            browser.visit(&format!("http://{}{path}", cluster.daemon().admin()));
            browser.picture(&format!("{page}-{name}"));
            browser.is_well_made();
            axe.finds_nothing(&browser);
        }
    }
    let browser = Browser::start(NARROWEST);
    for (path, page) in pages {
        browser.visit(&format!("http://{}{path}", cluster.daemon().admin()));
        browser.is_well_made();
        browser.picture(&format!("{page}-narrowest"));
    }
}

#[test]
fn an_empty_site() {
    let axe = Axe::fetch();
    let mut cluster = Cluster::new();
    cluster.configure_daemon("[page]\nname = \"Cluster one\"\naccent = \"#0a7\"\n");
    cluster.start();
    let pages = [
        ("/", "empty"),
        ("/nodes", "empty-nodes"),
        ("/published", "empty-published"),
        ("/events", "empty-events"),
    ];
    look(&axe, &cluster, &pages);
}

#[test]
fn a_small_site() {
    let axe = Axe::fetch();
    let mut cluster = Cluster::new();
    let node = failing_node(&mut cluster);
    node.provost(&["boot"]).expect(1);
    let nodes = Reporters::new(&cluster, "cn[002-005]");
    (0..3).for_each(|n| nodes.boots(n));
    let pages = [
        ("/", "small"),
        ("/nodes", "small-nodes"),
        ("/nodes/cn001", "small-node"),
        ("/scripts", "small-scripts"),
        ("/scripts/otherpkgs", "small-script"),
        ("/published", "small-published"),
        ("/events", "small-events"),
    ];
    look(&axe, &cluster, &pages);
}

/// A node of which a step fails that has run many commands.
fn failing_node(cluster: &mut Cluster) -> Node {
    cluster.script("syslog", "#!/bin/sh\nsleep 0.1\n");
    let script = "#!/bin/bash\nfor n in 1 2 3; do sleep 0.1; ls / >/dev/null; done\n\
                  sh -c 'sleep 0.2; cat /etc/hostname; true'\n\
                  echo 'Reading package lists...'\necho 'E: Unable to locate package slurmd' >&2\nexit 100\n";
    cluster.script("otherpkgs", script);
    cluster.site(
        "[defaults]\npostscripts = [\"syslog\"]\n\
         env = { MASTER = \"10.0.0.1\", OTHERPKGDIR = \"/install/post/otherpkgs/rhels8.10/x86_64\", DB_PASSWORD = \"x\" }\n\
         [groups.compute]\nnodes = \"cn[001-005]\"\npostscripts = [\"otherpkgs slurmd munge\"]\n",
    );
    cluster.publish().expect(0);
    cluster.start();
    cluster.node("cn001")
}

#[test]
fn a_site_of_512_nodes_of_which_38_fail() {
    let axe = Axe::fetch();
    let mut cluster = Cluster::new();
    cluster.script("mount_scratch", "#!/bin/sh\ntrue\n");
    cluster.site(
        "[groups.compute]\nnodes = \"cn[001-480]\"\npostscripts = [\"mount_scratch\"]\n\
         [groups.gpu]\nnodes = \"gpu[01-32]\"\npostscripts = [\"mount_scratch\"]\n",
    );
    cluster.publish().expect(0);
    let page = "[page]\nname = \"Cluster one\"\naccent = \"#0a7\"\n\
        [[page.racks]]\nracks = \"r[01-12]\"\nnodes = \"cn[001-480]\"\nper_rack = 40\nrow = \"A\"\n";
    cluster.configure_daemon(page);
    cluster.start();
    let nodes = Reporters::new(&cluster, "cn[001-480],gpu[01-32]");
    for n in 0..480 {
        match n {
            80..110 => nodes.fails(n, "mount.nfs: Connection timed out for lustre01:/scratch"),
            200 | 210 | 220 | 230 => {
                nodes.fails(n, "mount.nfs: access denied by server while mounting lustre02:/home")
            }
            300..320 => nodes.send(n, 1, &[provost_tests::reporters::begins()]),
            _ => nodes.boots(n),
        }
    }
    (480..484).for_each(|n| {
        nodes.fails(n, "modprobe: FATAL: Module nvidia not found in directory /lib/modules/4.18.0")
    });
    (484..500).for_each(|n| nodes.boots(n));
    let pages = [
        ("/", "big"),
        ("/nodes?failed=true", "big-nodes"),
        ("/nodes/cn100", "big-node"),
        ("/scripts/mount_scratch", "big-script"),
    ];
    look(&axe, &cluster, &pages);
}
