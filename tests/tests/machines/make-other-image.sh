#!/bin/bash
# make-other-image.sh FOLDER BASE: makes FOLDER/root.cpio.zst of the root of make-image.sh in BASE and, by the name of
# FOLDER, Debian's SELinux policy, enforcing, with what default postscripts look for (it has no labels, which cpio
# doesn't keep), or Debian's cloud-init, as an image for clouds has it. Takes root.
set -euo pipefail

folder=$1 base=$2
root=$folder/root
case ${folder##*/} in
vm-selinux.*)
    packages=(selinux-policy-default policycoreutils selinux-utils chrony sudo openssh-server rsyslog)
    ;;
vm-cloud-init.*) packages=(cloud-init) ;;
esac
mkdir -p "$root"
zstd -q -d -c "$base/root.cpio.zst" | (cd "$root" && cpio --quiet -i -d -m)

mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/urandom" c 1 9
chroot "$root" apt-get -qq -o APT::Sandbox::User=root update
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get -qq -y --no-install-recommends -o APT::Sandbox::User=root \
    install "${packages[@]}"
case ${folder##*/} in
vm-selinux.*) sed -i 's/^SELINUX=.*/SELINUX=enforcing/' "$root/etc/selinux/config" ;;
vm-cloud-init.*)
    # It waits for the network itself.
    chroot "$root" systemctl --quiet unmask systemd-networkd-wait-online
    chroot "$root" systemctl --quiet enable systemd-networkd-wait-online
    # Where its data is, and what it would take time for: a disk that grows, keys of a sshd that isn't there.
    cat >"$root/etc/cloud/cloud.cfg.d/99_image.cfg" <<'END'
datasource_list: [NoCloud]
network: {config: disabled}
growpart: {mode: 'off'}
resize_rootfs: false
ssh_genkeytypes: []
locale: false
END
    ;;
esac
: >"$root/etc/machine-id"

rm -rf "${root:?}"/tmp/* "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale} \
    "${root:?}"/dev/*
(cd "$root" && find . -xdev | cpio --quiet -o -H newc | zstd -q -T0 -9 >../root.cpio.zst)
rm -rf "$root"
