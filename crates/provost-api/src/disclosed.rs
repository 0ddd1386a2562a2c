//! What leaves a machine: in a bundle of `gather`, in a backup, and, of a node, what `[paths] group` may
//! read. What isn't listed here stays where it is, so that a new file is private until somebody has
//! thought about it.
//!
//! An entry is a name; its `*` stands for any text.

/// Names in a node's STATE. Not in it: `id` (the node's key), `published.json` and `xcat.json` (plans, with
/// whatever passwords their environments have).
pub const STATE: &[&str] = &[
    "attempts.json",
    "bundle",
    "bundles",
    "done",
    "generations.toml",
    "id.crt",
    "lib",
    "lock",
    "monitor.json",
    "report",
    "root",
    "run.json",
    "tls",
];

/// Names of files in a node's LOG: messages, and the output of an installer's `%post`.
pub const LOG: &[&str] = &["provost.log", "provost.*.log", "post.log"];

/// Names of files in a run's folder of LOG, where secrets were taken out when they were written.
pub const RUN: &[&str] = &["*.log", "*.records"];

/// Arguments of a node's kernel whose values are shown.
pub const KERNEL_ARGUMENTS: &[&str] = &[
    "BOOTIF",
    "BOOT_IMAGE",
    "FC",
    "LOGSERVER",
    "NODE",
    "XCAT",
    "XCATHTTPPORT",
    "XCATIPORT",
    "bootdev",
    "console",
    "crashkernel",
    "hostname",
    "imgurl",
    "init",
    "initrd",
    "inst.ks",
    "inst.repo",
    "inst.stage2",
    "ip",
    "ks",
    "ksdevice",
    "mac",
    "nameserver",
    "nfsroot",
    "provost.generation",
    "provost.key",
    "provost.node",
    "provost.server",
    "rd.neednet",
    "rdinit",
    "repo",
    "root",
    "rootflags",
    "rootfstype",
    "selinux",
    "systemd.unit",
    "xcatdebugmode",
];

/// Names in the daemon's DATA that a backup has: its authority's keys and that which refreshes what is
/// published, without which nodes wouldn't know the restored daemon; the authority of nodes' ssh host keys; what it knows of the publisher's keys; and the
/// programs that installer files name. The store is in it as rows.
pub const DATA: &[&str] =
    &["ca", "ca.next", "keys.toml", "known_hosts", "programs", "refresh", "ssh"];

/// Names in the published folder that a backup has.
pub const WWW: &[&str] = &[
    ".provost",
    "bin",
    "manifest.toml*",
    "manifests",
    "objects",
    "packs",
    "plans",
    "refresh.toml*",
    "secrets",
];

/// Whether `list` has `name`.
pub fn may_leave(list: &[&str], name: &str) -> bool {
    list.iter().any(|entry| match entry.split_once('*') {
        None => *entry == name,
        Some((begin, end)) => name.strip_prefix(begin).is_some_and(|rest| rest.ends_with(end)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_stays() {
        for name in ["provost.log", "provost.1.log", "post.log"] {
            assert!(may_leave(LOG, name), "{name}");
        }
        for name in ["xprovost.log", "provost.log.old", "core", "provost.l", ""] {
            assert!(!may_leave(LOG, name), "{name}");
        }
        assert!(may_leave(RUN, "01-a.log") && !may_leave(RUN, "exported"));
        assert!(!may_leave(STATE, "id") && may_leave(STATE, "id.crt"));
    }
}
