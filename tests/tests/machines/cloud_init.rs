//! A machine whose image has Debian's cloud-init, which installs Provost at its first boot, by what
//! `provostctl snippet cloud-init` prints; and its next boot.

use std::fs;

use provost_tests::Cluster;
use serde_json::{Value, json};

use crate::disk::Disk;
use crate::image::from_inside;
use crate::machine::{Machine, required};
use crate::site::{IDENTITIES, ended, started, waits_for};

/// Notes in which stage it runs, and how far cloud-init is.
const NOTES: &str = "#!/bin/sh\ncloud=$(systemctl is-active cloud-config cloud-final | paste -sd ' ')\n\
    echo \"$PROVOST_STAGE: $cloud\" >>/root/ran\n";

/// A management node whose only node runs `setup` and, at each boot, a postbootscript; and that
/// node's disk, which nothing has booted yet.
fn site(setup: &str) -> (Cluster, Disk) {
    required();
    let cluster = Cluster::new();
    cluster.script("setup", setup).script("greet", NOTES);
    cluster.site(
        "[nodes.cn001]\npostscripts = [\"setup\"]\npostbootscripts = [\"greet\"]\n\
         runbootscripts = true\n",
    );
    let cluster = started(cluster, IDENTITIES);
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let there = format!("http://{}", from_inside(&cluster));
    let args = ["snippet", "cloud-init", "cn001", "--join", "--server", &there];
    let data = cluster.ctl(&args).expect(0).stdout;
    let disk = Disk::with_cloud_init(|root| {
        let seed = root.path("/var/lib/cloud/seed/nocloud");
        fs::create_dir_all(&seed).unwrap();
        fs::write(seed.join("meta-data"), "instance-id: i-1\nlocal-hostname: cn001\n").unwrap();
        fs::write(seed.join("user-data"), &data).unwrap();
    });
    (cluster, disk)
}

/// What cloud-init says of this boot, once it is at its end.
fn cloud_init(machine: &mut Machine) -> Value {
    machine.log_in();
    // Its units write to the console, too.
    machine.shell("cloud-init status --wait >/dev/null; dmesg -n 1");
    let (status, succeeded) = machine.shell("cloud-init status --format json");
    let status: Value = serde_json::from_str(&status).unwrap_or_else(|e| panic!("{e}: {status}"));
    assert_eq!(succeeded, status["status"] == "done", "{status:#}");
    status
}

/// When systemd noted that of a unit, in microseconds since the boot.
fn at(machine: &mut Machine, unit: &str, what: &str) -> u64 {
    let (printed, _) = machine.shell(&format!("systemctl show -P {what}Monotonic {unit}"));
    printed.trim().parse().unwrap_or_else(|e| panic!("{unit}: {e}: {printed}"))
}

#[test]
fn its_first_boot_installs_the_node_and_the_next_one_runs_after_cloud_init() {
    let (cluster, disk) = site(NOTES);
    let mut machine = disk.boot();
    let status = cloud_init(&mut machine);
    assert_eq!((&status["status"], &status["errors"]), (&json!("done"), &json!([])), "{status:#}");
    waits_for(&cluster, "booted");
    let run = &cluster.ctl_json(&["show", "cn001"])["runs"][0];
    assert_eq!(ended(run), ["fetch: success", "greet: success"]);
    assert_eq!(machine.shell("systemctl is-system-running --wait").0, "running\n");
    machine.types("sync; reboot");

    machine.boots();
    let status = cloud_init(&mut machine);
    assert_eq!(status["status"], "done", "{status:#}");
    assert_eq!(cluster.status("cn001")["status"], "booted");
    let first = "active activating";
    assert_eq!(
        machine.shell("cat /root/ran").0,
        format!("setup: {first}\ngreet: {first}\ngreet: active inactive\n")
    );
    // Names, users and disks are there; cloud-init's own scripts come last.
    let began = at(&mut machine, "provost-boot", "ExecMainStartTimestamp");
    assert!(at(&mut machine, "cloud-config", "ActiveEnterTimestamp") <= began);
    assert!(
        at(&mut machine, "provost-boot", "ActiveEnterTimestamp")
            <= at(&mut machine, "cloud-final", "ExecMainStartTimestamp")
    );
    assert_eq!(machine.shell("systemctl is-system-running --wait").0, "running\n");
}

#[test]
fn a_script_that_fails_is_an_error_of_cloud_init() {
    let (cluster, disk) = site("#!/bin/sh\necho no scratch here >&2\nexit 7\n");
    let mut machine = disk.boot();
    let node = waits_for(&cluster, "failed");
    assert_eq!((&node["stage"], &node["exitCode"]), (&json!("setup"), &json!(7)), "{node:#}");
    let status = cloud_init(&mut machine);
    assert_eq!(status["status"], "error", "{status:#}");
    assert!(status["errors"].to_string().contains("('scripts-user', "), "{status:#}");
    let (log, _) = machine.shell("cat /var/log/cloud-init-output.log");
    assert!(log.contains("the kickstart FAILED with exit status 1"), "{log}");
    assert_eq!(machine.shell("systemctl is-failed cloud-final").0, "failed\n");
}
