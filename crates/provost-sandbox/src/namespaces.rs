//! The namespaces: the supervisor's own mounts, and all that its child gets.

use std::fs;
use std::path::Path;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::error::{SandboxError, failed};

/// Which network a script has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// The host's, which it can use and not change.
    Host,
    /// One of its own, with nothing in it.
    None,
}

/// `SOCK_DGRAM`, as `/proc/net/unix` has it.
const DATAGRAM: &str = "0002";
/// `__SO_ACCEPTCON`, as `/proc/net/unix` has it: it takes connections.
const LISTENS: &str = "00010000";

/// Makes this process, of an ordinary user, root of a user namespace in which there is nobody else.
pub(super) fn become_root_of_own() -> Result<(), SandboxError> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // A kernel that doesn't let users make them says so here, or at the first mount.
    unshare(UnshareFlags::NEWUSER).map_err(|_| SandboxError::NotRoot)?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {uid} 1\n")),
        ("gid_map", format!("0 {gid} 1\n")),
    ] {
        let path = Path::new("/proc/self").join(file);
        fs::write(&path, text).map_err(|_| SandboxError::NotRoot)?;
    }
    Ok(())
}

/// Gives this process mounts of its own. What it mounts from now on nobody else sees.
pub(super) fn enter() -> Result<(), SandboxError> {
    unshare(UnshareFlags::NEWNS).map_err(failed("making", "a mount namespace"))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(failed("making", "mounts private"))
}

/// Has the next child of this process be process 1 of a namespace of processes.
pub(super) fn separate_children() -> Result<(), SandboxError> {
    unshare(UnshareFlags::NEWPID).map_err(failed("making", "a namespace of processes"))
}

/// Makes the calling process root of a user namespace, as which it has no right outside of it. It needs
/// [`map_ids`] before it goes on.
pub(super) fn leave_the_hosts_users() -> Result<(), SandboxError> {
    unshare(UnshareFlags::NEWUSER).map_err(failed("making", "a user namespace"))
}

/// Maps all users and groups of the user namespace of `child` to the same ones of the host.
pub(super) fn map_ids(child: Pid) -> Result<(), SandboxError> {
    for map in ["uid_map", "gid_map"] {
        let own = Path::new("/proc/self").join(map);
        // Within another user namespace there are fewer than all.
        let own = fs::read_to_string(&own).map_err(failed("reading", own.display()))?;
        let ranges = own.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let (first, _, count) = (words.next()?, words.next()?, words.next()?);
            Some(format!("{first} {first} {count}\n"))
        });
        let path = format!("/proc/{}/{map}", child.as_raw_nonzero());
        fs::write(&path, ranges.collect::<String>()).map_err(failed("writing", path))?;
    }
    Ok(())
}

/// What the script may change and only its own processes see: they belong to its user namespace. No
/// mount that was made before can be undone in it.
pub(super) fn make_own(network: Network) -> Result<(), SandboxError> {
    let mut flags = UnshareFlags::NEWNS | UnshareFlags::NEWUTS | UnshareFlags::NEWIPC;
    if network == Network::None {
        flags |= UnshareFlags::NEWNET;
    }
    unshare(flags).map_err(failed("making", "namespaces of the script"))
}

/// Mounts of its own, still with the host's rights: to change the root of the supervisor's would change
/// the supervisor's root.
pub(super) fn copy_mounts() -> Result<(), SandboxError> {
    unshare(UnshareFlags::NEWNS).map_err(failed("making", "a mount namespace"))
}

#[expect(unsafe_code, reason = "a call whose other flags would be dangerous")]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: of the flags in this file, none separates the descriptors of threads.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Whether a daemon of this network has a socket in the abstract namespace, which no mount hides, and
/// which may serve anybody who is root: multipathd and iscsid have.
pub(super) fn has_abstract_sockets() -> bool {
    let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    sockets.lines().any(is_abstract_service)
}

/// A line: `Num RefCount Protocol Flags Type St Inode Path`.
fn is_abstract_service(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, _, flags, kind, _, _, name] = words[..] else { return false };
    // The kernel chooses five hexadecimal digits for a client that asks for a name.
    let is_chosen = |name: &str| name.len() == 5 && name.bytes().all(|b| b.is_ascii_hexdigit());
    name.strip_prefix('@').is_some_and(|name| !is_chosen(name))
        && (flags == LISTENS || kind == DATAGRAM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abstract_service_is_told_from_clients_and_files() {
        for (line, is) in [
            (
                "0: 00000002 00000000 00010000 0001 01 14820 @/org/kernel/linux/storage/multipathd",
                true,
            ),
            ("0: 00000002 00000000 00000000 0002 01 14820 @syslog", true),
            ("0: 00000002 00000000 00000000 0002 01 14820 @0001c", false),
            ("0: 00000003 00000000 00000000 0001 03 14820 @a9b7/bus/systemd/bus-api-user", false),
            ("0: 00000002 00000000 00010000 0001 01 17 /run/systemd/private", false),
            ("0: 00000002 00000000 00010000 0001 01 17", false),
            ("Num       RefCount Protocol Flags    Type St Inode Path", false),
        ] {
            assert_eq!(is_abstract_service(line), is, "{line}");
        }
    }
}
