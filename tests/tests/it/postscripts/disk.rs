//! `setupscratch`, with a disk made of a file.

use std::fs::File;
use std::process::Command;

use provost_tests::{Out, missing, skip_if};
use tempfile::NamedTempFile;

use crate::postscripts::root::{Kind, Root};

/// A disk of 64 MiB.
struct Disk {
    device: String,
    _file: NamedTempFile,
}

impl Disk {
    /// What is missing here to have one.
    fn missing() -> Option<String> {
        missing::root("attach a disk").or_else(|| {
            let out = Out::from(Command::new("losetup").arg("--find").output().unwrap());
            (out.code != Some(0)).then(|| format!("no loop device: {}", out.stderr.trim()))
        })
    }

    fn new() -> Self {
        let file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        File::set_len(file.as_file(), 64 << 20).unwrap();
        let out = Command::new("losetup").args(["--find", "--show"]).arg(file.path()).output();
        let device = Out::from(out.unwrap()).expect(0).stdout.trim().to_owned();
        Self { device, _file: file }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

#[test]
fn an_empty_disk_becomes_scratch_space_and_no_other() {
    skip_if(Disk::missing());
    let root = Root::new(Kind::Chroot);
    let disk = Disk::new();
    let device = disk.device.as_str();
    // As in an installer, whose disks are the node's.
    let kickstart = ("PROVOST_SERVICE", "kickstart");
    let env = [("SCRATCH_DEVICE", device), ("SCRATCH_FS", "ext4"), kickstart];
    root.stand_in_for_selinux();
    root.settles("setupscratch", &env);
    // The folder, and then what is mounted there.
    let labelled = root.text("/run/labelled");
    assert!(labelled.starts_with("restorecon -R /scratch\nrestorecon -R /scratch\n"), "{labelled}");
    assert_eq!(root.mode("/scratch"), 0o1777);
    let fstab = root.text("/etc/fstab");
    assert!(fstab.contains(" /scratch auto defaults,nofail 0 2\n"), "{fstab}");
    root.sh("echo precious >/scratch/data", &[]).expect(0);

    // As after a boot: it is there, and only mounted.
    root.sh("umount /scratch", &[]).expect(0);
    root.script("setupscratch", &env).expect(0);
    assert_eq!(root.text("/scratch/data"), "precious\n");

    // Device mapper's have two names: the one that is mounted isn't the one that a link leads to.
    let other =
        format!("umount /scratch; mknod /tmp/vg0-scratch b $(stat -c '0x%t 0x%T' {device})");
    root.sh(&format!("{other} && mount /tmp/vg0-scratch /scratch"), &[]).expect(0);
    let out = root.script("setupscratch", &env).expect(0);
    assert!(out.stdout.contains("nothing to change"), "{out:?}");

    // Elsewhere, it is in use.
    root.refuses(&format!("setupscratch {device} /other"), &env, &["is mounted at /scratch"]);
    root.sh("umount /scratch", &[]).expect(0);

    // A file system of somebody's.
    root.sh("e2label \"$SCRATCH_DEVICE\" home", &env).expect(0);
    root.refuses("setupscratch", &env, &["is not empty", "LABEL=home"]);
    root.sh("e2label \"$SCRATCH_DEVICE\" scratch && mount \"$SCRATCH_DEVICE\" /mnt", &env)
        .expect(0);
    assert_eq!(root.text("/mnt/data"), "precious\n");
    root.sh("umount /mnt", &[]).expect(0);

    // Something that nobody knows.
    root.sh("dd if=/dev/zero of=\"$SCRATCH_DEVICE\" bs=1M; wipefs -aq \"$SCRATCH_DEVICE\"", &env);
    root.sh("echo raw | dd of=\"$SCRATCH_DEVICE\" seek=9 conv=fsync", &env).expect(0);
    root.refuses("setupscratch", &env, &["its first MiB has data"]);
    root.refuses("setupscratch", &[kickstart], &["no device is given"]);
    root.refuses("setupscratch /etc/passwd", &[kickstart], &["is not a block device"]);
    root.refuses(&format!("setupscratch {device} /etc"), &[kickstart], &["/etc is not empty"]);
}
