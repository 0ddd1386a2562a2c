//! What diskless machines boot: the distribution's kernel, and a root that it unpacks into memory.
//! The kernel takes archives one after the other, so that a node's own files are a layer of their
//! own.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use provost_tests::Cluster;
use tempfile::{NamedTempFile, TempDir};

use crate::emulator::Emulator;
use crate::machine::Machine;

/// How a machine reaches the loopback of its host.
const HOST: &str = "10.0.2.2";

const MAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/make-image.sh");

/// Makes the same root with SELinux or with cloud-init, given the folder of the other.
const MAKE_OTHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/make-other-image.sh");

/// Where a node finds its token.
const TOKEN_FILE: &str = "token_file = \"/etc/provost/token\"\n";

/// A node's image.
pub(crate) struct Image {
    layer: TempDir,
}

impl Image {
    /// The image of `node` with its token.
    pub(crate) fn with_token(cluster: &Cluster, node: &str) -> Self {
        let image = Self::with(cluster, node, TOKEN_FILE);
        image.add_token(cluster, node);
        image
    }

    /// The image of `node` with its token and `program`, which has no units.
    pub(crate) fn with_program(cluster: &Cluster, node: &str, program: &Path) -> Self {
        let image = Self::configured(cluster, node, TOKEN_FILE);
        image.add_token(cluster, node);
        image.add("usr/bin/provost", &fs::read(program).unwrap(), 0o755);
        image
    }

    /// The image of `node` as the documentation has one made: the node's binary, its units and its
    /// configuration.
    pub(crate) fn of(cluster: &Cluster, node: &str) -> Self {
        Self::with(cluster, node, "")
    }

    fn with(cluster: &Cluster, node: &str, settings: &str) -> Self {
        let image = Self::configured(cluster, node, settings);
        image.add_program("provost", &provost());
        for unit in [
            "provost-boot.service",
            "provost-boot-retry.timer",
            "provost-report.service",
            "provost-report.timer",
            "provost-renew.timer",
        ] {
            let text = fs::read(top().join("units").join(unit)).unwrap();
            image.add(&format!("usr/lib/systemd/system/{unit}"), &text, 0o644);
        }
        let wants = "etc/systemd/system/multi-user.target.wants/provost-boot.service";
        fs::create_dir_all(image.path(wants).parent().unwrap()).unwrap();
        symlink("/usr/lib/systemd/system/provost-boot.service", image.path(wants)).unwrap();
        image
    }

    /// The configuration of `node` alone.
    fn configured(cluster: &Cluster, node: &str, settings: &str) -> Self {
        let image = Self { layer: TempDir::new().unwrap() };
        let servers = cluster.settings_for(&[&from_inside(cluster)]);
        let text = format!("node = {node:?}\n{settings}{servers}");
        image.add("etc/provost/provost.toml", text.as_bytes(), 0o644);
        image
    }

    fn add_token(&self, cluster: &Cluster, node: &str) {
        let token = cluster.ctl(&["token", node]).expect(0).stdout;
        self.add("etc/provost/token", token.as_bytes(), 0o600);
    }

    /// Adds a program, without what only debuggers read.
    fn add_program(&self, name: &str, from: &Path) {
        let to = format!("usr/bin/{name}");
        self.add(&to, &[], 0o755);
        sh("strip -o \"$2\" \"$1\"", &[from, &self.path(&to)]);
    }

    /// A path in the node's layer.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.layer.path().join(name)
    }

    /// Adds a file.
    pub(crate) fn add(&self, name: &str, bytes: &[u8], mode: u32) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Switches a machine on that boots it.
    pub(crate) fn boot(&self) -> Machine {
        self.boot_with("")
    }

    /// The same, with more arguments for its kernel.
    pub(crate) fn boot_with(&self, arguments: &str) -> Machine {
        Machine::start(&kernel(), arguments, initrd(self.layer.path()), &[])
    }

    /// The same with a disk, of which it boots nothing.
    pub(crate) fn boot_with_disk(&self, disk: &Path) -> Machine {
        Machine::start(&kernel(), "", initrd(self.layer.path()), &[disk])
    }

    /// Switches a machine of another kind on that boots it over the root in the archive `root`.
    pub(crate) fn boot_by(&self, emulator: &Emulator, kernel: &Path, root: &Path) -> Machine {
        let initrd = initrd_of(root, self.layer.path());
        Machine::start_by(emulator, kernel, "", initrd, &[])
    }

    /// Puts it into an unpacked root.
    pub(crate) fn copy_to(&self, root: &Path) {
        sh("cp -a \"$1\"/* \"$2\"", &[self.layer.path(), root]);
    }
}

