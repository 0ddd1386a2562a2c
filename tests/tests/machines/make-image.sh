#!/bin/bash
# make-image.sh FOLDER: makes what the virtual machines boot, FOLDER/vmlinuz and FOLDER/root.cpio.zst:
# a small Debian with systemd, without provost. Takes root, debootstrap, cpio and zstd.
set -euo pipefail

folder=$1
root=$folder/root
mkdir -p "$folder"

# No dracut, no initramfs-tools: the root itself is what the kernel unpacks. iproute2 is for people.
debootstrap --variant=minbase --include=systemd-sysv,udev,dbus,kmod,iproute2 bookworm "$root" >&2

# The distribution's own kernel, of which this machine needs few modules. A dry run needs overlays; hostile scripts
# try the last two.
chroot "$root" apt-get -qq update
kernel=$(chroot "$root" apt-cache depends linux-image-cloud-amd64 |
    sed -n 's/.*Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
(cd "$folder" && chroot "$root" sh -c "cd /tmp && apt-get -qq -o APT::Sandbox::User=root download $kernel" &&
    dpkg-deb -x "$root"/tmp/"$kernel"_*.deb kernel)
version=${kernel#linux-image-}
modules=lib/modules/$version
for name in virtio virtio_ring virtio_pci virtio_pci_modern_dev virtio_pci_legacy_dev \
    failover net_failover virtio_net virtio_blk virtio_rng overlay dummy loop; do
    (cd "$folder/kernel" && find "$modules" -name "$name.ko*" -exec cp --parents {} "$root" \;)
done
cp "$folder/kernel/$modules"/modules.{order,builtin,builtin.modinfo} "$root/$modules"
chroot "$root" depmod "$version"
mv "$folder/kernel/boot/vmlinuz-$version" "$folder/vmlinuz"

ln -s usr/lib/systemd/systemd "$root/init"
cat >"$root/etc/systemd/network/dhcp.network" <<'END'
[Match]
Name=en* eth*
[Network]
DHCP=ipv4
END
chroot "$root" systemctl --quiet enable systemd-networkd
# Nobody is to wait for a network but provost itself; no timer is to work next to the test.
chroot "$root" systemctl --quiet mask systemd-networkd-wait-online systemd-firstboot \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap \
    fstrim.timer
# root logs in on the serial line without a password.
chroot "$root" passwd --quiet --delete root
: >"$root/etc/machine-id"

rm -rf "${root:?}"/tmp/* "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale} \
    "$root"/usr/lib/udev/hwdb.* "${root:?}"/dev/*
(cd "$root" && find . -xdev | cpio --quiet -o -H newc | zstd -q -T0 -9 >../root.cpio.zst)
rm -rf "$folder/kernel" "$root"
