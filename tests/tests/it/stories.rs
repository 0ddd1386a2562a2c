//! The cases that started this product. Each ends with the cause in `provostctl show NODE`, five
//! seconds at most after the management node can be reached.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{
    Cluster, Dns, Node, Waiting, WebServer, accounts, missing, pipe, processes, skip_if,
};
use serde_json::{Value, json};

const OK: &str = "#!/bin/sh\necho \"$0 on $NODE\"\n";
/// More than anything here takes, on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A management node that wants `cn001` to run `one` and `two`.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("one", OK).script("two", OK);
    cluster.site("[nodes.cn001]\npostscripts = [\"one\", \"two\"]\n").publish().expect(0);
    cluster.start();
    cluster
}

/// The only file below `folder`.
fn only_file(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut entries = entries.filter(|path| !path.is_symlink());
    let first = entries.next().unwrap();
    assert_eq!(entries.next(), None);
    if first.is_dir() { only_file(&first) } else { first }
}

/// How many of the node's boots have ended.
fn ends(node: &Node) -> usize {
    let journal = std::fs::read_to_string(node.path("log/services/boot.json"));
    journal.unwrap_or_default().matches("service end").count()
}

fn has_run(node: &Node) -> bool {
    std::fs::read_dir(node.path("log/scripts")).is_ok_and(|mut runs| runs.next().is_some())
}

/// Sees that everybody is told that fetching failed so.
#[track_caller]
fn is_told(told: &Value, cause: &str, message: &[&str], hint: &[&str]) {
    let expected = (&json!("failed"), &json!("fetch"), &json!(cause));
    assert_eq!((&told["status"], &told["stage"], &told["cause"]), expected, "{told:#}");
    for (key, texts) in [("errorMessage", message), ("hint", hint)] {
        for text in texts {
            assert!(told[key].as_str().unwrap().contains(text), "{text}: {told:#}");
        }
    }
}

#[test]
fn a_file_of_the_wrong_mode_on_the_server_is_named_with_its_fix() {
    skip_if(WebServer::missing());
    let cluster = cluster();
    let readable = PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(cluster.path(""), readable).unwrap();
    let own = cluster.path("nginx");
    std::fs::create_dir(&own).unwrap();
    let daemon = cluster.daemon().nodes();
    let server = WebServer::start(&own, &cluster.www(), &daemon);
    let [site, scripts, key, www] = ["site.toml", "scripts", "key/provost.key", "www"]
        .map(|name| cluster.path(name).display().to_string());
    let publish = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
    cluster.ctl(&[&publish[..], &["--group", "nogroup"]].concat()).expect(0);
    let node = cluster.node("cn001");
    node.configure(&cluster.settings_for(&[server.address()]));
    let packs = cluster.www().join("packs");
    let files = ["manifest.toml".into(), "plans/cn001.toml".into(), only_file(&packs)];
    for file in files {
        let file = cluster.www().join(file);
        let name = file.strip_prefix(cluster.www()).unwrap().to_str().unwrap().to_owned();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        let waiting = Waiting::for_failure_of(&cluster, "cn001");
        node.provost(&["boot"]).expect(3);
        let url = format!("http://{}/{name}", server.address());
        let told = waiting.is_told_soon_after(Instant::now());
        is_told(
            &told,
            "fetch",
            &[&url, "403", "1 try"],
            &["web server can't read", &name, "chmod"],
        );
        assert!(!has_run(&node), "nothing has run");
        let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
        assert!(shown.contains(&url) && shown.contains("chmod a+r"), "{shown}");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        // So that it isn't still what was told before.
        node.provost(&["boot"]).expect(0);
        assert_eq!(cluster.status("cn001")["status"], "booted");
        for made in ["state", "log"] {
            std::fs::remove_dir_all(node.path(made)).unwrap();
        }
    }
}

