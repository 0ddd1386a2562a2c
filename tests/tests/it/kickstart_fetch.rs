//! How an installer gets the node's program, whatever it has and whatever goes wrong.

use std::io::Read;

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Chroot, Cluster, skip};

/// What the script fetches with, each where those before it aren't there. Bash is the last.
const TOOLS: [&str; 3] = ["curl", "wget", "python3"];

fn site() -> (Cluster, Chroot) {
    let root = Chroot::new();
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    (cluster, root)
}

/// Does `what` with each of the tools, and with none.
fn with_each_tool(root: &Chroot, mut what: impl FnMut(&str)) {
    for tool in TOOLS {
        let first = root.sh("for p in curl wget python3; do command -v $p && break; done").stdout;
        assert!(first.trim().ends_with(tool), "{first:?} is there before {tool}");
        what(tool);
        root.sh(&format!("rm -f /usr/bin/provost $(command -v {tool})")).expect(0);
    }
    let left = root.sh("for p in curl wget python3; do command -v $p; done").stdout;
    assert_eq!(left, "", "bash's turn");
    what("bash");
}

#[test]
fn what_an_installer_has_is_enough() {
    let (cluster, root) = site();
    let good = format!("http://{}", cluster.daemon().nodes());
    // Nobody is at the first address.
    let servers = ["--token", "--server", "http://127.0.0.1:1", "--server", &good];
    let script = cluster.post_script(&servers);
    with_each_tool(&root, |tool| {
        let said = root.sh(&script).expect(0).says(&["http://127.0.0.1:1 did not give"]);
        assert!(root.path("/usr/bin/provost").exists(), "{tool}: {}", said.stderr);
    });
}

#[test]
fn a_transfer_that_breaks_off_is_begun_again() {
    let (cluster, root) = site();
    let server = Faulty::before(cluster.daemon().nodes());
    let url = format!("http://{}", server.address());
    let script = cluster.post_script(&["--token", "--server", &url]);
    with_each_tool(&root, |tool| {
        server.fault("/bin/", Times::Next(1), Fault::Truncate(100_000));
        server.fault("/bin/", Times::Next(1), Fault::Status(503));
        let said = root.sh(&script).expect(0).says(&["did not give the program"]);
        assert_eq!(said.stderr.matches("did not give").count(), 2, "{tool}: {}", said.stderr);
    });
}

#[test]
fn an_address_may_be_of_ipv6() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        skip("no IPv6")
    }
    let (mut cluster, root) = site();
    cluster.kill_daemon();
    cluster.start_at("[::1]:0");
    let script = cluster.post_script(&["--token"]);
    assert!(script.contains("http://[::1]:"), "{script}");
    with_each_tool(&root, |_| drop(root.sh(&script).expect(0)));
}

#[test]
fn without_the_program_nothing_runs_and_the_console_says_so() {
    let (cluster, root) = site();
    // Nobody waits here.
    let script = cluster.post_script(&["--token"]).replace("sleep", ": sleep");
    let another = script.replacen("sha256=", "sha256=0", 1);
    root.sh(&another).expect(1).says(&["nothing has run"]);
    assert!(root.text("/dev/console").contains("nothing has run"));

    // One that was changed on the way is as bad as none.
    let server = Faulty::before(cluster.daemon().nodes());
    server.fault("/bin/", Times::Always, Fault::Flip(5000));
    let own = format!("http://{}", cluster.daemon().nodes());
    let changed = script.replace(&own, &format!("http://{}", server.address()));
    root.sh(&changed).expect(1).says(&["did not give the program with the sha256"]);
    assert_eq!(root.sh("ls -A /usr/bin | grep provost").stdout, "");
    assert!(!root.path("/etc/provost").exists() && !root.path("/var/lib/provost").exists());
}

#[test]
fn a_node_without_a_token_says_what_it_lacks() {
    let (cluster, root) = site();
    root.sh(&cluster.post_script(&[]))
        .expect(3)
        .says(&["hint: create a token (provostctl token NODE)"]);
    assert!(root.text("/dev/console").contains("the kickstart FAILED with exit status 3"));
}

#[test]
fn a_management_node_without_the_program_says_where_it_looked() {
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.publish().expect(0);
    cluster.configure_daemon("[node]\nbinary = \"nowhere/provost\"\n");
    cluster.start();
    let refused = cluster.ctl(&["snippet", "kickstart", "cn001"]).expect(1);
    let place = cluster.path("nowhere/provost").display().to_string();
    refused.says(&[&place, "hint: on the management node: install the static provost there"]);
}

/// Replaces the file at `path` by another program.
fn replace(path: &std::path::Path) {
    let next = path.with_extension("next");
    // For the same architecture.
    let mut program = [0; 20];
    std::fs::File::open(path).unwrap().read_exact(&mut program).unwrap();
    std::fs::write(&next, program).unwrap();
    std::fs::rename(next, path).unwrap();
}

