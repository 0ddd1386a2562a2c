//! A machine's disk with the root that it boots, which outlives the machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_tests::Chroot;
use rustix::fs::XattrFlags;
use tempfile::{NamedTempFile, TempDir};

use crate::image::{Image, initrd, kernel, unpack, unpack_cloud_init, unpack_selinux};
use crate::machine::Machine;

/// As mke2fs(8) takes it; most of it is never written.
const SIZE: &str = "1G";

/// Hands the machine over to the root on its disk.
const INIT: &str = "#!/bin/sh -e
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
modprobe -a virtio_pci virtio_blk
mount /dev/vda /mnt
exec switch_root /mnt /sbin/init
";

/// A disk.
pub(crate) struct Disk(NamedTempFile);

impl Disk {
    /// A disk with what an installer lays down, on which `install` then works, in the root as an
    /// installer has it.
    pub(crate) fn installed(install: impl FnOnce(&Chroot)) -> Self {
        Self::with(unpack, install)
    }

    /// The same with SELinux: what is there before `install` has the labels that the policy has for it.
    pub(crate) fn with_selinux(install: impl FnOnce(&Chroot)) -> Self {
        Self::with(unpack_selinux, |root| {
            // The top of an overlay is the upper folder's own.
            let label = b"system_u:object_r:root_t:s0\0";
            rustix::fs::setxattr(root.path("/"), "security.selinux", label, XattrFlags::empty())
                .unwrap();
            install(root);
        })
    }

    /// The same with cloud-init.
    pub(crate) fn with_cloud_init(install: impl FnOnce(&Chroot)) -> Self {
        Self::with(unpack_cloud_init, install)
    }

    fn with(unpack: impl FnOnce(&Path), install: impl FnOnce(&Chroot)) -> Self {
        let (disk, folder) = (NamedTempFile::new().unwrap(), TempDir::new().unwrap());
        let (lower, work) = (folder.path().join("lower"), folder.path().join("work"));
        fs::create_dir(&lower).unwrap();
        unpack(&lower);
        let root = Chroot::of(&lower, &work).expect("machines are for root");
        install(&root);
        root.write_to(disk.path(), SIZE);
        Self(disk)
    }

    /// A disk with `image`.
    pub(crate) fn of(image: &Image) -> Self {
        Self::installed(|root| image.copy_to(&root.path("/")))
    }

    /// Switches a machine on that boots it.
    pub(crate) fn boot(&self) -> Machine {
        self.boot_with("", &[])
    }

    /// The same, with more arguments for its kernel, and more disks, of which it boots nothing.
    pub(crate) fn boot_with(&self, arguments: &str, more: &[&Path]) -> Machine {
        let layer = TempDir::new().unwrap();
        let init = layer.path().join("init");
        fs::write(&init, INIT).unwrap();
        fs::set_permissions(init, PermissionsExt::from_mode(0o755)).unwrap();
        let disks = [&[self.path()], more].concat();
        Machine::start(&kernel(), arguments, initrd(layer.path()), &disks)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}
