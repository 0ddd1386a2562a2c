//! What a package is, and what all formats of it have in common.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::target::Target;
use crate::cargo;

/// Where packages come from and go to.
#[derive(Clone)]
pub(super) struct Place {
    /// The folder of the programs.
    pub(super) programs: PathBuf,
    /// Whether these were built for a release, not for a test, which is to have its packages soon.
    pub(super) is_release: bool,
    /// The folder of the packages.
    pub(super) to: PathBuf,
    pub(super) version: String,
    /// What the programs were built for.
    pub(super) target: Target,
}

/// One package.
pub(super) struct Package {
    pub(super) name: &'static str,
    /// One line.
    pub(super) summary: &'static str,
    /// Some more.
    pub(super) about: &'static str,
    pub(super) programs: &'static [&'static str],
    /// Those that it doesn't run, and hands to nodes of its architecture.
    pub(super) served: &'static [&'static str],
    pub(super) units: &'static [&'static str],
    /// Under /etc/provost; an admin's changes to it are kept.
    pub(super) config: &'static str,
    /// The man pages of its files.
    pub(super) manuals: &'static [&'static str],
    /// Of dist/examples.
    pub(super) examples: &'static [&'static str],
    /// Files and folders of the workspace, each with its place below /usr/share.
    pub(super) shared: &'static [(&'static str, &'static str)],
    /// The file of users and groups that it needs, for sysusers.d(5).
    pub(super) users: Option<&'static str>,
    pub(super) place: Place,
    /// Of the commit, in seconds since 1970: the time of all files, so that a package is the same
    /// whenever it is built.
    pub(super) time: u64,
}

impl Package {
    pub(super) fn all(place: &Place) -> Result<[Self; 2]> {
        let time = commit_time()?;
        Ok([
            Self {
                name: "provost",
                summary: "run a node's provisioning scripts",
                about: "Runs the postscripts of a freshly installed or booted node of a cluster, \
                        each under a time-out, and tells the management node at once which \
                        command of which script failed, where and why.",
                programs: &["provost"],
                served: &[],
                units: &[
                    "provost-boot.service",
                    "provost-boot-retry.timer",
                    "provost-report.service",
                    "provost-report.timer",
                    "provost-renew.timer",
                ],
                config: "provost.toml",
                manuals: &["provost.toml.5"],
                examples: &["provost.toml", "provost-xcat.toml", "provost.d"],
                shared: &[("lib-sh", "provost/lib-sh")],
                users: None,
                place: place.clone(),
                time,
            },
            Self {
                name: "provost-server",
                summary: "publish provisioning scripts and receive nodes' reports",
                about: "The management node's side of Provost: provostctl signs and publishes \
                        what nodes run, and shows their status; provostd serves it and stores \
                        what they report.",
                programs: &["provostd", "provostctl"],
                served: &["provost"],
                units: &["provostd.service"],
                config: "provostd.toml",
                manuals: &[
                    "provost-json.5",
                    "provost-script.5",
                    "provost-site.toml.5",
                    "provostctl.toml.5",
                    "provostd.toml.5",
                ],
                examples: &[
                    "provostctl.toml",
                    "provostd.toml",
                    "site.toml",
                    "postscripts",
                    "boot",
                    "hooks",
                    "monitoring",
                ],
                shared: &[
                    ("postscripts", "provost/postscripts"),
                    ("README.md", "doc/provost-server/README.md"),
                    ("docs", "doc/provost-server/docs"),
                    ("dist/schema", "provost/schema"),
                ],
                users: Some("provostd"),
                place: place.clone(),
                time,
            },
        ])
    }

    /// When it was committed, as `date` writes it by the option `format`.
    pub(super) fn date(&self, format: &str) -> Result<String> {
        let date = cargo::command("date")
            .args(["-u", "-d", &format!("@{}", self.time), format])
            .env("LC_ALL", "C")
            .output()
            .context("starting date")?;
        Ok(String::from_utf8_lossy(&date.stdout).trim().to_owned())
    }

