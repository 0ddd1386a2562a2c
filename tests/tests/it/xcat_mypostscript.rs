//! What a node takes its scripts' lists and their environment from: xCAT's `mypostscript`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use provost_tests::xcat::{
    Authority, Habit, Web, WebKind, XCATS_BEGIN, XcatServer, Xcatd, mypostscript, says,
};
use provost_tests::{Out, missing, skip_if};

/// A management node whose node `cn1` runs `tell`, which tells its environment.
fn site(kind: WebKind) -> (XcatServer, Web) {
    let (server, web) = XcatServer::with_web(kind);
    server.script("tell", "#!/bin/bash\n{ echo; env; } >../told\n");
    (server, web)
}

#[test]
fn xcatd_is_asked_where_the_web_server_has_no_mypostscript() {
    let (server, web) = site(WebKind::Apache);
    let text = mypostscript("# <&>\"'\nNOTE='two\nlines'\nexport NOTE", &["tell"], &[]);
    let node = server.node("cn1", web.address());
    let limits =
        "[guard]\nmax_attempts = 100\n[fetch]\nstall_timeout = \"1s\"\ndeadline = \"3s\"\n";
    node.configure(limits);
    node.boot(3);
    let parts = ["mypostscript.cn1", "404", "asking xcatd at 127.0.0.1:1", "refused", "lsxcatd"];
    says(&node.fetched(), "fetch", &parts);
    assert!(!node.xcatpost("mypostscript").exists());

    let start = |name: &str, habit| Xcatd::start(&server.path(name), habit);
    let xcatd = start("serves", Habit::Serve(text.clone()));
    let ask = |xcatd: &Xcatd| {
        node.configure(&format!("xcatd_port = {}\n{limits}", xcatd.port()));
    };
    ask(&xcatd);
    let out = node.boot(0);
    assert!(out.stderr.contains("no `ca` is set"), "{}", out.stderr);
    let request = xcatd.request();
    assert!(request.contains("<command>getpostscript</command>\n   <arg>cn1</arg>"), "{request}");
    assert_eq!(std::fs::read_to_string(node.xcatpost("mypostscript")).unwrap(), text);

    for (name, habit, parts) in [
        (
            "refuses",
            Habit::Refuse("no such node".to_owned()),
            ["it refuses: no such node", "lsdef"],
        ),
        ("breaks", Habit::BreakOff, ["its answer", "lsxcatd"]),
        ("silent", Habit::Silent, ["the TLS handshake: nothing within", "lsxcatd"]),
        ("tls", Habit::SilentAfterHandshake, ["its answer: nothing within", "lsxcatd"]),
    ] {
        let xcatd = start(name, habit);
        ask(&xcatd);
        let began = Instant::now();
        node.boot(3);
        assert!(began.elapsed() < Duration::from_secs(30), "{name}");
        says(&node.fetched(), "fetch", &parts);
    }
}

#[test]
fn a_busy_xcatd_is_asked_once_and_waited_for() {
    let (server, web) = site(WebKind::Apache);
    let node = server.node("cn1", web.address());
    let text = mypostscript("", &["tell"], &[]);
    let late = Habit::Late(text, Duration::from_millis(1500));
    let xcatd = Xcatd::start(&server.path("xcatd"), late);
    let port = xcatd.port();
    node.configure(&format!("xcatd_port = {port}\n[fetch]\nstall_timeout = \"300ms\"\n"));
    let out = node.boot(0);
    let waits = "waiting: asking xcatd at 127.0.0.1:";
    assert_eq!(out.stderr.matches(waits).count(), 1, "{}", out.stderr);
    xcatd.request();
    assert_eq!(xcatd.requests(), 0);
}

