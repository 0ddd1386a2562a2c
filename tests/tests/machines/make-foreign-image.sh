#!/bin/bash
# make-foreign-image.sh FOLDER: makes FOLDER/root, a Debian whose cross toolchains are new enough for this workspace, and
# what machines of other architectures boot, for each kernel FOLDER/KERNEL/vmlinuz and FOLDER/KERNEL/root.cpio.zst: bash,
# busybox and a network, without provost. Takes root, debootstrap, cpio and zstd.
set -euo pipefail

mkdir -p "$1"
folder=$(realpath "$1")
root=$folder/root

debootstrap --variant=minbase trixie "$root" >&2
chroot "$root" dpkg --add-architecture arm64
chroot "$root" dpkg --add-architecture ppc64el
chroot "$root" apt-get -qq update
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get -qq -y --no-install-recommends install \
    rustc-web cargo-web gcc libc6-dev make xz-utils \
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross

# unpack PACKAGE FOLDER: of Debian's packages.
unpack() {
    rm -f "$root"/tmp/*.deb
    chroot "$root" env --chdir=/tmp apt-get -qq -o APT::Sandbox::User=root download "$1" &&
        dpkg-deb -x "$root"/tmp/*.deb "$2"
}

# Not installed: the compiler's libraries of that architecture, which they depend on, are of no use here.
for architecture in arm64 ppc64el; do
    unpack "libstd-rust-web-dev:$architecture" "$root"
done

# image KERNEL ARCHITECTURE: makes FOLDER/KERNEL. KERNEL is the end of its package's name.
image() {
    local image=${folder:?}/$1 kernels kernel is_there=false name
    local new=$image/root parts=$image/parts
    mkdir -p "$new"/{bin,dev,etc,lib,proc,root,run,sys,tmp,usr/bin,var/log}
    # The newest that is there: a list may name one that its mirror hasn't got yet.
    kernels=$(chroot "$root" apt-cache search --names-only "^linux-image-[0-9][^-]*-$1\$" | cut -d ' ' -f 1 | sort -rV)
    for kernel in $kernels; do
        if unpack "$kernel:$2" "$parts"; then
            is_there=true
            break
        fi
    done
    $is_there
    mv "$parts"/boot/vmlinu[xz]-* "$image/vmlinuz"
    # In the order in which they need each other. What the kernel has built in isn't there.
    for name in virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci \
        failover net_failover virtio_net; do
        find "$parts" -name "$name.ko.xz" | while read -r module; do
            chroot "$root" xz -d <"$module" >"$new/lib/$name.ko"
            echo "insmod /lib/$name.ko" >>"$new/etc/modules"
        done
    done
    unpack "busybox-static:$2" "$parts"
    unpack "bash-static:$2" "$parts"
    cp "$parts/usr/bin/busybox" "$new/bin/busybox"
    cp "$parts/usr/bin/bash-static" "$new/bin/bash"

    cat >"$new/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
. /etc/modules
# What QEMU's DHCP server would say.
ip link set lo up
ip link set eth0 up
ip address add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
console=$(cat /sys/class/tty/console/active)
echo "::wait:/usr/bin/provost boot" >/etc/inittab
echo "$console::respawn:/bin/getty -L 0 $console dumb" >>/etc/inittab
exec init
INIT
    chmod 755 "$new/init"
    # root logs in on the serial line without a password.
    echo 'root::0:0:root:/root:/bin/bash' >"$new/etc/passwd"
    echo 'root:x:0:' >"$new/etc/group"
    echo "PS1='root@\\h:\\w# '" >"$new/etc/profile"
    (cd "$new" && find . | cpio --quiet -o -H newc | zstd -q -9 >"$image/root.cpio.zst")
    rm -rf "$parts" "$new"
}

image cloud-amd64 amd64
image cloud-arm64 arm64
image arm64-16k arm64
image powerpc64le-64k ppc64el
rm -rf "${root:?}"/tmp/* "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
