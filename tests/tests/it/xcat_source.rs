//! What a node fetches from an xCAT management node, as that is.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use provost_tests::xcat::{Web, WebKind, XcatServer, mypostscript, says};
use provost_tests::{Out, missing, skip_if};

const BOTH: [WebKind; 2] = [WebKind::Apache, WebKind::Nginx];
/// A script that tells how it was called.
const TELL: &str = "#!/bin/bash\n{ pwd; printf '<%s>' \"$@\"; echo; env; } >../told\n";

/// Runs its arguments twice.
const TWICE: &str = "\"$@\" && \"$@\"";

/// A management node whose node `cn1` runs `tell`, with a tree as big as xCAT's.
fn site(kind: WebKind) -> (XcatServer, Web) {
    let (server, web) = XcatServer::with_web(kind);
    server.script("tell", TELL).script("hostkeys/tftp key&%", "key").script("a/b/c", "");
    for n in 0..140 {
        server.script(&format!("more/script{n}"), &format!("#!/bin/sh\necho {n}\n"));
    }
    let preamble = "SITEMASTER='10.0.0.1'\nexport SITEMASTER\nHIDDEN=x\nexport NOTE='two\nlines'\n\
                    PATH=`dirname $0`:/bin:$PATH\nexport PATH\nexport RUNBOOTSCRIPTS=Yes\nfalse\n";
    server.mypostscript(
        "cn1",
        &mypostscript(preamble, &["tell 'a b' *", "a/b/c"], &["more/script7"]),
    );
    (server, web)
}