#[test]
fn xcatd_is_who_has_the_known_certificate_or_one_for_its_address() {
    let (server, web) = site(WebKind::Apache);
    let node = server.node("cn1", web.address());
    let authority = Authority::new(&server.path("authority"));
    let (now, named) = ("700101010101Z", "DNS:mn.cluster,DNS:mn");
    let xcatd = |name, san, begin| {
        let habit = Habit::Serve(mypostscript("", &["tell"], &[]));
        Xcatd::start_as(authority.issue(name, san, begin), habit)
    };
    let known = |ca: &Path, xcatd: &Xcatd| {
        node.configure(&format!(
            "xcatd_port = {}\n[guard]\nmax_attempts = 100\n[fetch]\nca = {ca:?}\n",
            xcatd.port()
        ));
    };
    let xcats = xcatd("mn.cluster", named, XCATS_BEGIN);
    node.configure(&format!("xcatd_port = {}\n", xcats.port()));
    let told = node.provost(&["check"]).expect(0).stdout;
    assert!(told.contains("any machine could have answered as xcatd"), "{told}");

    known(xcats.certificate(), &xcats);
    let out = node.boot(0);
    assert!(!out.stderr.contains("no `ca` is set"), "{}", out.stderr);
    known(&authority.certificate(), &xcatd("ours", "IP:127.0.0.1", now));
    node.boot(0);

    // No file without certificates makes anybody do. DER begins so.
    xcats.requests();
    for (name, bytes) in [("empty", b"".as_slice()), ("text", b"mn\n"), ("der", b"\x30\x82\x03")] {
        let file = server.path(name);
        std::fs::write(&file, bytes).unwrap();
        known(&file, &xcats);
        node.boot(2);
        says(&node.fetched(), "config", &[name, "a file of PEM certificates"]);
    }
    assert_eq!(xcats.requests(), 0, "it is asked all the same");

    // Who has another certificate of the same authority, as each of xCAT's users has one, is
    // somebody else; that is known at once.
    let other = xcatd("root", named, now);
    for (ca, who, why) in [
        (xcats.certificate(), &other, "UnknownIssuer"),
        (&*authority.certificate(), &other, "not valid for name"),
        (&*authority.certificate(), &xcats, "certificate"),
    ] {
        known(ca, who);
        let began = Instant::now();
        node.boot(3);
        assert!(began.elapsed() < Duration::from_secs(60), "it is tried again and again");
        says(&node.fetched(), "fetch", &["TLS handshake", why, "server-cert.pem"]);
    }
}

/// One port of an xcatd on an old system. It says `hello` first, hears somebody, and says `answer`.
fn old_xcatd(hello: &'static str, answer: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // The client may have gone.
            let _ = stream.write_all(hello.as_bytes());
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&answer);
        }
    });
    port
}

#[test]
fn an_xcatd_with_ciphers_of_old_is_asked_without_tls_unless_it_has_to_prove_itself() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    let text = mypostscript(&"# a line of many\n".repeat(9999), &["tell"], &[]);
    // TLS 1.2's fatal alert: handshake_failure.
    let tls = old_xcatd("", vec![21, 3, 3, 0, 2, 2, 40]);
    for (before, after, exit) in [("done\n", "", 0), ("", "", 0), ("", "cut", 3)] {
        let end = if after.is_empty() { "#END OF SCRIPT\n" } else { "" };
        let monitor = old_xcatd("ready\n", format!("{before}{text}{end}").into_bytes());
        let ports = format!("xcatd_port = {tls}\nmonitor_port = {monitor}\n");
        node.configure(&format!("{ports}[fetch]\ndeadline = \"2s\"\n"));
        let out = node.boot(exit);
        if exit == 0 {
            assert!(out.stderr.contains("no `ca` is set"), "{}", out.stderr);
            assert_eq!(std::fs::read_to_string(node.xcatpost("mypostscript")).unwrap(), text);
        } else {
            says(&node.fetched(), "fetch", &["without its end", "lsdef"]);
        }
        let authority = Authority::new(&server.path("authority"));
        node.configure(&format!("{ports}[fetch]\nca = {:?}\n", authority.certificate()));
        let began = Instant::now();
        node.boot(3);
        assert!(began.elapsed() < Duration::from_secs(60), "it is tried again and again");
        says(&node.fetched(), "fetch", &["HandshakeFailure", "precreatemypostscripts"]);
        node.provost(&["release"]).expect(0);
    }
}

#[test]
fn a_mypostscript_that_makes_no_sense_runs_nothing_and_says_where() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    node.configure("[guard]\nmax_attempts = 100\n");
    let lists = |preamble: &str| mypostscript(preamble, &["tell"], &[]);
    for (text, parts) in [
        (
            lists("A='1'\nB='it's'\nexport A B\n"),
            &["line 2", "the value of B has a ' in it", "tabdump"][..],
        ),
        (
            lists("MOTD='the node's admin; touch ../told; echo 's phone'\nexport MOTD\n"),
            &["line 1", "the value of MOTD has a ' in it", "tabdump"],
        ),
        (lists("A=1\nX=a b\nexport X\n"), &["line 2", "the value of X has more than one word"]),
        // Only bash knows.
        (lists("A=1\nexport X='that's'\n"), &["the value of X: ", "line 2: unexpected EOF"]),
        (lists("A=(1\n"), &["line", "fix the xCAT table"]),
        (lists("A=1\nexit 0\n"), &["ends the shell early"]),
        (lists("kill -9 $$\n"), &["SIGKILL"]),
        ("NODE=cn1\n".to_owned(), &["no list of scripts"]),
    ] {
        server.mypostscript("cn1", &text);
        node.boot(2);
        says(&node.fetched(), "config", parts);
        assert!(!node.path("told").exists());
    }
}

