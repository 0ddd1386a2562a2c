//! A Debian system of its own for a test: root, mounts, network and host name.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use provost_tests::{Out, skip};
use rustix::thread::LinkNameSpaceType;
use tempfile::TempDir;

/// What nodes have, besides a minimal Debian.
const PACKAGES: &str = "rsyslog,chrony,openssh-server,sudo,iproute2,ifupdown,netplan.io,dnf,zypper,\
    apt-utils,iputils-ping,e2fsprogs,createrepo-c,rpm";

/// What debootstrap can't install, because it configures it ahead of what it needs.
const LATER: &str = "network-manager firewalld nftables sssd sssd-tools libnss-sss libpam-sss efibootmgr \
    netbase procps gpg grub2-common";

/// What few nodes have, each in a folder of its own with what it needs: [`Root::install`].
const MORE: [&str; 3] = ["systemd-resolved", "openresolv", "kdump-tools"];

/// Makes the system of `$1`, with `$2` for what is changed, `$3` as scripts and `$4` as our shell
/// library; with `$5` it becomes `/`. Then waits until nobody needs it any more.
const BEGIN: &str = r#"set -e
root=$2/root
mkdir "$2/upper" "$2/work" "$root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mkdir "$root/run/bundle" "$root/run/postscripts" "$root/run/lib-sh"
mount --bind "$3" "$root/run/postscripts"
mount --bind "$4" "$root/run/lib-sh"
cd "$root"
if [ "$5" = machine ]; then
    pivot_root . mnt
    umount -l /mnt
fi
ip link set lo up
echo ready
exec cat"#;

/// How services are seen: those of a chroot can't be started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As an installer's chroot: process 1 has another root.
    Chroot,
    /// As a machine of its own, with its own process 1.
    Machine,
}

pub(crate) struct Root {
    holder: Child,
    /// Its process 1, whose working folder is the system's root.
    pid: u32,
    /// Where that process sees the system.
    inside: PathBuf,
    folder: TempDir,
}

impl Root {
    /// It skips the test where this machine can't have one.
    pub(crate) fn new(kind: Kind) -> Self {
        let base = base();
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut command = Command::new("unshare");
        command.args(["--mount", "--net", "--uts", "--pid", "--fork", "--kill-child"]);
        command.args(["--propagation", "private"]);
        command.args(["bash", "-c", BEGIN, "begin"]).args([&base, folder.path()]);
        command.args([source.join("postscripts"), source.join("lib-sh")]);
        command.arg(if kind == Kind::Machine { "machine" } else { "chroot" });
        let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "no root could be made");
        let holder_pid = holder.id();
        let children = format!("/proc/{holder_pid}/task/{holder_pid}/children");
        let pid = fs::read_to_string(children).unwrap().trim().parse().unwrap();
        let inside = match kind {
            Kind::Machine => PathBuf::from("/"),
            Kind::Chroot => folder.path().join("root"),
        };
        let root = Self { holder, pid, inside, folder };
        // Nothing may ever be written into another system than this one.
        assert!(root.path("/etc/made-of").exists(), "this is not the root that was made");
        root
    }

    /// A path of this system, for us who are outside of it.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        let root = format!("/proc/{}/cwd", self.pid);
        Path::new(&root).join(path.trim_start_matches('/'))
    }

    /// What a file of it holds.
    #[track_caller]
    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Its mode.
    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).unwrap().permissions().mode() & 0o7777
    }

    /// Writes a file; one of the bundle's folder if the path isn't absolute.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(&format!("/run/bundle/{path}").replace("/run/bundle//", "/"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A socket on its loopback, for a server that is outside of it.
    pub(crate) fn listener(&self) -> TcpListener {
        let net = fs::File::open(format!("/proc/{}/ns/net", self.pid)).unwrap();
        // A thread has a network of its own, and its sockets stay there.
        let bind = move || {
            let kind = Some(LinkNameSpaceType::Network);
            rustix::thread::move_into_link_name_space(net.as_fd(), kind).unwrap();
            TcpListener::bind("127.0.0.1:0").unwrap()
        };
        std::thread::spawn(bind).join().unwrap()
    }

    /// Runs shell commands in it, in the bundle's folder, with `env` alone.
    pub(crate) fn sh(&self, commands: &str, env: &[(&str, &str)]) -> Out {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.pid));
        command.args(["--mount", "--net", "--uts", "--pid", "/usr/sbin/chroot"]).arg(&self.inside);
        command.args(["/bin/bash", "-c"]).arg(format!("cd /run/bundle\n{commands}"));
        command.env_clear().envs(env.iter().copied()).stdin(Stdio::null());
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin:/run/postscripts:/run/lib-sh");
        command.output().unwrap().into()
    }

    /// Runs a postscript, given with its arguments as a shell reads them.
    pub(crate) fn script(&self, script: &str, env: &[(&str, &str)]) -> Out {
        self.sh(&format!("exec /run/postscripts/{script}"), env)
    }

    /// Installs one of [`MORE`].
    #[track_caller]
    pub(crate) fn install(&self, package: &str) {
        let commands = "DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io --install";
        self.sh(&format!("{commands} /var/cache/more/{package}/*.deb"), &[]).expect(0);
    }

    /// Has scripts find SELinux, and a restorecon that only notes in /run/labelled what it is to label.
    pub(crate) fn stand_in_for_selinux(&self) {
        let commands = r#"mount -t tmpfs tmpfs /sys/fs && mkdir /sys/fs/selinux && touch /sys/fs/selinux/enforce &&
            printf '#!/bin/sh\necho "restorecon $*" | tee -a /run/labelled\n' >/usr/sbin/restorecon &&
            chmod +x /usr/sbin/restorecon"#;
        self.sh(commands, &[]).expect(0);
    }

    /// Runs a postscript that has to change something, and then again: to no effect.
    #[track_caller]
    pub(crate) fn settles(&self, script: &str, env: &[(&str, &str)]) -> Out {
        let first = self.script(script, env).expect(0);
        assert!(first.stdout.contains("changed: "), "{script} changed nothing: {first:?}");
        let before = self.changes();
        let second = self.script(script, env).expect(0);
        assert!(!second.stdout.contains("changed: "), "{script} again: {second:?}");
        assert!(second.stdout.contains("nothing to change: "), "{script} again: {second:?}");
        let after = self.changes();
        for (path, is) in &after {
            assert_eq!(before.get(path), Some(is), "{script} again: {}", path.display());
        }
        assert_eq!(before.len(), after.len(), "{script} again: something is gone");
        first
    }

    /// Runs a postscript that has to fail with a hint and to say all of `texts`.
    #[track_caller]
    pub(crate) fn refuses(&self, script: &str, env: &[(&str, &str)], texts: &[&str]) {
        let out = self.script(script, env);
        assert_eq!(out.code, Some(1), "{script}: {out:?}");
        let last = out.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("hint: "), "{script} gives no hint: {out:?}");
        out.says(texts);
    }

    /// All that differs from the system as it began: the inode of each file, which a rewritten
    /// one has anew, when it was changed, and its mode, owner and size.
    pub(crate) fn changes(&self) -> BTreeMap<PathBuf, [i64; 6]> {
        let mut found = BTreeMap::new();
        collect(&self.folder.path().join("upper"), &mut found);
        found
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, [i64; 6]>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, is) = (entry.path(), entry.metadata().unwrap());
        // Caches and logs of package managers are no part of a system's state.
        // SQLite's index of its log is written by readers, too.
        let index = path.extension().is_some_and(|e| e == "sqlite-shm");
        // NetworkManager notes in its own time when a connection was last up.
        let notes = ["var/cache", "var/log", "var/lib/NetworkManager"];
        if index || notes.iter().any(|folder| path.ends_with(folder)) {
            continue;
        }
        if is.is_dir() {
            collect(&path, found);
            // A temporary file next to another one changes the folder's time.
            found
                .insert(path, [is.ino().cast_signed(), 0, 0, is.mode().into(), is.uid().into(), 0]);
        } else {
            let number = |n: u64| n.cast_signed();
            let owner = is.uid().into();
            let time = [is.mtime(), is.mtime_nsec()];
            let is =
                [number(is.ino()), time[0], time[1], is.mode().into(), owner, number(is.len())];
            found.insert(path, is);
        }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // Its cat ends, and with it the system; --kill-child sees to what else runs in there.
        drop(self.holder.stdin.take());
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// The system that all have in common, made once. Where that can't be, the test ends.
fn base() -> PathBuf {
    make_base().unwrap_or_else(|why| skip(&format!("no Debian root: {why}")))
}

