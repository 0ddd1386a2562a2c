//! Static programs, as nodes and management nodes get them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cargo;

/// Bytes. A node fetches it into memory at every diskless boot.
const LARGEST: u64 = 8_000_000;

/// No library of the node is needed, so that it runs in every image and installer; and random
/// numbers come from the system call, since early in an installer there may be no /dev. It can be
/// loaded anywhere; packed, what it relocates at each start takes 0.2 MB less of file and memory.
const RUSTFLAGS: &str = r#"-C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs --cfg getrandom_backend="linux_getrandom""#;

/// Builds `dist/provost` and checks that it is static, small enough and starts.
pub(crate) fn node(version: Option<&str>) -> Result<()> {
    // Alone, so that no feature that another package asks of a shared dependency comes in.
    let path = build("provost", &["provost"], version)?.remove(0);
    let size = fs::metadata(&path)?.len();
    if size > LARGEST {
        bail!("it is too large: a node's binary has at most {LARGEST} bytes");
    }
    Ok(())
}

/// Builds `dist/provostd` and `dist/provostctl`.
pub(super) fn management_node(version: Option<&str>) -> Result<()> {
    build("provostd", &["provostd"], version)?;
    build("provostctl", &["provostctl"], version)?;
    Ok(())
}

fn build(package: &str, programs: &[&str], version: Option<&str>) -> Result<Vec<PathBuf>> {
    let target = host()?;
    let args = ["-p", package, "--profile", "dist", "--target", &target];
    let flags = rustflags();
    let mut env = vec![("RUSTFLAGS", flags.as_str())];
    env.extend(version.map(|version| ("PROVOST_VERSION", version)));
    let built = cargo::build(&args, &env).context(
        "building a static binary (does the linker miss a libc.a? it is in libc6-dev, or glibc-static)",
    )?;
    let folder = cargo::root().join("dist");
    fs::create_dir_all(&folder)?;
    let mut paths = Vec::new();
    for name in programs {
        let built = built.get(*name).with_context(|| format!("cargo built no program {name}"))?;
        let path = folder.join(name);
        // In place of one that may be running.
        let _ = fs::remove_file(&path);
        fs::copy(built, &path).with_context(|| format!("copying {}", built.display()))?;
        check_static(&path)?;
        let version = output(&path, &["--version"])?;
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

/// The host's target triple; glibc's, whose static binaries also run on musl systems.
fn host() -> Result<String> {
    let about = output("rustc".as_ref(), &["-vV"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    if !host.ends_with("-linux-gnu") {
        bail!("a node's binary is built on Linux with glibc, not on {host:?}");
    }
    Ok(host.to_owned())
}

fn check_static(path: &Path) -> Result<()> {
    // ldd ends with 1 for a program that it has nothing to say about.
    let said = cargo::command("ldd").arg(path).output().context("starting ldd")?;
    let said = [said.stdout, said.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    if !said.contains("statically linked") && !said.contains("not a dynamic executable") {
        bail!("{} is not static: ldd says\n{said}", path.display());
    }
    Ok(())
}

fn output(program: &Path, args: &[&str]) -> Result<String> {
    let name = program.display();
    let out = cargo::command(&program.to_string_lossy())
        .args(args)
        .output()
        .with_context(|| format!("starting {name}"))?;
    if !out.status.success() {
        bail!("{name} {}: {}", args.join(" "), out.status);
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