#[test]
fn a_line_that_makes_no_sense_is_a_step_that_fails_at_its_place() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    let ran = || std::fs::remove_file(node.path("told")).is_ok();
    server.script("later", "#!/bin/sh\ntrue >../later\n");
    let lists = mypostscript("", &["tell"], &["tell `id`", "later"]);
    server.mypostscript("cn1", &lists);
    for args in [
        &["xcatdsklspost", "1", "-m", web.address(), "tell", "-c"][..],
        &["xcatdsklspost", "1", "-m", web.address(), "postscripts-start-here", "-c"],
        &["run", "tell"],
        &["kickstart"],
    ] {
        node.provost(args).expect(0);
        assert!(ran(), "{args:?}");
    }
    let told = node.provost(&["check"]).expect(2).stdout;
    assert!(told.contains("FAILED  plan") && told.contains("line 13: "), "{told}");
    let update = &["xcatdsklspost", "1", "-m", web.address(), "", "-c"];
    let shown = node.provost(update).expect(1).stdout;
    assert!(
        ["line 13: ", "for a shell", "hint: "].iter().all(|text| shown.contains(text)),
        "{shown}"
    );
    assert!(ran() && !node.path("later").exists());
    let ends = node.journal("run");
    let failed = ends.iter().rfind(|end| end["phase"] == "stage end").unwrap();
    says(failed, "config", &["mypostscript, line 13: ", "put the commands into a script"]);
    assert_eq!(failed["stage"], "tell");

    node.configure("[run]\non_failure = \"continue\"\n");
    node.provost(&["xcatdsklspost", "1", "-m", web.address(), "", "-c"]).expect(255);
    assert!(node.path("later").exists());
}

#[test]
fn the_words_of_a_line_are_those_of_xcats_shell() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    server.script("m", "#!/bin/sh\nprintf '<%s>' \"$0\" \"$@\" >../words\n");
    let line = "m $NODE \"a b\" * ${NODE}x '$DISKS'";
    let preamble = "NODE='cn1'\nexport NODE\nDISKS='sda sdb'\nexport DISKS";
    server.mypostscript("cn1", &mypostscript(preamble, &[line], &[]));
    let expected = "<./m><cn1><\"a><b\"><*><cn1x><'sda><sdb'>";
    let words = || std::fs::read_to_string(node.path("words")).unwrap();
    node.boot(0);
    assert_eq!(words(), expected);
    std::fs::remove_file(node.path("words")).unwrap();
    let list = format!("{line}, tell");
    node.provost(&["xcatdsklspost", "1", "-m", web.address(), &list, "-c"]).expect(0);
    assert_eq!(words(), expected);
}

#[test]
fn a_mypostscript_that_is_cut_off_between_its_lists_boots_nothing() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    let whole = mypostscript("", &["tell"], &["tell"]);
    let (cut, _) = whole.split_once("# postbootscripts-start-here").unwrap();
    server.mypostscript("cn1", cut);
    for args in [&["xcatinstallpost"][..], &["boot"]] {
        node.provost(args).expect(2).says(&["no list of postbootscripts", "cut short", "hint: "]);
        says(&node.fetched(), "config", &["no list of postbootscripts"]);
        assert!(!node.path("told").exists(), "{args:?}");
    }
    node.provost(&["kickstart"]).expect(0);
    assert!(node.path("told").exists());
}

#[test]
fn what_is_sound_to_bash_is_left_to_bash() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    let preamble = "cat <<EOF >/dev/null\nit's\nEOF\nA=$'it\\'s'\nexport A\n\
                    B=\"$(echo \"it's\")\"\nexport B\nC='a\nb' D='c'\nexport C D\n\
                    ARGS=\"$#:$1\"\nexport ARGS\nif false; then\nE=1\nexport E\nfi\n";
    server.mypostscript("cn1", &mypostscript(preamble, &["tell"], &[]));
    node.boot(0);
    let told = std::fs::read_to_string(node.path("told")).unwrap();
    for line in ["A=it's", "B=it's", "C=a", "b", "D=c", "ARGS=0:"] {
        assert!(told.lines().any(|l| l == line), "{line}: {told}");
    }
}

