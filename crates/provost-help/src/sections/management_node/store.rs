//! What the management node keeps: removed, copied, backed up.

use super::common::{DONE, FAILED, PLAIN, SOCKET};
use crate::sections::command::{Exits, Files, Sections, sections};

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

pub(super) const ALL: &[Sections] = &[
    sections(
        "provostctl remove",
        &[
            DONE,
            (1, "It failed, or the answer was no."),
            (2, "The command line is wrong, or there is no terminal and no --yes."),
        ],
        &[SOCKET],
        &[
            ("See what would be removed:", "provostctl remove cn[500-512] --dry-run"),
            (
                "Remove nodes that don't exist any more, in a script:",
                "provostctl remove cn[500-512] --yes",
            ),
        ],
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
];
