//! What the machines boot: the distribution's kernel, and a root that it unpacks into memory. The
//! kernel takes archives one after the other, so that a node's own files are a layer of their own.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use provost_tests::Cluster;
use tempfile::{NamedTempFile, TempDir};

use crate::machine::Machine;

/// How a machine reaches the loopback of its host.
const HOST: &str = "10.0.2.2";

const MAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/make-image.sh");

/// A node's image.
pub(crate) struct Image {
    layer: TempDir,
}

impl Image {
    /// The image of `node` as the documentation has one made: the node's binary, its units, its
    /// configuration and its token. `more` goes into the configuration, ahead of the first table.
    pub(crate) fn of(cluster: &Cluster, node: &str, more: &str) -> Self {
        let image = Self { layer: TempDir::new().unwrap() };
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let provost = fs::read(top.join("dist/provost"));
        image.add("usr/bin/provost", &provost.expect("cargo xtask dist has been run"), 0o755);
        for unit in ["provost-boot.service", "provost-report.service", "provost-report.timer"] {
            let text = fs::read(top.join("units").join(unit)).unwrap();
            image.add(&format!("usr/lib/systemd/system/{unit}"), &text, 0o644);
        }
        let wants = "etc/systemd/system/multi-user.target.wants/provost-boot.service";
        fs::create_dir_all(image.path(wants).parent().unwrap()).unwrap();
        symlink("/usr/lib/systemd/system/provost-boot.service", image.path(wants)).unwrap();

        let port = cluster.daemon().nodes().rsplit_once(':').unwrap().1.to_owned();
        let servers = cluster.settings_for(&[&format!("{HOST}:{port}")]);
        let text = format!("node = {node:?}\ntoken_file = \"/etc/provost/token\"\n{servers}{more}");
        image.add("etc/provost/provost.toml", text.as_bytes(), 0o644);
        let token = cluster.ctl(&["token", node]).expect(0).stdout;
        image.add("etc/provost/token", token.as_bytes(), 0o600);
        image
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
        let base = base();
        let mut initrd = NamedTempFile::new().unwrap();
        io::copy(&mut File::open(base.join("root.cpio.zst")).unwrap(), &mut initrd).unwrap();
        // The next archive begins at a multiple of 4: Documentation/driver-api/early-userspace.
        let length = initrd.as_file().metadata().unwrap().len();
        initrd.as_file().set_len(length.next_multiple_of(4)).unwrap();
        initrd.seek(SeekFrom::End(0)).unwrap();
        // Owned by root, whoever runs the test, and open to all but for the token.
        let pack = "cd \"$1\" && chmod 0755 . && find . | cpio --quiet -o -H newc -R 0:0";
        let packed = Command::new("sh")
            .args(["-c", pack, "sh"])
            .arg(self.layer.path())
            .stdout(initrd.as_file().try_clone().unwrap())
            .status()
            .unwrap();
        assert!(packed.success(), "{packed}");
        Machine::start(&base.join("vmlinuz"), initrd)
    }
}

/// The folder of the kernel and of the root that all have in common, made once and kept.
fn base() -> &'static Path {
    static BASE: OnceLock<PathBuf> = OnceLock::new();
    BASE.get_or_init(|| {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("vm");
        let recipe = fs::read(MAKE).unwrap();
        if fs::read(base.join("made-by")).is_ok_and(|made_by| made_by == recipe) {
            return base;
        }
        let new = base.with_extension("new");
        for old in [&base, &new] {
            let _ = fs::remove_dir_all(old);
        }
        let log = File::create(base.with_extension("log")).unwrap();
        let made = Command::new("bash")
            .arg(MAKE)
            .arg(&new)
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
    })
}
