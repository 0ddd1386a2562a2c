//! What a node asks its servers for: no more than it lacks, and nothing twice.

use std::fmt::Write;
use std::net::TcpListener;

use provost_tests::faults::{Exchange, Fault, Faulty, Times};
use provost_tests::processes::until;
use provost_tests::{Cluster, Node, Out, SOON};

/// A cluster of `scripts`, a server before its daemon, and a node that is served by that.
fn cluster(scripts: &[(&str, &str)]) -> (Cluster, Faulty, Node) {
    let mut cluster = Cluster::new();
    for (name, text) in scripts {
        cluster.script(name, text);
    }
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let server = Faulty::before(cluster.daemon().nodes());
    let node = cluster.node("cn001");
    configure(&cluster, &node, &server);
    (cluster, server, node)
}

fn configure(cluster: &Cluster, node: &Node, server: &Faulty) {
    node.configure(&format!(
        "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n[fetch]\ndeadline = \"30s\"\n\
         [report]\ndeadline = \"2s\"\n",
        server.address(),
        cluster.key()
    ));
}

const THREE: [(&str, &str); 3] = [
    ("one", "#!/bin/sh\necho one\n"),
    ("two", "#!/bin/sh\necho two\n"),
    ("three", "#!/bin/sh\necho three\n"),
];

/// What was fetched since the exchange `from`, which becomes the next one: each path, up to a
/// digest, with the status.
fn fetched(server: &Faulty, from: &mut usize) -> Vec<String> {
    let all = server.exchanges();
    let new = all[*from..].iter().filter(|e| e.request.method == "GET");
    let mut told: Vec<String> = new.map(tell).collect();
    *from = all.len();
    told.sort();
    told
}

fn tell(exchange: &Exchange) -> String {
    let path = &exchange.request.path;
    let kind = path.split('/').nth(1).unwrap();
    let name = if ["objects", "packs"].contains(&kind) && path.len() > 64 { kind } else { path };
    let answer = exchange.answer.as_ref();
    let status = answer.map_or(0, |answer| answer.status);
    assert!(status != 304 || answer.unwrap().body.is_empty());
    format!("{name} {status}")
}

/// Each with its signature.
const DOCUMENTS: [&str; 2] = ["/manifest.toml 200", "/plans/cn001.toml 200"];

/// What a cold start asks for, all of it at once.
const COLD: [&str; 3] = [DOCUMENTS[0], "/packs/newest.tar.zst 200", DOCUMENTS[1]];

#[test]
fn a_cold_start_takes_one_pack_a_warm_one_no_body_and_a_changed_file_comes_alone() {
    let (cluster, server, node) = cluster(&THREE);
    let mut from = 0;
    node.provost(&["boot"]).expect(0).says(&["bundle 1 of", "second"]);
    assert_eq!(fetched(&server, &mut from), COLD);

    let warm = ["/manifest.toml 304", "/plans/cn001.toml 304"];
    for _ in 0..2 {
        node.provost(&["boot"]).expect(0);
        assert_eq!(fetched(&server, &mut from), warm);
    }

    cluster.script("two", "#!/bin/sh\necho another\n").publish().expect(0);
    node.provost(&["boot"]).expect(0);
    let changed = [
        "/manifest.toml 200",
        // The new bundle takes the plan as it is.
        "/plans/cn001.toml 304",
        "objects 200",
    ];
    assert_eq!(fetched(&server, &mut from), changed);
    node.provost(&["boot"]).expect(0);
    assert_eq!(fetched(&server, &mut from), warm);

    // What is kept is verified again: damaged, it is fetched again, and nothing else is.
    let kept = node.path("state/published.json");
    let text = std::fs::read_to_string(&kept).unwrap();
    std::fs::write(&kept, text.replace("three", "threw")).unwrap();
    node.provost(&["boot"]).expect(0);
    assert_eq!(fetched(&server, &mut from), [&DOCUMENTS[..], &warm].concat().sorted());
    for garbage in ["", "{", "[]"] {
        std::fs::write(&kept, garbage).unwrap();
        node.provost(&["boot"]).expect(0);
        assert_eq!(fetched(&server, &mut from), DOCUMENTS);
    }
}

