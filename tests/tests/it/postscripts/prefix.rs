//! Scripts that work in a folder instead of in `/`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Each script, what it cannot do without, and the file that it makes.
const SCRIPTS: [(&str, &str, &str); 5] = [
    ("hostname", "NODE", "etc/hostname"),
    ("mkresolvconf", "NAMESERVERS", "etc/resolv.conf"),
    ("motd", "NODE", "etc/motd.d/50-node"),
    ("setupntp", "NTPSERVERS", "etc/chrony.conf"),
    ("syslog", "MASTER", "etc/rsyslog.d/30-management-node.conf"),
];

const SITE: [(&str, &str); 8] = [
    ("NODE", "cn001"),
    ("GROUP", "compute,rack1"),
    ("OSVER", "rocky9"),
    ("ARCH", "x86_64"),
    ("NAMESERVERS", "10.0.0.1, 10.0.0.2"),
    ("DOMAIN", "cluster.example"),
    ("NTPSERVERS", "10.0.0.1"),
    ("MASTER", "10.0.0.1"),
];

/// Where the scripts find commands, and our shell library.
const PATH: &str =
    concat!("/usr/sbin:/usr/bin:/sbin:/bin:", env!("CARGO_MANIFEST_DIR"), "/../lib-sh");

fn path_of(script: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../postscripts").join(script)
}

/// Runs `script` with `root` as its root, as the working directory, and with `env` alone.
fn run(script: &str, root: &Path, env: &BTreeMap<&str, String>) -> Output {
    Command::new(path_of(script))
        .env_clear()
        .env("PATH", PATH)
        .env("PROVOST_ROOT", root)
        .envs(env)
        .current_dir(root)
        .output()
        .unwrap()
}

fn site() -> BTreeMap<&'static str, String> {
    SITE.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every file under `root`, with its text.
fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(tree(&path));
        } else {
            files.insert(path.clone(), text(&fs::read(&path).unwrap()));
        }
    }
    files
}

/// A refusal that an admin can act on: a status, and the hint as the last line.
fn assert_refused(out: &Output, what: &str) {
    let stderr = text(&out.stderr);
    assert!(!out.status.success(), "{what} was taken");
    assert!(stderr.lines().last().unwrap_or_default().starts_with("hint: "), "{what}: {stderr}");
}

#[test]
fn a_second_run_has_nothing_to_change() {
    for (script, _, file) in SCRIPTS {
        let root = tempfile::tempdir().unwrap();
        let first = run(script, root.path(), &site());
        assert!(first.status.success(), "{script}: {}", text(&first.stderr));
        assert!(
            text(&first.stdout)
                .contains(&format!("changed: wrote {}", root.path().join(file).display()))
        );
        let made = tree(root.path());
        assert_eq!(made.keys().collect::<Vec<_>>(), [&root.path().join(file)], "{script}");

        let second = run(script, root.path(), &site());
        assert!(second.status.success(), "{script}: {}", text(&second.stderr));
        assert!(text(&second.stdout).starts_with("nothing to change"), "{script}");
        assert_eq!(tree(root.path()), made, "{script}");
    }
}

#[test]
fn what_is_missing_is_named_and_nothing_is_written() {
    for (script, needed, _) in SCRIPTS {
        let root = tempfile::tempdir().unwrap();
        let mut env = site();
        for name in [needed, "MASTER"] {
            env.remove(name);
        }
        let out = run(script, root.path(), &env);
        assert_refused(&out, script);
        assert!(text(&out.stderr).contains(&format!("{needed} ")), "{}", text(&out.stderr));
        assert!(tree(root.path()).is_empty(), "{script}");
    }
}

#[test]
fn hostile_values_do_not_break_out() {
    let hostile = [
        "x\ninjected",
        "10.0.0.1 \ninjected",
        "10.0.0.1\r\ninjected",
        "$(touch pwned)",
        "`touch pwned`",
        "a\"b'; touch pwned; '",
        "x\") action(type=\"omprog\" binary=\"/bin/sh\")",
        "a b",
        "*",
        "-rf",
        "../../x",
        "\x1b[2J",
        " ",
    ];
    for (script, _, _) in SCRIPTS {
        let source = fs::read_to_string(path_of(script)).unwrap();
        for (name, _) in SITE.iter().filter(|(name, _)| source.contains(name)) {
            for value in hostile {
                let root = tempfile::tempdir().unwrap();
                let mut env = site();
                env.insert(name, value.to_owned());
                let out = run(script, root.path(), &env);
                let what = format!("{script} with {name}={value:?}");
                if !out.status.success() {
                    assert_refused(&out, &what);
                }
                for (path, text) in tree(root.path()) {
                    assert!(!path.ends_with("pwned"), "{what} ran a command");
                    assert!(!text.lines().any(|l| l.starts_with("injected")), "{what}: {text}");
                    assert!(!text.contains('\x1b'), "{what}: {text:?}");
                    // Of a message to people it is a part like any other.
                    assert!(!text.contains("omprog") || script == "motd", "{what}: {text}");
                }
            }
        }
    }
}

#[test]
fn a_link_is_replaced_and_never_followed() {
    for (script, _, file) in SCRIPTS {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        let file = root.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        symlink(outside.path(), &file).unwrap();

        let out = run(script, root.path(), &site());
        assert!(out.status.success(), "{script}: {}", text(&out.stderr));
        assert!(fs::symlink_metadata(&file).unwrap().is_file(), "{script} left the link");
        assert_eq!(fs::read(outside.path()).unwrap(), b"", "{script} wrote through the link");
    }
}

#[test]
fn the_packages_chrony_configuration_is_kept_once() {
    let root = tempfile::tempdir().unwrap();
    let conf = root.path().join("etc/chrony/chrony.conf");
    fs::create_dir_all(conf.parent().unwrap()).unwrap();
    fs::write(&conf, "pool pool.example iburst\n").unwrap();
    let mut env = site();
    for server in ["10.0.0.1", "10.0.0.2"] {
        env.insert("NTPSERVERS", server.to_owned());
        assert!(run("setupntp", root.path(), &env).status.success());
        assert!(fs::read_to_string(&conf).unwrap().contains(&format!("server {server} iburst\n")));
    }
    let kept = fs::read_to_string(conf.with_extension("conf.provost-orig")).unwrap();
    assert_eq!(kept, "pool pool.example iburst\n");
}

#[test]
fn a_root_that_cannot_be_written_is_said() {
    for (script, _, _) in SCRIPTS {
        let root = tempfile::tempdir().unwrap();
        let mut env = site();
        env.insert("PROVOST_ROOT", root.path().join("not there").display().to_string());
        assert_refused(&run(script, root.path(), &env), script);

        // A file where the folder should be stops root as well, which a mode would not.
        fs::write(root.path().join("etc"), "").unwrap();
        let out = run(script, root.path(), &site());
        assert_refused(&out, script);
        assert!(text(&out.stderr).contains("cannot make the folder"), "{}", text(&out.stderr));
    }
}

#[test]
fn each_explains_itself() {
    let root = tempfile::tempdir().unwrap();
    for (script, needed, _) in SCRIPTS {
        let out = Command::new(path_of(script)).arg("--help").output().unwrap();
        assert!(out.status.success(), "{script}");
        assert!(text(&out.stdout).starts_with(&format!("usage: {script}\n")));
        assert!(text(&out.stdout).contains(needed), "{script} doesn't tell of {needed}");
        let mut command = Command::new(path_of(script));
        let out = command.arg("no\nsuch").current_dir(&root).env("PATH", PATH).output();
        assert_refused(&out.unwrap(), script);
    }
}