#[test]
fn what_is_not_utf8_is_told_with_its_line_and_not_changed() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    let latin1 = |text: String| -> Vec<u8> {
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
    };
    server.mypostscript("cn1", "");
    let file = server.path("www/tftpboot/mypostscripts/mypostscript.cn1");
    let value = mypostscript("A=1\nNOTE='caf\u{e9}'\nexport NOTE", &["tell"], &[]);
    let bad = ["line 2: the value of NOTE isn't UTF-8", "tabdump"];
    for (text, parts) in [
        (value.clone(), bad),
        (
            mypostscript("export NOTE=$(printf '\\351')", &["tell"], &[]),
            ["the value of NOTE isn't UTF-8", "xCAT table"],
        ),
    ] {
        std::fs::write(&file, latin1(text)).unwrap();
        node.boot(2);
        says(&node.fetched(), "config", &parts);
        assert!(!node.path("told").exists());
        node.provost(&["release"]).expect(0);
    }
    std::fs::write(&file, latin1(mypostscript("", &["tell caf\u{e9}"], &[]))).unwrap();
    node.boot(1);
    let of_line = ["line 4: this line isn't UTF-8", "tabdump"];
    says(&node.end_of("boot", "tell"), "config", &of_line);
    assert!(!node.path("told").exists());
    // So it is with what xcatd says.
    std::fs::remove_file(&file).unwrap();
    let tls = old_xcatd("", vec![21, 3, 3, 0, 2, 2, 40]);
    let monitor = old_xcatd("ready\n", latin1(value + "#END OF SCRIPT\n"));
    node.configure(&format!("xcatd_port = {tls}\nmonitor_port = {monitor}\n"));
    node.boot(2);
    says(&node.fetched(), "config", &bad);
    std::fs::write(&file, latin1(mypostscript("## caf\u{e9}", &["tell"], &[]))).unwrap();
    node.boot(0);
}

#[test]
fn scripts_have_the_functions_that_the_preamble_exports() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    server.script("greet", "#!/bin/bash\nhello \"a  b\" >../greeted && hidden\n");
    let preamble = "hello() { local IFS=-\n  echo \"hello $* ${NOTE@Q}\" # }\n}\n\
                    hidden() { :; }\nexport NOTE='it is' NEVER_SET; export -f hello\n";
    server.mypostscript("cn1", &mypostscript(preamble, &["tell", "greet"], &[]));
    node.boot(1);
    assert_eq!(node.end_of("boot", "greet")["exitCode"], 127);
    let greeted = std::fs::read_to_string(node.path("greeted")).unwrap();
    assert_eq!(greeted, "hello a  b 'it is'\n");
    let told = std::fs::read_to_string(node.path("told")).unwrap();
    assert!(!told.contains("NEVER_SET"), "{told}");
}

#[test]
fn a_hostile_preamble_is_over_in_time_and_leaves_nobody() {
    let (server, web) = site(WebKind::Nginx);
    let node = server.node("cn1", web.address());
    let mark = format!("{}/mark", node.path("").display());
    let forks = format!("export MARK={mark}\n(setsid sleep 1000 &)\nsleep 1000 &\nexport A=1\n");
    let prints = "head -c 1000000000 /dev/zero\nhead -c 100000000 /dev/zero >&2\nexport A=1\n";
    for preamble in
        [&*forks, prints, "export A=1 TMOUT=1\nset -eu\nIFS=A\n", "export A=1; ./nothing"]
    {
        server.mypostscript("cn1", &mypostscript(preamble, &["tell"], &[]));
        node.boot(0);
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
    node.boot(2);
    says(&node.fetched(), "config", &["not finished within 2 s"]);
    let big = "A=$(head -c 100000000 /dev/zero | tr '\\0' x)\nexport A\n";
    server.mypostscript("cn1", &mypostscript(big, &["tell"], &[]));
    node.boot(2);
    says(&node.fetched(), "config", &["mypostscript of cn1"]);
}

#[test]
fn a_node_without_bash_is_told_so() {
    skip_if(missing::mounts());
    let (server, web) = site(WebKind::Nginx);
    server.mypostscript("cn1", &mypostscript("", &["tell"], &[]));
    let node = server.node("cn1", web.address());
    let script = "mount --bind /dev/null \"$(readlink -f /bin/bash)\" && exec \"$@\"";
    let out: Out = node
        .command_by(&["unshare", "-m", "sh", "-c", script, "sh"], &["boot"])
        .output()
        .unwrap()
        .into();
    out.expect(2);
    says(&node.fetched(), "config", &["/bin/bash", "install bash"]);
}
