//! A node as STIG and CIS harden it: nothing may be executed below /tmp, nor, by mistake, in its state; nobody but
//! root traces; root's own mask is 077.

use serde_json::{Value, json};

use crate::image::Image;
use crate::site::{ended, site, waits_for};

/// Of what is mounted before local-fs.target.
const FSTAB: &str = "\
tmpfs /tmp tmpfs rw,nosuid,nodev,noexec 0 0
tmpfs /var/lib/provost tmpfs rw,nosuid,nodev,noexec,mode=0700 0 0
";
const YAMA: &str = "kernel.yama.ptrace_scope = 2\n";
const MASK: &str = "umask 077\n";

/// What root's mask and a traced command make.
const MAKES: &str = "#!/bin/sh\nmkdir /etc/made\n/bin/true\n";

#[test]
fn what_keeps_a_node_from_running_is_said_everywhere_and_its_fix_lets_it_run() {
    let cluster = site(&[("first", "#!/bin/sh\n"), ("makes", MAKES)]);
    let image = Image::with_token(&cluster, "cn001");
    image.add("etc/fstab", FSTAB.as_bytes(), 0o644);
    image.add("etc/sysctl.d/90-hardened.conf", YAMA.as_bytes(), 0o644);
    image.add("etc/profile.d/mask.sh", MASK.as_bytes(), 0o644);
    let mut machine = image.boot();
    machine.says("boot FAILED");
    let node = waits_for(&cluster, "failed");
    assert_eq!((&node["stage"], &node["cause"]), (&json!("first"), &json!("exec")), "{node:#}");
    let says = |key: &str, text| node[key].as_str().is_some_and(|said| said.contains(text));
    assert!(says("errorMessage", "its file system is mounted noexec"), "{node:#}");
    assert!(says("hint", "findmnt -T /var/lib/provost/"), "{node:#}");

    machine.log_in();
    let (found, succeeded) = machine.shell("provost check --format json");
    let found: Value = serde_json::from_str(&found).unwrap();
    let found = |check: &str, result: &str, text: &str| {
        let findings = found["checks"].as_array().unwrap();
        let is_it = |one: &&Value| one["what"] == check && one["result"] == result;
        let mut of_it = findings.iter().filter(is_it).map(Value::to_string);
        assert!(of_it.any(|one| one.contains(text)), "{check}, {text}: {found:#}");
    };
    assert!(!succeeded);
    found("noexec", "failed", "/var/lib/provost is mounted noexec");
    found("noexec", "note", "/tmp is mounted noexec");
    found("trace", "ok", "ptrace_scope is 2");
    found("umask", "ok", "0077");

    // As the hint has it; the rest of the hardening stays.
    let fix = "mount -o remount,exec /var/lib/provost && provost boot --continue";
    let (printed, succeeded) = machine.shell(fix);
    assert!(succeeded, "{printed}");
    waits_for(&cluster, "booted");
    let run = &cluster.ctl_json(&["show", "cn001"])["runs"][0];
    assert_eq!(ended(run), ["fetch: success", "first: success", "makes: success"]);
    assert_eq!(machine.shell("stat -c %a /etc/made").0, "755\n");
    let (log, _) = machine.shell("provost log makes");
    assert!(log.contains("/bin/true"), "{log}");
}
