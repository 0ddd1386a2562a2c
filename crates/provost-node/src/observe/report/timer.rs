//! The systemd timer that reports what a run could not.

use std::process::{Command, Stdio};
use std::time::Duration;

use provost_exec::kernel;
use rustix::process::Pid;

use crate::settings::Paths;

const UNIT: &str = "provost-report.timer";
/// How long systemctl may take.
const TIME: Duration = Duration::from_secs(2);

/// Whether the timer is installed.
pub(super) fn is_installed(paths: &Paths) -> bool {
    let here = paths.etc.join("systemd/system");
    let folders =
        [here.as_path(), "/usr/lib/systemd/system".as_ref(), "/lib/systemd/system".as_ref()];
    folders.iter().any(|folder| folder.join(UNIT).exists())
}

/// Starts the timer, where it is installed. Returns whether systemd took it.
pub fn start(paths: &Paths) -> bool {
    if !is_installed(paths) {
        return false;
    }
    let mut command = Command::new("systemctl");
    command.args(["start", "--no-block", UNIT]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let ended = kernel::wait_for_end(Pid::from_child(&child), TIME);
    // A systemctl that hangs is left alone.
    ended && child.wait().is_ok_and(|status| status.success())
}
