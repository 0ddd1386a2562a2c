//! Reboots: a step asks for one, and the machine is asked to do it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use provost_record::{Cause, ExitCode};

use crate::failure::Failure;
use crate::observe::console::complain;
use crate::state::progress::Paused;

/// How long the machine may take to say that it will reboot.
const ANSWER: Duration = Duration::from_secs(60);

/// `provost reboot-request [REASON]`: notes for the runner of the step that calls it that it
/// wants a reboot.
pub fn request(reason: &[String]) -> ExitCode {
    let hint = "call it in a script that `provost boot` runs, then end the script with status 0";
    let failure = match std::env::var_os("PROVOST_REBOOT").filter(|path| !path.is_empty()) {
        Some(path) => match std::fs::write(&path, format!("{}\n", reason.join(" "))) {
            Ok(()) => return ExitCode::Done,
            Err(e) => {
                let path = Path::new(&path).display();
                Failure::local(format!("writing the reboot request to {path}"), hint).caused_by(e)
            }
        },
        None => Failure::config(
            "requesting a reboot: PROVOST_REBOOT isn't set, so no step is running",
            hint,
        ),
    };
    complain(&format!("error: {failure}"));
    failure.exit_code()
}

/// Asks the machine to reboot, and notes that it was asked: `paused` goes on after that.
pub(crate) async fn reboot_after(mut paused: Paused, state: &Path) -> ExitCode {
    let run = &paused.run;
    tracing::info!("rebooting the machine; run {run} continues after that");
    let answer = reboot().await;
    (paused.asked, paused.refused) = (true, answer.is_err());
    if let Err(e) = paused.write(state) {
        let state = state.display();
        tracing::warn!("writing the reboot request to {state}: {e}");
    }
    match answer {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            tracing::error!("error: {failure}");
            failure.exit_code()
        }
    }
}

/// Asks the machine to reboot, as an admin would: nothing here reboots it by force.
async fn reboot() -> Result<(), Failure> {
    let failed = |why: String| {
        let message = format!("rebooting the machine: {why}");
        let hint = "reboot this node by hand; `provost boot` then continues the run";
        Failure::new(Cause::Reboot, message, hint)
    };
    // An unprivileged run is somebody's trial, on somebody's desktop.
    if !rustix::process::geteuid().is_root() {
        return Err(failed("only root may".to_owned()));
    }
    // Not one of the runtime's threads: its end would wait for this one.
    let (tell, answer) = tokio::sync::oneshot::channel();
    std::thread::spawn(|| tell.send(ask()));
    match tokio::time::timeout(ANSWER, answer).await {
        Ok(Ok(answer)) => answer.map_err(failed),
        Ok(Err(e)) => Err(failed(e.to_string())),
        Err(_) => Err(failed(format!("no answer within {} s", ANSWER.as_secs()))),
    }
}

fn ask() -> Result<(), String> {
    let mut why = Vec::new();
    for words in [&["systemctl", "reboot"][..], &["reboot"]] {
        let mut command = Command::new(words[0]);
        match command.args(&words[1..]).stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.lines().next().unwrap_or_default();
                why.push(format!("{}: {}: {said}", words.join(" "), output.status));
            }
            Err(e) => why.push(format!("{}: {e}", words.join(" "))),
        }
    }
    Err(why.join("; "))
}