/// The first server's connection is under way while the run's beginning still waits for its turn at
/// the disk. That it comes to nothing costs the run no more than that server.
#[test]
fn a_connection_is_on_its_way_before_the_run_is_recorded() {
    let (cluster, server, node) = cluster(&THREE);
    node.provost(&["boot"]).expect(0);
    let journal = std::fs::File::open(node.path("log/services/boot.json")).unwrap();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    mute.set_nonblocking(true).unwrap();
    let first = mute.local_addr().unwrap().to_string();
    node.configure(&cluster.settings_for(&[&first, server.address()]));
    let mut from = server.exchanges().len();

    journal.lock().unwrap();
    let run = node.spawn(&["boot"]);
    let mut connection = None;
    let comes = || {
        connection = mute.accept().ok();
        connection.is_some()
    };
    assert!(until(SOON, comes), "nobody asks before the journal is free");
    drop((connection, mute));
    journal.unlock().unwrap();
    let said: Out = run.wait_with_output().unwrap().into();
    said.expect(0).says(&[&first]);
    assert_eq!(fetched(&server, &mut from), ["/manifest.toml 304", "/plans/cn001.toml 304"]);
}

trait Sorted {
    fn sorted(self) -> Self;
}

impl Sorted for Vec<&str> {
    fn sorted(mut self) -> Self {
        self.sort_unstable();
        self
    }
}

#[test]
fn a_signature_comes_once_also_from_a_server_without_etags() {
    let (cluster, _daemon, node) = cluster(&THREE);
    // It takes no reports either.
    let server = Faulty::of(cluster.www());
    configure(&cluster, &node, &server);
    let mut from = 0;
    node.provost(&["boot"]).expect(0);
    let signatures = ["/manifest.toml.minisig 200", "/plans/cn001.toml.minisig 200"];
    assert_eq!(fetched(&server, &mut from), [&COLD[..], &signatures].concat().sorted());
    node.provost(&["boot"]).expect(0);
    assert_eq!(fetched(&server, &mut from), DOCUMENTS);
}

#[test]
fn a_signature_that_one_server_has_served_is_not_asked_of_another() {
    let (cluster, first, node) = cluster(&THREE);
    node.provost(&["boot"]).expect(0);
    first.refuse();
    let second = Faulty::before(cluster.daemon().nodes());
    configure(&cluster, &node, &second);
    node.provost(&["boot"]).expect(0);
    assert_eq!(fetched(&second, &mut 0), ["/manifest.toml 200", "/plans/cn001.toml 200"]);
}

/// A script whose pack is hardly smaller than it is.
fn bulky() -> String {
    let mut text = "#!/bin/sh\n".to_owned();
    let mut seed = 1_u64;
    while text.len() < 400_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        writeln!(text, "# {seed:x}").unwrap();
    }
    text
}

fn pack_requests(server: &Faulty) -> Vec<Exchange> {
    let mut all = server.exchanges();
    all.retain(|e| e.request.path.starts_with("/packs/"));
    all
}

#[test]
fn a_transfer_that_breaks_off_goes_on_from_there() {
    let bulky = bulky();
    let (_cluster, server, node) = cluster(&[THREE[0], THREE[1], ("bulk", &bulky)]);
    server.fault("/packs/", Times::Next(1), Fault::Truncate(50_000));
    server.fault("/packs/", Times::Next(1), Fault::Reset(60_000));
    node.provost(&["boot"]).expect(0).says(&["still trying, for up to", "/packs/"]);
    let packs = pack_requests(&server);
    assert_eq!(packs.len(), 3);
    assert_eq!(packs[0].request.path, "/packs/newest.tar.zst");
    assert_eq!(packs[0].request.header("range"), None);
    let begin = |at: usize| -> usize {
        let range = packs[at].request.header("range").unwrap();
        range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap()
    };
    assert_eq!(begin(1), 50_000);
    assert!(packs[2].request.header("if-range").is_some(), "it had an ETag");
    assert!(begin(2) >= begin(1));
    assert_eq!(packs[2].answer.as_ref().unwrap().status, 206);
}

