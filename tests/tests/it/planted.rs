//! Something else stands in the place of a file that a program reads: a pipe that nobody writes to, or
//! a file of 20 GB that takes no room. Nothing waits for it, and nothing reads it all.

use std::path::{Path, PathBuf};

use provost_tests::{Cluster, Node, Out, pipe, program};

/// Ends what it runs after this, in seconds: more than anything here takes on a busy machine.
const LIMITED: [&str; 4] = ["timeout", "-s", "KILL", "20"];
/// Longer than any file of a node, in bytes.
const HUGE: u64 = 20 << 30;

/// The regular files below `folder`, by their paths from there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap()) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    files.push(entry.path().strip_prefix(folder).unwrap().to_owned());
                }
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// Runs a command that must neither hang nor crash. Returns what it printed.
#[track_caller]
fn ends(node: &Node, args: &[&str], story: &str) -> String {
    let out = node.command_by(&LIMITED, args).output().unwrap();
    let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    let code = out.status.code().unwrap_or_else(|| panic!("{story}: provost {args:?} hangs"));
    assert!((0..=4).contains(&code), "{story}: provost {args:?}: {code}\n{said}");
    // Whatever keeps it from its work is named, with what to do about it.
    if code == 2 {
        assert!(said.contains("hint: "), "{story}: provost {args:?}\n{said}");
    }
    said
}

/// A node after a boot in which one step succeeded and one failed.
fn cluster() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/bash\n# /// provost\n# when = \"once\"\n# ///\ntrue\n");
    cluster.script("two", "#!/bin/bash\nfalse\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\", \"two\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&format!("{settings}[guard]\nmax_attempts = 1000\n"));
    node.provost(&["boot"]).expect(1);
    (cluster, node)
}

#[test]
fn a_pipe_or_20_gb_of_nothing_in_the_place_of_any_file_of_a_boot_hangs_nothing() {
    let (_cluster, node) = cluster();
    let [own, kept, out] = ["own", "kept", "out"].map(|name| node.path(name));
    std::fs::create_dir(&own).unwrap();
    std::fs::create_dir(&out).unwrap();
    let copy = |from: &Path, to: &Path| {
        let copied = std::process::Command::new("cp").arg("-a").args([from, to]).status();
        assert!(copied.unwrap().success());
    };
    for name in ["state", "log"] {
        copy(&node.path(name), &own);
    }
    std::fs::rename(&own, &kept).unwrap();
    let files = files(&kept);
    assert!(files.len() > 15, "{files:#?}");
    let out = out.to_str().unwrap();
    for file in files {
        for kind in ["a pipe", "20 GB"] {
            for name in ["state", "log"] {
                std::fs::remove_dir_all(node.path(name)).unwrap();
                copy(&kept.join(name), &node.path(name));
            }
            let story = format!("{kind} at {}", file.display());
            let path = node.path(file.to_str().unwrap());
            std::fs::remove_file(&path).unwrap();
            match kind {
                "a pipe" => pipe(&path),
                _ => std::fs::File::create(&path).unwrap().set_len(HUGE).unwrap(),
            }
            // Those that change nothing come first.
            let looks: [&[&str]; 5] =
                [&["status"], &["log"], &["analyze"], &["gather", "--to", out], &["report"]];
            for args in looks {
                ends(&node, args, &story);
            }
            let said = ends(&node, &["boot"], &story);
            let began = said.contains("boot of cn001 begins");
            assert!(began || said.contains(path.to_str().unwrap()), "{story}:\n{said}");
            ends(&node, &["status"], &story);
        }
    }
}

/// Ends what it runs like [`LIMITED`], and gives it less memory than what stands there would take, in KiB.
const MEMORY: &str = "ulimit -v 4000000; exec timeout -s KILL 20 \"$@\"";

