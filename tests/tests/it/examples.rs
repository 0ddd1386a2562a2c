//! dist/examples: every sample configuration is read by the program that it is for.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use provost_tests::processes::until;
use provost_tests::xcat::Authority;
use provost_tests::{Cluster, Out, SOON, program};
use serde_json::Value;

/// Every sample, below dist/examples. Each one is in a test of this file, if nothing else is said; those of
/// `with` are in tests/beside_others.rs.
const SAMPLES: [&str; 27] = [
    NODE,
    DROP_IN,
    AS_XCAT,
    XCAT_NODE,
    DAEMON,
    CTL,
    SITE,
    SCRIPT,
    NGINX,
    VARNISH,
    NGINX_PASS_THROUGH,
    HAPROXY,
    IPXE,
    XCAT_BOOT,
    WAREWULF_BOOT,
    SLURM,
    MAIL,
    CONTINUE,
    FORCED_COMMAND,
    ALERTS,
    DASHBOARD,
    "with/confluent-post",
    "with/confluent-firstboot",
    "with/fai-script",
    "with/slurmd.conf",
    "with/warewulf/provost.toml.ww",
    "with/warewulf/provost-boot.service.ww",
];
const NODE: &str = "provost.toml";
const DROP_IN: &str = "provost.d/10-far-away.toml";
/// In tests/xcat_as_xcat.rs, as `install --xcat --as-xcat` puts it.
const AS_XCAT: &str = "provost.d/as-xcat.toml";
const XCAT_NODE: &str = "provost-xcat.toml";
const DAEMON: &str = "provostd.toml";
/// In provostctl's own tests, beside its keys.
const CTL: &str = "provostctl.toml";
const SITE: &str = "site.toml";
const SCRIPT: &str = "postscripts/memlock";
const IPXE: &str = "boot/ipxe.cgi";
const XCAT_BOOT: &str = "boot/xcat-join";
const WAREWULF_BOOT: &str = "boot/warewulf-join";
/// In tests/hooks.rs.
const SLURM: &str = "hooks/slurm";
const MAIL: &str = "hooks/mail";
/// In tests/order_hooks.rs and tests/web_orders.rs.
const CONTINUE: &str = "hooks/continue";
const FORCED_COMMAND: &str = "hooks/forced-command";
/// In tests/monitoring.rs.
const ALERTS: &str = "monitoring/alerts.yml";
const DASHBOARD: &str = "monitoring/grafana.json";
/// In tests/caches.rs, by [`provost_tests::WebServer::cache`].
const NGINX: &str = "nginx-cache.conf";
/// There too, by [`provost_tests::Varnish`].
const VARNISH: &str = "varnish-cache.vcl";
/// In tests/proxies.rs, by [`provost_tests::TcpProxy`].
const NGINX_PASS_THROUGH: &str = "nginx-pass-through.conf";
const HAPROXY: &str = "haproxy.cfg";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn samples() -> PathBuf {
    root().join("dist/examples")
}

/// The sample `name`, with the paths and addresses of a test in `folder`, and `key` as the public
/// key.
fn sample(name: &str, folder: &Path, key: &str) -> String {
    let mut text = fs::read_to_string(samples().join(name)).unwrap();
    let here = folder.display().to_string();
    for (in_sample, in_test) in [
        ("RWQ…", key),
        ("/etc/provost", &here),
        ("/var/lib/provostd", &format!("{here}/data")),
        ("/srv/provost/www", &format!("{here}/www")),
        // Nobody answers there.
        ("10.0.0.1:8480", "127.0.0.1:1"),
        ("10.0.0.2:8480", "127.0.0.1:1"),
        ("10.0.0.1:3128", "127.0.0.1:1"),
        ("http://10.0.0.1\"", "http://127.0.0.1:1\""),
        // Tests run side by side, so that a daemon takes any free port.
        ("0.0.0.0:8480", "127.0.0.1:0"),
        ("127.0.0.1:8481", "127.0.0.1:0"),
        ("0.0.0.0:8482", "127.0.0.1:0"),
        ("0.0.0.0:3002", "127.0.0.1:0"),
        ("0.0.0.0:3001", "127.0.0.1:0"),
    ] {
        text = text.replace(in_sample, in_test);
    }
    text
}

