//! Why a node could not fetch is told so that somebody can fix it: which server, which file, how
//! often it was tried, and what to do.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use provost_tests::faults::{Exchange, Fault, Faulty, Times};
use provost_tests::{Cluster, Node};
use serde_json::{Value, json};

fn cluster() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n").script("two", "#!/bin/sh\necho two\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// Sets the node's servers, and more of `[fetch]`.
fn configure(cluster: &Cluster, node: &Node, servers: &[&str], fetch: &str) {
    let servers: Vec<String> = servers.iter().map(|s| format!("http://{s}")).collect();
    node.configure(&format!(
        "servers = {servers:?}\n[trust]\nkeys = [\"{}\"]\n[report]\ndeadline = \"2s\"\n\
         [fetch]\nstall_timeout = \"2s\"\n{fetch}",
        cluster.key()
    ));
}

/// The ends of the stage `fetch` in the newest run.
fn fetch_ends(node: &Node, service: &str) -> Vec<Value> {
    let journal = node.journal(service);
    let run = journal.last().unwrap()["run"].clone();
    let ends = |e: &Value| e["run"] == run && e["stage"] == "fetch" && e["phase"] == "stage end";
    journal.into_iter().filter(ends).collect()
}

/// Boots a node whose only server goes wrong by `fault` at `path`, and returns what is recorded.
#[track_caller]
fn refused(path: &str, fault: Fault) -> (Value, usize) {
    refused_by(false, path, fault)
}

/// The same, by a web server that has only the files, or by provostd.
#[track_caller]
fn refused_by(is_static: bool, path: &str, fault: Fault) -> (Value, usize) {
    let (cluster, node) = cluster();
    let server = match is_static {
        true => Faulty::of(cluster.www()),
        false => Faulty::before(cluster.daemon().nodes()),
    };
    server.fault(path, Times::Always, fault);
    configure(&cluster, &node, &[server.address()], "deadline = \"4s\"\n");
    node.provost(&["boot"]).expect(3);
    let ends = fetch_ends(&node, "boot");
    // Before it, at most that it is still trying.
    assert!(ends.len() <= 2, "{ends:?}");
    let end = ends.last().unwrap();
    assert!(!end["hint"].as_str().unwrap().is_empty());
    (end.clone(), server.asked(path))
}

#[track_caller]
fn says(record: &Value, key: &str, parts: &[&str]) {
    let text = record[key].as_str().unwrap();
    for part in parts {
        assert!(text.contains(part), "{part:?} isn't in {text:?}");
    }
}

#[test]
fn what_will_not_pass_is_asked_for_once_and_named() {
    for status in [401, 403] {
        let (end, asked) = refused("/plans/cn001.toml", Fault::Status(status));
        assert_eq!(end["cause"], "fetch");
        says(&end, "errorMessage", &["/plans/cn001.toml", &status.to_string(), "(1 try in "]);
        assert_eq!((asked, end.get("waiting")), (1, None), "{status}");
    }
}

#[test]
fn what_is_not_there_yet_is_asked_for_until_the_deadline() {
    for status in [404, 410] {
        for path in ["/plans/cn001.toml", "/manifest.toml"] {
            let (end, asked) = refused(path, Fault::Status(status));
            says(&end, "errorMessage", &[path, &status.to_string(), " tries in "]);
            says(&end, "waiting", &["no plan is published for it"]);
            assert!((3..30).contains(&asked), "{status}: {asked}");
        }
    }
    // Of what is published a part isn't there: that is another matter.
    let (end, _) = refused_by(true, "/plans/cn001.toml.minisig", Fault::Status(404));
    assert_eq!(end.get("waiting"), None);
}

#[test]
fn a_file_that_the_web_server_may_not_read_is_named() {
    let (cluster, node) = cluster();
    let plan = cluster.www().join("plans/cn001.toml");
    std::fs::set_permissions(plan, PermissionsExt::from_mode(0o600)).unwrap();
    let server = Faulty::of(cluster.www());
    configure(&cluster, &node, &[server.address()], "");
    let begun = Instant::now();
    let out = node.provost(&["boot"]).expect(3);
    out.says(&["403", "hint: ", "WWW/plans/cn001.toml", "chmod a+r"]);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(server.asked("/plans/cn001.toml"), 1);
}

