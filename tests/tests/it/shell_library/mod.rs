//! The shell library, in each of the shells that it is for.

mod files;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use provost_tests::{missing, skip_if, skip_part};
use tempfile::TempDir;

/// The shells that a node may have.
static SHELLS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let busyboxes =
        BUSYBOXES.iter().map(|busybox| vec![busybox.display().to_string(), "ash".to_owned()]);
    ["bash", "dash"].into_iter().map(|shell| vec![shell.to_owned()]).chain(busyboxes).collect()
});
/// Debian's two builds of busybox, as far as they are here: the static one has other applets. It can't
/// be installed together with the other one, so `cargo xtask test` unpacks it in a folder.
static BUSYBOXES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let unpacked = root().join("target/busybox-static/bin/busybox");
    available([PathBuf::from("/bin/busybox"), unpacked])
});
/// The programs that a node may have as its awk.
static AWKS: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let awks = available(["mawk", "gawk", "original-awk"].map(|n| Path::new("/usr/bin").join(n)));
    awks.into_iter().chain(BUSYBOXES.iter().cloned()).collect()
});

/// Those of `programs` that this machine has; the others are noted.
fn available<const N: usize>(programs: [PathBuf; N]) -> Vec<PathBuf> {
    let (here, others) = programs.into_iter().partition::<Vec<_>, _>(|path| path.exists());
    others.iter().for_each(|path| skip_part(&format!("with {}: there is none", path.display())));
    here
}

/// A word in which everything is that a shell could trip over.
const HOSTILE: &str = "-n a  b'c\"d $(touch pwned) `touch pwned` * \\n\\ ;&|<>";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

struct Said {
    status: i32,
    out: String,
    err: String,
}

/// A folder in which scripts run.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `script` after `. provost.sh`, and sees that it left nothing behind that it shouldn't.
    fn run(&self, shell: &[String], script: &str) -> Said {
        fs::write(self.path("script"), format!("set -eu\n. provost.sh\n{script}\n")).unwrap();
        let said = self.run_file(shell, &[]);
        assert!(!self.path("pwned").exists(), "{shell:?}: {script}");
        let left = fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name());
        let left: Vec<_> = left.filter(|n| n.to_string_lossy().contains(".provost.")).collect();
        assert!(left.is_empty(), "{shell:?}: {script}: {left:?}");
        said
    }

    /// Has scripts find this program as awk.
    fn with_awk(self, awk: &Path) -> Self {
        fs::create_dir(self.path("bin")).unwrap();
        std::os::unix::fs::symlink(awk, self.path("bin/awk")).unwrap();
        self
    }

    fn run_file(&self, shell: &[String], env: &[(&str, &str)]) -> Said {
        let mut command = Command::new(&shell[0]);
        command.args(&shell[1..]).arg(self.path("script")).current_dir(&self.0);
        let (bin, library) = (self.path("bin"), root().join("lib-sh"));
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin:{}", bin.display(), library.display());
        command.env_clear().env("PATH", path).env("HOSTILE", HOSTILE).envs(env.iter().copied());
        command.env("TMPDIR", self.0.path()).stdin(Stdio::null());
        let out = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said {
            status: out.status.code().unwrap_or(-1),
            out: text(&out.stdout),
            err: text(&out.stderr),
        }
    }
}

/// Each of the shells with each awk.
fn shells_and_awks() -> impl Iterator<Item = (&'static [String], &'static Path)> {
    let with_each = |shell| AWKS.iter().map(move |awk: &PathBuf| (shell, awk.as_path()));
    SHELLS.iter().map(Vec::as_slice).flat_map(with_each)
}

/// Each case in each shell: the script, its status, what it prints.
#[track_caller]
fn check(cases: &[(&str, i32, &str)]) {
    for shell in SHELLS.iter() {
        for (script, status, out) in cases {
            let said = Place::new().run(shell, script);
            assert_eq!(said.status, *status, "{shell:?}: {script}\n{}", said.err);
            assert_eq!(said.out, *out, "{shell:?}: {script}\n{}", said.err);
        }
    }
}

/// Nothing but busybox, as in an initramfs: its shell, its awk and its other applets.
#[test]
fn in_a_root_that_has_only_busybox_files_are_edited() {
    skip_if(missing::devices());
    for busybox in BUSYBOXES.iter() {
        in_a_root_that_has_only(busybox);
    }
}

