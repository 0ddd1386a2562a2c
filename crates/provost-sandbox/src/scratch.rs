//! Room on a disk for what changes: a file with a file system in it, so that it is bounded, and no
//! layer of an overlay is in another one.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use super::error::SandboxError;

/// The most bytes, of which the disk may have fewer. The file grows as it is filled.
const SPACE: u64 = 16 << 30;

/// Mounts a new file in the folder `scratch` at `target`. It has no name any more when this returns.
pub(super) fn mount_image(scratch: &Path, target: &Path) -> Result<(), SandboxError> {
    let failed = |what: &str, e: &dyn std::fmt::Display| {
        SandboxError::Scratch(format!("{what} in {}: {e}", scratch.display()))
    };
    let image = scratch.join(format!("provost-dry-run.{}", std::process::id()));
    let made = File::options().write(true).create_new(true).open(&image);
    let file = made.map_err(|e| failed("making a file", &e))?;
    // What else is on the disk has to go on.
    let free = rustix::fs::statvfs(scratch).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    let done = file
        .set_len(free.map_or(SPACE, |free| SPACE.min(free / 4 * 3)))
        .map_err(|e| failed("making a file", &e))
        .and_then(|()| {
            // No journal: nobody reads it after a crash.
            run(Command::new("mkfs.ext4").args(["-q", "-F", "-O", "^has_journal"]).arg(&image))
                .map_err(|e| failed("making a file system", &e))
        })
        .and_then(|()| {
            run(Command::new("mount")
                .args(["-n", "-o", "loop,nosuid,nodev"])
                .arg(&image)
                .arg(target))
            .map_err(|e| failed("mounting a file", &e))
        });
    // The loop device keeps it until the mount is gone.
    let _ = std::fs::remove_file(&image);
    done
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let out = command.stdin(Stdio::null()).output().map_err(|e| format!("{program}: {e}"))?;
    match out.status.success() {
        true => Ok(()),
        false => Err(format!("{program}: {}", String::from_utf8_lossy(&out.stderr).trim())),
    }
}
