//! What a script would have done to the machine besides its files, by the commands in its log.

use std::io::BufReader;
use std::path::PathBuf;

use provost_steplog::{Command, Commands, Entry, Event, Lines};
use serde::Serialize;

/// The most that are kept.
const MOST: usize = 1_000;
/// What these would do if they failed: nothing in the sandbox lets them.
const BY_NAME: &[(&str, &[&str])] = &[
    ("set the clock", &["hwclock", "chronyd", "ntpdate", "timedatectl", "adjtimex"]),
    ("set the host name", &["hostnamectl"]),
    ("load or remove a kernel module", &["modprobe", "insmod", "rmmod"]),
    (
        "restart or stop this machine",
        &["reboot", "shutdown", "poweroff", "halt", "kexec", "telinit"],
    ),
    ("change the swap space", &["swapon", "swapoff"]),
    ("mount a file system", &["mount", "mount.nfs", "mount.nfs4"]),
    ("unmount a file system", &["umount"]),
    (
        "change a disk",
        &[
            "mke2fs",
            "mkswap",
            "parted",
            "sgdisk",
            "sfdisk",
            "fdisk",
            "wipefs",
            "pvcreate",
            "vgcreate",
            "lvcreate",
            "lvextend",
            "mdadm",
            "cryptsetup",
            "losetup",
            "blkdiscard",
            "resize2fs",
        ],
    ),
    (
        "change the network",
        &["ifconfig", "ifup", "ifdown", "nmcli", "ethtool", "tc", "brctl", "wicked", "netplan"],
    ),
    (
        "change the firewall",
        &["iptables", "ip6tables", "iptables-restore", "nft", "ipset", "firewall-cmd"],
    ),
    ("change SELinux's state", &["setenforce", "setsebool"]),
];
/// What any program says, a shell too, that may not write to a file of the kernel: strerror(3).
const READ_ONLY: &str = "Read-only file system";
/// What systemctl would have done, by its first argument that is no option.
const OF_SERVICES: &[&str] = &[
    "start",
    "stop",
    "restart",
    "try-restart",
    "reload",
    "reload-or-restart",
    "enable",
    "disable",
    "reenable",
    "mask",
    "unmask",
    "preset",
    "isolate",
    "kill",
    "daemon-reload",
    "daemon-reexec",
    "reboot",
    "poweroff",
];

/// Something that a script would have done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Would {
    /// The command, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
    /// What it would do, as in `would change the network`.
    pub(super) would: String,
}

/// All of it, of these logs.
pub(super) fn read(logs: &[PathBuf], host_name: Option<&str>) -> Vec<Would> {
    let mut all = Vec::new();
    for log in logs {
        let Ok(file) = provost_fs::open_given(log) else { continue };
        let mut lines = Lines::new(BufReader::new(file));
        let mut commands = Commands::new(0);
        while let Ok(Some(line)) = lines.read() {
            if let Entry::Output { text, .. } = line.entry {
                all.extend(by_message(&String::from_utf8_lossy(text)));
            }
            let Some(Event::Ended(command)) = commands.take(&line) else { continue };
            all.extend(by_command(&command));
        }
    }
    // A shell function may have called it many times.
    all.dedup();
    all.truncate(MOST);
    let name = host_name.map(|name| format!("set the host name to {name}"));
    all.extend(name.map(|would| Would { command: None, would }));
    all
}

/// A kernel setting that a shell itself would have changed, as in `echo 1 >/proc/sys/…`: no command shows that.
fn by_message(text: &str) -> Option<Would> {
    if !text.contains(READ_ONLY) {
        return None;
    }
    let mut words = text.split(|c: char| c.is_whitespace() || "'\"‘’".contains(c));
    let path = words.find(|word| word.starts_with("/proc/") || word.starts_with("/sys/"))?;
    Some(Would { command: None, would: format!("write to {}", path.trim_end_matches(':')) })
}

fn by_command(command: &Command) -> Option<Would> {
    let words = shell_words::split(&command.text).ok()?;
    let would = would(&words, command.is_failure())?;
    Some(Would { command: Some(command.text.clone()), would })
}