#[test]
fn a_server_that_accepts_and_never_answers_is_told_when_it_answers_again() {
    let cluster = cluster();
    let server = Faulty::before(cluster.daemon().nodes());
    server.fault("/", Times::Always, Fault::Stall);
    let node = cluster.node("cn001");
    node.configure(&format!(
        "{}[fetch]\ndeadline = \"2s\"\nstall_timeout = \"1s\"\n[report]\ndeadline = \"5m\"\n",
        cluster.settings_for(&[server.address()])
    ));
    let waiting = Waiting::for_failure_of(&cluster, "cn001");
    let mut boot = node.spawn(&["boot"]);
    assert!(processes::until(LONG, || ends(&node) == 1), "fetching doesn't end");
    assert!(!has_run(&node));
    server.repair();
    let told = waiting.is_told_soon_after(Instant::now());
    let url = format!("http://{}/", server.address());
    is_told(&told, "fetch", &[&url, "sent nothing", "tr"], &["hangs", "stall_timeout"]);
    assert_eq!(boot.wait().unwrap().code(), Some(3));
    accounts::all_is_told(&cluster, &node, "boot");
}

#[test]
fn a_server_that_never_answered_is_told_by_the_next_report() {
    let cluster = cluster();
    let server = Faulty::before(cluster.daemon().nodes());
    server.fault("/", Times::Always, Fault::Stall);
    let node = cluster.node("cn001");
    node.configure(&format!(
        "{}[fetch]\ndeadline = \"1s\"\nstall_timeout = \"500ms\"\n[report]\ndeadline = \"1s\"\n",
        cluster.settings_for(&[server.address()])
    ));
    let begun = Instant::now();
    let out = node.provost(&["boot"]).expect(3);
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    out.says(&["not sent yet", "hint: "]);
    assert_eq!(cluster.status("cn001")["status"], "defined");
    let waiting = Waiting::for_failure_of(&cluster, "cn001");
    server.repair();
    let since = Instant::now();
    node.provost(&["report"]).expect(0);
    let told = waiting.is_told_soon_after(since);
    is_told(&told, "fetch", &[server.address(), "sent nothing"], &["stall_timeout"]);
}

/// `provost ARGS` on a machine whose name servers are those of `resolv_conf`.
fn with_names(node: &Node, resolv_conf: &Path, args: &[&str]) -> Command {
    let mount = "mount --bind \"$1\" /etc/resolv.conf && shift && exec \"$@\"";
    let by = ["unshare", "-m", "sh", "-c", mount, "sh", resolv_conf.to_str().unwrap()];
    node.command_by(&by, args)
}

#[test]
fn a_dead_dns_is_told_with_the_name_and_who_was_asked() {
    skip_if(missing::mounts());
    let dns = Dns::start();
    let cluster = cluster();
    let node = cluster.node("cn001");
    let resolv_conf = cluster.path("resolv.conf");
    std::fs::write(&resolv_conf, dns.resolv_conf()).unwrap();
    let address = cluster.daemon().nodes();
    let port = address.rsplit_once(':').unwrap().1;
    node.configure(&format!(
        "{}[fetch]\ndeadline = \"5s\"\n[report]\ndeadline = \"5m\"\n",
        cluster.settings_for(&[&format!("mn.cluster.test:{port}")])
    ));
    let waiting = Waiting::for_failure_of(&cluster, "cn001");
    let mut boot = with_names(&node, &resolv_conf, &["boot"]).spawn().unwrap();
    assert!(processes::until(LONG, || ends(&node) == 1), "fetching doesn't end");
    dns.answer();
    let told = waiting.is_told_soon_after(Instant::now());
    let asked = dns.address().to_string();
    is_told(&told, "fetch", &["mn.cluster.test", "no name server responded", &asked], &["address"]);
    assert_eq!(boot.wait().unwrap().code(), Some(3));
    accounts::all_is_told(&cluster, &node, "boot");
}

