#!/bin/bash
# make-selinux-image.sh FOLDER BASE: makes FOLDER/root.cpio.zst of the root of make-image.sh in BASE: the same
# with Debian's SELinux policy, enforcing, and with what default postscripts look for. It has no labels, which
# cpio doesn't keep. Takes root.
set -euo pipefail

folder=$1 base=$2
root=$folder/root
mkdir -p "$root"
zstd -q -d -c "$base/root.cpio.zst" | (cd "$root" && cpio --quiet -i -d -m)

mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/urandom" c 1 9
chroot "$root" apt-get -qq -o APT::Sandbox::User=root update
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get -qq -y --no-install-recommends -o APT::Sandbox::User=root \
    install selinux-policy-default policycoreutils selinux-utils chrony sudo
sed -i 's/^SELINUX=.*/SELINUX=enforcing/' "$root/etc/selinux/config"
: >"$root/etc/machine-id"

rm -rf "${root:?}"/tmp/* "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale} \
    "${root:?}"/dev/*
(cd "$root" && find . -xdev | cpio --quiet -o -H newc | zstd -q -T0 -9 >../root.cpio.zst)
rm -rf "$root"
