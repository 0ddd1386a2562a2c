//! RPM packages, by rpmbuild.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::deb::MAINTAINER;
use super::package::{Package, RELOAD, list};
use crate::cargo;

/// Builds the package of what is put together.
pub(super) fn build(package: &Package) -> Result<()> {
    let work = tempfile::tempdir()?;
    let spec = work.path().join(format!("{}.spec", package.name));
    fs::write(&spec, text(package)?)?;
    let architecture = package.place.target.rpm();
    let define = |name: &str, value: &Path| format!("{name} {}", value.display());
    let mut command = cargo::command("rpmbuild");
    if !package.place.is_release {
        // As in the other format: not compressed.
        command.args(["--define", "_binary_payload w.ufdio"]);
    }
    let status = command
        .env("SOURCE_DATE_EPOCH", package.time.to_string())
        .args(["-bb", "--quiet", "--target", architecture])
        .args(["--define", &define("_topdir", work.path())])
        .args(["--define", "use_source_date_epoch_as_buildtime 1"])
        .args(["--define", "clamp_mtime_to_source_date_epoch 1"])
        .args(["--define", "_buildhost provost"])
        .args(["--define", &define("_rpmdir", &work.path().join("done"))])
        .args(["--buildroot".as_ref(), work.path().join("root").as_os_str()])
        .arg(&spec)
        .status()
        .context("starting rpmbuild")?;
    if !status.success() {
        bail!("rpmbuild: {status}");
    }
    let name = format!("{}-{}-1.{architecture}.rpm", package.name, package.place.version);
    let file = package.place.to.join(&name);
    fs::copy(work.path().join("done").join(architecture).join(&name), &file)
        .with_context(|| format!("looking for {name}"))?;
    println!("{}", file.display());
    Ok(())
}

fn text(package: &Package) -> Result<String> {
    let root = package.root();
    let mut files = String::new();
    collect(&root, &root, &mut files)?;
    let Package { name, summary, place, .. } = package;
    let version = &place.version;
    let (about, date) = (package.about_wrapped(""), package.date("+%a %b %d %Y")?);
    // An upgrade runs the scripts of both versions, with the number of those that are left.
    let if_last = |commands: &str| format!("if [ \"$1\" = 0 ]; then\n{commands}fi\n");
    let (after, before) = (package.after_install(), if_last(&package.before_removal()));
    let removed = if_last(RELOAD);
    Ok(format!(
        "%global debug_package %{{nil}}\n\
         %global __os_install_post %{{nil}}\n\
         %global _build_id_links none\n\
         Name: {name}\nVersion: {version}\nRelease: 1\nSummary: {summary}\nLicense: Apache-2.0\n\
         Group: Applications/System\n\
         Packager: {MAINTAINER}\n\
         AutoReqProv: no\n\n\
         %description\n{about}\n\
         %install\nmkdir -p %{{buildroot}}\ncp -a '{}/.' %{{buildroot}}\n\n\
         %post\n{after}\n\
         %preun\n{before}\n\
         %postun\n{removed}\n\
         %files\n{files}\n\
         %changelog\n* {date} {MAINTAINER} - {version}-1\n- Initial release.\n",
        root.display()
    ))
}

/// The files, each with what rpm has to know of it.
fn collect(root: &Path, folder: &Path, files: &mut String) -> Result<()> {
    for path in list(folder)? {
        if path.is_dir() {
            collect(root, &path, files)?;
            continue;
        }
        let name = format!("/{}", path.strip_prefix(root)?.display());
        let kind = match &*name {
            name if name.starts_with("/etc/") => "%config(noreplace) ",
            name if name.starts_with("/usr/share/doc/") => "%doc ",
            _ => "",
        };
        let mode = path.metadata()?.permissions().mode() & 0o777;
        files.push_str(&format!("%attr(0{mode:o}, root, root) {kind}{name}\n"));
    }
    Ok(())
}
