//! What is published: keys, scripts and plans, channels, imports.

use super::common::{PLAIN, WRONG};
use crate::sections::command::{Files, Sections, sections};

const CHANNELS: (&str, &str) = ("WWW/.provost/channels.toml", "The channels, signed.");
const PUBLISHED: (&str, &str) = ("WWW/.provost", "What was published each time, signed.");
const NUMBERS: (&str, &str) = (
    "provost.published.toml",
    "Beside the key: the generations that were published. Keep it with the key.",
);
const SUCCESSION: (&str, &str) = (
    "provost.succession",
    "Beside the key: the earlier keys, and the revoked ones. What is published has the same list. Keep it with the key.",
);
const PUBLISHING: Files = &[
    (
        "WWW",
        "What is published: manifest, scripts and plans. The folder that provostd.toml calls www.",
    ),
    PUBLISHED,
    NUMBERS,
    SUCCESSION,
];

pub(super) const ALL: &[Sections] = &[
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
            "Revoke a key on every node that fetches this:",
            "provostctl key revoke RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
        )],
    ),
    sections(
        "provostctl key rotate",
        PLAIN,
        &[SUCCESSION],
        &[(
            "Replace the signing key; run it again to see which nodes haven't fetched the new one yet:",
            "provostctl key rotate --next new/provost.key",
        )],
    ),
    sections(
        "provostctl key show",
        PLAIN,
        &[],
        &[
            ("See which key signs, and which ones nodes trust:", "provostctl key show"),
            ("The same without provostd, by what is published:", "provostctl key show --to www"),
        ],
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
            ("See what would change for which nodes:", "provostctl publish --diff"),
            (
                "Publish it to the nodes of a channel first:",
                "provostctl publish --to-channel canary",
            ),
            (
                "Publish without a provostctl.toml:",
                "provostctl publish --site site.toml --scripts postscripts --key provost.key --to www",
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
        &[("Say which nodes get a change first:", "provostctl channel set canary cn[001-010]")],
    ),
    sections(
        "provostctl channel set",
        PLAIN,
        &[CHANNELS],
        &[("Say which nodes get a change first:", "provostctl channel set canary cn[001-010]")],
    ),
    sections(
        "provostctl channel list",
        PLAIN,
        &[CHANNELS],
        &[("List the channels:", "provostctl channel list")],
    ),
    sections(
        "provostctl channel remove",
        PLAIN,
        &[CHANNELS],
        &[("Remove a channel:", "provostctl channel remove canary")],
    ),
    sections(
        "provostctl promote",
        PLAIN,
        PUBLISHING,
        &[("Give all nodes what the channel's nodes have:", "provostctl promote canary")],
    ),
    sections(
        "provostctl rollback",
        PLAIN,
        PUBLISHING,
        &[
            ("Take the newest publication back:", "provostctl rollback"),
            ("See what going back to an older one would change:", "provostctl rollback 23 --diff"),
        ],
    ),
    sections(
        "provostctl history",
        PLAIN,
        &[PUBLISHED],
        &[("Show the last publications:", "provostctl history")],
    ),
    sections(
        "provostctl plan",
        PLAIN,
        &[],
        &[
            ("See what a node will run, and why:", "provostctl plan cn001"),
            ("See in what two nodes differ:", "provostctl plan cn001 --diff cn002"),
            ("See which nodes run a script:", "provostctl plan --script syslog"),
            ("See what is published for a node:", "provostctl plan cn001 --to /srv/provost/www"),
        ],
    ),
    sections(
        "provostctl try",
        crate::sections::node::TRY,
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
];