#[test]
fn a_reboot_in_the_middle_is_told_with_the_script_that_it_met() {
    let mut cluster = cluster();
    let begun = cluster.path("begun");
    pipe(&begun);
    cluster.script("two", "#!/bin/sh\necho >\"$BEGUN\"\nexec sleep 1000\n");
    let site = "[nodes.cn001]\npostscripts = [\"one\", \"two\"]\n";
    cluster.site(&format!("{site}env.BEGUN = {begun:?}\n")).publish().expect(0);
    let node = cluster.node("cn001");
    let mut boot = node.spawn(&["boot"]);
    std::fs::read(&begun).unwrap();
    let address = cluster.kill_daemon();
    processes::kill(node.path("").to_str().unwrap());
    assert!(!boot.wait().unwrap().success());
    let cut_off = node.journal("boot");
    assert_ne!(cut_off.last().unwrap()["phase"], "service end");

    // It comes up again, while the management node is down.
    node.configure(&format!(
        "{}[fetch]\ndeadline = \"1s\"\n[report]\ndeadline = \"5m\"\n",
        cluster.settings_for(&[&address])
    ));
    let mut boot = node.spawn(&["boot"]);
    assert!(processes::until(LONG, || ends(&node) == 2), "fetching doesn't end");
    cluster.start_at(&address);
    let waiting = Waiting::for_failure_of(&cluster, "cn001");
    waiting.is_told_soon_after(Instant::now());
    assert_eq!(boot.wait().unwrap().code(), Some(3));
    let runs = cluster.ctl_json(&["show", "cn001", "--runs", "2"])["runs"].clone();
    let cut = runs[1]["records"].as_array().unwrap();
    let end = &cut[cut.len() - 2];
    assert_eq!((&end["stage"], &end["cause"]), (&json!("two"), &json!("interrupted")));
    assert!(end["hint"].as_str().unwrap().contains("power cut"), "{end:#}");
    assert_eq!(runs[0]["records"][0]["attempt"], 2);
    accounts::all_is_told(&cluster, &node, "boot");
}

/// How often a node may fail before it is held.
const BUDGET: usize = 3;

/// Kickstarts a node whose first script fails, `fresh` each time as an installer is, until it is
/// held; then releases it.
fn installs_itself_again_and_again(fresh: bool) {
    let cluster = cluster();
    cluster.script("two", "#!/bin/sh\necho it is broken >&2\nexit 9\n").publish().expect(0);
    let node = cluster.node("cn001");
    let kickstart = |code| {
        if fresh {
            for made in ["state", "log"] {
                // There is none before the first.
                let _ = std::fs::remove_dir_all(node.path(made));
            }
        }
        node.provost(&["kickstart"]).expect(code)
    };
    for _ in 0..BUDGET {
        kickstart(1);
        let told = cluster.status("cn001");
        let expected = (&json!("failed"), &json!("two"), &json!("exit"), &json!(9));
        assert_eq!((&told["status"], &told["stage"], &told["cause"], &told["exitCode"]), expected);
    }
    let waiting = Waiting::for_failure_of(&cluster, "cn001");
    let out = kickstart(4);
    let told = waiting.is_told_soon_after(Instant::now());
    assert_eq!((&told["status"], &told["cause"]), (&json!("failed"), &json!("held")), "{told:#}");
    assert!(told["hint"].as_str().unwrap().contains("provostctl release cn001"), "{told:#}");
    out.says(&["provostctl release cn001", "hint: "]);
    let journal = node.journal("kickstart");
    let held = &journal[journal.iter().rposition(|e| e["phase"] == "service start").unwrap()..];
    let of_scripts = |e: &&Value| e["stage"].is_string() && e["stage"] != "fetch";
    assert_eq!(held.iter().filter(of_scripts).count(), 0, "nothing runs: {held:#?}");
    if !fresh {
        accounts::all_is_told(&cluster, &node, "kickstart");
    }

    cluster.script("two", OK).publish().expect(0);
    kickstart(4);
    cluster.ctl(&["release", "cn001"]).expect(0);
    kickstart(0);
    assert_eq!(cluster.status("cn001")["status"], "booting");
}

#[test]
fn a_node_that_installs_itself_again_and_again_is_held_by_what_its_disk_remembers() {
    installs_itself_again_and_again(false);
}

#[test]
fn a_node_that_installs_itself_again_and_again_is_held_though_it_remembers_nothing() {
    installs_itself_again_and_again(true);
}
