//! A node with cgroup v1 alone, as Enterprise Linux 8 boots: no cgroup holds a script's processes.

use serde_json::json;

use crate::image::Image;
use crate::site::{ended, site, waits_for};

/// As systemd of before 256 takes it: the hybrid of v1 and v2 has a cgroup v2 as well.
const V1_ALONE: &str =
    "systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1";

/// Leaves a process, which has nothing of its step's but the environment.
const LEAKS: &str = "#!/bin/sh\nsetsid sleep 11111 </dev/null >/dev/null 2>&1 &\n";

const HANGS: &str = "#!/bin/bash\n# /// provost\n# timeout = \"3s\"\n# ///\n\
    trap '' TERM\nsetsid sh -c 'trap \"\" TERM; sleep 54321; :' &\nsleep 54321\n";

#[test]
fn a_script_that_hangs_ends_with_its_tree_and_one_that_leaks_is_named() {
    let cluster = site(&[("greets", "#!/bin/sh\n"), ("leaks", LEAKS), ("hangs", HANGS)]);
    let mut machine = Image::with_token(&cluster, "cn001").boot_with(V1_ALONE);
    machine.says("hangs: FAILED (time-out");
    let node = waits_for(&cluster, "failed");
    assert_eq!((&node["stage"], &node["cause"]), (&json!("hangs"), &json!("timeout")), "{node:#}");
    let run = &cluster.ctl_json(&["show", "cn001"])["runs"][0];
    let stages = ["fetch: success", "greets: success", "leaks: success", "hangs: failure"];
    assert_eq!(ended(run), stages);
    let leaked: Vec<_> =
        run["records"].as_array().unwrap().iter().filter_map(|r| r["leaked"].as_array()).collect();
    let [leaked] = &leaked[..] else { panic!("not one leak: {run:#}") };
    assert!(leaked.len() == 1 && leaked[0].as_str().unwrap().ends_with(" sleep"), "{leaked:?}");

    machine.log_in();
    let (mounts, _) = machine.shell("cut -d' ' -f3 /proc/mounts | grep cgroup | sort -u");
    assert_eq!(mounts, "cgroup\n");
    // The one tree is gone, the other's rest lives on.
    let (sleeps, _) = machine.shell("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '");
    assert!(sleeps.contains("sleep 11111") && !sleeps.contains("54321"), "{sleeps}");
    let (checked, _) = machine.shell("provost check");
    let said = "no cgroup holds a script's processes, which are found in /proc instead: \
        no cgroup v2 is mounted";
    assert!(checked.contains(said), "{checked}");
    assert_eq!(machine.shell("systemctl is-failed provost-boot").0, "failed\n");
}
