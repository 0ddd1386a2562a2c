//! What can't be had.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use provost_tests::xcat::monitor::{Habit, Monitor};
use provost_tests::xcat::{WebKind, XcatServer, mypostscript, says};

use provost_tests::program;

use super::{IN_VAIN, RAN, Site};

/// Far above what is configured, and far below what xCAT takes.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn f01_an_error_in_the_installer_ends_it() {
    let site = Site::new(&[]);
    let secret = PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(site.server.postscripts("last"), secret).unwrap();
    let began = Instant::now();
    site.node.provost(&["kickstart"]).expect(3).says(&["403", "hint: "]);
    assert!(began.elapsed() < SOON);
    says(&site.node.end_of("kickstart", "fetch"), "fetch", &["last", "403", "chmod"]);
    // One that fails again and again is held, also where nobody answers any more.
    site.node.provost(&["kickstart"]).expect(3);
    site.node.provost(&["kickstart"]).expect(3);
    site.node.provost(&["kickstart"]).expect(4).says(&["provost release"]);
}

#[test]
fn f02_a_server_that_never_answers_or_cannot_be_reached_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    // What comes to it is dropped once its queue is full, as by a firewall.
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&hole, 0).unwrap();
    let _queue = TcpStream::connect(hole.local_addr().unwrap()).unwrap();
    let server = XcatServer::new();
    program("provost");
    for (web, why) in [(silent, "sent nothing"), (hole, "not connected within")] {
        let address = web.local_addr().unwrap().to_string();
        let node = server.node("cn001", &address);
        node.configure(&format!(
            "[fetch]\nconnect_timeout = \"1s\"\nstall_timeout = \"2s\"\ndeadline = \"6s\"\n{IN_VAIN}"
        ));
        let began = Instant::now();
        node.provost(&["boot"]).expect(3);
        assert!(began.elapsed() < SOON);
        says(&node.fetched(), "fetch", &[&address, why, "tries in"]);
    }
}

#[test]
fn f03_a_listing_that_is_refused_is_a_failure_and_one_of_nginx_has_an_end() {
    for (kind, exit) in [(WebKind::NginxWithoutIndex, 3), (WebKind::Nginx, 0)] {
        let (server, web) = XcatServer::with_web(kind);
        server.script("sub/deeper/last", RAN);
        server.mypostscript("cn001", &mypostscript("", &["sub/deeper/last"], &[]));
        let node = server.node("cn001", web.address());
        node.configure(IN_VAIN);
        node.provost(&["boot"]).expect(exit);
        if exit == 3 {
            let url = format!("http://{}/install/postscripts/", web.address());
            says(&node.fetched(), "fetch", &[&url, "403"]);
        }
        assert_eq!(node.xcatpost("sub/deeper/last").exists(), exit == 0);
        assert!(!node.xcatpost("install").exists());
    }
}

#[test]
fn f04_an_updatenode_that_can_not_fetch_fails_and_leaves_the_scripts_alone() {
    let site = Site::new(&[]);
    let update = |exit| {
        let args = ["xcatdsklspost", "1", "-m", site.web.address(), "last", "-c"];
        site.node.provost(&args).expect(exit)
    };
    update(0);
    let before = std::fs::read(site.node.xcatpost("last")).unwrap();
    site.server.script("last", "#!/bin/sh\necho newer\n");
    let secret = PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(site.server.postscripts("last"), secret).unwrap();
    update(3);
    assert_eq!(std::fs::read(site.node.xcatpost("last")).unwrap(), before);
    assert_eq!(site.ran(), ["last"]);
}

#[test]
fn f05_a_lone_quote_in_a_table_is_found_and_told() {
    let site = Site::new(&[]);
    let monitor = Monitor::start(Habit::Right);
    site.node.configure(&format!("monitor_port = {}\n", monitor.port()));
    let preamble = "NODE='cn001'\nexport NODE\nSITE_NOTE='it's here'\nexport SITE_NOTE";
    site.server.mypostscript("cn001", &mypostscript(preamble, &["last"], &[]));
    let out = site.node.provost(&["boot"]);
    assert_ne!(out.code, Some(0));
    says(&site.end_of("fetch"), "config", &["line 3", "SITE_NOTE", "tabdump"]);
    assert!(site.ran().is_empty());
    assert_eq!(site.node.status()["result"], "failure");
    assert!(provost_tests::processes::until(SOON, || monitor.said().last().unwrap()
        == "installstatus failed"));
    site.server.mypostscript("cn001", &mypostscript("exit 3", &["last"], &[]));
    site.node.provost(&["boot"]);
    says(&site.end_of("fetch"), "config", &["ends the shell with exit status 3"]);
}

#[test]
fn f14_nothing_runs_unsigned_unless_that_is_said_and_secrets_stay_roots() {
    let site = Site::new(&[]);
    site.configure("[trust]\nunsigned = false\n");
    site.node.provost(&["boot"]).expect(2).says(&["[trust] is empty", "unsigned = true"]);
    says(&site.end_of("fetch"), "config", &["xCAT management node signs nothing"]);
    assert!(!site.node.path("xcatpost").exists());
    assert!(site.ran().is_empty());
    site.configure("");
    site.node.provost(&["boot"]).expect(0).says(&["`unsigned = true`"]);
    let own = std::fs::metadata(site.node.xcatpost("mypostscript")).unwrap();
    assert_eq!(own.permissions().mode() & 0o077, 0, "all can read the site's table");
}

#[test]
fn f14_what_a_key_has_signed_beside_xcats_tree_runs_and_nothing_else() {
    let site = Site::new(&[]);
    let at = |name: &str| site.server.path(name).display().to_string();
    let ctl = |args: &[&str]| {
        let out = std::process::Command::new(program("provostctl")).args(args).output().unwrap();
        provost_tests::Out::from(out).expect(0)
    };
    ctl(&["key", "new", "--out", &at("key")]);
    std::fs::write(at("site.toml"), "[nodes.cn001]\npostscripts = [\"last\"]\n").unwrap();
    let scripts = site.server.postscripts("").display().to_string();
    ctl(&[
        &["publish", "--site", &at("site.toml"), "--scripts", &scripts][..],
        &["--key", &at("key/provost.key"), "--to", &at("www/install/provost")],
        // The web server's.
        &["--group", "nogroup"],
    ]
    .concat());
    let key = std::fs::read_to_string(at("key/provost.pub")).unwrap();
    let key = key.lines().last().unwrap();
    site.configure(&format!("[trust]\nkeys = [{key:?}]\n"));
    // An attacker on the network path, or on the web server.
    site.server.script("last", "#!/bin/sh\necho evil >>../ran\n");
    let out = site.node.provost(&["boot"]).expect(0);
    assert!(!out.stderr.contains("unsigned"), "{}", out.stderr);
    assert_eq!(site.end_of("fetch")["bundle"], 1);
    assert_eq!(site.ran(), ["last"]);
    let args = ["xcatdsklspost", "1", "-m", site.web.address(), "node-postscripts-start-here"];
    let shown = site.node.provost(&args).expect(2).stdout;
    assert!(shown.contains("has no sections") && shown.contains("hint: "), "{shown}");

    for name in ["manifest.toml", "manifests/1.toml"] {
        let manifest = site.server.path("www/install/provost").join(name);
        let text = std::fs::read_to_string(&manifest).unwrap();
        std::fs::write(&manifest, text.replace("last", "lust")).unwrap();
    }
    site.node.provost(&["boot"]).expect(3);
    says(&site.end_of("fetch"), "verify", &["manifest"]);
    assert_eq!(site.ran(), ["last"]);
}
