//! Scripts that try to get out: nothing outside changes, whatever they do.

use super::outer::Outer;

/// Each with a name, and what it tries.
const SCRIPTS: &[(&str, &str)] = &[
    ("host_name", "hostname evil; echo evil >/proc/sys/kernel/hostname; echo evil >/etc/hostname"),
    ("accounts", "echo 'evil::0:0::/:/bin/sh' >>/etc/passwd; ln -s /bin/sh /usr/local/bin/evil"),
    ("removal", "rm -rf --no-preserve-root /marker /boot; rm -rf /etc/*"),
    ("modes", "chmod 777 /marker/conf /marker; chown 12:12 /marker/conf; chmod 4755 /marker/plain"),
    (
        "disk",
        "echo evil >/dev/sda; echo evil | dd of=/dev/sda; mknod /dev/d b 254 0 && echo evil >/dev/d",
    ),
    (
        "devices",
        "chmod 000 /dev/null /dev/zero; rm -f /dev/null; chown 12 /dev/tty; mv /dev/full /dev/null",
    ),
    ("setuid", "cp /bin/sh /usr/local/bin/evil; chmod 4755 /usr/local/bin/evil"),
    ("sysrq", "echo h >/proc/sysrq-trigger; echo 1 >/proc/sys/kernel/sysrq"),
    (
        "first_process",
        "for p in /proc/[0-9]*; do echo evil >$p/root/marker/evil; echo evil >$p/cwd/evil; \
         echo evil >>$p/exe; echo evil >$p/root/proc/sys/kernel/hostname; done",
    ),
    (
        "descriptors",
        "for fd in /proc/[0-9]*/fd/*; do echo evil >>$fd; done; echo evil >&3; echo evil >&9",
    ),
    (
        "left_behind",
        "setsid sh -c 'exec sleep 987.5' & (nohup sleep 987.5 >/dev/null 2>&1 &) ; sleep 0.1",
    ),
    ("kill_all", "kill -9 -1"),
    ("kill_first", "kill -9 1; kill -TERM $PPID; kill -9 $PPID; kill -STOP 1"),
    (
        "mounts",
        "mount -o remount,rw /proc; mount -o remount,rw /proc /proc; mount -o remount,bind,rw /proc; umount -l /proc; \
         mount --bind /marker /mnt; umount -l /etc /marker /; mount -t tmpfs none /etc; echo evil >/etc/hosts; \
         mount -o remount,bind,rw /sys; echo h >/proc/sysrq-trigger",
    ),
    (
        "new_proc",
        "mkdir /tmp/p; mount -t proc proc /tmp/p; unshare -pf mount -t proc proc /tmp/p; \
         echo evil >/tmp/p/sys/kernel/hostname; echo h >/tmp/p/sysrq-trigger",
    ),
    (
        "new_sysfs",
        "mkdir /tmp/s; unshare -n mount -t sysfs sysfs /tmp/s; echo 1 >/tmp/s/kernel/mm/ksm/run",
    ),
    (
        "enter",
        "nsenter -t 1 -m -u -i -n -p hostname evil; nsenter -t 1 -m sh -c 'echo evil >/marker/conf'",
    ),
    (
        "users",
        "unshare -Ur hostname evil; unshare -Urm mount --bind /etc /marker; unshare -U true && touch /marker/users",
    ),
    (
        "cgroups",
        "mkdir /tmp/c; unshare -C mount -t cgroup2 none /tmp/c; mount -t cgroup -o pids none /tmp/c; \
         mkdir /tmp/c/evil; echo /marker/evil >/tmp/c/release_agent",
    ),
    (
        "root_changes",
        "mkdir /tmp/r; python3 -c 'import os\nos.chroot(\"/tmp/r\")\nfor _ in range(99): os.chdir(\"..\")\n\
         os.chroot(\".\")\nopen(\"marker/evil\", \"w\")'; pivot_root / /mnt; chroot /proc/1/root touch /marker/evil",
    ),
    (
        "kernel_settings",
        "sysctl -w net.ipv4.ip_forward=1 kernel.msgmax=1000; echo 1 >/proc/sys/net/ipv4/ip_forward",
    ),
    (
        "network",
        "ip route add 10.9.9.0/24 dev lo; ip addr add 10.9.9.1/24 dev lo; ip link add evil type dummy; ip link set lo down",
    ),
    ("clock", "date -s @$(date +%s) && touch /marker/clock; hwclock -w && touch /marker/clock"),
    ("ipc", "ipcmk -M 4096; echo evil >/dev/shm/evil; mkfifo /run/evil; echo evil >/run/evil2"),
    ("machine", "reboot -f; swapoff -a; rmmod dummy; kexec -e; systemctl reboot"),
    (
        "own_file",
        "echo evil >>\"$0\"; rm -rf \"$(dirname \"$0\")\"; echo evil >provost; ln -s /marker/conf evil",
    ),
    (
        "handles",
        "python3 -c 'import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
         for call in (304, 425, 250, 321, 169): \n  r = libc.syscall(call, 0, 0, 0, 0)\n  \
         if r != -1 or ctypes.get_errno() != 1: open(\"/marker/handles\", \"w\"); print(\"LET\", call, r, ctypes.get_errno())'",
    ),
    (
        "traced",
        "python3 -c 'import ctypes, os\nlibc = ctypes.CDLL(None)\n\
         for pid in range(1, 9): print(pid, libc.ptrace(0x4206, pid, 0, 0))'",
    ),
    ("storm", "for i in {1..200}; do sleep 987.5 & done; exit 3"),
];

#[test]
fn hostile_scripts_change_nothing_outside() {
    let outer = Outer::new();
    let (before, processes) = (outer.look(), outer.processes());
    for (name, text) in SCRIPTS {
        outer.script(name, text);
        for options in [&[][..], &["--network", "none"]] {
            let out = outer.attempt(name, options);
            assert!(matches!(out.code, Some(0 | 1 | 5)), "{name}: {out:?}");
            assert!(!out.stdout.contains("LET "), "{name}: {out:?}");
            assert_eq!(outer.look(), before, "{name} {options:?} changed this: {out:?}");
            assert_eq!(outer.processes(), processes, "{name} {options:?} left this: {out:?}");
        }
        let script = std::fs::read_to_string(outer.path("scripts").join(name)).unwrap();
        assert_eq!(script, format!("#!/bin/bash\n{text}\n"), "{name} changed itself");
    }
}

/// Without a sandbox they do harm, which is seen: else the test above would prove nothing.
#[test]
fn what_a_hole_would_change_is_seen() {
    for name in ["host_name", "modes", "disk", "ipc", "network", "kernel_settings"] {
        let outer = Outer::new();
        let before = outer.look();
        let (_, text) = SCRIPTS.iter().find(|(script, _)| *script == name).unwrap();
        outer.script(name, text).attempt(name, &["--here"]);
        assert_ne!(outer.look(), before, "{name}");
    }
}