#[test]
fn a_printed_script_is_good_after_the_program_was_replaced_and_after_a_restore() {
    let root = Chroot::new();
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.publish().expect(0);
    let binary = cluster.path("node-program");
    std::fs::copy(provost_tests::program("provost"), &binary).unwrap();
    cluster.configure_daemon(&format!("[node]\nbinary = {binary:?}\n"));
    cluster.start();
    let script = cluster.post_script(&["--token"]);
    replace(&binary);
    assert_ne!(cluster.post_script(&["--token"]), script, "new ones have the new program");
    // The first one's token was replaced by that.
    let token = cluster.ctl(&["token", "cn001"]).expect(0).stdout;
    let token = token.trim().strip_prefix("cn001 ").unwrap().to_owned();
    let with_token = |line: &str| match line.starts_with("export PROVOST_TOKEN=") {
        true => format!("export PROVOST_TOKEN={token}\n"),
        false => format!("{line}\n"),
    };
    let script: String = script.lines().map(with_token).collect();
    root.sh(&script).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booting");

    let file = |name: &str| cluster.path(name).display().to_string();
    let (config, backup) = (file("provostd.toml"), file("site.backup"));
    cluster.ctl(&["backup", "--to", &backup, "--config", &config]).expect(0);
    let at = cluster.kill_daemon();
    std::fs::remove_dir_all(cluster.path("provostd")).unwrap();
    cluster.ctl(&["restore", "--from", &backup, "--config", &config]).expect(0);
    cluster.start_at(&at);
    root.sh("rm -r /usr/bin/provost /etc/provost /var/lib/provost").expect(0);
    root.sh(&script).expect(0);
}

/// Before a script: the node is of that architecture.
const OF_POWER: &str =
    "uname() { case $1 in -m) echo ppc64le ;; *) command uname \"$@\" ;; esac; }\n";

#[test]
fn a_node_never_runs_the_program_of_another_architecture() {
    let (cluster, root) = site();
    let script = cluster.post_script(&["--token"]);
    let said = root.sh(&format!("{OF_POWER}{script}")).expect(1).says(&[
        "this script has no program for ppc64le: nothing has run",
        "hint: on the management node, put the static provost for ppc64le where [node] programs",
    ]);
    assert!(!said.stderr.contains("did not give"), "it asked for one: {}", said.stderr);
    assert!(root.text("/dev/console").contains("[node] programs"));
    assert_eq!(root.sh("ls -A /usr/bin /opt | grep provost").stdout, "");
    let node = cluster.status("cn001");
    assert_eq!((&node["status"], &node["stage"]), (&"failed".into(), &"fetch".into()));
    assert_eq!(node["errorMessage"], "this script has no program for ppc64le");
    let hint = node["hint"].as_str().unwrap();
    let place =
        "install /usr/lib/provost/programs/ppc64le/provost ([node] programs in provostd.toml)";
    assert!(hint.contains(place) && hint.contains("provostctl snippet"), "{hint}");
}

/// An ELF header for the architecture with that number (elf(5), `e_machine`), and no more.
fn write_program(path: &std::path::Path, machine: u8) {
    let mut head = b"\x7fELF\x02\x01".to_vec();
    head.resize(18, 0);
    head.extend([machine, 0]);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, head).unwrap();
}

#[test]
fn a_program_in_the_folder_of_another_architecture_is_refused_at_the_start() {
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.publish().expect(0);
    let (program, binary) =
        (cluster.path("programs/aarch64/provost"), cluster.path("node-program"));
    cluster.configure_daemon(&format!(
        "[node]\nprograms = {:?}\nbinary = {binary:?}\n",
        cluster.path("programs")
    ));
    write_program(&program, 183);
    write_program(&binary, 21);
    cluster.start();
    let script = cluster.post_script(&[]);
    for (arch, is_there) in [("aarch64", true), ("ppc64le", true), ("x86_64", false)] {
        assert_eq!(script.contains(&format!("\n{arch}) sha256=")), is_there, "{arch}: {script}");
    }
    cluster.kill_daemon();
    write_program(&program, 62);
    let folder = cluster.path("programs").display().to_string();
    let message = format!("{folder}/aarch64/provost is a program for x86_64, not for aarch64");
    let hint = format!("mv {folder}/aarch64 {folder}/x86_64");
    for args in [&["check"][..], &[]] {
        cluster.daemon_command(args).expect(2).says(&[&message, &hint]);
    }
    write_program(&program, 183);
    std::fs::write(&binary, "#!/bin/sh\n").unwrap();
    cluster
        .daemon_command(&["check"])
        .expect(2)
        .says(&["node-program isn't a program: it has no ELF header"]);
}