#[test]
fn a_node_runs_what_apache_and_nginx_serve_and_asks_again_for_nothing_else() {
    for kind in WebKind::available(&BOTH) {
        let (server, web) = site(kind);
        let node = server.node("cn1", web.address());
        let out = node.boot(0);
        assert!(out.stderr.contains("`unsigned = true`"), "{}", out.stderr);
        let told = std::fs::read_to_string(node.path("told")).unwrap();
        let xcatpost = node.path("xcatpost").display().to_string();
        for line in [&*xcatpost, "<'a><b'><*>", "SITEMASTER=10.0.0.1", "NOTE=two", "lines"] {
            assert!(told.lines().any(|l| l == line), "no {line:?} in {told}");
        }
        assert!(told.contains(&format!("PATH={xcatpost}:/bin:")), "{told}");
        assert!(!told.contains("HIDDEN"), "{told}");
        let stages = node.fetched()["stages"].clone();
        assert_eq!(stages, serde_json::json!(["tell", "a/b/c", "more/script7"]));
        assert!(node.fetched().get("bundle").is_none());
        let key = node.xcatpost("hostkeys/tftp key&%");
        assert_eq!(std::fs::read_to_string(&key).unwrap(), "key");
        assert_eq!(std::fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);
        let own = std::fs::metadata(node.xcatpost("mypostscript")).unwrap();
        assert_eq!(own.permissions().mode() & 0o777, 0o700);

        // Again: one has changed, one is new, one is gone, and one was damaged on the node.
        web.forget();
        server.script("more/script7", "#!/bin/sh\nexit 33\n").script("new", "#!/bin/sh\n");
        std::fs::remove_file(server.postscripts("more/script9")).unwrap();
        std::fs::write(node.xcatpost("more/script11"), "rm -rf /").unwrap();
        node.boot(1);
        let names = ["more/script11", "more/script7", "new"];
        let these = names.map(|name| format!("/install/postscripts/{name} 200"));
        let mut sent = web.asked(&these);
        let is_script = |line: &String| {
            line.ends_with(" 200") && !line.ends_with("/ 200") && !line.contains("mypostscript")
        };
        sent.retain(is_script);
        sent.sort();
        assert_eq!(sent, these);
        assert!(node.xcatpost("new").exists() && !node.xcatpost("more/script9").exists());
        let text = std::fs::read_to_string(node.xcatpost("more/script11")).unwrap();
        assert_eq!(text, "#!/bin/sh\necho 11\n");
        let all = std::fs::read_dir(node.xcatpost("")).unwrap().flatten();
        let left: Vec<_> =
            all.filter(|e| e.file_name().to_string_lossy().starts_with('.')).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_script_that_changes_while_its_time_stays_is_fetched_again() {
    for kind in WebKind::available(&BOTH) {
        let (server, web) = site(kind);
        let node = server.node("cn1", web.address());
        // Two changes in one second, since HTTP tells no less; a clock that is ahead makes it long.
        let time = SystemTime::now() + Duration::from_secs(3600);
        for text in ["#!/bin/sh\nexit 0\n", "#!/bin/sh\nexit 5\n"] {
            server.script("more/script7", text);
            let file = File::options().write(true).open(server.postscripts("more/script7"));
            file.unwrap().set_modified(time).unwrap();
            let exit = i32::from(text.contains('5'));
            node.boot(exit);
        }
        assert_eq!(node.end_of("boot", "more/script7")["exitCode"], 5);
    }
}

#[test]
fn a_script_that_is_put_back_with_its_old_time_is_fetched_again() {
    for kind in WebKind::available(&[WebKind::Apache, WebKind::ApacheWithoutTags, WebKind::Nginx]) {
        let (server, web) = site(kind);
        let node = server.node("cn1", web.address());
        for (hours, text) in [(1, "#!/bin/sh\nexit 0\n"), (9, "#!/bin/sh\nexit 5\n")] {
            server.script("more/script7", text);
            let file = File::options().write(true).open(server.postscripts("more/script7"));
            let time = SystemTime::now() - Duration::from_secs(hours * 3600);
            file.unwrap().set_modified(time).unwrap();
            node.boot(i32::from(hours == 9));
        }
    }
}

#[test]
fn one_file_that_can_not_be_read_fails_the_fetch_and_changes_nothing() {
    for kind in WebKind::available(&BOTH) {
        let (server, web) = site(kind);
        let node = server.node("cn1", web.address());
        node.boot(0);
        server.script("tell", "#!/bin/sh\n");
        let secret = PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(server.postscripts("more/script77"), secret).unwrap();
        node.boot(3);
        let failure = node.fetched();
        says(&failure, "fetch", &["more/script77", "403", "chmod a+r", "/install/postscripts/"]);
        assert_eq!(std::fs::read_to_string(node.xcatpost("tell")).unwrap(), TELL);
    }
}

#[test]
fn a_name_that_is_not_taken_is_said_and_one_of_ours_does_no_harm() {
    for kind in WebKind::available(&BOTH) {
        let (server, web) = site(kind);
        server.script("-dash", "").script("more/two\nlines", "").script(".xcatpost-x", "");
        let node = server.node("cn1", web.address());
        let out = node.boot(0);
        for name in ["\"-dash\" can't", "\"more/two\\nlines\" can't"] {
            assert!(out.stderr.contains(&format!("left out: {name}")), "{}", out.stderr);
        }
        node.boot(0);
        node.boot(0);
    }
}

/// A script may mount there what holds more than scripts.
#[test]
fn what_is_mounted_among_the_scripts_is_not_removed() {
    skip_if(missing::mounts());
    // The last one is in a folder that is served, too, and has to be replaced.
    for (at, exit) in [("share", 0), ("an other/share", 0), ("a/share", 2)] {
        let (server, web) = site(WebKind::Nginx);
        let share = server.path("share");
        std::fs::create_dir(&share).unwrap();
        std::fs::write(share.join("precious"), "data").unwrap();
        let mounts = format!(
            "#!/bin/sh -e\nmountpoint -q '{at}' || {{ mkdir -p '{at}'; mount --bind '{}' '{at}'; }}\n",
            share.display()
        );
        server.script("mounts", &mounts);
        server.mypostscript("cn1", &mypostscript("", &["mounts"], &[]));
        let node = server.node("cn1", web.address());
        let by = ["unshare", "--mount", "--propagation", "private", "sh", "-c", TWICE, "sh"];
        let out: Out = node.command_by(&by, &["boot"]).output().unwrap().into();
        let out = out.expect(exit);
        assert_eq!(std::fs::read_to_string(share.join("precious")).unwrap(), "data", "{at}");
        if exit != 0 {
            out.says(&["xcatpost/a has a mount", "hint: something is mounted inside"]);
        }
        // Nothing is mounted there any more.
        server.mypostscript("cn1", &mypostscript("", &["more/script1"], &[]));
        node.boot(0);
        assert!(!node.xcatpost(at).exists(), "{at}");
    }
}

#[test]
fn links_that_lead_back_are_left_out() {
    for kind in WebKind::available(&BOTH) {
        let (server, web) = site(kind);
        std::os::unix::fs::symlink(".", server.postscripts("here")).unwrap();
        std::os::unix::fs::symlink("../..", server.postscripts("a/b/back")).unwrap();
        // A folder of the same name is none.
        server.script("gmond/conf/conf", "");
        let node = server.node("cn1", web.address());
        let out = node.boot(0);
        assert!(node.xcatpost("gmond/conf/conf").exists(), "{}", out.stderr);
        for path in ["here/ leads back", "a/b/back/ leads back"] {
            assert!(out.stderr.contains(&format!("left out: {path}")), "{}", out.stderr);
        }
        assert!(node.xcatpost("a/b/c").exists() && !node.xcatpost("here").exists());
    }
}

#[test]
fn a_file_over_the_limit_is_left_out_unless_it_is_a_script_of_the_node() {
    let (server, web) = site(WebKind::Apache);
    let node = server.node("cn1", web.address());
    server.script("MLNX_OFED.tgz", "#!/bin/sh\n");
    let file = File::options().write(true).open(server.postscripts("MLNX_OFED.tgz")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let out = node.boot(0);
    let told = "left out: MLNX_OFED.tgz: it has more than 64 MiB";
    assert!(out.stderr.contains(told), "{}", out.stderr);
    assert!(!node.xcatpost("MLNX_OFED.tgz").exists() && node.xcatpost("a/b/c").exists());

    // As many as are wanted, for one file and for all of them.
    for (limits, is_there) in [
        ("max_file_mib = 65\n", true),
        ("max_file_mib = 65\nmax_total_mib = 64\n", false),
        ("max_file_mib = 1000000\nmax_total_mib = 1000000\n", true),
        ("", false),
    ] {
        node.configure(limits);
        let left_out = node.boot(0).stderr.contains("left out: MLNX_OFED.tgz: ");
        let there = node.xcatpost("MLNX_OFED.tgz").exists();
        assert_eq!((there, left_out), (is_there, !is_there), "{limits}");
    }

    server.mypostscript("cn1", &mypostscript("", &["tell", "MLNX_OFED.tgz"], &[]));
    node.boot(3);
    says(&node.fetched(), "fetch", &["MLNX_OFED.tgz", "more than 64 MiB", "move big files"]);
}

#[test]
fn a_tree_without_end_is_a_failure() {
    let (server, web) = site(WebKind::Nginx);
    let deep: String = (0..20).map(|n| format!("d{n}/")).collect();
    server.script(&format!("{deep}x"), "");
    let node = server.node("cn1", web.address());
    node.boot(3);
    says(&node.fetched(), "fetch", &["more than 16 levels", "install_dir"]);
}

#[test]
fn a_listing_that_is_empty_or_refused_is_a_failure() {
    for kind in WebKind::available(&[WebKind::Apache, WebKind::Nginx, WebKind::NginxWithoutIndex]) {
        let (server, web) = XcatServer::with_web(kind);
        server.mypostscript("cn1", &mypostscript("", &[], &[]));
        let node = server.node("cn1", web.address());
        node.boot(3);
        let why: &[&str] = match kind {
            WebKind::NginxWithoutIndex => &["403", "autoindex", "/install/postscripts/"],
            _ => &["names no file", "/install/postscripts/"],
        };
        says(&node.fetched(), "fetch", why);
        std::fs::remove_dir(server.postscripts("")).unwrap();
        node.boot(3);
        says(&node.fetched(), "fetch", &["404", "install_dir"]);
        assert_eq!(std::fs::read_dir(node.xcatpost("")).unwrap().count(), 0);
    }
}

#[test]
fn a_node_can_go_on_with_what_it_had_where_no_server_answers() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    node.boot(0);
    node.configure("[fetch]\ndeadline = \"1s\"\noffline = \"last-good\"\n");
    let gone = web.address().to_owned();
    drop(web);
    std::fs::remove_file(node.path("told")).unwrap();
    let out = node.boot(0);
    assert!(out.stderr.contains("using the last good scripts and mypostscript"), "{}", out.stderr);
    assert!(node.path("told").exists());
    // Whom a lease names next to it may serve other things.
    let (_server, other) = XcatServer::with_web(WebKind::Nginx);
    let with = |servers: [&str; 2]| {
        let text = format!(
            "servers = {:?}\n[source]\nkind = \"xcat\"\nxcatd_port = 1\nmonitor_port = 1\n\
             install_dir = \"/other\"\n[trust]\nunsigned = true\n[report]\ndeadline = \"100ms\"\n\
             [fetch]\ndeadline = \"1s\"\noffline = \"last-good\"\n",
            servers.map(|address| format!("http://{address}"))
        );
        (*node).configure(&text);
    };
    with([&gone, other.address()]);
    let out = node.boot(0);
    assert!(out.stderr.contains("404 Not Found"), "{}", out.stderr);
    with([other.address(), &gone]);
    node.boot(3);
    says(&node.fetched(), "fetch", &["404"]);

    node.configure("[fetch]\ndeadline = \"1s\"\noffline = \"last-good\"\n");
    std::fs::write(node.xcatpost("tell"), "#!/bin/sh\n").unwrap();
    node.boot(3);
    says(&node.fetched(), "fetch", &["tell is damaged or missing"]);
}

#[test]
fn check_tries_an_xcat_management_node() {
    let (server, web) = site(WebKind::Apache);
    let node = server.node("cn1", web.address());
    let check = |exit| {
        let out = node.provost(&["check"]).expect(exit);
        out.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = check(0);
    for part in [
        "source.kind xcat file",
        "ok server http://",
        "lists 4 postscripts and folders",
        "note signature",
        "ok plan 2 postscripts, 1 postbootscript",
    ] {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    assert!(!node.path("xcatpost").exists());
    std::fs::remove_dir_all(server.path("www/tftpboot")).unwrap();
    let told = check(3);
    assert!(
        told.contains("FAILED plan fetching http://") && told.contains("asking xcatd"),
        "{told}"
    );
}
