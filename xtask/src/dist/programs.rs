//! Static programs, as nodes and management nodes get them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::target::{Target, output};
use crate::cargo;

/// No library of the node is needed, so that it runs in every image and installer; and random
/// numbers come from the system call, since early in an installer there may be no /dev. It can be
/// loaded anywhere; packed, what it relocates at each start takes 0.2 MB less of file and memory.
const RUSTFLAGS: &str = r#"-C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs --cfg getrandom_backend="linux_getrandom""#;

/// Builds `dist/provost` and checks that it is static, small enough and starts, if it can here.
pub(crate) fn node(target: &Target, version: Option<&str>) -> Result<()> {
    // Alone, so that no feature that another package asks of a shared dependency comes in.
    let path = build(target, "provost", &["provost"], version)?.remove(0);
    let (size, largest) = (fs::metadata(&path)?.len(), target.largest_node());
    if size > largest {
        bail!("it is too large: a node's binary has at most {largest} bytes");
    }
    Ok(())
}

/// Builds `dist/provostd` and `dist/provostctl`.
pub(super) fn management_node(target: &Target, version: Option<&str>) -> Result<()> {
    build(target, "provostd", &["provostd"], version)?;
    build(target, "provostctl", &["provostctl"], version)?;
    Ok(())
}

fn build(
    target: &Target,
    package: &str,
    programs: &[&str],
    version: Option<&str>,
) -> Result<Vec<PathBuf>> {
    let args = ["-p", package, "--profile", "dist", "--target", &target.triple];
    let (flags, variables) = (rustflags(), target.variables());
    let mut env = vec![("RUSTFLAGS", flags.as_str())];
    env.extend(variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    env.extend(version.map(|version| ("PROVOST_VERSION", version)));
    let built = cargo::build(&args, &env).context(
        "building a static binary (does the linker miss a libc.a? it is in libc6-dev, or glibc-static)",
    )?;
    let folder = target.folder();
    fs::create_dir_all(&folder)?;
    let mut paths = Vec::new();
    for name in programs {
        let built = built.get(*name).with_context(|| format!("cargo built no program {name}"))?;
        let path = folder.join(name);
        // In place of one that may be running.
        let _ = fs::remove_file(&path);
        fs::copy(built, &path).with_context(|| format!("copying {}", built.display()))?;
        check_static(&path)?;
        let version = if target.is_host {
            output(&path, &["--version"])?
        } else {
            format!("for {}, not started here", target.triple)
        };
        let size = fs::metadata(&path)?.len();
        println!("{}: {}, static, {size} bytes", path.display(), version.trim());
        paths.push(path);
    }
    Ok(paths)
}

/// With names of folders that are the same wherever it is built.
fn rustflags() -> String {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let home =
        home.map_or(String::new(), |home| format!(" --remap-path-prefix={}=cargo", home.display()));
    let root = cargo::root().display();
    format!("{RUSTFLAGS} --remap-path-prefix={root}=provost{home}")
}

fn check_static(path: &Path) -> Result<()> {
    // ldd(1) knows programs of this architecture alone.
    let said = cargo::command("readelf").arg("-lW").arg(path).env("LC_ALL", "C").output();
    let said = said.context("starting readelf")?;
    let said = String::from_utf8_lossy(&said.stdout);
    if !said.contains("Program Headers") || said.contains("INTERP") {
        bail!("{} is not static: readelf says\n{said}", path.display());
    }
    Ok(())
}