    /// What it is about, in lines as short as the formats of packages want them, each after
    /// `indent`.
    pub(super) fn about_wrapped(&self, indent: &str) -> String {
        let mut lines = vec![String::new()];
        for word in self.about.split_whitespace() {
            let line = lines.last_mut().expect("there is one from the start");
            if line.is_empty() {
                *line = format!("{indent}{word}");
            } else if line.len() + word.len() < 75 {
                *line += &format!(" {word}");
            } else {
                lines.push(format!("{indent}{word}"));
            }
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// What is run as root after its files have been installed or upgraded: it creates the users, gives
    /// the daemon its data, which an earlier version kept as root, and restarts the daemon if it runs. A
    /// node's run in progress is left alone.
    pub(super) fn after_install(&self) -> String {
        let Some(users) = self.users else { return RELOAD.to_owned() };
        format!(
            "systemd-sysusers {users}.conf\n\
             data=/var/lib/{users}\n\
             if [ -d $data ] && [ \"$(stat -c %U $data)\" != {users} ]; then chown -R {users}:provost $data; fi\n\
             rm -f /etc/systemd/system/*.wants/provost-relay.service\n\
             if [ -d /run/systemd/system ]; then\n\
             systemctl stop provost-relay.service 2>/dev/null || :\n\
             systemctl daemon-reload || :\n\
             systemctl try-restart {users}.service || \
             echo '{users} did not start again; see: systemctl status {users}; {users} check' >&2\nfi\n"
        )
    }

    /// What is run as root before its files are removed, but not before they are upgraded. No boot starts
    /// its units any more, and what runs is stopped.
    pub(super) fn before_removal(&self) -> String {
        let units = self.units.join(" ");
        format!(
            "if command -v systemctl >/dev/null; then systemctl --no-reload disable --now {units} || :; fi\n"
        )
    }

    /// Where the files are put together.
    pub(super) fn root(&self) -> PathBuf {
        self.place.to.join("stage").join(self.name)
    }

    /// Gives all that is below the package's root the commit's time, and modes that don't depend on the umask.
    pub(super) fn settle(&self) -> Result<()> {
        let time = UNIX_EPOCH + Duration::from_secs(self.time);
        let mut left = vec![self.root()];
        while let Some(path) = left.pop() {
            let is_folder = path.is_dir();
            if is_folder {
                left.extend(list(&path)?);
            }
            let is_open = is_folder || path.metadata()?.permissions().mode() & 0o100 != 0;
            let mode = if is_open { 0o755 } else { 0o644 };
            fs::set_permissions(&path, PermissionsExt::from_mode(mode))?;
            fs::File::open(&path)?.set_modified(time)?;
        }
        Ok(())
    }

    /// The same files as a tar ball, to be unpacked at /.
    pub(super) fn tar(&self) -> Result<()> {
        let Place { to, version, target, .. } = &self.place;
        let file = to.join(format!("{}-{version}-{}.tar.gz", self.name, target.rpm()));
        let level = if self.place.is_release { 9 } else { 1 };
        let status = cargo::command("tar")
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"])
            .arg(format!("--use-compress-program=gzip -{level}n"))
            .arg("-cf")
            .arg(&file)
            .arg("-C")
            .arg(self.root())
            .args(["etc", "usr"])
            .status()
            .context("starting tar")?;
        if !status.success() {
            bail!("tar: {status}");
        }
        println!("{}", file.display());
        Ok(())
    }
}

/// Has systemd, where it runs, read the units again: after an installation, and after a removal.
pub(super) const RELOAD: &str =
    "if [ -d /run/systemd/system ]; then systemctl daemon-reload || :; fi\n";

/// What is in a folder, by name.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Packs files of a folder with gzip, with no time in them.
pub(super) fn compress(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    for path in list(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if wanted(&name) {
            cargo::run("gzip", &["-9nf", &path.to_string_lossy()])?;
        }
    }
    Ok(())
}

fn commit_time() -> Result<u64> {
    if let Ok(given) = std::env::var("SOURCE_DATE_EPOCH") {
        return given.parse().context("SOURCE_DATE_EPOCH isn't a number of seconds");
    }
    let out = cargo::command("git").args(["log", "-1", "--format=%ct"]).output();
    let out = out.context("asking git for the time of the commit")?;
    String::from_utf8_lossy(&out.stdout).trim().parse().context("git told no time of a commit")
}
