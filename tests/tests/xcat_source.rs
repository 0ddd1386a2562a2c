//! What a node fetches from an xCAT management node, as that is.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use provost_tests::Out;
use provost_tests::xcat::{Habit, WebKind, XcatNode, XcatServer, Xcatd, mypostscript};
use serde_json::Value;

const BOTH: [WebKind; 2] = [WebKind::Apache, WebKind::Nginx];
/// A script that tells how it was called.
const TELL: &str = "#!/bin/bash\n{ pwd; printf '<%s>' \"$@\"; echo; env; } >../told\n";

/// The end of the fetch stage of the last boot.
fn fetched(node: &XcatNode) -> Value {
    let journal = node.journal("boot");
    let is_it = |e: &&Value| e["stage"] == "fetch" && e["phase"] == "stage end";
    journal.iter().rfind(is_it).unwrap().clone()
}

/// Whether `record` has these parts in its error and its hint, by this cause.
#[track_caller]
fn says(record: &Value, cause: &str, parts: &[&str]) {
    assert_eq!(record["cause"], cause, "{record:#}");
    let text = format!("{} {}", record["errorMessage"], record["hint"]);
    parts.iter().for_each(|part| assert!(text.contains(part), "no {part:?} in {text}"));
}

fn boot(node: &XcatNode, exit: i32) -> Out {
    node.provost(&["boot"]).expect(exit)
}

/// A management node whose node `cn1` runs `tell`, with a tree as big as xCAT's.
fn site() -> XcatServer {
    let server = XcatServer::new();
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
    server
}

