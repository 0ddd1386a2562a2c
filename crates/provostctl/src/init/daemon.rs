//! The daemon's program, as its user: it makes its own keys, checks its configuration, and serves.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::made::failed;
use crate::failure::{Failure, WRONG};

/// The user of its unit.
const USER: &str = "provostd";
const UNIT: &str = "provostd.service";
/// systemd runs where this folder is, sd_booted(3).
const SYSTEMD: &str = "/run/systemd/system";

/// `provostd --config FILE`.
pub(super) struct Provostd {
    config: PathBuf,
    /// The numbers of its user and group; none without the user, who is made with the package.
    user: Option<(u32, u32)>,
}

/// What a publication has to name of a daemon.
pub(super) struct Keys {
    /// What `provostctl publish --tls` takes.
    pub(super) tls: String,
    /// What `--refresh-key` takes.
    pub(super) refresh_key: String,
}

impl Provostd {
    pub(super) fn of(config: &Path) -> Self {
        // NAME:PASSWORD:USER:GROUP:…, passwd(5). The program may be static, and asks no directory service.
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = |line: &str| {
            let mut fields = line.split(':');
            let is_its = fields.next() == Some(USER);
            let mut number = || fields.nth(1)?.parse().ok();
            let user = number()?;
            let group = line.split(':').nth(3)?.parse().ok()?;
            is_its.then_some((user, group))
        };
        Self { config: config.to_owned(), user: users.lines().find_map(user) }
    }

    /// Makes its folder `data`, which its unit would make, and its keys.
    pub(super) fn prepare(&self, data: &Path) -> Result<Keys, Failure> {
        let make = || {
            if !data.exists() {
                fs::DirBuilder::new().recursive(true).mode(0o711).create(data)?;
                if let Some((user, group)) = self.user {
                    chown(data, Some(user), Some(group))?;
                }
            }
            Ok(())
        };
        make().map_err(|e| failed(data, &e))?;
        let out = self.command("prepare").output().map_err(|e| self.unstartable(&e))?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let value = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        match (out.status.success(), value("tls"), value("refresh-key")) {
            (true, Some(tls), Some(refresh_key)) => Ok(Keys { tls, refresh_key }),
            _ => {
                let said = String::from_utf8_lossy(&out.stderr);
                let said = said.trim_start_matches("provostd: ").trim_end();
                let error = format!("making provostd's keys in {}: {said}", data.display());
                let hint = "correct that; then run provostctl init again: it continues from here";
                Err(Failure::new(error, hint))
            }
        }
    }

    /// `provostd check`, which says itself what is wrong.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let status = self.command("check").status().map_err(|e| self.unstartable(&e))?;
        match status.success() {
            true => Ok(()),
            false => {
                let error = format!("checking {}: provostd wouldn't start", self.config.display());
                let hint = "correct what is named above; then run provostctl init again: it continues from here";
                Err(Failure::new(error, hint).with_code(WRONG))
            }
        }
    }

    /// The script that it serves to a machine that is to be a node.
    pub(super) fn install_sh(&self) -> Result<String, Failure> {
        let out = self.command("install-sh").output().map_err(|e| self.unstartable(&e))?;
        match out.status.success() {
            true => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&out.stderr);
                let said = said.trim_start_matches("provostd: ").trim_end();
                let (error, hint) =
                    said.split_once("\n  hint: ").unwrap_or((said, "see: provostd check"));
                Err(Failure::new(error, hint))
            }
        }
    }

    /// Whether systemd can start it: its unit reads one file only.
    pub(super) fn is_of_unit(&self) -> bool {
        Path::new(SYSTEMD).exists() && self.config == Path::new("/etc/provost/provostd.toml")
    }

    /// Whether its unit runs, and starts at each boot.
    pub(super) fn runs_always(&self) -> bool {
        let is = |question: &str| {
            let status = systemctl(&[question, "--quiet", UNIT]).status();
            status.is_ok_and(|status| status.success())
        };
        is("is-active") && is("is-enabled")
    }

    /// Starts its unit, now and at each boot, and waits until it serves.
    pub(super) fn start(&self) -> Result<(), Failure> {
        let hint = "see why: journalctl -u provostd; then run provostctl init again: it continues from here";
        let status = systemctl(&["enable", "--now", UNIT]).status();
        let status = status.map_err(|e| Failure::new(format!("running systemctl: {e}"), hint))?;
        match status.success() {
            true => Ok(()),
            false => Err(Failure::new(format!("starting {UNIT}: systemctl: {status}"), hint)),
        }
    }

    /// The command line that starts it in a terminal.
    pub(super) fn line(&self) -> String {
        let command = format!("provostd --config {}", self.config.display());
        match self.user {
            Some(_) => format!("setpriv --reuid {USER} --regid provost --init-groups {command}"),
            None => command,
        }
    }

    fn command(&self, of: &str) -> Command {
        let mut command = Command::new(program());
        command.arg("--config").arg(&self.config).arg(of).stdin(Stdio::null());
        if let (Some((user, group)), true) = (self.user, rustix::process::geteuid().is_root()) {
            command.uid(user).gid(group).current_dir("/");
        }
        command
    }

    fn unstartable(&self, e: &std::io::Error) -> Failure {
        let error = format!("running {}: {e}", program().display());
        Failure::new(error, "install the package provost-server whole")
    }
}

fn systemctl(arguments: &[&str]) -> Command {
    let mut command = Command::new("systemctl");
    command.args(arguments).stdin(Stdio::null());
    command
}

/// The one next to this program, else the one on PATH.
fn program() -> PathBuf {
    let mut neighbour = std::env::current_exe().unwrap_or_default();
    neighbour.set_file_name("provostd");
    if neighbour.exists() { neighbour } else { "provostd".into() }
}
