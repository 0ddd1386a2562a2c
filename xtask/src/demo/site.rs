//! The files of a small site.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cargo;

/// What an admin writes for a cluster of four. The scripts work in `root` instead of in `/`.
pub(super) fn site_toml(root: &Path) -> String {
    format!(
        r#"[defaults]
postscripts = ["hostname", "mkresolvconf", "setupntp", "syslog"]
postbootscripts = ["motd"]

[defaults.env]
MASTER = "10.0.0.1"
NAMESERVERS = "10.0.0.1,10.0.0.2"
DOMAIN = "cluster.example"
PROVOST_ROOT = {root:?}

[groups.compute]
nodes = "cn[001-004]"
env = {{ GROUP = "compute" }}
"#
    )
}

/// The daemon's configuration: any free port of this machine.
pub(super) fn provostd_toml(folder: &Path) -> String {
    format!(
        r#"data = {:?}
www = {:?}
store = "sqlite"
listen = "127.0.0.1:0"
admin = "127.0.0.1:0"
"#,
        folder.join("data"),
        folder.join("www")
    )
}

/// The node's configuration.
pub(super) fn provost_toml(root: &Path, server: &str, key: &str) -> String {
    format!(
        r#"node = "cn001"
servers = ["http://{server}"]

[trust]
keys = ["{key}"]

[paths]
state = {:?}
log = {:?}
etc = {:?}
"#,
        root.join("var/lib/provost"),
        root.join("var/log/provost"),
        root.join("etc")
    )
}

/// Copies the postscripts that come with the product, readable by all whatever the umask of the
/// checkout was.
pub(super) fn copy_postscripts(to: &Path) -> Result<()> {
    let from = cargo::root().join("postscripts");
    fs::create_dir(to)?;
    for entry in fs::read_dir(&from).with_context(|| format!("reading {}", from.display()))? {
        let (entry, name) = entry.map(|e| (e.path(), e.file_name()))?;
        let copy = to.join(name);
        fs::copy(&entry, &copy).with_context(|| format!("copying {}", entry.display()))?;
        // What scripts have in common is read by them, and not run.
        let mode = if copy.extension().is_some_and(|e| e == "sh") { 0o644 } else { 0o755 };
        fs::set_permissions(&copy, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// A change as admins make them: right but for a file that isn't there.
pub(super) const CHANGE: &str = include_str!("setupntp.change");

/// Appends [`CHANGE`] to `script`, and returns the number of the line that will fail.
pub(super) fn break_script(script: &Path) -> Result<usize> {
    let text = fs::read_to_string(script)? + CHANGE;
    fs::write(script, &text)?;
    let line = text.lines().position(|line| line.contains("install -m 0640"));
    Ok(1 + line.context("looking for the line that will fail")?)
}