fn would(words: &[String], has_failed: bool) -> Option<String> {
    let (program, args) = words.split_first()?;
    let program = program.rsplit('/').next()?;
    let mut plain = args.iter().map(String::as_str).filter(|arg| !arg.starts_with('-'));
    match program {
        "systemctl" => {
            let verb = plain.next().filter(|verb| OF_SERVICES.contains(verb))?;
            let now = args.iter().any(|arg| arg == "--now");
            let also = match (verb, now) {
                ("enable", true) => " and start",
                ("disable" | "mask", true) => " and stop",
                _ => "",
            };
            let units: Vec<&str> = plain.collect();
            return Some(format!("{verb}{also} {}", units.join(" ")).trim_end().to_owned());
        }
        _ if !has_failed => return None,
        "service" => {
            let (unit, verb) = (plain.next()?, plain.next()?);
            return OF_SERVICES.contains(&verb).then(|| format!("{verb} {unit}"));
        }
        "ip" => {
            let acts = ["add", "del", "delete", "set", "change", "replace", "append", "flush"];
            return plain.any(|arg| acts.contains(&arg)).then(|| "change the network".to_owned());
        }
        "route" => return plain.next().map(|_| "change the network".to_owned()),
        "sysctl" => {
            let sets = |arg: &String| {
                arg.contains('=')
                    || ["-w", "-p", "--write", "--load", "--system"].contains(&arg.as_str())
            };
            return args.iter().any(sets).then(|| "change kernel settings".to_owned());
        }
        "date" => {
            let sets = args
                .iter()
                .any(|arg| arg == "-s" || arg.starts_with("--set") || arg.starts_with("-s"));
            let sets = sets || plain.any(|arg| !arg.starts_with('+'));
            return sets.then(|| "set the clock".to_owned());
        }
        _ if program.starts_with("mkfs") => return Some("change a disk".to_owned()),
        _ => {}
    }
    let found = BY_NAME.iter().find(|(_, programs)| programs.contains(&program));
    found.map(|(would, _)| (*would).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_settings_that_shells_would_change_are_known() {
        for (text, path) in [
            (
                "./s: line 2: /proc/sys/vm/swappiness: Read-only file system",
                "/proc/sys/vm/swappiness",
            ),
            ("sh: 1: cannot create /sys/a/0:1: Read-only file system", "/sys/a/0:1"),
            ("ksh: /proc/sys/a: cannot create [Read-only file system]", "/proc/sys/a"),
            ("OSError: [Errno 30] Read-only file system: '/proc/sys/a'", "/proc/sys/a"),
        ] {
            assert_eq!(by_message(text).unwrap().would, format!("write to {path}"));
        }
        for text in ["s: /opt/proc/a: Read-only file system", "/proc/sys/a: Permission denied"] {
            assert_eq!(by_message(text), None, "{text}");
        }
    }

    #[test]
    fn commands_that_a_sandbox_refuses_are_known() {
        for (command, has_failed, is) in [
            ("ip route add 10.0.0.0/8 via 10.1.1.1", true, Some("change the network")),
            ("/sbin/ip -4 addr add 10.0.0.1/8 dev eth0", true, Some("change the network")),
            ("ip route add 10.0.0.0/8 via 10.1.1.1", false, None),
            ("ip addr show", true, None),
            ("sysctl -w vm.swappiness=1", true, Some("change kernel settings")),
            ("sysctl vm.swappiness", true, None),
            ("date -s 2020-01-01", true, Some("set the clock")),
            ("date +%s", true, None),
            ("systemctl enable --now chronyd", false, Some("enable and start chronyd")),
            ("systemctl -q restart a.service b", false, Some("restart a.service b")),
            ("systemctl daemon-reload", false, Some("daemon-reload")),
            ("systemctl is-active chronyd", true, None),
            ("service ntpd restart", true, Some("restart ntpd")),
            ("mkfs.xfs /dev/sdb1", true, Some("change a disk")),
            ("mount -t nfs a:/b /c", true, Some("mount a file system")),
            ("ls /nonexistent", true, None),
            ("", true, None),
        ] {
            let words = shell_words::split(command).unwrap();
            assert_eq!(would(&words, has_failed).as_deref(), is, "{command}");
        }
    }
}
