//! What was signed once isn't run for ever: a node that remembers nothing, as a diskless one at each
//! boot, refuses what is mixed, has expired, or is older than what another server offers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::SignedDuration;
use provost_bundle::{Refresh, Validity};
use provost_publish::SecretKey;
use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, Node, Out};

/// Serves the files below `folder` as any web server does, and names `date` as the time. Returns its
/// address.
fn serve(folder: PathBuf, date: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(stream, &folder, date));
        }
    });
    address
}

fn answer(mut stream: TcpStream, folder: &Path, date: &str) {
    let mut line = String::new();
    BufReader::new((&mut stream).take(4096)).read_line(&mut line).unwrap();
    let path = line.split([' ', '?']).nth(1).unwrap_or_default().trim_start_matches('/');
    let (status, body) = match std::fs::read(folder.join(path)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    let date = if date.is_empty() { String::new() } else { format!("date: {date}\r\n") };
    let head =
        format!("HTTP/1.1 {status}\r\n{date}content-length: {length}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

/// Publishes `say`, which prints `text`, and keeps a copy of all of it.
fn publish(cluster: &Cluster, text: &str) -> PathBuf {
    cluster.script("say", &format!("#!/bin/sh\necho {text}\n")).publish().expect(0);
    let copy = cluster.path(text);
    let _ = std::fs::remove_dir_all(&copy);
    let copied = Command::new("cp").arg("-a").args([&cluster.www(), &copy]).status().unwrap();
    assert!(copied.success());
    copy
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.site("[nodes.cn001]\npostscripts = [\"say\"]\n");
    cluster.start();
    cluster
}

/// Boots a node that remembers nothing from these servers.
fn boot(cluster: &Cluster, servers: &[&str], more: &str) -> (Node, Out) {
    let node = cluster.node("cn001");
    let _ = std::fs::remove_dir_all(node.path("state"));
    let _ = std::fs::remove_dir_all(node.path("log"));
    configure(cluster, &node, servers, more);
    let out = node.provost(&["boot"]);
    (node, out)
}

fn configure(cluster: &Cluster, node: &Node, servers: &[&str], more: &str) {
    let settings = cluster.settings_for(servers);
    node.configure(&format!(
        "{settings}{more}\n[fetch]\ndeadline = \"3s\"\n[report]\ndeadline = \"100ms\"\n"
    ));
}

fn refused(out: Out, why: &str) {
    let out = out.expect(3);
    assert!(out.stderr.contains(why) && out.stderr.contains("hint: "), "{}", out.stderr);
}

/// Dates what is published anew, and signs it again.
pub(crate) fn date(cluster: &Cluster, www: &Path, made: &str, expires: &str) {
    date_files(cluster, www, &["manifest.toml", "plans/cn001.toml"], (made, expires));
}

fn date_files(cluster: &Cluster, www: &Path, files: &[&str], (made, expires): (&str, &str)) {
    let key = SecretKey::load(&cluster.path("key/provost.key")).unwrap();
    for file in files {
        let dated = |line: &str| match line.split_once(" = ") {
            Some(("made", _)) => format!("made = \"{made}\"\n"),
            Some(("expires", _)) => format!("expires = \"{expires}\"\n"),
            _ => format!("{line}\n"),
        };
        let path = www.join(file);
        let text: String = std::fs::read_to_string(&path).unwrap().lines().map(dated).collect();
        let signature = key.sign(text.as_bytes(), "").unwrap();
        std::fs::write(www.join(format!("{file}.minisig")), signature).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn a_plan_of_yesterday_does_not_run_with_the_bundle_of_today() {
    let cluster = cluster();
    let old = publish(&cluster, "old");
    cluster.site("[nodes.cn001]\npostscripts = [\"say\"]\nenv.DAY = \"today\"\n");
    let new = publish(&cluster, "new");
    mix(&old, &new);
    let (_, out) = boot(&cluster, &[&serve(new, "")], "");
    refused(out, "the plan was published with bundle 1, and the bundle is 2");
}

/// Puts the plan of `old` into `new`.
fn mix(old: &Path, new: &Path) {
    for file in ["plans/cn001.toml", "plans/cn001.toml.minisig"] {
        std::fs::copy(old.join(file), new.join(file)).unwrap();
    }
}

#[test]
fn a_plan_that_says_what_it_said_goes_with_newer_bundles_and_one_that_was_replaced_does_not() {
    let cluster = cluster();
    let site = |day| {
        let line = format!("[nodes.cn001]\npostscripts = [\"say\"]\nenv.DAY = \"{day}\"\n");
        cluster.site(&line);
    };
    let plan = |www: &Path| std::fs::read_to_string(www.join("plans/cn001.toml")).unwrap();
    site("monday");
    let first = publish(&cluster, "first");
    // Only the script has changed: the plan is not signed again.
    let second = publish(&cluster, "second");
    assert_eq!(plan(&first), plan(&second));
    let (node, out) = boot(&cluster, &[&serve(second, "")], "");
    out.expect(0);
    assert!(node.provost(&["log", "say", "--output"]).stdout.contains("second"));
    // Another plan, of the same bundle; then another bundle: what the plan said before is over.
    site("tuesday");
    let third = publish(&cluster, "second");
    let fourth = publish(&cluster, "fourth");
    assert!(plan(&third).contains("manifest = 2") && plan(&fourth).contains("manifest = 3"));
    mix(&first, &fourth);
    let (_, out) = boot(&cluster, &[&serve(fourth, "")], "");
    refused(out, "the plan was published with bundle 1, and the bundle is 3");
}

#[test]
fn what_was_signed_long_ago_is_refused_unless_this_node_knows_it() {
    let cluster = cluster();
    let www = publish(&cluster, "only");
    let server = serve(www.clone(), "");
    let made = "2026-01-01T00:00:00Z";
    date(&cluster, &www, made, "2090-01-01T00:00:00Z");
    let (node, out) = boot(&cluster, &[&server], "");
    out.expect(0);
    date(&cluster, &www, made, "2026-02-01T00:00:00Z");
    let again = node.provost(&["boot"]).expect(0);
    assert!(again.stderr.contains("has expired"), "{}", again.stderr);
    let (_, out) = boot(&cluster, &[&server], "");
    refused(out, "has expired");
}

/// What provostd serves to anybody.
fn get(daemon: &str, name: &str) -> String {
    let mut stream = TcpStream::connect(daemon).unwrap();
    stream.write_all(format!("GET /{name} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 OK"), "{answer}");
    body.to_owned()
}

/// Where nothing changes for a month, the management node says that what is published still counts. It
/// can say that of what the publisher has published, and nothing else.
#[test]
fn the_management_node_refreshes_what_it_serves_if_it_may() {
    let mut cluster = cluster();
    let key = std::fs::read_to_string(cluster.path("provostd/refresh/provost.pub")).unwrap();
    let key = key.lines().last().unwrap().to_owned();
    cluster.script("say", "#!/bin/sh\n");
    let [site, scripts, secret, www] = ["site.toml", "scripts", "key/provost.key", "www"]
        .map(|name| cluster.path(name).display().to_string());
    let publish =
        ["publish", "--site", &site, "--scripts", &scripts, "--key", &secret, "--to", &www];
    cluster.ctl(&[&publish[..], &["--refresh-key", &key]].concat()).expect(0);
    let (made, expires) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    date(&cluster, &cluster.www(), made, expires);
    let daemon = cluster.daemon().nodes();
    let (node, out) = boot(&cluster, &[&daemon], "");
    out.expect(0);
    let check = node.provost(&["check"]);
    assert!(!check.stdout.contains("expired"), "{}", check.stdout);

    // What it said of this bundle doesn't count for another, nor from whom the manifest doesn't name.
    let copied = cluster.path("copied");
    let said = ["refresh.toml", "refresh.toml.minisig"].map(|name| (name, get(&daemon, name)));
    date(&cluster, &cluster.www(), made, "2026-02-02T00:00:00Z");
    assert!(
        Command::new("cp").arg("-a").args([&cluster.www(), &copied]).status().unwrap().success()
    );
    for (name, text) in said {
        std::fs::write(copied.join(name), text).unwrap();
    }
    refused(boot(&cluster, &[&serve(copied, "")], "").1, "has expired");
    // A daemon that was set up anew has another key.
    std::fs::remove_dir_all(cluster.path("provostd/refresh")).unwrap();
    cluster.start();
    refused(boot(&cluster, &[&cluster.daemon().nodes()], "").1, "has expired");
}

/// Who has the refresher's key, and answers in the place of every server.
#[test]
fn a_thief_of_the_refreshers_key_signs_nothing_that_runs_and_brings_nothing_back() {
    let cluster = cluster();
    let (old, new) = (publish(&cluster, "old"), publish(&cluster, "new"));
    let thief = SecretKey::load(&cluster.path("provostd/refresh/provost.key")).unwrap();
    let sign = |www: &Path, name: &str| {
        let text = std::fs::read(www.join(name)).unwrap();
        std::fs::write(www.join(format!("{name}.minisig")), thief.sign(&text, "").unwrap())
            .unwrap();
    };
    let (node, out) = boot(&cluster, &[&serve(new.clone(), "")], "");
    out.expect(0);
    // An old bundle has expired; by his word it hasn't.
    date(&cluster, &old, "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    let manifest = std::fs::read(old.join("manifest.toml")).unwrap();
    let longer = Validity::from_now(SignedDuration::from_hours(24 * 365));
    std::fs::write(old.join("refresh.toml"), Refresh::new(&manifest, longer).to_toml().unwrap())
        .unwrap();
    sign(&old, "refresh.toml");
    let old = serve(old, "");
    configure(&cluster, &node, &[&old], "");
    refused(node.provost(&["boot"]), "generation 1, older than 2");
    refused(boot(&cluster, &[&old], "least_generation = 2\n").1, "least_generation is 2");

    // What he has changed, or what he has merely signed.
    for (name, text) in [("manifest.toml", "generation = 3"), ("plans/cn001.toml", "# his")] {
        let his = cluster.path(name.split('/').next().unwrap());
        assert!(Command::new("cp").arg("-a").args([&new, &his]).status().unwrap().success());
        let path = his.join(name);
        let changed = std::fs::read_to_string(&path).unwrap().replacen("generation = 2", text, 1);
        std::fs::write(&path, changed).unwrap();
        sign(&his, name);
        refused(boot(&cluster, &[&serve(his, "")], "").1, "it is signed by key");
    }
}

#[test]
fn the_management_node_refreshes_what_a_channel_has_as_well() {
    let cluster = cluster();
    publish(&cluster, "first");
    let [key, www] =
        ["key/provost.key", "www"].map(|name| cluster.path(name).display().to_string());
    cluster.ctl(&["channel", "set", "canary", "cn001", "--key", &key, "--to", &www]).expect(0);
    cluster.script("say", "#!/bin/sh\necho second\n");
    cluster.publish_with(&["--to-channel", "canary"]).expect(0);
    let files = ["manifest.toml", "manifests/2.toml", "plans/cn001.toml"];
    let long_ago = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    date_files(&cluster, &cluster.www(), &files, long_ago);
    let (node, out) = boot(&cluster, &[&cluster.daemon().nodes()], "");
    out.expect(0);
    assert!(node.provost(&["log", "say", "--output"]).stdout.contains("second"));
    let all = cluster.ctl_json(&["expiry"]);
    let published = all.as_array().unwrap().iter().filter(|one| one["what"] == "publication");
    let soon: Vec<_> = published.map(|one| (&one["name"], &one["soon"])).collect();
    assert_eq!(soon, [(&"all".into(), &false.into()), (&"canary".into(), &false.into())]);
    // What no channel has any more isn't what anybody should get.
    cluster.script("say", "#!/bin/sh\necho third\n").publish().expect(0);
    let daemon = cluster.daemon().nodes();
    assert_eq!(get(&daemon, "refresh.toml?generation=2"), get(&daemon, "refresh.toml"));
}

#[test]
fn where_this_nodes_clock_is_wrong_the_servers_counts() {
    let cluster = cluster();
    let www = publish(&cluster, "only");
    let until = |expires| date(&cluster, &www, "2090-01-01T00:00:00Z", expires);
    let server = serve(www.clone(), "Wed, 11 Jan 2090 00:00:00 GMT");
    until("2090-01-20T00:00:00Z");
    boot(&cluster, &[&server], "").1.expect(0);
    until("2090-01-05T00:00:00Z");
    refused(boot(&cluster, &[&server], "").1, "has expired");
    boot(&cluster, &[&serve(www.clone(), "")], "").1.expect(0);
}

#[test]
fn the_newest_of_what_the_servers_offer_is_run() {
    let cluster = cluster();
    let (old, new) = (publish(&cluster, "old"), publish(&cluster, "new"));
    let [old, new] = [old, new].map(|www| serve(www, ""));
    let (node, out) = boot(&cluster, &[&old, &new], "");
    out.expect(0);
    assert!(node.provost(&["log", "say", "--output"]).stdout.contains("new"));

    // One that nobody has signed counts for nothing, whatever it says.
    let lies = cluster.path("lies");
    std::fs::create_dir(&lies).unwrap();
    let text = std::fs::read_to_string(cluster.path("new/manifest.toml")).unwrap();
    let text = text.replacen("generation = 2", "generation = 99", 1);
    std::fs::write(lies.join("manifest.toml"), text).unwrap();
    std::fs::copy(cluster.path("new/manifest.toml.minisig"), lies.join("manifest.toml.minisig"))
        .unwrap();
    let lies = serve(lies, "");
    boot(&cluster, &[&lies, &old, &new], "").1.expect(0);
    boot(&cluster, &[&old, &lies], "").1.expect(0);
}

#[test]
fn another_server_is_asked_once_and_not_before_its_time_if_it_is_busy() {
    let cluster = cluster();
    let (old, new) = (publish(&cluster, "old"), publish(&cluster, "new"));
    let [old, new] = [old, new].map(Faulty::of);
    let boot = || {
        let (node, out) = boot(&cluster, &[new.address(), old.address()], "");
        out.expect(0);
        node.provost(&["log", "say", "--output"]).stdout
    };
    assert!(boot().contains("new"));
    assert_eq!((new.asked("/manifest.toml"), old.asked("/manifest.toml")), (1, 1));
    new.fault("/", Times::Always, Fault::RetryAfter(503, 60));
    assert!(boot().contains("old"));
    assert_eq!((new.asked("/manifest.toml"), old.asked("/manifest.toml")), (2, 2));
}

#[test]
fn the_kernel_command_line_may_say_how_old_is_too_old() {
    let cluster = cluster();
    let www = publish(&cluster, "only");
    let server = serve(www, "");
    let (node, out) = boot(&cluster, &[&server], "least_generation = 1\n");
    out.expect(0);
    let (_, out) = boot(&cluster, &[&server], "least_generation = 2\n");
    refused(out, "least_generation is 2");
    let out = node.command(&["boot"]).env("PROVOST_GENERATION", "7").output().unwrap();
    refused(out.into(), "least_generation is 7");
    let out: Out =
        node.command(&["boot"]).env("PROVOST_GENERATION", "new").output().unwrap().into();
    assert!(out.expect(2).stderr.contains("environment PROVOST_GENERATION"));
}
