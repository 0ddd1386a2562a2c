//! The commands of the management node: `provostctl` and `provostd`.

use super::command::Sections;

type Exits = &'static [(u8, &'static str)];
type Files = &'static [(&'static str, &'static str)];
type Examples = &'static [(&'static str, &'static str)];

const DONE: (u8, &str) = (0, "Done.");
const FAILED: (u8, &str) = (1, "It failed; the error says why, and what to do.");
const WRONG: (u8, &str) = (2, "The command line is wrong.");
/// Of most commands.
const PLAIN: Exits = &[DONE, FAILED, WRONG];
/// Of what runs something on nodes.
const ON_NODES: Exits = &[
    (0, "All is well on all nodes."),
    (1, "A node failed or couldn't be reached."),
    WRONG,
    (124, "Some nodes took too long, and nothing else is wrong."),
];

const SOCKET: (&str, &str) = (
    "/var/lib/provostd/admin.sock",
    "Where provostd answers, for root and the group provost-operators.",
);
const ADD_ADMIN: &str = "provostctl admin add lee --role operate --for 90d >lee.token";
const CHANNELS: (&str, &str) = ("WWW/.provost/channels.toml", "The channels, signed.");
const PUBLISHED: (&str, &str) = ("WWW/.provost", "What was published each time, signed.");
const NUMBERS: (&str, &str) = (
    "provost.published.toml",
    "Beside the key: the generations that were published. Keep it with the key.",
);
const PUBLISHING: Files = &[
    (
        "WWW",
        "What is published: manifest, scripts and plans. The folder that provostd.toml calls www.",
    ),
    PUBLISHED,
    NUMBERS,
];

const STORES: Files = &[
    ("/var/lib/provostd/provost.db", "What provostd knows, with store = \"sqlite\"."),
    ("/var/lib/provostd/logs", "The logs that nodes have uploaded, with store = \"sqlite\"."),
];
const COPY: &str = "provostctl store copy --from sqlite:/var/lib/provostd --to \
                    postgres://provostd@db.example.org/provost --password-file \
                    /etc/provost/database.password";
const BACKUP_EXITS: Exits = &[DONE, FAILED, (2, "The command line or the configuration is wrong.")];
const BACKUPS: Files = &[
    ("/etc/provost/provostd.toml", "The configuration, which names the folders and the store."),
    ("DATA", "The daemon's folder, with its store and its authority."),
    ("WWW", "What is published. The folder that provostd.toml calls www."),
];

const OPEN_WINDOW: &str = "provostctl enroll open cn[001-512] --for 2h";
const AUTHORITY: Exits = &[
    (0, "It is shown."),
    (1, "There is none yet, or it can't be read."),
    (2, "The command line or the configuration is wrong."),
];
const CA: (&str, &str) = (
    "/var/lib/provostd/ca",
    "The authority's key, mode 0600, and its certificate. The first start of provostd makes them.",
);
const SHOW_CA: (&str, &str) =
    ("What names it to the nodes, for provostctl publish --tls:", "provostd ca show --tls");

