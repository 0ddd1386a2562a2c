//! Scripts under the runner: what they find there, and what a boot costs that changes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use provost_tests::Cluster;
use serde_json::Value;

/// Those that can work in a folder.
const SCRIPTS: [&str; 12] = [
    "hostname",
    "mkresolvconf",
    "setupntp",
    "syslog",
    "remoteshell",
    "syncfiles",
    "otherpkgs",
    "ospkgs",
    "setroute",
    "serialconsole",
    "confignetwork",
    "motd",
];

/// Why `stage` didn't need to run.
fn skipped(status: &Value, stage: &str) -> String {
    let stages = status["stages"].as_array().unwrap();
    let stage = stages.iter().find(|is| is["stage"] == stage).unwrap();
    stage["skipped"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_boot_that_finds_all_in_place_is_over_soon() {
    let mut cluster = Cluster::new();
    // What scripts have in common is published next to them, and isn't a script.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../postscripts");
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        cluster.script(&name, &fs::read_to_string(entry.path()).unwrap());
        if name.ends_with(".sh") {
            let mode = PermissionsExt::from_mode(0o644);
            fs::set_permissions(cluster.scripts().join(name), mode).unwrap();
        }
    }
    let data = |name: &str, text: &str| {
        cluster.script(name, text);
        let mode = PermissionsExt::from_mode(0o644);
        fs::set_permissions(cluster.scripts().join(name), mode).unwrap();
    };
    data("_sync/list", "_sync/app.conf -> /etc/app.conf 0640\n");
    data("_sync/app.conf", "a = 1\n");
    let key =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0YrPS9YczLfC3pGj8BK/QXRln9awY/2M/SAudlX8Gb admin\n";
    data("_ssh/authorized_keys", key);
    let nothing: Vec<String> = (1..=SCRIPTS.len()).map(|n| format!("nothing{n}")).collect();
    for name in &nothing {
        cluster.script(name, "#!/bin/bash\nexit 0\n");
    }
    let root = cluster.path("root");
    fs::create_dir_all(root.join("etc/network")).unwrap();
    fs::create_dir_all(root.join("sbin")).unwrap();
    fs::write(root.join("sbin/ifup"), "").unwrap();
    fs::set_permissions(root.join("sbin/ifup"), PermissionsExt::from_mode(0o755)).unwrap();
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = {SCRIPTS:?}\n[nodes.cn002]\npostscripts = {nothing:?}\n\
         [defaults.env]\nMASTER = \"10.0.0.1\"\nNAMESERVERS = \"10.0.0.1\"\nSERIALPORT = \"0\"\n\
         NODESETSTATE = \"netboot\"\nOTHERPKGS1 = \"none\"\nOSPKGS = \"none\"\n\
         NICIPS = \"eth1!10.1.0.5/24\"\nPROVOST_ROOT = {root:?}\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    assert_eq!(fs::read_to_string(root.join("etc/hostname")).unwrap(), "cn001\n");
    assert_eq!(fs::read_to_string(root.join("etc/app.conf")).unwrap(), "a = 1\n");
    assert!(root.join("etc/network/interfaces.d/provost").exists());

    assert!(skipped(&node.status(), "otherpkgs").contains("NODESETSTATE"));

    node.provost(&["boot"]).expect(0);
    let status = node.status();
    assert!(skipped(&status, "setupntp").contains("nothing has changed"), "{status:#}");
    assert_eq!(skipped(&status, "hostname"), "");

    let other = cluster.node("cn002");
    other.provost(&["boot"]).expect(0);
    other.provost(&["boot"]).expect(0);
    let took = |status: Value| {
        let stages = status["stages"].as_array().unwrap().clone();
        let of = |s: &Value| (s["stage"] != "fetch").then(|| s["durationMs"].as_u64().unwrap_or(0));
        Duration::from_millis(stages.iter().filter_map(of).sum())
    };
    let (ours, theirs) = (took(status), took(other.status()));
    eprintln!("{} scripts: {ours:?}, as many of exit 0: {theirs:?}", SCRIPTS.len());
    // The aim is 1.5 times as long and 10 ms each; a busy machine gets more.
    assert!(ours < theirs.mul_f64(1.5) + Duration::from_secs(3), "{ours:?}");
}
