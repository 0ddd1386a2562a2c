//! The machine's own facts.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long all of the commands together may take: one that hangs shows what is wrong by that.
const LIMIT: Duration = Duration::from_secs(15);
/// The most of a command's output that is kept, in bytes.
const MOST: u64 = 1 << 20;

const COMMANDS: [(&str, &[&str]); 12] = [
    ("ip-addr", &["ip", "addr"]),
    ("ip-route", &["ip", "route", "show", "table", "all"]),
    ("failed-units", &["systemctl", "--failed", "--no-pager", "--full"]),
    ("provost-units", &["systemctl", "status", "provost*", "--no-pager", "--full"]),
    ("journal", &["journalctl", "--boot", "--no-pager", "--lines=2000", "--unit=provost*"]),
    ("dmesg", &["dmesg"]),
    ("df", &["df", "-P"]),
    ("df-inodes", &["df", "-Pi"]),
    ("mounts", &["cat", "/proc/mounts"]),
    ("memory", &["cat", "/proc/meminfo"]),
    ("processes", &["ps", "-eo", "pid,ppid,stat,etime,rss,args"]),
    ("uname", &["uname", "-a"]),
];
const FILES: [(&str, &str); 5] = [
    ("resolv.conf", "/etc/resolv.conf"),
    ("hosts", "/etc/hosts"),
    ("hostname", "/proc/sys/kernel/hostname"),
    ("os-release", "/etc/os-release"),
    ("cmdline", "/proc/cmdline"),
];

/// Names and texts. What can't be had says why.
pub(super) fn facts() -> Vec<(&'static str, String)> {
    let until = Instant::now() + LIMIT;
    let (tell, told) = mpsc::channel();
    for (name, command) in COMMANDS {
        let tell = tell.clone();
        // Nobody waits for one that hangs; it ends with this process, or by itself.
        std::thread::spawn(move || tell.send((name, output(command))));
    }
    drop(tell);
    let mut facts: Vec<(&str, String)> = Vec::new();
    while let Ok(fact) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
        facts.push(fact);
    }
    for (name, command) in COMMANDS {
        if !facts.iter().any(|(done, _)| *done == name) {
            facts.push((name, format!("{}: not done within {LIMIT:?}\n", command.join(" "))));
        }
    }
    facts.sort_unstable();
    facts.extend(FILES.map(|(name, path)| {
        (name, std::fs::read_to_string(path).unwrap_or_else(|e| format!("reading {path}: {e}\n")))
    }));
    facts
}

fn output(command: &[&str]) -> String {
    let told = || -> std::io::Result<String> {
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut bytes = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MOST).read_to_end(&mut bytes)?;
        }
        child.wait()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    told().unwrap_or_else(|e| format!("{}: {e}\n", command.join(" ")))
}