/// The server's address as a machine sees it.
pub(crate) fn from_inside(cluster: &Cluster) -> String {
    let nodes = cluster.daemon().nodes();
    format!("{HOST}:{}", nodes.rsplit_once(':').unwrap().1)
}

/// The program as nodes get it.
pub(crate) fn provost() -> PathBuf {
    let path = top().join("dist/provost");
    assert!(path.exists(), "{} isn't there: cargo xtask dist makes it", path.display());
    path
}

pub(crate) fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// What the kernel unpacks: the root that all have in common, and the files of `layer`.
pub(crate) fn initrd(layer: &Path) -> NamedTempFile {
    initrd_of(&base().join("root.cpio.zst"), layer)
}

/// The same of the root in the archive `root`.
fn initrd_of(root: &Path, layer: &Path) -> NamedTempFile {
    let mut initrd = NamedTempFile::new().unwrap();
    io::copy(&mut File::open(root).unwrap(), &mut initrd).unwrap();
    // The next archive begins at a multiple of 4: Documentation/driver-api/early-userspace.
    let length = initrd.as_file().metadata().unwrap().len();
    initrd.as_file().set_len(length.next_multiple_of(4)).unwrap();
    // Open to all but for the token.
    let pack = "cd \"$1\" && chmod 0755 . && find . | cpio --quiet -o -H newc >>\"$2\"";
    sh(pack, &[layer, initrd.path()]);
    initrd
}

/// Unpacks the root that all have in common.
pub(crate) fn unpack(folder: &Path) {
    unpack_from(&base(), folder);
}

/// Unpacks that root with SELinux and what the default scripts look for, and labels it as its policy says.
pub(crate) fn unpack_selinux(folder: &Path) {
    unpack_from(&made("vm-selinux", MAKE_OTHER, Some(&base())), folder);
    // setfiles(8) labels by way of /proc.
    let label = "unshare --mount sh -ec 'mount -t proc proc \"$1/proc\"; chroot \"$1\" \
        setfiles -F -e /proc /etc/selinux/default/contexts/files/file_contexts /' sh \"$1\"";
    sh(label, &[folder]);
}

/// Unpacks that root with cloud-init.
pub(crate) fn unpack_cloud_init(folder: &Path) {
    unpack_from(&made("vm-cloud-init", MAKE_OTHER, Some(&base())), folder);
}

fn unpack_from(image: &Path, folder: &Path) {
    let unpack = "cd \"$2\" && zstd -q -d -c \"$1\" | cpio --quiet -i -d -m";
    sh(unpack, &[&image.join("root.cpio.zst"), folder]);
}

/// The kernel of all.
pub(crate) fn kernel() -> PathBuf {
    base().join("vmlinuz")
}

/// Runs a line of shell, which has to succeed.
#[track_caller]
pub(crate) fn sh(script: &str, args: &[&Path]) {
    let status = Command::new("sh").args(["-c", script, "sh"]).args(args).status().unwrap();
    assert!(status.success(), "{script}: {status}");
}

/// The folder of the kernel and of the root that all have in common.
fn base() -> PathBuf {
    made("vm", MAKE, None)
}

/// The folder of an image, made once by the script `make` of the image `of`, and kept.
pub(crate) fn made(name: &str, make: &str, of: Option<&Path>) -> PathBuf {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(name);
    // One process makes it; the others wait.
    let lock = File::create(base.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let mut recipe = fs::read(make).unwrap();
    if let Some(of) = of {
        recipe.extend(fs::read(of.join("made-by")).unwrap());
    }
    if fs::read(base.join("made-by")).is_ok_and(|made_by| made_by == recipe) {
        return base;
    }
    let new = base.with_extension("new");
    for old in [&base, &new] {
        let _ = fs::remove_dir_all(old);
    }
    let log = File::create(base.with_extension("log")).unwrap();
    let made = Command::new("bash")
        .arg(make)
        .arg(&new)
        .args(of)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .status()
        .unwrap();
    let said = || fs::read_to_string(base.with_extension("log")).unwrap();
    assert!(made.success(), "making the image: {made}; it said\n{}", said());
    fs::write(new.join("made-by"), recipe).unwrap();
    fs::rename(&new, &base).unwrap();
    base
}