#[test]
fn what_has_come_stays_for_the_next_run() {
    let bulky = bulky();
    let (_cluster, server, node) = cluster(&[THREE[0], THREE[1], ("bulk", &bulky)]);
    server.fault("/packs/", Times::Next(1), Fault::Truncate(50_000));
    server.fault("/manifest.toml", Times::Nth(2), Fault::Status(403));
    node.provost(&["boot"]).expect(3);
    server.repair();
    node.provost(&["boot"]).expect(0);
    let packs = pack_requests(&server);
    assert_eq!(packs.len(), 2);
    assert_eq!(packs[1].request.header("range"), Some("bytes=50000-"));
}

#[test]
fn a_rest_that_does_not_fit_costs_one_fresh_try() {
    let bulky = bulky();
    let (_cluster, server, node) = cluster(&[THREE[0], THREE[1], ("bulk", &bulky)]);
    server.fault("/packs/", Times::Next(1), Fault::Truncate(50_000));
    server.fault("/packs/", Times::Next(1), Fault::Flip(7));
    node.provost(&["boot"]).expect(0);
    let ranges: Vec<bool> =
        pack_requests(&server).iter().map(|e| e.request.header("range").is_some()).collect();
    assert_eq!(ranges, [false, true, false]);
}

#[test]
fn a_bundle_that_is_published_between_two_requests_is_taken_in_its_new_form() {
    let (cluster, server, node) = cluster(&THREE);
    let old = cluster.path("old");
    std::fs::rename(cluster.www(), &old).unwrap();
    cluster.script("one", "#!/bin/sh\necho newer\n").publish().expect(0);
    // The old manifest comes with the new signature, and is there no more by its own path.
    server.fault("/manifest.toml", Times::Next(1), Fault::Replay(old));
    node.provost(&["boot"]).expect(0);
    assert_eq!((server.asked("/manifests/1.toml"), server.asked("/manifest.toml")), (1, 2));
    assert!(node.provost(&["log", "one"]).expect(0).stdout.contains("newer"));
}

#[test]
fn a_newest_pack_that_is_none_or_another_costs_no_more_than_its_request() {
    for fault in [
        Fault::Status(404),
        Fault::Status(503),
        Fault::ErrorPage,
        Fault::Flip(100),
        Fault::Truncate(0),
    ] {
        let (_cluster, server, node) = cluster(&THREE);
        server.fault("/packs/newest.tar.zst", Times::Always, fault.clone());
        node.provost(&["boot"]).expect(0);
        let packs: Vec<usize> =
            pack_requests(&server).iter().map(|e| e.request.path.len()).collect();
        assert!(packs.len() == 2 && packs[1] > 64, "{fault:?}: {packs:?}");
    }
}

#[test]
fn a_pack_that_is_newer_than_the_manifest_is_not_taken() {
    let (cluster, server, node) = cluster(&THREE);
    let old = cluster.path("old");
    let copied = std::process::Command::new("cp").arg("-a").arg(cluster.www()).arg(&old).status();
    assert!(copied.unwrap().success());
    cluster.script("one", "#!/bin/sh\necho newer\n").publish().expect(0);
    for document in ["/manifest.toml", "/manifest.toml.minisig", "/plans/"] {
        server.fault(document, Times::Always, Fault::Replay(old.clone()));
    }
    node.provost(&["boot"]).expect(0).says(&["bundle 1 of"]);
    let log = node.provost(&["log", "one"]).expect(0).stdout;
    assert!(log.contains("one") && !log.contains("newer"), "{log}");
}