/// Puts a pipe, a link to one, a file of 20 GB and one of 40 MB of nested tables in the place of the file at
/// `path`, one after the other, and puts it back.
fn replaced(path: &Path, mut with: impl FnMut(&str)) {
    let kept = path.with_extension("kept");
    let is_there = std::fs::rename(path, &kept).is_ok();
    let elsewhere = path.with_extension("elsewhere");
    pipe(&elsewhere);
    for kind in ["a pipe", "a link to a pipe", "20 GB", "a bomb"] {
        match kind {
            "a pipe" => pipe(path),
            "a link to a pipe" => std::os::unix::fs::symlink(&elsewhere, path).unwrap(),
            "20 GB" => std::fs::File::create(path).unwrap().set_len(HUGE).unwrap(),
            _ => {
                let tables =
                    (0..1 << 20).map(|n| format!("[a{n}.b.c.d.e.f.g.h]\nx.y.z = [[[]]]\n"));
                std::fs::write(path, tables.collect::<String>()).unwrap();
            }
        }
        with(&format!("{kind} at {}", path.display()));
        std::fs::remove_file(path).unwrap();
    }
    std::fs::remove_file(elsewhere).unwrap();
    if is_there {
        std::fs::rename(kept, path).unwrap();
    }
}

#[test]
fn what_an_admin_or_the_system_gives_a_node_hangs_no_boot_and_fills_no_memory() {
    let (cluster, node) = cluster();
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    let (ca, join) = (node.path("ca.pem"), node.path("join"));
    std::fs::create_dir(node.path("provost.d")).unwrap();
    std::fs::create_dir(node.path("xcat")).unwrap();
    for (file, more) in [
        (node.path("token"), String::new()),
        (join.clone(), format!("join_file = {join:?}\n")),
        (ca.clone(), String::new()),
        (node.path("provost.d/10.toml"), String::new()),
        (node.path("xcat/xcatinfo"), String::new()),
        (node.path("provost.toml"), String::new()),
    ] {
        let fetch = if file == ca { format!("[fetch]\nca = {ca:?}\n") } else { String::new() };
        node.configure(&format!("{more}{settings}[guard]\nmax_attempts = 1000\n{fetch}"));
        replaced(&file, |story| {
            // Without its configuration a run would be of this machine.
            let looks: &[&[&str]] = &[&["check"], &["status"]];
            let runs: &[&[&str]] = &[&["boot"], &["report"]];
            let runs = if file.ends_with("provost.toml") { &[] } else { runs };
            for args in [looks, runs].concat() {
                let by = ["sh", "-c", MEMORY, "sh"];
                let out = node.command_by(&by, args).output().unwrap();
                let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
                let code = out.status.code();
                assert!(
                    code.is_some_and(|code| (0..=4).contains(&code)),
                    "{story}: provost {args:?}: {:?}\n{said}",
                    out.status
                );
                let is_named = said.contains(file.to_str().unwrap()) && said.contains("hint: ");
                if *args == ["check"] && !file.ends_with("xcatinfo") {
                    assert!(is_named, "{story}: {said}");
                }
            }
        });
    }
}

#[test]
fn what_an_admin_gives_the_management_node_hangs_no_command_and_fills_no_memory() {
    let mut cluster = Cluster::new();
    cluster.start();
    cluster.kill_daemon();
    let config = cluster.path("provostd.toml");
    let run = |name: &str, args: &[&str], story: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", MEMORY, "sh"]).arg(program(name)).args(args);
        let out: Out = command.output().unwrap().into();
        // Nothing that waited, or had no memory.
        assert!([Some(1), Some(2)].contains(&out.code), "{story}: {name} {args:?}: {out:?}");
        assert!(out.stderr.contains("hint: "), "{story}: {name} {args:?}: {out:?}");
    };
    let site = config.display().to_string();
    let start = ["--config", &site];
    let backup = cluster.path("backup").display().to_string();
    replaced(&config, |story| {
        run("provostd", &start, story);
        run("provostctl", &["backup", "--to", &backup, "--config", &site], story);
    });
    for name in ["authority.key", "authority.pem"] {
        replaced(&cluster.path("provostd/ca").join(name), |story| run("provostd", &start, story));
    }
}