#[test]
fn what_may_pass_is_tried_until_it_does_and_a_wish_to_wait_is_heeded() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
        let (cluster, node) = cluster();
        let server = Faulty::before(cluster.daemon().nodes());
        server.fault("/manifest.toml", Times::Next(1), Fault::RetryAfter(status, 1));
        configure(&cluster, &node, &[server.address()], "");
        let begun = Instant::now();
        node.provost(&["boot"]).expect(0).says(&[&status.to_string(), "still trying, for up to"]);
        assert!(begun.elapsed() >= Duration::from_secs(1));
        assert_eq!(server.asked("/manifest.toml"), 2);
        // A second connection at the same time isn't asked of a server that had no place.
        assert!(server.asked("/packs/newest.tar.zst") <= 1);
    }
}

#[test]
fn a_fetch_that_keeps_failing_is_told_long_before_its_deadline() {
    let (cluster, node) = cluster();
    let server = Faulty::before(cluster.daemon().nodes());
    server.fault("/plans/cn001.toml", Times::Always, Fault::Status(500));
    configure(&cluster, &node, &[server.address()], "deadline = \"5m\"\n");
    let mut boot = node.spawn(&["boot"]);
    let told = |exchanges: &[Exchange]| {
        let body =
            |exchange: &Exchange| String::from_utf8_lossy(&exchange.request.body).into_owned();
        exchanges
            .iter()
            .any(|e| e.answer.is_some() && body(e).contains("still trying, for up to 5"))
    };
    assert!(server.until(Duration::from_secs(60), told));
    let seen = cluster.status("cn001");
    assert_eq!(seen["status"], "netbooting");
    assert_eq!(seen["stage"], "fetch");
    says(&seen, "errorMessage", &["still trying", "/plans/cn001.toml", "500"]);
    server.repair();
    assert!(boot.wait().unwrap().success());
    let seen = cluster.status("cn001");
    assert_eq!((&seen["status"], &seen["errorMessage"]), (&json!("booted"), &Value::Null));
    assert_eq!(fetch_ends(&node, "boot").len(), 2);
}

#[test]
fn a_wish_to_wait_longer_than_there_is_time_ends_the_fetch_at_once() {
    let begun = Instant::now();
    let (end, asked) = refused("/manifest.toml", Fault::RetryAfter(503, 7200));
    says(&end, "errorMessage", &["503", "/manifest.toml", "come back in 2 h", "(1 try in "]);
    assert_eq!(asked, 1);
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_web_page_in_place_of_a_file_is_told_as_that() {
    for path in ["/manifest.toml", "/manifest.toml.minisig", "/plans/cn001.toml"] {
        // provostd has no use for the signature's own path.
        let is_static = path.ends_with(".minisig");
        let (end, asked) = refused_by(is_static, path, Fault::ErrorPage);
        assert_eq!(end["cause"], "verify");
        says(&end, "errorMessage", &[path, "a web page"]);
        assert_eq!(asked, 1);
    }
}

#[test]
fn an_empty_manifest_is_told_as_that() {
    let (cluster, node) = cluster();
    std::fs::write(cluster.www().join("manifest.toml"), "").unwrap();
    node.provost(&["boot"]).expect(3).says(&["manifest.toml: the file is empty", "hint: "]);
}

#[test]
fn a_redirect_is_not_followed_but_told() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = elsewhere.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in elsewhere.incoming() {
            redirect(stream.unwrap());
        }
    });
    let (cluster, node) = cluster();
    configure(&cluster, &node, &[&address.to_string()], "");
    node.provost(&["boot"]).expect(3).says(&["302", "http://portal.example/login", "hint: "]);
}

fn redirect(mut stream: TcpStream) {
    let _ = stream.read(&mut [0; 4096]);
    let answer = "HTTP/1.1 302 Found\r\nlocation: http://portal.example/login\r\n\
                  content-length: 0\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(answer.as_bytes());
}

/// Each manifest that a node asks `server` for has this fault.
fn every_manifest(server: &Faulty, fault: Fault) {
    server.fault("/manifest.toml", Times::Always, fault.clone());
    server.fault("/manifests/", Times::Always, fault);
}

#[test]
fn a_server_that_was_passed_over_is_recorded_though_the_next_one_served() {
    let bad = [Fault::Status(403), Fault::Flip(100), Fault::ErrorPage];
    for (fault, cause) in bad.into_iter().zip(["fetch", "verify", "verify"]) {
        let (cluster, node) = cluster();
        let first = Faulty::before(cluster.daemon().nodes());
        every_manifest(&first, fault);
        let second = cluster.daemon().nodes();
        configure(&cluster, &node, &[first.address(), &second], "");
        node.provost(&["boot"]).expect(0).says(&[first.address(), "hint: ", "succeeded"]);
        let ends = fetch_ends(&node, "boot");
        assert_eq!((&ends[0]["result"], &ends[0]["cause"]), (&json!("failure"), &json!(cause)));
        says(&ends[0], "errorMessage", &[first.address(), "(1 try in "]);
        assert_eq!((ends.len(), &ends[1]["result"]), (2, &json!("success")));

        let told = cluster.ctl_json(&["show", "cn001"]);
        let node_object = &told["node"];
        assert_eq!(node_object["status"], "booted");
        assert_eq!(node_object.get("cause"), None, "{node_object}");
        let text = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
        assert!(text.contains("passed over") && text.contains(first.address()), "{text}");
        let status = node.status();
        assert_eq!(status["stages"][0]["result"], "success");
        assert_eq!(status["stages"][1]["stage"], "one");
        assert!(node.provost(&["log", "one"]).expect(0).stdout.contains("one"));
    }
}

