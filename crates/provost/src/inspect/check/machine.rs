use provost_steplog::wording;
use std::path::Path;

use provost_fs::Storage;
use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
use rustix::io::Errno;
use rustix::system::uname;

use crate::xcat::status_messages;
use provost_node::failure::Failure;
use provost_node::finding::Finding;
use provost_node::observe::report::Spool;
use provost_node::settings::{GuardLimits, Paths, ReportedLogs};
use provost_node::state::attempts::Attempts;
use provost_node::state::lock::RunLock;
use provost_node::state::privacy;

/// The least room, in bytes: for a bundle next to the one that it replaces, and the logs of a run.
const LEAST: u64 = 16 << 20;

/// What this machine's own disk has to say.
pub(super) fn look(
    paths: &Paths,
    node: &str,
    guard: GuardLimits,
    takes_records: bool,
    report_logs: Option<ReportedLogs>,
) -> Vec<Finding> {
    let mut findings = folder("state", &paths.state);
    let group = privacy::group(paths).err();
    findings.extend(group.map(|why| Finding::note("group", why.text(), why.hint)));
    findings.extend(folder("log", &paths.log));
    findings.push(match RunLock::is_taken(&paths.state) {
        false => Finding::ok("run", "none is in progress"),
        true => Finding::note("run", "one is in progress", "see `provost status`"),
    });
    findings.push(attempts(&paths.state, Some(node).filter(|_| takes_records), guard));
    let (what, left) = match takes_records {
        true => ("record", Spool::new(paths).unreported_total()),
        false => (
            "status message",
            status_messages(&paths.state).iter().filter(|m| m.is_waiting()).count(),
        ),
    };
    findings.push(match left {
        0 => Finding::ok("reports", "none is left to send"),
        n => {
            let hint = "send them now: provost report (or they go with the next run)";
            Finding::note("reports", format!("{} not sent yet", wording::count(n, what)), hint)
        }
    });
    findings.extend(takes_records.then(|| logs(&paths.log, report_logs)).flatten());
    findings.push(kernel());
    findings
}

/// What this kernel lacks, and what is done instead.
fn kernel() -> Finding {
    let release = uname().release().to_string_lossy().into_owned();
    let missing = provost_exec::kernel::missing().iter();
    let missing: Vec<String> = missing
        .map(|call| format!("{} ({}): {}", call.name(), call.since(), call.instead()))
        .collect();
    Finding::ok(
        "kernel",
        match missing.is_empty() {
            true => format!("Linux {release} has all that is used"),
            false => format!("Linux {release} lacks {}", missing.join("; ")),
        },
    )
}

/// Which logs are uploaded, and why those; nothing where LOG can't be looked at, which is a finding of its own.
fn logs(log: &Path, configured: Option<ReportedLogs>) -> Option<Finding> {
    let storage = storage(log)?;
    let which = match configured.unwrap_or_else(|| ReportedLogs::default_of(&storage)) {
        ReportedLogs::Failed => "failed",
        ReportedLogs::All => "all",
    };
    let why = match configured {
        Some(_) => "`logs` under [report] says so".to_owned(),
        None => format!("{} is {storage}", log.display()),
    };
    let detail = format!("those of {which} steps are uploaded: {why}");
    Some(match (storage, configured) {
        (Storage::Unknown(_), None) => {
            let hint = "if a reboot empties it, set logs = \"all\" under [report] in provost.toml";
            Finding::note("logs", detail, hint)
        }
        _ => Finding::ok("logs", detail),
    })
}

/// How near this node is to being held.
fn attempts(state: &Path, node: Option<&str>, guard: GuardLimits) -> Finding {
    let most = guard.max_attempts.get();
    match Attempts::read(state, most) {
        Ok(attempts) => match attempts.held(provost_record::Service::Boot, node) {
            Some(held) => Finding::note("guard", held.message, held.hint),
            None => {
                let n = attempts.number();
                Finding::ok(
                    "guard",
                    format!("{}; the limit is {most}", wording::count(n, "failed attempt")),
                )
            }
        },
        Err(e) => {
            let message = format!("reading the attempts in {}", state.display());
            Finding::failed("guard", &Failure::local(message, "run as root").caused_by(e))
        }
    }
}

/// Whether there is room in `path`, whether it can be written, and whether that lasts.
fn folder(what: &'static str, path: &Path) -> Vec<Finding> {
    let (there, missing) = nearest(path);
    let shown = path.display();
    let writable = access(there, Access::WRITE_OK | Access::EXEC_OK);
    let space = match statvfs(there) {
        Ok(space) => space,
        Err(e) => return vec![unusable(what, path, &e)],
    };
    if let Err(e) = writable {
        return vec![unusable(what, path, &e)];
    }
    if !there.is_dir() {
        return vec![unusable(what, path, &Errno::NOTDIR)];
    }
    if space.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return vec![unusable(what, path, &Errno::ROFS)];
    }
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let mut findings = Vec::new();
    if free < LEAST || (space.f_files > 0 && space.f_favail == 0) {
        let message = format!(
            "{shown}: {} MiB and {} files are free; {} MiB are the least",
            free >> 20,
            space.f_favail,
            LEAST >> 20
        );
        let failure =
            Failure::local(message, "make room there, or move it with [paths] in provost.toml");
        findings.push(Finding::failed(what, &failure));
    } else {
        let made = if missing { ", made by the first run" } else { "" };
        let detail = format!("{shown}: writable{made}, {} MiB free", free >> 20);
        findings.push(Finding::ok(what, detail));
    }
    if let Some(storage) = storage(path).filter(|storage| *storage != Storage::Disk) {
        let detail = format!("{shown} is {storage}: a reboot may empty it");
        let hint = "as it is on a diskless node; the management node counts its attempts, too";
        findings.push(Finding::note(what, detail, hint));
    }
    findings
}

/// Where the content of `path` is kept, or will be once it is made.
fn storage(path: &Path) -> Option<Storage> {
    Storage::of(nearest(path).0).ok()
}

/// `path`, or the nearest folder above it that is there; and whether `path` itself is missing.
pub(super) fn nearest(path: &Path) -> (&Path, bool) {
    let there = path.ancestors().find(|p| p.symlink_metadata().is_ok());
    let there = there.unwrap_or(Path::new("/"));
    (there, there != path)
}

fn unusable(what: &'static str, path: &Path, e: &Errno) -> Finding {
    let message = format!("writing to {}", path.display());
    let hint = "run as root, and check that it is on a writable file system";
    Finding::failed(what, &Failure::local(message, hint).caused_by(std::io::Error::from(*e)))
}
