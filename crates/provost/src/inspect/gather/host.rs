//! The machine's own facts.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long all commands that are run at once may take: one that hangs shows what is wrong by that.
const LIMIT: Duration = Duration::from_secs(15);
/// The most of a command's output that is kept, in bytes.
const MOST: u64 = 1 << 20;

/// None shows the arguments of processes, in which there may be passwords.
const COMMANDS: [(&str, &str); 13] = [
    (FAILED_UNITS, "systemctl --failed --no-legend --plain --no-pager --full"),
    ("host/ip-addr.txt", "ip addr"),
    ("host/ip-route.txt", "ip route show table all"),
    ("host/failed-units.txt", "systemctl --failed --no-pager --full"),
    ("host/provost-units.txt", "systemctl status provost* --no-pager --full"),
    ("host/journal.txt", "journalctl --boot --no-pager --lines=2000 --unit=provost*"),
    ("host/dmesg.txt", "dmesg"),
    ("host/df.txt", "df -P"),
    ("host/df-inodes.txt", "df -Pi"),
    ("host/mounts.txt", "cat /proc/mounts"),
    ("host/memory.txt", "cat /proc/meminfo"),
    ("host/processes.txt", "ps -eo pid,ppid,stat,etime,rss,comm"),
    ("host/uname.txt", "uname -a"),
];
const FILES: [(&str, &str); 5] = [
    ("host/resolv.conf.txt", "/etc/resolv.conf"),
    ("host/hosts.txt", "/etc/hosts"),
    ("host/hostname.txt", "/proc/sys/kernel/hostname"),
    ("host/os-release.txt", "/etc/os-release"),
    ("host/cmdline.txt", "/proc/cmdline"),
];
/// The same at the paths of OpenShift's installer-gather.
const NETWORK: [(&str, &str); 4] = [
    ("host/ip-addr.txt", "bootstrap/network/ip-addr.txt"),
    ("host/ip-route.txt", "bootstrap/network/ip-route.txt"),
    ("host/hostname.txt", "bootstrap/network/hostname.txt"),
    ("host/resolv.conf.txt", "bootstrap/network/resolv.conf"),
];
/// The list of failed units, as OpenShift has it.
const FAILED_UNITS: &str = "failed-units.txt";
/// How many units are looked at more closely.
const MOST_UNITS: usize = 20;
/// How a journal is read.
const JOURNAL: &str = "journalctl --boot --no-pager --output=short --lines=2000 --unit=";

/// Paths in the bundle and texts: the machine's, the journal of each service in `services`, and
/// the state of each failed unit. What can't be had says why.
pub(super) fn facts(services: &[String]) -> Vec<(String, String)> {
    let fixed = COMMANDS.map(|(path, command)| (path.to_owned(), command.to_owned()));
    let journal = |service: &String| {
        (format!("bootstrap/journals/{service}.log"), format!("{JOURNAL}{service}.service"))
    };
    let journals = services.iter().filter(|name| is_plain(name)).take(MOST_UNITS).map(journal);
    let mut facts = outputs(fixed.into_iter().chain(journals).collect());
    let failed = facts.iter().find(|(path, _)| path == FAILED_UNITS);
    let failed = failed.map_or(Vec::new(), |(_, text)| units(text));
    let look = |unit: String| {
        let state = format!("systemctl status {unit} --no-pager --full");
        let path = |ending| format!("unit-status/{unit}.{ending}");
        [(path("txt"), state), (path("log"), format!("{JOURNAL}{unit}"))]
    };
    facts.extend(outputs(failed.into_iter().flat_map(look).collect()));
    facts.extend(FILES.map(|(name, path)| {
        let text = std::fs::read_to_string(path);
        (name.to_owned(), text.unwrap_or_else(|e| format!("reading {path}: {e}\n")))
    }));
    for (from, to) in NETWORK {
        let same = facts.iter().find(|(path, _)| path == from).map(|(_, text)| text.clone());
        facts.extend(same.map(|text| (to.to_owned(), text)));
    }
    facts
}

/// The units that `systemctl --failed` lists.
fn units(text: &str) -> Vec<String> {
    let first = |line: &str| Some(line.split_ascii_whitespace().next()?.to_owned());
    let is_unit = |name: &String| name.contains('.') && is_plain(name);
    text.lines().filter_map(first).filter(is_unit).take(MOST_UNITS).collect()
}

/// Whether a unit's name has only characters that systemd allows in one.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_@:\\".contains(c))
}

/// What each command prints, by its path in the bundle.
fn outputs(commands: Vec<(String, String)>) -> Vec<(String, String)> {
    let until = Instant::now() + LIMIT;
    let (tell, told) = mpsc::channel();
    for (path, command) in commands.clone() {
        let tell = tell.clone();
        // Nobody waits for one that hangs; it ends with this process, or by itself.
        std::thread::spawn(move || tell.send((path, output(&command))));
    }
    drop(tell);
    let mut facts: Vec<(String, String)> = Vec::new();
    while let Ok(fact) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
        facts.push(fact);
    }
    for (path, command) in commands {
        if !facts.iter().any(|(done, _)| *done == path) {
            facts.push((path, format!("{command}: not finished within {LIMIT:?}\n")));
        }
    }
    facts.sort();
    facts
}

fn output(command: &str) -> String {
    let told = || -> std::io::Result<String> {
        let mut words = command.split(' ');
        let mut child = Command::new(words.next().unwrap_or_default())
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut bytes = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MOST).read_to_end(&mut bytes)?;
        }
        child.wait()?;
        Ok(without_processes(&String::from_utf8_lossy(&bytes)))
    };
    told().unwrap_or_else(|e| format!("{command}: {e}\n"))
}

/// A unit's state without the tree of its processes, which shows their arguments.
fn without_processes(text: &str) -> String {
    let is_process = |line: &str| {
        let line = line.trim_start().trim_start_matches(['│', '|', ' ']);
        ["├─", "└─", "|-", "`-"].iter().any(|branch| line.starts_with(branch))
    };
    text.split_inclusive('\n').filter(|line| !is_process(line)).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_unit_s_processes_are_left_out() {
        let text = "● a.service - A\n   Main PID: 7 (a)\n     CGroup: /a.service\n             \
                    ├─7 a --password=x\n             │ └─8 b\n             `-9 c\n\nlog\n";
        assert_eq!(
            super::without_processes(text),
            "● a.service - A\n   Main PID: 7 (a)\n     CGroup: /a.service\n\nlog\n"
        );
    }

    #[test]
    fn failed_units_are_found_in_the_list() {
        let list = "a.service loaded failed failed A\n\nb@1.mount loaded failed failed B\n";
        assert_eq!(super::units(list), ["a.service", "b@1.mount"]);
        assert_eq!(super::units("systemctl: No such file\n../x.y z\n"), [""; 0]);
    }
}
