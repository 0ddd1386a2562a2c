#!/bin/bash
# build-foreign.sh ROOT CHECKOUT REGISTRY TRIPLE: builds the node's program for TRIPLE, as it is given away, by the
# toolchain in ROOT (make-foreign-image.sh) of the sources in CHECKOUT and of the crates in REGISTRY, which cargo has
# fetched. It is CHECKOUT/dist/ARCH/provost. Takes root; what it mounts goes with it.
set -euo pipefail

if [[ ${5-} != in-own-namespace ]]; then
    exec unshare --mount --propagation private "$BASH" "$0" "$@" in-own-namespace
fi
root=$1 checkout=$2 registry=$3 triple=$4
mkdir -p "$root"/{checkout,cargo/registry}
mount --bind "$checkout" "$root/checkout"
mount --bind "$registry" "$root/cargo/registry"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
# What it builds is kept in the root: this machine's toolchain would take it for its own.
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CARGO_HOME=/cargo CARGO_INCREMENTAL=0 CARGO_NET_OFFLINE=true \
    CARGO_TARGET_DIR=/build chroot "$root" \
    env --chdir=/checkout cargo run --quiet --package xtask -- dist --node --target "$triple"
