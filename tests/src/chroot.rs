//! A root that an installer has just filled, as its last scripts see it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::{Cluster, OldKernel, Out, skip};

/// A copy of a root, in which everything may be changed; it is seen in a mount namespace of its
/// own, and gone with it. As in an installer, no systemd runs, no name can be looked up, /proc and
/// /sys are mounted, and the network is the host's.
pub struct Chroot {
    holder: Child,
    folder: PathBuf,
    /// That folder, if it is the root's own.
    _own: Option<TempDir>,
    /// What its programs run on, if it isn't this machine's kernel.
    kernel: Option<OldKernel>,
}

/// Lays a layer that can be written over the root `$2`, and waits until its standard input ends.
const MAKE: &str = r#"
set -e
mount -t tmpfs -o mode=755 tmpfs "$1"
cd "$1"
mkdir up work root
mount -t overlay -o "lowerdir=$2,upperdir=$1/up,workdir=$1/work" overlay root
mount -t proc proc root/proc
mount -t sysfs sysfs root/sys
mount -t tmpfs -o mode=755 tmpfs root/dev
mount -t tmpfs tmpfs root/tmp
mount -t tmpfs tmpfs root/run
for device in null zero urandom; do : >root/dev/$device; mount --bind /dev/$device root/dev/$device; done
ln -s /proc/self/fd root/dev/fd
: >root/dev/console
: >root/etc/resolv.conf
rm -rf root/etc/provost root/var/lib/provost* root/var/log/provost* root/usr/bin/provost* root/usr/local/bin/provost*
find root/usr/lib/systemd/system root/etc/systemd/system -name 'provost*' -exec rm -f {} +
echo ready
exec cat >/dev/null
"#;

impl Default for Chroot {
    fn default() -> Self {
        Self::new()
    }
}

impl Chroot {
    /// This machine's root as a new root. It skips the test where this process may make none.
    pub fn new() -> Self {
        let own = TempDir::new().unwrap();
        match Self::of("/".as_ref(), own.path()) {
            Ok(mut root) => {
                root._own = Some(own);
                root
            }
            Err(why) => {
                drop(own);
                skip(&why)
            }
        }
    }

    /// The same of the root at `lower`, below `folder`; an error, with the reason, where this process
    /// may make none.
    pub fn of(lower: &Path, folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder).unwrap();
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--propagation", "private", "sh", "-c", MAKE, "sh"]);
        unshare.args([folder, lower]);
        let unshare = unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut holder = unshare.spawn().unwrap();
        let mut said = String::new();
        let mut stdout = std::io::BufReader::new(holder.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut said).unwrap();
        if said != "ready\n" {
            let out: Out = holder.wait_with_output().unwrap().into();
            return Err(format!("no root can be made: {}", out.stderr.trim()));
        }
        Ok(Self { holder, folder: folder.to_owned(), _own: None, kernel: None })
    }

    /// From now on it has another kernel; none is this machine's own.
    pub fn set_kernel(&mut self, kernel: Option<OldKernel>) {
        self.kernel = kernel;
    }

    /// Runs `script` by sh in the root, with the environment that an installer gives.
    pub fn sh(&self, script: &str) -> Out {
        self.shell(script).output().unwrap().into()
    }

    /// Starts a command there that goes on. The caller ends it: it keeps the root in use.
    pub fn spawn(&self, command: &str) -> Child {
        let quiet = format!("exec {command} >/dev/null 2>&1");
        self.shell(&quiet).spawn().unwrap()
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = match self.kernel.map(OldKernel::by) {
            Some([program, kernel]) => {
                let mut command = self.inside(&program);
                command.args([&kernel, "chroot"]);
                command
            }
            None => self.inside("chroot"),
        };
        command.arg(self.folder.join("root")).args(["/bin/sh", "-c", script]);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/root");
        command.stdin(Stdio::null());
        command
    }

    /// Makes `file` a disk of `size`, as mke2fs(8) takes it, with what is in the root. Nothing can
    /// be run in the root afterwards.
    #[track_caller]
    pub fn write_to(&self, file: &Path, size: &str) {
        let write =
            r#"cd "$1" && umount -R proc sys dev tmp run && mke2fs -q -F -t ext4 -d . "$2" "$3""#;
        let mut command = self.inside("sh");
        command.args(["-c", write, "sh"]).arg(self.folder.join("root")).arg(file).arg(size);
        Out::from(command.stdin(Stdio::null()).output().unwrap()).expect(0);
    }

    /// A program that sees what is mounted there.
    fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--mount", program]);
        command
    }

    /// A file's place, as it is seen from outside.
    pub fn path(&self, inside: &str) -> PathBuf {
        let root = self.folder.join("root").join(inside.trim_start_matches('/'));
        let from = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        from.join(root.strip_prefix("/").unwrap())
    }

    /// A file's text.
    #[track_caller]
    pub fn text(&self, inside: &str) -> String {
        std::fs::read_to_string(self.path(inside)).unwrap_or_else(|e| panic!("{inside}: {e}"))
    }
}

impl Cluster {
    /// The script in the %post that `provostctl snippet kickstart cn001 MORE…` prints.
    pub fn post_script(&self, more: &[&str]) -> String {
        let args = [&["snippet", "kickstart", "cn001"], more].concat();
        let text = self.ctl(&args).expect(0).stdout;
        let (head, rest) = text.split_once('\n').unwrap();
        assert!(head.starts_with("%post --erroronfail --log=/var/log/"), "{head}");
        rest.strip_suffix("%end\n").unwrap().to_owned()
    }
}

impl Drop for Chroot {
    fn drop(&mut self) {
        // Its namespace, and all that is mounted there, goes with it.
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}
