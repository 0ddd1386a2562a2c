//! The tables and package lists of the xCAT management node that this command runs on.

use std::process::{Command, Stdio};

use super::environment::included;
use super::xcat::{Xcat, names};
use crate::failure::Failure;

/// Where xCAT has its commands.
const FOLDERS: [&str; 2] = ["/opt/xcat/sbin", "/opt/xcat/bin"];
/// What is asked, as xCAT prints it.
const COMMANDS: [&str; 10] = [
    "tabdump site",
    "tabdump postscripts",
    "tabdump nodelist",
    "tabdump nodegroup",
    "tabdump nodetype",
    "tabdump noderes",
    "tabdump networks",
    "tabdump routes",
    "lsdef -t osimage -l -z",
    "lsdef -t node -l -z",
];
/// The most bytes that are read of a package list.
const MOST: u64 = 1 << 20;

/// Reads them.
pub(super) fn read() -> Result<Xcat, Failure> {
    let mut xcat = Xcat::default();
    for command in COMMANDS {
        let text = output(command)?;
        // There is none of it.
        if text.trim().is_empty() || text.starts_with("Could not find any object definitions") {
            continue;
        }
        xcat.read(&text).map_err(|e| {
            let error =
                format!("{command} printed something unexpected in line {}: {}", e.line, e.what);
            Failure::new(error, format!("see what it prints: {command}"))
        })?;
    }
    let lists = ["pkglist", "otherpkglist"];
    let images = xcat.images.values();
    let named = images.flat_map(|image| lists.iter().filter_map(|list| image.get(*list)));
    let mut files: Vec<String> = named.flat_map(|files| names(files)).collect();
    while let Some(file) = files.pop() {
        if xcat.lists.contains_key(&file) {
            continue;
        }
        let text = provost_fs::read_given_text(file.as_ref(), MOST).map_err(|e| {
            let hint = "fix the image's pkglist or otherpkglist (chdef -t osimage), or the file";
            Failure::new(format!("reading the package list {file}: {e}"), hint)
        })?;
        files.extend(included(&text).map(str::to_owned));
        xcat.lists.insert(file, text);
    }
    Ok(xcat)
}

fn output(command: &str) -> Result<String, Failure> {
    let hint = "run it as root on the xCAT management node, where xcatd runs";

    let path = std::env::var("PATH").unwrap_or_default();
    let path = [&FOLDERS[..], &[&path]].concat().join(":");
    let out = Command::new("env")
        .arg(format!("PATH={path}"))
        .args(command.split(' '))
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Failure::new(format!("running {command}: {e}"), hint))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        let why = said.lines().next().unwrap_or("it printed nothing");
        return Err(Failure::new(format!("{command} failed: {}", why.trim()), hint));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