#[test]
fn where_all_fail_each_is_recorded_and_the_one_that_says_most_is_the_last() {
    let (cluster, node) = cluster();
    let bad = Faulty::before(cluster.daemon().nodes());
    every_manifest(&bad, Fault::Flip(100));
    let forbidden = Faulty::before(cluster.daemon().nodes());
    forbidden.fault("/manifest.toml", Times::Always, Fault::Status(403));
    let servers = [bad.address(), "127.0.0.1:1", forbidden.address()];
    configure(&cluster, &node, &servers, "deadline = \"2s\"\n");
    node.provost(&["boot"]).expect(3);
    let ends = fetch_ends(&node, "boot");
    assert_eq!(ends.len(), 4);
    says(&ends[0], "errorMessage", &["still trying, for up to 2s: ", "127.0.0.1:1"]);
    says(&ends[1], "errorMessage", &["127.0.0.1:1", " tries in "]);
    says(&ends[2], "errorMessage", &[forbidden.address(), "403"]);
    says(&ends[3], "errorMessage", &[bad.address()]);
    assert_eq!(ends[3]["cause"], "verify");
}

#[test]
fn an_older_bundle_or_plan_is_refused_and_told_as_that() {
    for path in ["/manifest.toml", "/plans/cn001.toml"] {
        let (cluster, node) = cluster();
        let old = cluster.path("old");
        std::fs::rename(cluster.www(), &old).unwrap();
        std::fs::create_dir(cluster.www()).unwrap();
        for name in ["manifest.toml", "manifest.toml.minisig", "objects", "packs", "plans"] {
            let copied = std::process::Command::new("cp")
                .args(["-r".as_ref(), old.join(name).as_os_str(), cluster.www().as_os_str()])
                .status();
            assert!(copied.unwrap().success());
        }
        cluster.script("one", "#!/bin/sh\necho newer\n");
        cluster.site("[nodes.cn001]\npostscripts = [\"one\", \"two\"]\n").publish().expect(0);
        let server = Faulty::before(cluster.daemon().nodes());
        configure(&cluster, &node, &[server.address()], "deadline = \"4s\"\n");
        node.provost(&["boot"]).expect(0);
        // Nor is the bundle there that a newer plan names.
        let own = (path == "/manifest.toml").then_some("/manifests/");
        for path in [path, &format!("{path}.minisig")].into_iter().chain(own) {
            server.fault(path, Times::Always, Fault::Replay(old.clone()));
        }
        node.provost(&["boot"]).expect(3).says(&["generation 1, older than 2", "hint: "]);
        assert_eq!(fetch_ends(&node, "boot").last().unwrap()["cause"], "verify");
        // What the node remembers can't be taken from it by damage, only by an admin.
        let seen = node.path("state/generations.toml");
        std::fs::write(&seen, "bundle = 1\nplan = \"x\"\n").unwrap();
        node.provost(&["boot"]).expect(2).says(&["generations.toml", "hint: "]);
        std::fs::remove_file(&seen).unwrap();
        node.provost(&["boot"]).expect(3).says(&["was published with bundle", "hint: "]);
    }
}

/// `provost fetch` has nothing to do with what is published.
#[test]
fn where_a_file_of_a_script_cannot_be_had_the_hint_is_about_that_file() {
    let (_cluster, node) = cluster();
    let folder = tempfile::tempdir().unwrap();
    let server = Faulty::of(folder.path());
    for status in [401, 403, 404, 302] {
        server.fault("/", Times::Next(1), Fault::Status(status));
        let url = format!("http://{}/tool", server.address());
        let to = folder.path().join("tool").display().to_string();
        let out =
            node.provost(&["fetch", &url, "--sha256", &"0".repeat(64), "--to", &to]).expect(3);
        let hint = out.stderr.split_once("hint: ").unwrap().1;
        assert!(hint.contains("URL"), "{status}: {hint}");
    }
}