#[test]
fn a_node_runs_what_apache_and_nginx_serve_and_asks_again_for_nothing_else() {
    for kind in BOTH {
        let server = site();
        let Some(web) = server.web(kind) else { continue };
        let node = server.node("cn1", web.address());
        let out = boot(&node, 0);
        assert!(out.stderr.contains("`unsigned = true`"), "{}", out.stderr);
        let told = std::fs::read_to_string(node.path("told")).unwrap();
        let xcatpost = node.path("xcatpost").display().to_string();
        for line in [&*xcatpost, "<a b><*>", "SITEMASTER=10.0.0.1", "NOTE=two", "lines"] {
            assert!(told.lines().any(|l| l == line), "no {line:?} in {told}");
        }
        assert!(told.contains(&format!("PATH={xcatpost}:/bin:/usr/local/sbin")), "{told}");
        assert!(!told.contains("HIDDEN"), "{told}");
        let stages = fetched(&node)["stages"].clone();
        assert_eq!(stages, serde_json::json!(["tell", "a/b/c", "more/script7"]));
        assert!(fetched(&node).get("bundle").is_none());
        let key = node.xcatpost("hostkeys/tftp key&%");
        assert_eq!(std::fs::read_to_string(&key).unwrap(), "key");
        assert_eq!(std::fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);
        let own = std::fs::metadata(node.xcatpost("mypostscript")).unwrap();
        assert_eq!(own.permissions().mode() & 0o777, 0o700);

        // Again: one has changed, one is new, one is gone, and one was damaged on the node.
        web.forget();
        server.script("more/script7", "#!/bin/sh\nexit 3\n").script("new", "#!/bin/sh\n");
        std::fs::remove_file(server.postscripts("more/script9")).unwrap();
        std::fs::write(node.xcatpost("more/script11"), "rm -rf /").unwrap();
        boot(&node, 1);
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
        let beside = std::fs::read_dir(node.path("")).unwrap().flatten();
        let left: Vec<_> =
            beside.filter(|e| e.file_name().to_string_lossy().starts_with('.')).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn one_file_that_can_not_be_read_fails_the_fetch_and_changes_nothing() {
    for kind in BOTH {
        let server = site();
        let Some(web) = server.web(kind) else { continue };
        let node = server.node("cn1", web.address());
        boot(&node, 0);
        server.script("tell", "#!/bin/sh\n");
        let secret = PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(server.postscripts("more/script77"), secret).unwrap();
        boot(&node, 3);
        let failure = fetched(&node);
        says(&failure, "fetch", &["more/script77", "403", "chmod a+r", "/install/postscripts/"]);
        assert_eq!(std::fs::read_to_string(node.xcatpost("tell")).unwrap(), TELL);
    }
}

#[test]
fn links_that_lead_back_are_left_out() {
    for kind in BOTH {
        let server = site();
        let Some(web) = server.web(kind) else { continue };
        std::os::unix::fs::symlink(".", server.postscripts("here")).unwrap();
        std::os::unix::fs::symlink("../..", server.postscripts("a/b/back")).unwrap();
        let node = server.node("cn1", web.address());
        let out = boot(&node, 0);
        for path in ["here/ leads back", "a/b/back/ leads back"] {
            assert!(out.stderr.contains(&format!("left out: {path}")), "{}", out.stderr);
        }
        assert!(node.xcatpost("a/b/c").exists() && !node.xcatpost("here").exists());
    }
}

#[test]
fn a_tree_without_end_is_a_failure() {
    let server = site();
    let Some(web) = server.web(WebKind::Nginx) else { return };
    let deep: String = (0..20).map(|n| format!("d{n}/")).collect();
    server.script(&format!("{deep}x"), "");
    let node = server.node("cn1", web.address());
    boot(&node, 3);
    says(&fetched(&node), "fetch", &["more than 16 levels", "install_dir"]);
}

#[test]
fn a_listing_that_is_empty_or_refused_is_a_failure() {
    for kind in [WebKind::Apache, WebKind::Nginx, WebKind::NginxWithoutIndex] {
        let server = XcatServer::new();
        let Some(web) = server.web(kind) else { continue };
        server.mypostscript("cn1", &mypostscript("", &[], &[]));
        let node = server.node("cn1", web.address());
        boot(&node, 3);
        let why: &[&str] = match kind {
            WebKind::NginxWithoutIndex => &["403", "autoindex", "/install/postscripts/"],
            _ => &["names no file", "/install/postscripts/"],
        };
        says(&fetched(&node), "fetch", why);
        std::fs::remove_dir(server.postscripts("")).unwrap();
        boot(&node, 3);
        says(&fetched(&node), "fetch", &["404", "install_dir"]);
        assert!(!node.path("xcatpost").exists());
    }
}

#[test]
fn xcatd_is_asked_where_the_web_server_has_no_mypostscript() {
    let server = site();
    let Some(web) = server.web(WebKind::Apache) else { return };
    let file = server.path("www/tftpboot/mypostscripts/mypostscript.cn1");
    let text = std::fs::read_to_string(&file).unwrap() + "# <&>\"'\n";
    std::fs::remove_file(file).unwrap();
    let node = server.node("cn1", web.address());
    let limits =
        "[guard]\nmax_attempts = 100\n[fetch]\nstall_timeout = \"1s\"\ndeadline = \"3s\"\n";
    node.configure(limits);
    boot(&node, 3);
    let parts = ["mypostscript.cn1", "404", "asking xcatd at 127.0.0.1:1", "refused", "lsxcatd"];
    says(&fetched(&node), "fetch", &parts);
    assert!(!node.path("xcatpost").exists());

    let start = |name: &str, habit| Xcatd::start(&server.path(name), habit);
    let xcatd = start("serves", Habit::Serve(text.clone()));
    let port = |xcatd: &Xcatd, more: &str| {
        node.configure(&format!("xcatd_port = {}\n{limits}{more}", xcatd.port()));
    };
    port(&xcatd, "");
    let out = boot(&node, 0);
    assert!(out.stderr.contains("no `ca` is set"), "{}", out.stderr);
    let request = xcatd.request();
    assert!(request.contains("<command>getpostscript</command>\n   <arg>cn1</arg>"), "{request}");
    assert_eq!(std::fs::read_to_string(node.xcatpost("mypostscript")).unwrap(), text);

    port(&xcatd, &format!("ca = {:?}\n", xcatd.certificate()));
    let out = boot(&node, 0);
    assert!(!out.stderr.contains("no `ca` is set"), "{}", out.stderr);
    let other = start("other", Habit::Serve(text));
    port(&other, &format!("ca = {:?}\n", xcatd.certificate()));
    boot(&node, 3);
    says(&fetched(&node), "fetch", &["TLS handshake", "certificate"]);

    for (name, habit, parts) in [
        (
            "refuses",
            Habit::Refuse("no such node".to_owned()),
            ["it refuses: no such node", "lsdef"],
        ),
        ("breaks", Habit::BreakOff, ["its answer", "lsxcatd"]),
        ("silent", Habit::Silent, ["the TLS handshake: nothing within 1.0 s", "lsxcatd"]),
        ("tls", Habit::SilentAfterHandshake, ["its answer: nothing within 1.0 s", "lsxcatd"]),
    ] {
        let xcatd = start(name, habit);
        port(&xcatd, "");
        let began = Instant::now();
        boot(&node, 3);
        assert!(began.elapsed() < Duration::from_secs(30), "{name}");
        says(&fetched(&node), "fetch", &parts);
    }
}

#[test]
fn a_mypostscript_that_makes_no_sense_runs_nothing_and_says_where() {
    let server = site();
    let Some(web) = server.web(WebKind::Nginx) else { return };
    let node = server.node("cn1", web.address());
    node.configure("[guard]\nmax_attempts = 100\n");
    let lists = |preamble: &str| mypostscript(preamble, &["tell"], &[]);
    for (text, parts) in [
        (
            lists("A='1'\nB='it's'\nexport A B\n"),
            &["line 2", "the value of B has a lone '", "tabdump"][..],
        ),
        (lists("A=(1\n"), &["line", "mend the xCAT table"]),
        (lists("A=1\nexit 0\n"), &["ends the shell before its end"]),
        (lists("kill -9 $$\n"), &["SIGKILL"]),
        ("NODE=cn1\n".to_owned(), &["no list of scripts"]),
        (mypostscript("", &["tell; rm -rf /"], &[]), &["line", "`;`"]),
    ] {
        server.mypostscript("cn1", &text);
        boot(&node, 2);
        says(&fetched(&node), "config", parts);
        assert!(!node.path("told").exists());
    }
}

#[test]
fn a_hostile_preamble_is_over_in_time_and_leaves_nobody() {
    let server = site();
    let Some(web) = server.web(WebKind::Nginx) else { return };
    let node = server.node("cn1", web.address());
    let mark = format!("{}/mark", node.path("").display());
    let forks = format!("export MARK={mark}\n(setsid sleep 1000 &)\nsleep 1000 &\nexport A=1\n");
    let prints = "head -c 1000000000 /dev/zero\nhead -c 100000000 /dev/zero >&2\nexport A=1\n";
    for preamble in
        [&*forks, prints, "export A=1 TMOUT=1\nset -eu\nIFS=A\n", "export A=1; ./nothing"]
    {
        server.mypostscript("cn1", &mypostscript(preamble, &["tell"], &[]));
        boot(&node, 0);
        assert!(
            std::fs::read_to_string(node.path("told")).unwrap().contains("\nA=1\n"),
            "{preamble}"
        );
        let left = provost_tests::processes::marked(&mark);
        assert!(left.is_empty(), "{left:?}");
    }
    let folder = std::fs::read_dir(node.path("state")).unwrap().flatten();
    let names: Vec<_> = folder.map(|entry| entry.file_name()).collect();
    assert!(names.iter().all(|name| name != "preamble"), "{names:?}");
    node.configure("[run]\ntimeout = \"2s\"\n");
    server.mypostscript("cn1", &mypostscript("sleep 1000\nexport A=1\n", &["tell"], &[]));
    boot(&node, 2);
    says(&fetched(&node), "config", &["not done within 2 s"]);
    let big = "A=$(head -c 100000000 /dev/zero | tr '\\0' x)\nexport A\n";
    server.mypostscript("cn1", &mypostscript(big, &["tell"], &[]));
    boot(&node, 2);
    says(&fetched(&node), "config", &["mypostscript of cn1"]);
}

#[test]
fn a_node_without_bash_is_told_so() {
    let server = site();
    let Some(web) = server.web(WebKind::Nginx) else { return };
    let node = server.node("cn1", web.address());
    let script = "mount --bind /dev/null \"$(readlink -f /bin/bash)\" && exec \"$@\"";
    let out: Out = node
        .command_by(&["unshare", "-m", "sh", "-c", script, "sh"], &["boot"])
        .output()
        .unwrap()
        .into();
    if !out.stderr.contains("provost: ") {
        return eprintln!("SKIPPED: this machine lets us make no mounts: {}", out.stderr);
    }
    out.expect(2);
    says(&fetched(&node), "config", &["/bin/bash", "install bash"]);
}

#[test]
fn nothing_unsigned_runs_unless_somebody_says_so() {
    let server = site();
    let Some(web) = server.web(WebKind::Nginx) else { return };
    let node = server.node("cn1", web.address());
    node.configure("[trust]\n");
    boot(&node, 2);
    says(&fetched(&node), "config", &["xCAT management node signs nothing", "unsigned = true"]);
    assert!(!node.path("xcatpost").exists());
}

#[test]
fn what_is_published_beside_it_is_fetched_as_ever_and_runs_in_xcatpost() {
    let server = XcatServer::new();
    let Some(web) = server.web(WebKind::Nginx) else { return };
    let cluster = provost_tests::Cluster::new();
    cluster.script("tell", TELL).site("[nodes.cn1]\npostscripts = [\"tell x\"]\n");
    cluster.publish().expect(0);
    let copied = std::process::Command::new("cp")
        .arg("-rL")
        .args([cluster.www(), server.path("www/install/provost")])
        .status();
    assert!(copied.unwrap().success());
    let open = std::process::Command::new("chmod")
        .args(["-R", "a+rX"])
        .arg(server.path("www/install/provost"))
        .status();
    assert!(open.unwrap().success());
    let node = server.node("cn1", web.address());
    node.configure(&format!("[trust]\nkeys = [{:?}]\n", cluster.key()));
    for _ in 0..2 {
        let out = boot(&node, 0);
        assert!(!out.stderr.contains("unsigned"), "{}", out.stderr);
        let told = std::fs::read_to_string(node.path("told")).unwrap();
        assert!(told.starts_with(&format!("{}\n<x>\n", node.path("xcatpost").display())), "{told}");
    }
    assert_eq!(fetched(&node)["bundle"], 1);
}

#[test]
fn a_node_can_go_on_with_what_it_had_where_no_server_answers() {
    let server = site();
    let Some(web) = server.web(WebKind::Nginx) else { return };
    let node = server.node("cn1", web.address());
    boot(&node, 0);
    node.configure("[fetch]\ndeadline = \"1s\"\noffline = \"last-good\"\n");
    drop(web);
    std::fs::remove_file(node.path("told")).unwrap();
    let out = boot(&node, 0);
    assert!(
        out.stderr.contains("the last good scripts and mypostscript are used"),
        "{}",
        out.stderr
    );
    assert!(node.path("told").exists());
    std::fs::write(node.xcatpost("tell"), "#!/bin/sh\n").unwrap();
    boot(&node, 3);
    says(&fetched(&node), "fetch", &["tell is damaged or missing"]);
}

#[test]
fn check_tries_an_xcat_management_node() {
    let server = site();
    let Some(web) = server.web(WebKind::Apache) else { return };
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
        "ok plan 2 postscripts, 1 postbootscripts",
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