#[test]
fn every_sample_is_tested() {
    let mut found = BTreeSet::new();
    let mut folders = vec![samples()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(samples()).unwrap().display().to_string());
            }
        }
    }
    assert_eq!(found, SAMPLES.map(str::to_owned).into());
}

/// `provost check` of the samples `names`, the first of which is the configuration file.
fn check(folder: &Path, names: &[&str]) -> Value {
    let key_folder = folder.join("key");
    let out = Command::new(program("provostctl"))
        .args(["key", "new", "--out", &key_folder.display().to_string()])
        .output();
    Out::from(out.unwrap()).expect(0);
    let public = fs::read_to_string(key_folder.join("provost.pub")).unwrap();
    for name in names {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, sample(name, folder, public.lines().last().unwrap())).unwrap();
    }
    fs::write(folder.join("token"), "a-token\n").unwrap();
    let authority = Authority::new(&folder.join("authority"));
    for name in ["ca.pem", "xcatd.pem"] {
        fs::copy(authority.certificate(), folder.join(name)).unwrap();
    }
    let mut command = Command::new(program("provost"));
    command.arg("--config").arg(folder.join(names[0])).args(["check", "--format", "json"]);
    let document = Out::from(command.output().unwrap()).json();
    for check in document["checks"].as_array().unwrap() {
        assert!(check["what"] != "configuration" || check["result"] == "ok", "{check:#}");
    }
    document
}

/// The keys whose value comes from a file, and those with a default.
fn keys(document: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let rows = document["values"].as_array().unwrap().iter();
    let rows = rows.map(|row| (row["from"].as_str().unwrap(), row["key"].as_str().unwrap()));
    let (files, rest): (Vec<_>, Vec<_>) = rows.partition(|(from, _)| from.starts_with("file "));
    let defaults = rest.into_iter().filter(|(from, _)| *from == "default");
    (
        files.into_iter().map(|(_, key)| key.to_owned()).collect(),
        defaults.map(|(_, key)| key.to_owned()).collect(),
    )
}

#[test]
fn a_node_can_use_its_samples_and_they_have_every_key() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let own = check(folders[0].path(), &[NODE, DROP_IN]);
    let xcat = check(folders[1].path(), &[XCAT_NODE]);
    let (mut in_samples, defaults) = keys(&own);
    in_samples.extend(keys(&xcat).0);
    let missing: Vec<_> = defaults.difference(&in_samples).collect();
    assert!(missing.is_empty(), "in no sample: {missing:?}");

    let values = own["values"].as_array().unwrap();
    let deadline = values.iter().find(|row| row["key"] == "fetch.deadline").unwrap();
    assert_eq!(deadline["from"].as_str().unwrap().rsplit('/').next(), DROP_IN.rsplit('/').next());
    assert_eq!(deadline["value"], "1h");
}

#[test]
fn the_site_and_the_script_are_published() {
    let cluster = Cluster::new();
    cluster.site(&sample(SITE, &cluster.path(""), ""));
    for folder in [root().join("postscripts"), samples().join("postscripts")] {
        let copied = Command::new("cp").arg("-rT").args([&folder, &cluster.scripts()]).status();
        assert!(copied.unwrap().success());
    }
    assert!(cluster.scripts().join("memlock").metadata().unwrap().permissions().mode() & 1 == 1);
    cluster.publish().expect(0);
    let plan = |node: &str| fs::read_to_string(cluster.www().join(format!("plans/{node}.toml")));
    let steps = plan("cn001").unwrap();
    for text in ["memlock", "/dev/nvme0n1", "MEMLOCK = \"65536\""] {
        assert!(steps.contains(text), "{text} isn't in\n{steps}");
    }
    assert!(!plan("login1").unwrap().contains("memlock"));
    let manifest = fs::read_to_string(cluster.www().join("manifest.toml")).unwrap();
    for policy in
        ["timeout = \"1m\"", "timeout = \"1h\"", "when = \"change\"", "inputs = [\"MEMLOCK\"]"]
    {
        assert!(manifest.contains(policy), "{policy} isn't in\n{manifest}");
    }

    let made = cluster.path("root");
    let mut script = Command::new(cluster.scripts().join("memlock"));
    let library = root().join("lib-sh");
    let path = format!("{}:{}", std::env::var("PATH").unwrap(), library.display());
    script.env("PATH", path).env("PROVOST_ROOT", &made).env("MEMLOCK", "65536");
    Out::from(script.output().unwrap()).expect(0);
    let limits = fs::read_to_string(made.join("etc/security/limits.d/50-memlock.conf")).unwrap();
    assert_eq!(limits, "* soft memlock 65536\n* hard memlock 65536\n");
}