pub(crate) fn make_base() -> Result<PathBuf, String> {
    if !rustix::process::geteuid().is_root() {
        return Err("this needs root".to_owned());
    }
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debian");
    // One process makes it: the others' tests would lose their root while they use it.
    let lock = fs::File::create(base.with_extension("lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    // Another list of packages needs another root.
    let made = format!("{PACKAGES} {LATER} {}\n", MORE.join(" "));
    if fs::read_to_string(base.join("etc/made-of")).is_ok_and(|text| text == made) {
        return Ok(base);
    }
    let new = base.with_extension(std::process::id().to_string());
    let mut command = Command::new("debootstrap");
    command.args(["--variant=minbase", &format!("--include={PACKAGES}"), "bookworm"]);
    // From where debootstrap takes it by itself.
    command.arg(&new);
    let mut commands = vec![command];
    let install = ["apt-get", "install", "-q", "-y", "--no-install-recommends"];
    let mut later = Command::new("chroot");
    later.arg(&new).args(install).args(LATER.split_whitespace());
    commands.push(later);
    for package in MORE {
        let folder = format!("/var/cache/more/{package}");
        let mut partial = Command::new("mkdir");
        partial.arg("-p").arg(new.join(&folder[1..]).join("partial"));
        let mut download = Command::new("chroot");
        download.arg(&new).args(install).args(["--download-only", package]);
        download.arg(format!("--option=Dir::Cache::archives={folder}"));
        commands.extend([partial, download]);
    }
    for mut command in commands {
        command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        let out: Out = command.output().map_err(|e| format!("debootstrap: {e}"))?.into();
        if out.code != Some(0) {
            let _ = fs::remove_dir_all(&new);
            let last = out.stderr.lines().chain(out.stdout.lines()).last().unwrap_or_default();
            return Err(format!("debootstrap failed: {last}"));
        }
    }
    let _ = fs::remove_dir_all(new.join("var/cache/apt/archives"));
    let mut file = fs::File::create(new.join("etc/made-of")).map_err(|e| e.to_string())?;
    file.write_all(made.as_bytes()).map_err(|e| e.to_string())?;
    let _ = fs::remove_dir_all(&base);
    fs::rename(&new, &base).map_err(|e| format!("{}: {e}", base.display()))?;
    Ok(base)
}
