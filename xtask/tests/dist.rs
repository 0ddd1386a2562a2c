//! `cargo xtask dist --target T` where nothing can be built for T.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A toolchain that has nothing but what this machine needs.
const RUSTC: &str = "#!/bin/sh
case $* in
*target-libdir*) echo /nowhere ;;
*) echo 'host: x86_64-unknown-linux-gnu' ;;
esac
";

#[test]
fn a_target_that_the_toolchain_lacks_ends_with_2_and_one_line_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let rustc = folder.path().join("rustc");
    std::fs::write(&rustc, RUSTC).unwrap();
    std::fs::set_permissions(&rustc, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    for (target, why) in [
        ("powerpc64le-unknown-linux-gnu", "this toolchain has no standard library for it"),
        ("sparc64-unknown-linux-gnu", "expected one of x86_64-unknown-linux-gnu, "),
    ] {
        let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
        let out = xtask.args(["dist", "--target", target]).env("PATH", &path).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.starts_with(&format!("error: can't build for {target:?}: {why}")), "{said}");
        assert_eq!((said.lines().count(), out.stdout.len()), (1, 0), "{said}");
    }
}
