//! Machines that really boot: Debian with systemd under an emulator, whose management node is on
//! this host's loopback. They take root, QEMU and minutes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod cgroup_v1;
mod cloud_init;
mod disk;
mod disk_backed;
mod diskless;
mod downgrade;
mod emulator;
mod escapes;
mod foreign;
mod foreign_image;
mod hardened;
mod image;
mod machine;
mod management;
mod selinux;
mod site;
mod upgrade;
