//! `provostd`, and `provostctl` as a whole.

use super::common::{PLAIN, SOCKET};
use crate::sections::command::{Exits, Sections, sections};

const AUTHORITY: Exits = &[
    (0, "It is shown."),
    (1, "There is none yet, or it can't be read."),
    (2, "The command line or the configuration is wrong."),
];
const CA: (&str, &str) = (
    "/var/lib/provostd/ca",
    "The authority's key, mode 0600, and its certificate. The first start of provostd makes them.",
);
const SSH_CA: (&str, &str) = (
    "/var/lib/provostd/ssh/ca",
    "The key that certifies nodes' ssh host keys, mode 0600. Whatever needs it first makes it.",
);
const SHOW_CA: (&str, &str) =
    ("What names it to the nodes, for provostctl publish --tls:", "provostd ca show --tls");

pub(super) const ALL: &[Sections] = &[
    sections(
        "provostd",
        &[
            (0, "A signal ended it, in order."),
            (1, "It couldn't serve."),
            (2, "The command line or the configuration is wrong."),
        ],
        &[
            ("/etc/provost/provostd.toml", "The configuration: provostd.toml(5)."),
            ("/var/lib/provostd", "The daemon's own folder: database, logs of scripts, sockets."),
            ("/var/lib/provostd/listen.json", "The addresses on which it serves."),
        ],
        &[("Run it in a terminal:", "provostd --config provostd.toml")],
    ),
    sections(
        "provostd check",
        &[
            (0, "A start would work."),
            (1, "It couldn't be checked."),
            (2, "A start wouldn't work, or the command line is wrong."),
        ],
        &[("/etc/provost/provostd.toml", "The configuration: provostd.toml(5).")],
        &[(
            "Before a restart, as the user of the daemon (runuser -u provostd):",
            "provostd check && systemctl restart provostd",
        )],
    ),
    sections(
        "provostd prepare",
        AUTHORITY,
        &[CA],
        &[("Before the first start, as the user of the daemon:", "provostd prepare")],
    ),
    sections(
        "provostd install-sh",
        &[
            (0, "It is printed."),
            (1, "Nothing is published yet, or there is no program for nodes."),
            (2, "The command line or the configuration is wrong."),
        ],
        &[("/usr/lib/provost/programs/ARCH/provost", "The programs that it names by digest.")],
        &[("The digest by which it checks itself:", "provostd install-sh | sha256sum")],
    ),
    sections("provostd ca", AUTHORITY, &[CA], &[SHOW_CA]),
    sections(
        "provostd ca rotate",
        AUTHORITY,
        &[CA],
        &[
            ("Make a new CA:", "provostd ca rotate"),
            ("Drop the old one, once all nodes trust the new one:", "provostd ca rotate --finish"),
        ],
    ),
    sections(
        "provostd ca show",
        AUTHORITY,
        &[CA, SSH_CA],
        &[
            SHOW_CA,
            (
                "Let ssh accept the certified host keys of nodes:",
                "provostd ca show --ssh >>/etc/ssh/ssh_known_hosts",
            ),
        ],
    ),
    sections(
        "provostctl init",
        &[
            (0, "Done, or it was done before."),
            (1, "It failed; fix the cause and run it again: it continues where it stopped."),
            (2, "The command line is wrong, or provostd wouldn't start."),
        ],
        &[
            ("DIR/provost.key", "The key that signs: whoever has it is root on every node."),
            ("DIR/provostctl.toml", "Defaults of the options of provostctl: provostctl.toml(5)."),
            ("DIR/provostd.toml", "The daemon's configuration: provostd.toml(5)."),
            ("DIR/site.toml", "What nodes run: provost-site.toml(5)."),
            ("DIR/postscripts", "The scripts."),
            CA,
        ],
        &[
            ("See what it would make:", "provostctl init --dry-run"),
            (
                "Make it, where nodes reach this machine at 10.0.0.1:",
                "provostctl init --address 10.0.0.1",
            ),
            (
                "The same with a key that never comes to this machine:",
                "provostctl init --public-key provost.pub --sign-command 'ssh safe sign \"$1\" \"$2\"'",
            ),
        ],
    ),
    sections(
        "provostctl",
        PLAIN,
        &[SOCKET],
        &[
            ("Set up a management node:", "provostctl init"),
            ("Publish what nodes run:", "provostctl publish"),
            ("See how the nodes are:", "provostctl nodes"),
            ("See why one failed:", "provostctl show cn001"),
        ],
    ),
    sections(
        "provostctl help",
        PLAIN,
        &[],
        &[
            ("Show the help of a command:", "provostctl help key rotate"),
            ("List the exit statuses of all commands:", "provostctl help exit-status"),
            ("Show how nodes are named:", "provostctl help node-sets"),
            ("List the variables that stand for options:", "provostctl help environment"),
        ],
    ),
];