fn in_a_root_that_has_only(busybox: &Path) {
    let place = Place::new();
    let fill = r#"set -e
        mkdir -p bin tmp etc dev
        mknod -m 666 dev/null c 1 3
        cp "$1" bin/busybox
        for lib in $(ldd "$1" 2>&1 | grep -o '/lib[^ ]*'); do
            mkdir -p ".${lib%/*}"
            cp -L "$lib" ".$lib"
        done
        cp "$2"/*.sh bin
        exec chroot . /bin/busybox ash -c '/bin/busybox --install -s /bin; exec /bin/sh /script'"#;
    let script = "export PATH=/bin\nset -eu\n. provost.sh\n\
                  printf 'a\\nb\\n' | file_block /etc/x one\n\
                  printf 'c\\n' | file_block /etc/x one\n\
                  file_line /etc/x last\nfile_set /etc/y KEY 'a b'\n\
                  ini_set /etc/z main dns none\ncat /etc/x /etc/y /etc/z\n";
    fs::write(place.path("script"), script).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", fill, "sh"]).arg(busybox).arg(root().join("lib-sh"));
    let out =
        command.current_dir(&place.0).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    let out = out.output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
    let printed = String::from_utf8_lossy(&out.stdout).into_owned();
    let files = "# begin one\nc\n# end one\nlast\nKEY=\"a b\"\n[main]\ndns=none\n";
    assert!(printed.ends_with(files), "{printed}\n{said}");
}

#[test]
fn network_arithmetic() {
    check(&[
        (
            "net_prefix_to_mask 0; net_prefix_to_mask 22; net_prefix_to_mask 32",
            0,
            "0.0.0.0\n255.255.252.0\n255.255.255.255\n",
        ),
        ("net_prefix_to_mask 49 6; net_prefix_to_mask 0 6", 0, "ffff:ffff:ffff:8000::\n::\n"),
        ("net_mask_to_prefix 255.255.252.0; net_mask_to_prefix ffff:fff8::", 0, "22\n29\n"),
        ("net_mask_to_prefix 255.0.255.0", 2, ""),
        (
            "net_network 10.1.2.3 16; net_network 10.1.2.3 255.255.255.252",
            0,
            "10.1.0.0\n10.1.2.0\n",
        ),
        (
            "net_network fd00:1:2:3:4:5:6:7 50; net_network 1:0:0:2:0:0:0:3 128",
            0,
            "fd00:1:2::\n1:0:0:2::3\n",
        ),
        ("net_network ::ffff:10.0.0.1 128", 0, "::ffff:a00:1\n"),
        ("net_broadcast 10.1.2.3 22; net_broadcast fd00:: 120", 0, "10.1.3.255\nfd00::ff\n"),
        ("net_contains 10.0.0.0/8 10.9.8.7; net_contains fd00::/16 fd00::1", 0, ""),
        ("net_contains 10.0.0.0/8 11.0.0.1", 1, ""),
        ("net_contains 10.0.0.0/8 fd00::1", 1, ""),
        ("net_contains 10.0.0.0 10.0.0.1", 2, ""),
        ("net_network 10.1.2.256 8", 2, ""),
        ("net_network 010.1.2.3 8", 2, ""),
        ("net_network 1::2::3 8", 2, ""),
        ("net_network 1:2:3:4:5:6:7:8:9 8", 2, ""),
        ("net_network '*' 8", 2, ""),
        ("net_network \"$HOSTILE\" 8", 2, ""),
        ("net_network 10.0.0.1 33", 2, ""),
    ]);
}

#[test]
fn commands() {
    check(&[
        (
            "run printf '%s\\n' \"$HOSTILE\"",
            0,
            "+ printf '%s\\n' '-n a  b'\\''c\"d $(touch pwned) `touch pwned` * \\n\\ ;&|<>'\n-n a  b'c\"d $(touch pwned) `touch pwned` * \\n\\ ;&|<>\n",
        ),
        ("run sh -c 'exit 7'", 7, "+ sh -c 'exit 7'\n"),
        ("retry 3 true", 0, ""),
        ("n=0; f() { n=$((n + 1)); [ $n -eq 2 ]; }; retry 3 f; info $n", 0, "2\n"),
        ("retry 1 sh -c 'exit 5'", 5, ""),
        ("retry x true", 2, ""),
        ("wait_until 5 x true", 0, ""),
        ("wait_until 1 'the end' false", 124, "waiting up to 1 s for the end\n"),
        ("f() { sleep 600 & wait; }; with_timeout 1 f", 124, ""),
        ("with_timeout 1 sh -c 'trap \"\" TERM; sleep 600'", 124, ""),
        ("with_timeout 60 sh -c 'exit 9'", 9, ""),
        ("echo in | with_timeout 60 cat", 0, "in\n"),
        ("die \"$HOSTILE\" \"do it\"; info no", 1, ""),
        (
            "skip \"$HOSTILE\"; info no",
            0,
            "skipped: -n a  b'c\"d $(touch pwned) `touch pwned` * \\n\\ ;&|<>\n",
        ),
        ("info -n -e '\\n'", 0, "-n -e \\n\n"),
        ("service_start nosuchservice", 1, ""),
        ("service_stop nosuchservice; service_disable nosuchservice", 0, ""),
        ("service_status nosuchservice", 4, ""),
        ("service_start \"$HOSTILE\"", 2, ""),
        ("package_install \"$HOSTILE\"", 2, ""),
        ("package_install --help", 2, ""),
        ("package_install", 2, ""),
    ]);
}

/// Each thread has children of its own.
#[test]
fn what_a_thread_has_started_ends_at_the_time_out_as_well() {
    let program = "import subprocess, threading
def start(): print(subprocess.Popen(['sleep', '60'], stderr=subprocess.DEVNULL).pid, flush=True); threading.Event().wait()
threading.Thread(target=start).start()
threading.Event().wait()";
    for shell in SHELLS.iter() {
        let place = Place::new();
        fs::write(place.path("threads.py"), program).unwrap();
        let script = "status=0; with_timeout 3 python3 threads.py >pid || status=$?
            info $status; wait_until 5 end eval '! kill -0 $(cat pid) 2>/dev/null' >/dev/null";
        let said = place.run(shell, script);
        assert_eq!((said.status, said.out.as_str()), (0, "124\n"), "{shell:?}: {}", said.err);
    }
}

#[test]
fn what_is_sourced_twice_is_as_sourced_once_and_leaks_nothing() {
    for shell in SHELLS.iter() {
        let place = Place::new();
        let script = "set | cut -d= -f1 | sort >before0; . provost.sh
            echo a | file_write x; net_network 10.0.0.1 8; run true; retry 1 true; os_id || :
            service_name sshd || :; package_is_installed nosuch || :; file_set y k v
            set | cut -d= -f1 | sort >after0
            for f in before after; do grep -a '^[A-Za-z_][A-Za-z0-9_]*$' ${f}0 >$f; done";
        let said = place.run(shell, script);
        assert_eq!(said.status, 0, "{shell:?}: {}", said.err);
        let names =
            |file: &str| -> Vec<String> { place.read(file).lines().map(str::to_owned).collect() };
        let (before, after) = (names("before"), names("after"));
        let new: Vec<_> = after.iter().filter(|n| !before.contains(n)).collect();
        let ours = |n: &&String| {
            !n.starts_with("_provost_")
                && !["_", "PIPESTATUS", "BASH_REMATCH"].contains(&n.as_str())
        };
        let leaked: Vec<_> = new.into_iter().filter(ours).collect();
        assert!(leaked.is_empty(), "{shell:?}: {leaked:?}");
    }
}

#[test]
fn it_is_found_by_its_path_alone() {
    for shell in SHELLS.iter() {
        let place = Place::new();
        let path = root().join("lib-sh/provost.sh");
        fs::write(place.path("script"), format!("set -eu\n. '{}'\ninfo well\n", path.display()))
            .unwrap();
        let said = place.run_file(shell, &[("PATH", "/usr/bin:/bin")]);
        assert_eq!((said.status, said.out.as_str()), (0, "well\n"), "{shell:?}: {}", said.err);
    }
}

#[test]
fn the_reference_is_made_of_the_comments() {
    let mut files: Vec<PathBuf> =
        fs::read_dir(root().join("lib-sh")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "sh"));
    files.sort();
    let made = Command::new("awk")
        .arg("-f")
        .arg(root().join("docs/shell-library.awk"))
        .args(&files)
        .output()
        .unwrap();
    let there = fs::read(root().join("docs/shell-library.md")).unwrap();
    assert!(
        made.stdout == there,
        "make it anew: awk -f docs/shell-library.awk lib-sh/*.sh >docs/shell-library.md"
    );
    // What scripts may call is described there.
    for file in files {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let Some(name) = line.strip_suffix("() {").filter(|n| !n.starts_with(['_', ' ']))
            else {
                continue;
            };
            let described = String::from_utf8_lossy(&there)
                .lines()
                .any(|l| l.starts_with("### `") && l.contains(name));
            let builtin = ["trap", "exit"].contains(&name);
            assert!(described || builtin, "{name} of {} has no comment", file.display());
        }
    }
}

#[test]
fn the_example_of_the_page_does_what_the_page_says() {
    let page = fs::read_to_string(root().join("docs/writing-postscripts.md")).unwrap();
    let script = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    for shell in SHELLS.iter() {
        let place = Place::new();
        fs::write(place.path("script"), script).unwrap();
        let run = |root: &str, limit: &str| {
            place.run_file(shell, &[("PROVOST_ROOT", root), ("MEMLOCK", limit)])
        };
        assert_eq!(run("try", "1").out, "skipped: no PAM in this image\n", "{shell:?}");
        fs::create_dir_all(place.path("try/etc/security")).unwrap();
        let first = run("try", "65536");
        assert_eq!(
            first.out, "changed: wrote try/etc/security/limits.d/50-memlock.conf\n",
            "{shell:?}: {}",
            first.err
        );
        assert_eq!(run("try", "65536").out, "nothing to change: the limit is 65536\n", "{shell:?}");
        let wrong = run("try", "much");
        assert_eq!((wrong.status, wrong.err.lines().count()), (1, 2), "{shell:?}: {}", wrong.err);
        assert!(wrong.err.lines().last().unwrap().starts_with("hint: "), "{shell:?}");
    }
}