#[test]
fn the_daemon_serves_with_its_sample() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("www")).unwrap();
    let authority = Authority::new(&folder.path().join("authority"));
    let (certificate, key) = authority.issue("xcatd", "DNS:mn", "20260101000000Z");
    fs::rename(certificate, folder.path().join("xcatd-cert.pem")).unwrap();
    fs::rename(key, folder.path().join("xcatd-key.pem")).unwrap();
    let config = folder.path().join(DAEMON);
    fs::write(&config, sample(DAEMON, folder.path(), "")).unwrap();

    let listen = serves(folder.path(), &["--config".as_ref(), config.as_os_str()]);
    for listener in ["nodes", "nodesTls", "admin", "monitor", "xcatd"] {
        assert!(listen[listener].is_string(), "{listener} isn't in {listen}");
    }
}

#[test]
fn boot_files_get_a_join_token_for_each_boot_of_a_node() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\n");
    cluster.site("[nodes.\"cn[001-002]\"]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    // The other systems' programs: each writes down how it was called.
    let (fakes, calls) = (cluster.path("fakes"), cluster.path("calls"));
    fs::create_dir(&fakes).unwrap();
    for name in ["getent", "nodels", "chdef", "nodeset", "rpower", "wwctl"] {
        let answer = match name {
            "getent" => "echo '10.0.0.7 cn001.example cn001'",
            "nodels" => "echo cn001; echo cn002",
            _ => ":",
        };
        let text = format!("#!/bin/sh\necho {name} \"$*\" >>'{}'\n{answer}\n", calls.display());
        fs::write(fakes.join(name), text).unwrap();
        fs::set_permissions(fakes.join(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let programs = program("provostctl").parent().unwrap().to_owned();
    let path = format!("{}:{}:/usr/bin:/bin", fakes.display(), programs.display());
    let run = |name: &str, args: &[&str]| {
        let mut script = Command::new(samples().join(name));
        script.args(args).env("PATH", &path).env("REMOTE_ADDR", "10.0.0.7");
        script.env("PROVOSTCTL_ADMIN", cluster.daemon().socket());
        let out = Out::from(script.output().unwrap()).expect(0).stdout;
        let called = fs::read_to_string(&calls).unwrap();
        fs::remove_file(&calls).unwrap();
        (out, called)
    };
    let (script, _) = run(IPXE, &[]);
    assert!(script.contains("\r\n\r\n#!ipxe\nkernel "), "{script}");
    assert!(script.contains(" provost.node=cn001 provost.join="), "{script}");
    let (_, called) = run(XCAT_BOOT, &["cn001,cn002"]);
    for node in ["cn001", "cn002"] {
        let line = format!("chdef -t node {node} addkcmdline=provost.node={node} provost.join=");
        assert!(
            called.contains(&line) && called.ends_with("rpower cn001,cn002 boot\n"),
            "{called}"
        );
    }
    let (_, called) = run(WAREWULF_BOOT, &["cn001", "cn002"]);
    assert!(called.contains("--kernelargs quiet,provost.node=cn002,provost.join="), "{called}");
}

/// Where a daemon listens that is started with `args` and has its data in `folder`.
fn serves(folder: &Path, args: &[&OsStr]) -> Value {
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut daemon = Command::new(program("provostd"))
        .args(args)
        .stdin(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let listen = folder.join("data/listen.json");
    let serves = until(SOON, || listen.exists() || daemon.try_wait().unwrap().is_some());
    let ended = daemon.try_wait().unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let log = fs::read_to_string(folder.join("log")).unwrap();
    assert!(serves && ended.is_none(), "{ended:?}\n{log}");
    serde_json::from_str(&fs::read_to_string(listen).unwrap()).unwrap()
}
