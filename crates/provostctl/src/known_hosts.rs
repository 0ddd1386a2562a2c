//! By what ssh knows nodes beside the user's own files of known hosts: the authority that certifies their host keys.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use provost_api::admins::{SSH_AUTHORITY, SshAuthority};
use rustix::fs::MemfdFlags;
use tokio::process::Command;
use tokio::time::timeout;

use crate::client::Client;

/// How long the daemon may take to name it. Without it ssh knows what the user's files know.
const ASK: Duration = Duration::from_secs(5);
/// ssh's option, as `ssh -G` prints it, of the files that a user's own don't replace.
const OPTION: &str = "globalknownhostsfile";

/// A file of known hosts with that authority alone, as long as this lives.
pub(crate) struct KnownHosts(Option<File>);

impl KnownHosts {
    /// As the daemon says.
    pub(crate) async fn of(client: &Client) -> Self {
        let asked = timeout(ASK, client.get::<SshAuthority>(SSH_AUTHORITY)).await;
        let Ok(Ok(SshAuthority { known_hosts })) = asked else { return Self(None) };
        // In memory: nothing of it stays where this process is killed.
        let file = rustix::fs::memfd_create("known_hosts", MemfdFlags::CLOEXEC).map(File::from);
        let written = file.ok().and_then(|mut file| {
            file.write_all(format!("{known_hosts}\n").as_bytes()).ok()?;
            Some(file)
        });
        Self(written)
    }

    /// Its path, for ssh.
    pub(crate) fn path(&self) -> Option<String> {
        let file = self.0.as_ref()?;
        Some(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
    }
}

/// The option of ssh that adds the file `known_hosts` to those that it reads for `node`. None where these can't be known: then it
/// reads no other.
pub(crate) async fn option(config: Option<&Path>, node: &str, known_hosts: &str) -> Option<String> {
    let mut ssh = Command::new("ssh");
    if let Some(config) = config {
        ssh.arg("-F").arg(config);
    }
    ssh.args(["-G", "--", node]).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let shown = ssh.output().await.ok().filter(|shown| shown.status.success())?;
    option_with(&String::from_utf8(shown.stdout).ok()?, known_hosts)
}

/// The same by what `ssh -G` prints.
fn option_with(shown: &str, known_hosts: &str) -> Option<String> {
    let files = shown.lines().find_map(|line| line.strip_prefix(OPTION))?;
    // `none` may only stand alone.
    let files: Vec<&str> = files.split_whitespace().filter(|file| *file != "none").collect();
    // A name with blanks in it can't be told from two. What it revokes must not be lost.
    if files.iter().any(|file| !file.starts_with(['/', '~']) || file.contains('"')) {
        return None;
    }
    let files: Vec<_> =
        files.into_iter().chain([known_hosts]).map(|file| format!("\"{file}\"")).collect();
    Some(format!("GlobalKnownHostsFile={}", files.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_ssh_reads_are_kept() {
        let option =
            |files: &str| option_with(&format!("port 22\n{OPTION} {files}\nx y\n"), "/ours");
        let kept = option("/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2");
        let kept = kept.unwrap();
        assert_eq!(
            kept,
            "GlobalKnownHostsFile=\"/etc/ssh/ssh_known_hosts\" \"/etc/ssh/ssh_known_hosts2\" \"/ours\""
        );
        assert_eq!(option("none").unwrap(), "GlobalKnownHostsFile=\"/ours\"");
        assert_eq!(option("/etc/my hosts"), None);
        assert_eq!(option_with("port 22\n", "/ours"), None);
    }
}
