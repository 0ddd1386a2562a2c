//! What hardened systems have (STIG, CIS) that keeps scripts from running, or from being traced, and what a
//! small one lacks that would hold their processes.

use std::fs;
use std::path::Path;

use provost_exec::Untraceable;
use provost_node::failure::Failure;
use provost_node::finding::Finding;
use rustix::fs::{StatVfsMountFlags, statvfs};

use super::machine::nearest;

/// Where fapolicyd, which decides what may be executed, has its pipe while it runs.
const FAPOLICYD: &str = "/run/fapolicyd/fapolicyd.fifo";
/// Who may trace whom, by Yama: 2 is root alone, 3 nobody up to the next boot.
const PTRACE_SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";
/// The mask of a script, whatever the caller's is.
const UMASK: &str = "0022";

/// Looks at what a script needs to run.
pub(super) fn look(state: &Path) -> Vec<Finding> {
    let mut findings: Vec<Finding> = trace().into_iter().chain(cgroup()).collect();
    let shown = state.display();
    if is_noexec(state) {
        let message = format!("{shown} is mounted noexec: no script can run from there");
        let hint = format!(
            "mount it without noexec (findmnt -T {shown} shows where), or move it: state under [paths]"
        );
        findings.push(Finding::failed("noexec", &Failure::local(message, hint)));
    }
    if is_noexec(Path::new("/tmp")) {
        let hint = "set TMPDIR in the site's env to a folder that is mounted without noexec, where a script \
                    needs it";
        let detail = "/tmp is mounted noexec: a script can't run what it unpacks there";
        findings.push(Finding::note("noexec", detail, hint));
    }
    if Path::new(FAPOLICYD).exists() {
        let hint = format!(
            "allow them, before the rules for languages: echo 'allow perm=any all : dir={shown}/' \
             >/etc/fapolicyd/rules.d/20-provost.rules; fagenrules --load"
        );
        let detail = "fapolicyd runs, and may refuse scripts that no package has installed";
        findings.push(Finding::note("fapolicyd", detail, hint));
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:")).map(str::trim);
    findings.extend(umask.filter(|umask| *umask != UMASK).map(|umask| {
        Finding::ok("umask", format!("{umask} here; scripts run with {UMASK} all the same"))
    }));
    findings
}

/// What holds a script's processes where no cgroup does.
fn cgroup() -> Option<Finding> {
    let why = provost_exec::can_use_cgroup().err()?;
    let detail =
        format!("no cgroup holds a script's processes, which are found in /proc instead: {why}");
    Some(Finding::ok("cgroup", detail))
}

/// Why commands can't be traced, if so, and what Yama has to do with it.
fn trace() -> Option<Finding> {
    let scope = fs::read_to_string(PTRACE_SCOPE).unwrap_or_default();
    traced(provost_exec::can_trace(), scope.trim())
}

fn traced(can: Result<(), Untraceable>, scope: &str) -> Option<Finding> {
    let Err(why) = can else {
        let detail =
            format!("{PTRACE_SCOPE} is 2: commands are logged all the same, by CAP_SYS_PTRACE");
        return (scope == "2").then(|| Finding::ok("trace", detail));
    };
    let of_yama = match (&why, scope) {
        (Untraceable::NotPrivileged | Untraceable::Refused(_), "2" | "3") => {
            format!("; {PTRACE_SCOPE} is {scope}")
        }
        _ => String::new(),
    };
    let detail = format!("the commands of scripts aren't logged: {why}{of_yama}");
    Some(Finding::note("trace", detail, hint(&why, scope)))
}

fn hint(why: &Untraceable, scope: &str) -> &'static str {
    match (why, scope) {
        (Untraceable::OldKernel, _) => "run a newer kernel; all else works on this one",
        (Untraceable::NotPrivileged | Untraceable::Refused(_), "3") => {
            "set kernel.yama.ptrace_scope = 2 in /etc/sysctl.d, which lets root with CAP_SYS_PTRACE trace, and \
             reboot: 3 can't be lowered"
        }
        (Untraceable::NotPrivileged, "2") => {
            "run provost as root with CAP_SYS_PTRACE, as kernel.yama.ptrace_scope = 2 demands; in a container: \
             --cap-add SYS_PTRACE"
        }
        _ => "give provost root with CAP_SYS_PTRACE, and let its container allow ptrace(2)",
    }
}

/// Whether nothing may be executed on the file system of `path`, or where it will be made.
fn is_noexec(path: &Path) -> bool {
    statvfs(nearest(path).0).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How the finding ends, and its text.
    fn told(can: Result<(), Untraceable>, scope: &str) -> Option<String> {
        traced(can, scope).map(|finding| serde_json::to_string(&finding).unwrap())
    }

    #[test]
    fn yama_is_named_where_it_matters_with_the_fix() {
        let refused = || Err(Untraceable::Refused("Operation not permitted".to_owned()));
        let denied = || Err(Untraceable::NotPrivileged);
        for (can, scope, is) in [
            (Ok(()), "2", "ptrace_scope is 2: commands are logged all the same"),
            (denied(), "2", "ptrace_scope = 2 demands"),
            (denied(), "3", "ptrace_scope = 2 in /etc/sysctl.d"),
            (refused(), "3", "ptrace_scope = 2 in /etc/sysctl.d"),
            (refused(), "1", "let its container allow ptrace(2)"),
            (denied(), "", "give provost root with CAP_SYS_PTRACE"),
            (Err(Untraceable::OldKernel), "3", "run a newer kernel"),
        ] {
            let text = told(can, scope).unwrap();
            assert!(text.contains(is), "{scope}: {text}");
        }
        assert_eq!(told(Ok(()), "1"), None);
        assert!(told(denied(), "3").unwrap().contains("ptrace_scope is 3"));
    }
}