#[test]
fn a_script_whose_program_is_gone_fails_where_an_admin_sees_it() {
    let (cluster, root) = site();
    let server = Faulty::before(cluster.daemon().nodes());
    let url = format!("http://{}", server.address());
    let script = cluster.post_script(&["--token", "--server", &url]).replace("sleep", ": sleep");
    let of = |script: &str, name: &str| {
        let line = script.lines().find(|line| line.contains(name)).unwrap();
        line.split_once('=').unwrap().1.to_owned()
    };
    let (token, sha256) = (of(&script, "PROVOST_TOKEN="), of(&script, "sha256="));
    let gone = script.replacen(&sha256, &sha256.replace(['1', '2', '3'], "0"), 1);
    with_each_tool(&root, |tool| {
        let runs = || cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len();
        let before = runs();
        let said = root.sh(&gone).expect(1).says(&["404", "nothing has run"]);
        let status = [("curl", 22), ("wget", 8), ("python3", 1), ("bash", 1)];
        let status = status.iter().find(|(name, _)| *name == tool).unwrap().1;
        assert!(
            said.stderr.contains(&format!("(exit status {status})")),
            "{tool}: {}",
            said.stderr
        );
        assert_eq!(runs(), before + 1, "{tool}");
        let node = cluster.status("cn001");
        assert_eq!(
            (&node["status"], &node["stage"]),
            (&"failed".into(), &"fetch".into()),
            "{tool}"
        );
        let message = node["errorMessage"].as_str().unwrap();
        assert!(message.contains(&url) && message.contains("404"), "{tool}: {message}");
        let hint = node["hint"].as_str().unwrap();
        assert!(hint.contains("provostctl snippet"), "{tool}: {hint}");
    });
    for exchange in server.exchanges() {
        let request = exchange.request;
        let seen = format!("{:?} {}", request.headers, String::from_utf8_lossy(&request.body));
        assert!(!seen.contains(&token), "{seen}");
    }
    // Somebody in between says it again.
    let runs = || cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len();
    let before = runs();
    let said = server.exchanges().into_iter().find(|one| one.request.path.ends_with("/not-begun"));
    let body = String::from_utf8(said.unwrap().request.body).unwrap();
    let again = format!("http://{}/v1/nodes/cn001/not-begun", cluster.daemon().nodes());
    let curl = ["-sS", "-w", "%{http_code}", "--data-binary", &body, &again];
    let curl = std::process::Command::new("curl").args(curl).output().unwrap();
    assert_eq!((&*curl.stdout, runs()), (&b"200"[..], before));
}

#[test]
fn a_script_without_a_token_whose_program_is_gone_is_seen_with_its_name_and_address() {
    let (cluster, root) = site();
    let script = cluster.post_script(&[]).replace("sleep", ": sleep");
    let gone = script.replacen("sha256=", "sha256=0", 1);
    root.sh(&gone).expect(1);
    let pending = cluster.ctl_json(&["pending"]);
    let one = &pending[0];
    assert_eq!(
        (pending.as_array().unwrap().len(), &one["node"], &one["why"], &one["address"]),
        (1, &"cn001".into(), &"not-begun".into(), &"127.0.0.1".into())
    );
    // What asks for a program by hand has no name.
    let by_hand = format!("http://{}/bin/{}/provost", cluster.daemon().nodes(), "0".repeat(64));
    let curl = std::process::Command::new("curl").args(["-fsS", &by_hand]).output().unwrap();
    assert_eq!(curl.status.code(), Some(22));
    let nodes = cluster.ctl(&["nodes"]).expect(0);
    let shown = format!("{}{}", nodes.stdout, nodes.stderr);
    let again = "print the installer's script again: provostctl snippet";
    assert!(shown.contains(&format!("  127.0.0.1: unknown program: {again}\n")), "{shown}");
    let named = format!("{again} … cn001\n");
    let line = shown.split_inclusive('\n').find(|line| line.ends_with(&named)).expect(&shown);
    assert!(line.contains("cn001") && line.contains("127.0.0.1"), "{line}");
    // A node that is known shows it itself.
    cluster.ctl(&["token", "cn001"]).expect(0);
    let node = cluster.status("cn001");
    let waiting = node["waiting"].as_str().unwrap();
    assert!(waiting.starts_with("installer couldn't begin, from 127.0.0.1: "), "{waiting}");
    let row = cluster.ctl(&["nodes"]).expect(0).stdout;
    assert!(row.contains("defined") && row.contains("provostctl snippet"), "{row}");
}

#[test]
fn a_join_token_says_failed_and_is_neither_sent_nor_spent_by_that() {
    let (cluster, root) = site();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let script = cluster.post_script(&["--join"]).replace("sleep", ": sleep");
    let gone = script.replacen("sha256=", "sha256=0", 1);
    root.sh(&gone).expect(1);
    let node = cluster.status("cn001");
    assert_eq!((&node["status"], &node["cause"]), (&"failed".into(), &"fetch".into()), "{node}");
    // Who has another token says nothing of the node.
    let other = gone.replace("PROVOST_JOIN=", "PROVOST_JOIN=0");
    let runs = || cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len();
    root.sh(&other).expect(1);
    assert_eq!(runs(), 1);
    root.sh(&script).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booting");
}
