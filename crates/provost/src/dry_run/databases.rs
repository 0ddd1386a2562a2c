//! Packages, users and groups, by the files in which a system keeps them: as they are, and as they would
//! be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::SystemTime;

use provost_sandbox::{Ready, What};
use serde_json::{Value, json};

/// The most bytes of such a file: a status file of dpkg with 10,000 packages has 12 MB.
const MOST: u64 = 64 << 20;
/// Where rpm has its database, below the root.
const RPM: &[&str] = &["var/lib/rpm", "usr/lib/sysimage/rpm"];
/// How rpm lists packages: `NAME.ARCH VERSION`.
const QUERY: &[&str] = &["-qa", "--qf", "%{NAME}.%{ARCH} %{EVR}\\n"];

/// Names, each with what may change of it.
type Known = BTreeMap<String, String>;

/// Something that is made, changed or removed.
pub(super) struct Difference {
    /// `package`, `user`, `group`.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Difference {
    pub(super) fn what(&self) -> What {
        match (&self.before, &self.after) {
            (None, _) => What::Made,
            (_, None) => What::Removed,
            _ => What::Changed,
        }
    }

    /// `4.3-1 -> 4.3-2`.
    pub(super) fn values(&self) -> String {
        let values = [&self.before, &self.after];
        values.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" -> ")
    }

    pub(super) fn json(&self, change: &str) -> Value {
        let mut object = json!({ "kind": self.kind, "name": self.name, "change": change });
        for (key, value) in [("before", &self.before), ("after", &self.after)] {
            if let Some(value) = value {
                object[key] = value.as_str().into();
            }
        }
        object
    }
}

/// All that differs below `root`.
pub(super) fn differences(ready: &Ready, root: &Path, rpm: RpmBefore) -> Vec<Difference> {
    let text = |path: &Path| {
        let bytes = provost_fs::read_given(path, MOST).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let mut all = Vec::new();
    for (kind, path, read) in [
        ("package", "var/lib/dpkg/status", dpkg as fn(&str) -> Known),
        ("user", "etc/passwd", accounts),
        ("group", "etc/group", accounts),
    ] {
        let path = root.join(path);
        let (before, after) = (text(&path), text(&ready.path(&path)));
        if before != after {
            all.extend(between(kind, read(&before), read(&after)));
        }
    }
    if let Ok(after) = provost_fs::read_given(&ready.path(&inside()), MOST) {
        let before = rpm.list().map(|list| packages(&list)).unwrap_or_default();
        all.extend(between("package", before, packages(&String::from_utf8_lossy(&after))));
    }
    all
}

fn between(
    kind: &'static str,
    mut before: Known,
    after: Known,
) -> impl Iterator<Item = Difference> {
    let mut all: Vec<_> = after
        .into_iter()
        .map(|(name, after)| (before.remove(&name), name, Some(after)))
        .filter(|(before, _, after)| before != after)
        .collect();
    all.extend(before.into_iter().map(|(name, before)| (Some(before), name, None)));
    all.into_iter().map(move |(before, name, after)| Difference { kind, name, before, after })
}

/// The packages that are installed, each with its version.
fn dpkg(status: &str) -> Known {
    let package = |paragraph: &str| {
        let value = |key: &str| paragraph.lines().find_map(|line| line.strip_prefix(key));
        value("Status: ")?.ends_with(" installed").then_some(())?;
        let arch = value("Architecture: ").unwrap_or_default();
        Some((format!("{}:{arch}", value("Package: ")?), value("Version: ")?.to_owned()))
    };
    status.split("\n\n").filter_map(package).collect()
}

/// `NAME:PASSWORD:REST`.
fn accounts(text: &str) -> Known {
    let account = |line: &str| {
        let mut parts = line.splitn(3, ':');
        Some((parts.next()?.to_owned(), parts.nth(1)?.to_owned()))
    };
    text.lines().filter_map(account).collect()
}

/// `NAME VERSION`.
fn packages(list: &str) -> Known {
    let package = |line: &str| line.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
    list.lines().filter_map(package).collect()
}

/// Lists the packages below `root`.
fn rpm(root: &Path) -> Command {
    let mut rpm = Command::new("rpm");
    if root != Path::new("/") {
        rpm.arg("--root").arg(root);
    }
    rpm.args(QUERY).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    rpm
}

fn listed(out: Output) -> Option<String> {
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

/// What rpm lists on this machine, which it does while other work goes on. It has to be started before
/// there is a sandbox, after which this process can start nothing.
pub(super) struct RpmBefore(Option<Child>);

impl RpmBefore {
    pub(super) fn start(root: &Path) -> Self {
        let is_there = RPM.iter().any(|folder| root.join(folder).is_dir());
        Self(is_there.then(|| rpm(root).spawn().ok()).flatten())
    }

    fn list(mut self) -> Option<String> {
        listed(self.0.take()?.wait_with_output().ok()?)
    }
}

impl Drop for RpmBefore {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Where the program in the sandbox writes what rpm lists there.
fn inside() -> PathBuf {
    Ready::notes_inside().with_extension("rpm")
}

/// When rpm's database below a root was changed.
#[derive(PartialEq, Eq)]
pub(super) struct Rpm {
    root: PathBuf,
    files: Vec<(PathBuf, Option<SystemTime>)>,
}

impl Rpm {
    /// As it is now.
    pub(super) fn now(root: PathBuf) -> Self {
        let files = RPM.iter().flat_map(|folder| std::fs::read_dir(root.join(folder)));
        let files = files.flatten().flatten().map(|entry| {
            (entry.path(), entry.metadata().and_then(|metadata| metadata.modified()).ok())
        });
        Self { files: files.collect(), root }
    }

    /// Writes what rpm lists, if that has changed.
    pub(super) fn note(&self) {
        if Self::now(self.root.clone()) != *self
            && let Some(list) = rpm(&self.root).output().ok().and_then(listed)
        {
            // Where the room for changes is full, nothing is said of packages.
            let _ = std::fs::write(inside(), list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_those_that_are_installed() {
        let status = "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n\
            Package: b\nStatus: deinstall ok config-files\nVersion: 2\n\n\
            Package: c\nStatus: hold ok installed\nArchitecture: amd64\nVersion: 3\n";
        let after = status.replace("Version: 3", "Version: 4").replace("Package: a", "Package: d");
        let all: Vec<_> = between("package", dpkg(status), dpkg(&after)).collect();
        let shown: Vec<_> =
            all.iter().map(|one| (one.what(), one.name.as_str(), one.values())).collect();
        assert_eq!(
            shown,
            [
                (What::Changed, "c:amd64", "3 -> 4".to_owned()),
                (What::Made, "d:all", "1".to_owned()),
                (What::Removed, "a:all", "1".to_owned()),
            ]
        );
    }

    #[test]
    fn an_account_is_shown_without_its_password() {
        let accounts = accounts("root:$6$x:0:0:root:/root:/bin/sh\n+::\nbad\n");
        assert_eq!(accounts["root"], "0:0:root:/root:/bin/sh");
        assert_eq!(accounts.len(), 2);
    }
}
