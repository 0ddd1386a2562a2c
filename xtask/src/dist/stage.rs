//! The files of a package, put together where they are installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::package::{Package, compress, list};
use super::{links, sbom};
use crate::{cargo, notices};

impl Package {
    /// Puts the files together.
    pub(super) fn stage(&self) -> Result<()> {
        let root = self.root();
        if root.exists() {
            fs::remove_dir_all(&root).context("removing what was put together before")?;
        }
        let source = cargo::root();
        for name in self.programs {
            self.program(name, &format!("usr/bin/{name}"))?;
            for (from, to) in [
                (format!("{name}.bash"), format!("usr/share/bash-completion/completions/{name}")),
                (format!("_{name}"), format!("usr/share/zsh/site-functions/_{name}")),
                (
                    format!("{name}.fish"),
                    format!("usr/share/fish/vendor_completions.d/{name}.fish"),
                ),
            ] {
                self.put(&source.join("docs/completions").join(from), &to)?;
            }
        }
        for name in self.served {
            // The architecture is called as `uname -m` does: [node] programs of provostd.toml.
            let folder = format!("usr/lib/provost/programs/{}", self.place.target.rpm());
            self.program(name, &format!("{folder}/{name}"))?;
        }
        for page in list(&source.join("docs/man"))? {
            let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A command's, or a file's.
            let of = name.split(['-', '.']).next().unwrap_or_default();
            if self.programs.contains(&of) && name.ends_with(".8") {
                self.put(&page, &format!("usr/share/man/man8/{name}"))?;
            } else if self.manuals.contains(&&*name) {
                self.put(&page, &format!("usr/share/man/man5/{name}"))?;
            }
        }
        for unit in self.units {
            self.put(&source.join("units").join(unit), &format!("usr/lib/systemd/system/{unit}"))?;
        }
        if let Some(users) = self.users {
            let to = format!("usr/lib/sysusers.d/{users}.conf");
            self.put(&source.join("units").join(format!("{users}.sysusers")), &to)?;
        }
        for (from, to) in self.shared {
            self.put(&source.join(from), &format!("usr/share/{to}"))?;
        }
        let doc = format!("usr/share/doc/{}", self.name);
        for name in self.examples {
            let from = source.join("dist/examples").join(name);
            self.put(&from, &format!("{doc}/examples/{name}"))?;
        }
        let config = source.join("xtask/packages").join(self.config);
        self.put(&config, &format!("etc/provost/{}", self.config))?;
        self.put(&source.join("CHANGELOG.md"), &format!("{doc}/changelog"))?;
        self.put(&source.join("LICENSE"), &format!("{doc}/LICENSE"))?;
        self.put(&source.join(notices::NAME), &format!("{doc}/{}", notices::NAME))?;
        fs::write(root.join(&doc).join(format!("{}.cdx.json", self.name)), sbom::text(self)?)?;
        links::settle(&root)?;
        for section in ["man5", "man8"] {
            compress(&root.join("usr/share/man").join(section), |_| true)?;
        }
        compress(&root.join(doc), |name| name == "changelog")?;
        self.settle()
    }

    /// Puts a program in its place; of one that isn't built for a release, without what only debuggers
    /// read, which is most of it.
    fn program(&self, name: &str, to: &str) -> Result<()> {
        self.put(&self.place.programs.join(name), to)?;
        if !self.place.is_release {
            cargo::run("strip", &[self.root().join(to).to_string_lossy()])?;
        }
        Ok(())
    }

    /// Puts a file, or a folder with all that is for users, in its place.
    fn put(&self, from: &Path, to: &str) -> Result<()> {
        if from.is_dir() {
            for path in list(from)? {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                // Man pages and completions have places of their own; the rest is for developers.
                let is_for_users = !name.starts_with('.')
                    && !["man", "completions", "postscripts.awk", "shell-library.awk"]
                        .contains(&&*name);
                if is_for_users {
                    self.put(&path, &format!("{to}/{name}"))?;
                }
            }
            return Ok(());
        }
        let to = self.root().join(to);
        let copying = || format!("copying {}", from.display());
        fs::create_dir_all(to.parent().unwrap_or(&to))?;
        if from.extension().is_some_and(|extension| extension == "md") {
            // The samples stand beside the pages, without a folder for what is given away.
            let text = fs::read_to_string(from).with_context(copying)?;
            fs::write(&to, text.replace("dist/examples", "examples"))?;
        } else {
            fs::copy(from, &to).with_context(copying)?;
        }
        let is_program = from.metadata().with_context(copying)?.permissions().mode() & 0o100 != 0;
        let mode = if is_program { 0o755 } else { 0o644 };
        Ok(fs::set_permissions(&to, PermissionsExt::from_mode(mode))?)
    }
}
