//! Debian packages, by dpkg-deb.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::package::{Package, RELOAD, compress};
use crate::cargo;

/// Who answers for the packages.
pub(super) const MAINTAINER: &str = "Provost developers <provost@users.noreply.github.com>";

/// Builds the package of what is put together.
pub(super) fn build(package: &Package) -> Result<()> {
    let (root, name) = (package.root(), package.name);
    let doc = root.join("usr/share/doc").join(name);
    fs::write(doc.join("copyright"), COPYRIGHT)?;
    fs::remove_file(doc.join("LICENSE"))?;
    // Debian has zsh look elsewhere.
    let zsh = root.join("usr/share/zsh");
    fs::rename(zsh.join("site-functions"), zsh.join("vendor-completions"))?;
    let date = package.date("--rfc-email")?;
    let version = format!("{}-1", package.place.version);
    fs::write(
        doc.join("changelog.Debian"),
        format!(
            "{name} ({version}) unstable; urgency=medium\n\n  * Initial release.\n\n -- {MAINTAINER}  {date}\n"
        ),
    )?;
    compress(&doc, |name| name == "changelog.Debian")?;
    let overrides = root.join("usr/share/lintian/overrides");
    fs::create_dir_all(&overrides)?;
    fs::write(overrides.join(name), overrides_of(name))?;
    control(package, &version, &root.join("DEBIAN"))?;
    package.settle()?;
    let architecture = package.place.target.deb();
    let file = package.place.to.join(format!("{name}_{version}_{architecture}.deb"));
    let packing = if package.place.is_release { ["-Zxz", "-z6"] } else { ["-Zgzip", "-z1"] };
    let status = cargo::command("dpkg-deb")
        .env("SOURCE_DATE_EPOCH", package.time.to_string())
        .arg("--root-owner-group")
        .args(packing)
        .arg("--build")
        .args([&root, &file])
        .status()
        .context("starting dpkg-deb")?;
    if !status.success() {
        bail!("dpkg-deb: {status}");
    }
    if package.place.is_release {
        lint(&file)?;
    }
    println!("{}", file.display());
    // What follows starts from what all packages share.
    package.stage()
}

fn control(package: &Package, version: &str, folder: &Path) -> Result<()> {
    let architecture = package.place.target.deb();
    let size = size(&package.root())?.div_ceil(1024);
    fs::create_dir_all(folder)?;
    let about = package.about_wrapped(" ");
    let depends = if package.name == "provost" {
        ""
    } else {
        "Depends: systemd | systemd-standalone-sysusers\n"
    };
    let text = format!(
        "Package: {}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {size}\nSection: admin\nPriority: optional\n{depends}Description: {}\n{about}",
        package.name, package.summary,
    );
    fs::write(folder.join("control"), text)?;
    fs::write(folder.join("conffiles"), format!("/etc/provost/{}\n", package.config))?;
    for (name, when, commands) in [
        ("postinst", "configure", package.after_install()),
        ("prerm", "remove", package.before_removal()),
        ("postrm", "remove", RELOAD.to_owned()),
    ] {
        let script = folder.join(name);
        let text = format!("#!/bin/sh\nset -e\nif [ \"$1\" = {when} ]; then\n{commands}fi\n");
        fs::write(&script, text)?;
        fs::set_permissions(script, PermissionsExt::from_mode(0o755))?;
    }
    sums(&package.root(), folder)
}

/// What dpkg checks installed files by.
fn sums(root: &Path, control: &Path) -> Result<()> {
    let script = "find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum";
    let out = cargo::command("sh").args(["-c", script]).current_dir(root).output()?;
    if !out.status.success() {
        bail!("md5sum: {}", out.status);
    }
    Ok(fs::write(control.join("md5sums"), out.stdout)?)
}

fn size(path: &Path) -> Result<u64> {
    if !path.is_dir() {
        return Ok(fs::metadata(path)?.len());
    }
    super::package::list(path)?.iter().map(|path| size(path)).sum()
}

/// What lintian may say, with the reason.
fn overrides_of(name: &str) -> String {
    let node = match name {
        "provost" => "usr/bin/provost",
        _ => "usr/lib/provost/programs/*/provost",
    };
    let (programs, that_try): (&[&str], &[&str]) = match name {
        "provost" => (&[node], &[node]),
        _ => (&["usr/bin/provostctl", "usr/bin/provostd", node], &["usr/bin/provostctl", node]),
    };
    let mut text = "# One static file that runs in every image and installer.\n".to_owned();
    for program in programs {
        text += &format!("{name}: shared-library-lacks-prerequisites [{program}]\n");
    }
    text += "# The shell library waits for dpkg's lock; a dry run says which packages it would change.\n";
    for program in that_try {
        text += &format!("{name}: uses-dpkg-database-directly [{program}]\n");
    }
    if name == "provost-server" {
        text += "# The same scripts as in the RPM package.\n";
        text += &format!("{name}: maintainer-script-calls-systemctl *\n");
        text += "# Once, of a folder that isn't the daemon's yet, such as that of an unpacked tar ball.\n";
        text += &format!("{name}: recursive-privilege-change *\n");
    }
    text + &format!("# It isn't in Debian's archive.\n{name}: initial-upload-closes-no-bugs *\n")
}

fn lint(file: &Path) -> Result<()> {
    if !cargo::is_there("lintian") {
        println!("SKIPPED: lintian isn't here, so nobody looks after {}", file.display());
        return Ok(());
    }
    let file = file.to_string_lossy();
    cargo::run("lintian", &["--fail-on", "error,warning", "--allow-root", &file])
}

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: provost
Comment: THIRD-PARTY-NOTICES.txt names the libraries in the programs, with their licences.

Files: *
Copyright: 2026 Provost developers
License: Apache-2.0
 On Debian systems, the complete text of the Apache License, Version 2.0, is
 in /usr/share/common-licenses/Apache-2.0.
";