const fn sections(name: &'static str, exits: Exits, files: Files, examples: Examples) -> Sections {
    Sections { name, exits, files, examples }
}

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
            (
                "/etc/provost/relay.toml",
                "The configuration of a relay: upstreams, upstream_tls, upstream_ca, data, listen, admin, \
                 and in [tls] off, listen, cert, key; docs/relay.md explains them.",
            ),
            (
                "/var/lib/provost-relay",
                "A relay's own folder: what is spooled (relay.db), cached files, sockets.",
            ),
        ],
        &[
            ("Run it in a terminal:", "provostd --config provostd.toml"),
            (
                "Be a relay between a rack's nodes and the management node:",
                "provostd --relay --upstream http://10.0.0.1:8480",
            ),
        ],
    ),
    sections("provostd ca", AUTHORITY, &[CA], &[SHOW_CA]),
    sections(
        "provostd ca rotate",
        AUTHORITY,
        &[CA],
        &[
            ("Make another authority:", "provostd ca rotate"),
            (
                "End the one before it, once all nodes know the other:",
                "provostd ca rotate --finish",
            ),
        ],
    ),
    sections("provostd ca show", AUTHORITY, &[CA], &[SHOW_CA]),
    sections(
        "provostctl",
        PLAIN,
        &[SOCKET],
        &[
            (
                "Publish what nodes run:",
                "provostctl publish --site site.toml --scripts postscripts --key /etc/provost/provost.key --to /srv/provost/www",
            ),
            ("See how the nodes are:", "provostctl nodes"),
            ("See why one failed:", "provostctl show cn001"),
        ],
    ),
    sections(
        "provostctl key",
        PLAIN,
        &[],
        &[("Make a key pair:", "provostctl key new --out /etc/provost")],
    ),
    sections(
        "provostctl key new",
        PLAIN,
        &[
            (
                "DIR/provost.key",
                "The secret key, mode 0600: anybody who has it decides what nodes run.",
            ),
            ("DIR/provost.pub", "The public key, which nodes trust."),
        ],
        &[
            (
                "Make a key pair, and print the line that nodes trust:",
                "provostctl key new --out /etc/provost",
            ),
            (
                "The same, the secret key protected by a password:",
                "provostctl key new --password --out /etc/provost",
            ),
        ],
    ),
    sections(
        "provostctl key revoke",
        PLAIN,
        &[],
        &[(
            "Let a key count no more on any node that gets this:",
            "provostctl key revoke RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3 --key provost.key --to www",
        )],
    ),
    sections(
        "provostctl key rotate",
        PLAIN,
        &[(
            "provost.succession",
            "Beside the new key: which keys came before it. Each signature of the new key carries it.",
        )],
        &[(
            "Let a new key sign, and again to see which nodes haven't fetched what it signs yet:",
            "provostctl key rotate --key provost.key --next new/provost.key --to www",
        )],
    ),
    sections(
        "provostctl publish",
        &[
            (0, "It is published; with --lint-only, no mistake was found."),
            (1, "Nothing is published; with --lint-only, a mistake was found."),
            WRONG,
        ],
        PUBLISHING,
        &[
            (
                "See what would change for which nodes:",
                "provostctl publish --site site.toml --scripts postscripts --key provost.key --to www --diff",
            ),
            (
                "Publish it to the nodes of a channel first:",
                "provostctl publish --site site.toml --scripts postscripts --key provost.key --to www --to-channel canary",
            ),
            (
                "Look for mistakes, as in CI:",
                "provostctl publish --lint-only --site site.toml --scripts postscripts",
            ),
        ],
    ),
    sections(
        "provostctl channel",
        PLAIN,
        &[CHANNELS],
        &[(
            "Say which nodes get a change first:",
            "provostctl channel set canary cn[001-010] --key provost.key --to www",
        )],
    ),
    sections(
        "provostctl channel set",
        PLAIN,
        &[CHANNELS],
        &[(
            "Say which nodes get a change first:",
            "provostctl channel set canary cn[001-010] --key provost.key --to www",
        )],
    ),
    sections(
        "provostctl channel list",
        PLAIN,
        &[CHANNELS],
        &[("List the channels:", "provostctl channel list --to www")],
    ),
    sections(
        "provostctl channel remove",
        PLAIN,
        &[CHANNELS],
        &[("Remove a channel:", "provostctl channel remove canary --key provost.key --to www")],
    ),
    sections(
        "provostctl promote",
        PLAIN,
        PUBLISHING,
        &[(
            "Give all nodes what the channel's nodes have:",
            "provostctl promote canary --key provost.key --to www",
        )],
    ),
    sections(
        "provostctl rollback",
        PLAIN,
        PUBLISHING,
        &[
            ("Take the newest publication back:", "provostctl rollback --key provost.key --to www"),
            (
                "See what going back to an older one would change:",
                "provostctl rollback 23 --key provost.key --to www --diff",
            ),
        ],
    ),
    sections(
        "provostctl history",
        PLAIN,
        &[PUBLISHED],
        &[("Show the last publications:", "provostctl history --to www")],
    ),
    sections(
        "provostctl plan",
        PLAIN,
        &[],
        &[
            ("See what a node will run, and why:", "provostctl plan cn001 --site site.toml"),
            (
                "See in what two nodes differ:",
                "provostctl plan cn001 --diff cn002 --site site.toml",
            ),
            ("See which nodes run a script:", "provostctl plan --script syslog --site site.toml"),
            ("See what is published for a node:", "provostctl plan cn001 --to /srv/provost"),
        ],
    ),
    sections(
        "provostctl try",
        super::node::TRY,
        &[],
        &[(
            "See what a script does to an image, on a workstation:",
            "provostctl try scripts/syslog --site site.toml --node cn001 --root /images/compute",
        )],
    ),
    sections(
        "provostctl import ansible",
        PLAIN,
        &[],
        &[(
            "Take over an inventory:",
            "provostctl import ansible /etc/ansible/hosts --to site.toml",
        )],
    ),
    sections(
        "provostctl import warewulf",
        PLAIN,
        &[],
        &[(
            "Take over Warewulf's nodes:",
            "provostctl import warewulf /etc/warewulf/nodes.conf --to site.toml",
        )],
    ),
    sections(
        "provostctl import",
        PLAIN,
        &[],
        &[("Take over an xCAT site:", "provostctl import xcat tables/* --to site.toml")],
    ),
    sections(
        "provostctl import xcat",
        PLAIN,
        &[],
        &[("Take over an xCAT site:", "provostctl import xcat tables/* --to site.toml")],
    ),
    sections(
        "provostctl token",
        PLAIN,
        &[SOCKET],
        &[("Make tokens for all nodes:", "provostctl token cn[001-512] >tokens")],
    ),
    sections(
        "provostctl nodes",
        PLAIN,
        &[SOCKET],
        &[
            ("Show failures by cause, and the other nodes by status:", "provostctl nodes"),
            (
                "List the nodes that failed in the last hour:",
                "provostctl nodes --failed --since 1h --long",
            ),
            ("Name them for another tool:", "provostctl nodes --failed -o NODES"),
        ],
    ),
    sections(
        "provostctl show",
        PLAIN,
        &[SOCKET],
        &[("Show what a node ran, and why it failed:", "provostctl show cn001")],
    ),
    sections(
        "provostctl log",
        PLAIN,
        &[SOCKET],
        &[
            ("Show only the commands that failed:", "provostctl log cn001 otherpkgs --failed"),
            ("Follow a script that runs:", "provostctl log --follow cn001 otherpkgs"),
        ],
    ),
    sections(
        "provostctl journal",
        PLAIN,
        &[],
        &[("Show what a node's journal has of sshd:", "provostctl journal cn001 sshd")],
    ),
    sections(
        "provostctl pending",
        PLAIN,
        &[SOCKET],
        &[("Show which keys wait for approval:", "provostctl pending")],
    ),
    sections(
        "provostctl join",
        PLAIN,
        &[SOCKET],
        &[
            (
                "Make join tokens for nodes that are installed:",
                "provostctl join cn[001-512] --for 1h",
            ),
            (
                "Print what the kernel command line of a diskless node needs:",
                "provostctl join cn001 --for 15m --kernel-args",
            ),
        ],
    ),
    sections(
        "provostctl enroll",
        PLAIN,
        &[SOCKET],
        &[("Let nodes enrol while they are installed:", OPEN_WINDOW)],
    ),
    sections(
        "provostctl enroll open",
        PLAIN,
        &[SOCKET],
        &[(
            "Let nodes enrol while they are installed:",
            "provostctl enroll open cn[001-512] --for 2h",
        )],
    ),
    sections(
        "provostctl enroll close",
        PLAIN,
        &[SOCKET],
        &[("End that for all nodes:", "provostctl enroll close")],
    ),
    sections(
        "provostctl approve",
        PLAIN,
        &[SOCKET],
        &[(
            "Approve the key that the console of a node shows:",
            "provostctl approve cn001 SHA256:LHDhK3oGRvkiefQnx7OOczTY5Tic/xZ6HcMOc/gmtoM",
        )],
    ),
    sections(
        "provostctl reject",
        PLAIN,
        &[SOCKET],
        &[("Reject the only key of a node that waits:", "provostctl reject cn001")],
    ),
    sections(
        "provostctl revoke",
        PLAIN,
        &[SOCKET],
        &[("Shut out a node that was stolen:", "provostctl revoke cn001")],
    ),
    sections(
        "provostctl admin",
        PLAIN,
        &[SOCKET],
        &[("Let an admin use the API from another machine:", ADD_ADMIN)],
    ),
    sections(
        "provostctl admin add",
        PLAIN,
        &[SOCKET],
        &[("Let an admin use the API from another machine:", ADD_ADMIN)],
    ),
    sections(
        "provostctl admin list",
        PLAIN,
        &[SOCKET],
        &[("List the admins:", "provostctl admin list")],
    ),
    sections(
        "provostctl admin remove",
        PLAIN,
        &[SOCKET],
        &[("End an admin's token:", "provostctl admin remove lee")],
    ),
    sections(
        "provostctl audit",
        PLAIN,
        &[SOCKET],
        &[("Show what was changed this week, and by whom:", "provostctl audit --since 7d")],
    ),
    sections(
        "provostctl release",
        PLAIN,
        &[SOCKET],
        &[("Release all nodes that the guard holds:", "provostctl release @held")],
    ),
    sections(
        "provostctl remove",
        PLAIN,
        &[SOCKET],
        &[("Remove nodes that are no more:", "provostctl remove cn[500-512]")],
    ),
    sections(
        "provostctl prune",
        PLAIN,
        &[SOCKET],
        &[("See how much of the history would be removed now:", "provostctl prune --dry-run")],
    ),
    sections(
        "provostctl store",
        PLAIN,
        STORES,
        &[("Move a site to PostgreSQL, while provostd is stopped:", COPY)],
    ),
    sections(
        "provostctl store copy",
        PLAIN,
        STORES,
        &[("Move a site to PostgreSQL, while provostd is stopped:", COPY)],
    ),
    sections(
        "provostctl backup",
        BACKUP_EXITS,
        BACKUPS,
        &[("Back this management node up:", "provostctl backup --to /backup/site.provost")],
    ),
    sections(
        "provostctl restore",
        BACKUP_EXITS,
        BACKUPS,
        &[(
            "Restore it, then start provostd and publish again:",
            "provostctl restore --from /backup/site.provost",
        )],
    ),
    sections(
        "provostctl gather",
        &[(0, "All nodes sent their bundles."), (1, "A node didn't."), WRONG],
        &[SOCKET, ("DIR/log-bundle-NODE-TIME.tar.gz", "A node's bundle.")],
        &[(
            "Collect what is known of the nodes that failed:",
            "provostctl gather @failed --to /tmp",
        )],
    ),
    sections(
        "provostctl rerun",
        &[
            (0, "All is well on all nodes."),
            (1, "A node failed or couldn't be reached."),
            (2, "The command line is wrong, or there is no such script."),
            (124, "Some nodes took too long, and nothing else is wrong."),
        ],
        &[SOCKET],
        &[
            (
                "Run a script again on three nodes:",
                "provostctl rerun cn[001-003] mount_scratch /scratch",
            ),
            (
                "Run two, as xCAT's updatenode names them:",
                "provostctl rerun cn[001-003] -P 'syslog,mount_scratch /scratch'",
            ),
        ],
    ),
    sections(
        "provostctl continue",
        ON_NODES,
        &[SOCKET],
        &[("Let all nodes that failed go on:", "provostctl continue @failed")],
    ),
    sections(
        "provostctl boot",
        ON_NODES,
        &[SOCKET],
        &[("Run all that a boot needs:", "provostctl boot cn[001-010]")],
    ),
    sections(
        "provostctl snippet",
        PLAIN,
        &[SOCKET],
        &[(
            "Print the %post of a kickstart file, with a join token for the node:",
            "provostctl snippet kickstart cn001 --join",
        )],
    ),
    sections(
        "provostctl watch",
        PLAIN,
        &[SOCKET],
        &[("Watch some nodes boot:", "provostctl watch cn[001-010]")],
    ),
    sections(
        "provostctl wait-for",
        &[
            (0, "All nodes have the status."),
            (1, "A node failed."),
            (2, "The command line is wrong, or a node is unknown."),
            (124, "Time is up."),
        ],
        &[SOCKET],
        &[(
            "Wait until all nodes have booted:",
            "provostctl wait-for cn[001-512] --status booted --timeout 20m",
        )],
    ),
];
