//! A dry run has a limit of memory and one of processes, and names the one that it has reached. What the scripts here take
//! is harmless on any machine, also where nothing limits them.

use std::fs;
use std::path::Path;

use provost_tests::{Cluster, Node, Out, missing, skip, skip_if, skip_part};

use super::super::json_page::page::Page;

/// What /proc/meminfo has on a machine with this memory, all of it free.
fn memory(mib: u64) -> String {
    let kib = mib << 10;
    format!("MemTotal: {kib} kB\nMemFree: {kib} kB\nMemAvailable: {kib} kB\n")
}

/// More memory than half of 256 MiB.
const TAKES: &str = "#!/bin/sh\necho begins\n\
    perl -e '$x = \"x\" x (300 << 20); print \"has it\\n\"'\necho \"perl: $?\"\n";
/// Each process waits for somebody to write.
const FORKS: &str = "#!/bin/sh\nmkfifo /tmp/never\n\
    i=0; while [ $i -lt 4500 ]; do : </tmp/never & i=$((i+1)); done\necho has all\n";
/// A file system in memory, which is as big as the script says.
const MOUNTS: &str = "#!/bin/sh\nmount -t tmpfs -o size=1g tmpfs /mnt\n\
    head -c 300M /dev/zero >/mnt/file && echo has it\n";

/// More changes than there is room for in a quarter of 256 MiB.
const FILLS: &str = "#!/bin/sh\nhead -c 80M /dev/zero >/fills || echo \"head: $?\"\n";

/// `provost run --dry-run` on a machine with this memory.
fn attempt(cluster: &Cluster, node: &Node, mib: u64, args: &str) -> Out {
    let file = node.path("meminfo");
    fs::write(&file, memory(mib)).unwrap();
    let within =
        format!("mount --bind {} /proc/meminfo; exec provost run --dry-run {args}", file.display());
    let out = node.shell(&format!("unshare --mount sh -ec '{within}'"), cluster);
    if out.stderr.contains("no cgroup can be made for it") {
        skip("no cgroup can be made that limits memory and processes");
    }
    out
}

#[test]
fn a_limit_that_is_reached_is_named() {
    skip_if(missing::mounts());
    skip_if(missing::process_namespaces());
    let mut cluster = Cluster::new();
    cluster.script("takes", TAKES).script("forks", FORKS).script("mounts", MOUNTS);
    cluster.script("fills", FILLS);
    cluster.site("[nodes.cn001]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");

    let out = attempt(&cluster, &node, 256, "takes").expect(0);
    assert!(out.stdout.contains("| begins\n") && !out.stdout.contains("| has it\n"), "{out:?}");
    assert!(out.stdout.contains("| perl: 137\n"), "the script goes on: {out:?}");
    out.says(&["the dry run's limit of 128 MiB of memory was reached", "--scratch DIR"]);

    let out = attempt(&cluster, &node, 256, "mounts").expect(1);
    assert!(!out.stdout.contains("| has it\n"), "{out:?}");
    out.says(&["the dry run's limit of 128 MiB of memory was reached"]);

    let out = attempt(&cluster, &node, 4096, "forks").expect(1);
    assert!(!out.stdout.contains("| has all\n"), "{out:?}");
    out.says(&["the dry run's limit of 4096 processes was reached"]);

    let out = attempt(&cluster, &node, 256, "fills");
    out.says(&["the room for what changes is full (64 MiB)", "--scratch DIR"]);
    let document = attempt(&cluster, &node, 256, "--format json fills").json();
    assert_eq!(document["fullAtBytes"], 64 << 20);
    assert!(!Path::new("/fills").exists());

    a_disk_is_not_filled(&cluster, &node);

    // With enough of all, nothing is said.
    let out = attempt(&cluster, &node, 2048, "takes").expect(0);
    assert!(out.stdout.contains("| has it\n"), "{out:?}");
    assert!(!out.stderr.contains("limit") && !out.stderr.contains("full"), "{out:?}");

    let document = attempt(&cluster, &node, 256, "--format json takes").expect(0).json();
    assert_eq!(document["memoryFullAtBytes"], 128 << 20);
    Page::read().check("a-dry-run", &document);
    no_group_is_left();
}

/// Of a disk of 100 MiB, a quarter is left to others.
fn a_disk_is_not_filled(cluster: &Cluster, node: &Node) {
    let no_loop =
        || (!Path::new("/dev/loop-control").exists()).then(|| "no loop devices".to_owned());
    if let Some(missing) = missing::program("mkfs.ext4", "e2fsprogs").or_else(no_loop) {
        return skip_part(&missing);
    }
    let disk = node.path("disk");
    fs::create_dir(&disk).unwrap();
    let within = format!(
        "mount -t tmpfs -o size=100m tmpfs {0}; provost run --dry-run --scratch {0} fills; ls {0}",
        disk.display()
    );
    let out = node.shell(&format!("unshare --mount sh -c '{within}'"), cluster).expect(0);
    out.says(&["the room for what changes is full ("]);
}

/// Those that a dry run makes have its name.
fn no_group_is_left() {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap(), parts.next().unwrap());
        let folder = format!("/sys/fs/cgroup/{controllers}{path}");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_left = |name: &String| {
            // Of another test that runs now.
            name.strip_prefix("provost-dry-run-")
                .is_some_and(|pid| !Path::new("/proc").join(pid).exists())
        };
        let left: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).filter(is_left).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
