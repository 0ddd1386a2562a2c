use std::process::Command;

use crate::cargo;

/// A program that steps use; Debian's package has the same name.
struct Tool {
    name: &'static str,
    needed: bool,
    what_for: &'static str,
}

const TOOLS: [Tool; 6] = [
    Tool { name: "shellcheck", needed: true, what_for: "looks for mistakes in shell scripts" },
    Tool { name: "shfmt", needed: true, what_for: "checks the format of shell scripts" },
    Tool { name: "minisign", needed: true, what_for: "checks our signatures by the stock tool" },
    Tool { name: "debootstrap", needed: false, what_for: "makes the root that postscripts run in" },
    Tool { name: "openssh-server", needed: false, what_for: "is how an admin reaches nodes" },
    Tool { name: "jq", needed: false, what_for: "is what the benchmark of records compares with" },
];

/// What says whether installers understand our kickstart files; Debian has no package of it.
const KSVALIDATOR: &str = "target/python/bin/ksvalidator";

/// Installs the tools that aren't here, where it may; says which are still missing, and returns
/// those without which the tests don't count.
pub(super) fn install_missing() -> Vec<&'static str> {
    install_ksvalidator();
    let missing = || TOOLS.iter().filter(|tool| !cargo::is_there(tool.name));
    let names: Vec<&str> = missing().map(|tool| tool.name).collect();
    if names.is_empty() {
        println!("all here");
        return Vec::new();
    }
    if rustix::process::geteuid().is_root() && cargo::is_there("apt-get") {
        // A failure shows in what is missing afterwards.
        let _ = apt_get(&["update"]) && apt_get(&[&["install", "--yes"], &names[..]].concat());
    } else {
        println!("not installed by this, which takes root and apt-get: {}", names.join(" "));
    }
    for Tool { name, needed, what_for } in missing() {
        println!("MISSING{}: {name}, which {what_for}", if *needed { "" } else { " (optional)" });
    }
    missing().filter(|tool| tool.needed).map(|tool| tool.name).collect()
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

fn apt_get(args: &[&str]) -> bool {
    println!("apt-get {}", args.join(" "));
    let status = Command::new("apt-get")
        .args(["--quiet", "--quiet"])
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status();
    status.is_ok_and(|status| status.success())
}
