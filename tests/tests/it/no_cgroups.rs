//! Machines where no cgroup can hold a script's processes: they are found in /proc.

use provost_tests::{World, missing, skip_if};

use crate::old_kernels::{boot_by, check_by};

/// What takes them away in a mount namespace, and why there are none then.
const WITHOUT: [(&str, &str); 2] = [
    ("umount -R /sys/fs/cgroup", "no cgroup v2 is mounted"),
    (
        "for at in $(awk '$3 ~ /^cgroup/ { print $2 }' /proc/mounts); do mount -o remount,bind,ro $at; done",
        "Read-only file system",
    ),
];

fn by(without: &str) -> Vec<String> {
    let line = format!("{without} && exec \"$@\"");
    let by = ["unshare", "--mount", "--propagation", "private", "sh", "-c", &line, "sh"];
    by.map(str::to_owned).into()
}

#[test]
fn a_run_works_and_leaves_nobody_behind() {
    skip_if(missing::mounts().or_else(missing::tracing));
    for (without, _) in WITHOUT {
        let (said, log) = boot_by(&by(without), &[World::Cgroup]);
        assert!(log.contains(" exec F ") && log.contains(" ls -d /\n"), "{without}: {said}\n{log}");
    }
}

#[test]
fn check_says_what_is_missing_and_what_is_done_instead() {
    skip_if(missing::mounts());
    for (without, why) in WITHOUT {
        let text = check_by(&by(without));
        let line = text.lines().find(|line| line.starts_with("ok      cgroup "));
        let is_told = |line: &str| line.contains("found in /proc instead") && line.contains(why);
        assert!(line.is_some_and(is_told), "{without}: {text}");
    }
}
