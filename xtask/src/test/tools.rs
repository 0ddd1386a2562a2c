use std::process::Command;

use crate::cargo;

/// A program that steps use.
struct Tool {
    name: &'static str,
    /// Debian's package of it.
    package: &'static str,
    needed: bool,
    what_for: &'static str,
}

const TOOLS: [Tool; 23] = [
    tool("shellcheck", "shellcheck", true, "looks for mistakes in shell scripts"),
    tool("shfmt", "shfmt", true, "checks the format of shell scripts"),
    tool("minisign", "minisign", true, "checks our signatures by the stock tool"),
    tool("busybox", "busybox", true, "is a shell that the shell library has to work in"),
    tool("strace", "strace", false, "kills nodes at the system calls of their runs"),
    tool("nginx", "nginx-light", false, "is a real web server with a file that it may not read"),
    tool("varnishd", "varnish", false, "is a real cache between nodes and the management node"),
    tool("apache2", "apache2-bin", false, "is the web server of xCAT's management nodes"),
    tool("debootstrap", "debootstrap", true, "makes the roots of machines and postscripts"),
    tool("qemu-system-x86_64", "qemu-system-x86", true, "is the machine that boots"),
    tool("cpio", "cpio", true, "packs what a machine boots"),
    tool("zstd", "zstd", true, "makes that smaller"),
    tool("mke2fs", "e2fsprogs", true, "makes a machine's disk"),
    tool("sshd", "openssh-server", false, "is how an admin reaches nodes"),
    tool("gawk", "gawk", false, "is what xCAT's nodes say their status by"),
    tool("original-awk", "original-awk", false, "is an awk that a node may have"),
    tool("openssl", "openssl", false, "is what they fetch their scripts' environment by"),
    tool("jq", "jq", false, "is what the benchmark of records compares with"),
    tool("initdb", "postgresql", true, "makes the database that daemons share"),
    tool("chromium", "chromium", false, "is the browser that the web page is tested in"),
    tool("chromedriver", "chromium-driver", false, "is how tests use that"),
    tool("promtool", "prometheus", false, "checks the alert rules"),
    tool("faketime", "faketime", false, "steps the wall clock under a run"),
];

const fn tool(
    name: &'static str,
    package: &'static str,
    needed: bool,
    what_for: &'static str,
) -> Tool {
    Tool { name, package, needed, what_for }
}

/// What says whether installers understand our kickstart files; Debian has no package of it.
const KSVALIDATOR: &str = "target/python/bin/ksvalidator";

/// Installs the tools that aren't here, where it may; says which are still missing, and returns
/// those without which the tests don't count.
pub(super) fn install_missing() -> Vec<&'static str> {
    install_ksvalidator();
    unpack_busybox_static();
    let missing = || TOOLS.iter().filter(|tool| !is_there(tool.name));
    let names: Vec<&str> = missing().map(|tool| tool.package).collect();
    if names.is_empty() {
        println!("all here");
        return Vec::new();
    }
    if rustix::process::geteuid().is_root() && cargo::is_there("apt-get") {
        // A failure shows in what is missing afterwards.
        // Nothing that is only recommended: an emulator would bring a desktop along.
        let install = ["install", "--yes", "--no-install-recommends"];
        let _ = apt_get(&["update"]) && apt_get(&[&install[..], &names].concat());
    } else {
        println!("not installed by this, which takes root and apt-get: {}", names.join(" "));
    }
    for Tool { name, needed, what_for, .. } in missing() {
        println!("MISSING{}: {name}, which {what_for}", if *needed { "" } else { " (optional)" });
    }
    missing().filter(|tool| tool.needed).map(|tool| tool.name).collect()
}

/// Whether `program` is on the path, or where Debian has the programs of a PostgreSQL server.
fn is_there(program: &str) -> bool {
    let servers = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    cargo::is_there(program)
        || servers.into_iter().any(|version| version.path().join("bin").join(program).is_file())
}

fn install_ksvalidator() {
    if cargo::is_there("ksvalidator") || cargo::root().join(KSVALIDATOR).exists() {
        return;
    }
    let done = |program: &str, args: &[&str]| {
        cargo::command(program).args(args).status().is_ok_and(|status| status.success())
    };
    let here = done("python3", &["-m", "venv", "target/python"])
        && done("target/python/bin/pip", &["install", "--quiet", "pykickstart"]);
    if !here {
        println!("MISSING (optional): pykickstart, which checks our kickstart files");
    }
}

/// Debian's static busybox, which has other applets than the usual one and can't be installed beside
/// it: `target/busybox-static`.
fn unpack_busybox_static() {
    let folder = cargo::root().join("target/busybox-static");
    let line = "rm -rf new && mkdir new && cd new && apt-get --quiet --quiet download busybox-static && \
                dpkg-deb --extract busybox-static_*.deb . && rm *.deb && cd .. && mv new busybox-static";
    let target = cargo::root().join("target");
    let is_there = folder.join("bin/busybox").exists()
        || std::fs::create_dir_all(&target).is_ok()
            && Command::new("sh")
                .args(["-c", line])
                .current_dir(&target)
                .status()
                .is_ok_and(|s| s.success());
    if !is_there {
        println!(
            "MISSING (optional): busybox-static, which the shell library has to work in as well"
        );
    }
}

fn apt_get(args: &[&str]) -> bool {
    println!("apt-get {}", args.join(" "));
    let status = Command::new("apt-get")
        .args(["--quiet", "--quiet"])
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status();
    status.is_ok_and(|status| status.success())
}
