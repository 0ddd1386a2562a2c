//! What nodes report, and what runs on them.

use super::common::{DONE, PLAIN, SOCKET, WRONG};
use crate::sections::command::{Exits, Sections, sections};

/// Of what runs something on nodes.
const ON_NODES: Exits = &[
    (0, "All is well on all nodes."),
    (1, "A node failed or couldn't be reached."),
    WRONG,
    (124, "Some nodes took too long, and nothing else is wrong."),
];

pub(super) const ALL: &[Sections] = &[
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
        "provostctl why",
        PLAIN,
        &[SOCKET],
        &[
            ("Show what the nodes of each failure have in common:", "provostctl why"),
            ("Show what has changed on a node as well:", "provostctl why cn001"),
        ],
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
        "provostctl compat",
        &[DONE, (1, "provostd can't be asked, or doesn't support the program of a node."), WRONG],
        &[SOCKET],
        &[("Look before provostd is replaced:", "provostctl compat")],
    ),
    sections(
        "provostctl journal",
        PLAIN,
        &[],
        &[("Show what a node's journal has of sshd:", "provostctl journal cn001 sshd")],
    ),
    sections(
        "provostctl release",
        PLAIN,
        &[SOCKET],
        &[("Release all nodes that the guard holds:", "provostctl release @held")],
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
        "provostctl sync",
        &[
            (0, "All is well on all nodes; with --dry-run, nothing would fail."),
            (1, "Nothing was published, or a node failed or couldn't be reached."),
            (2, "The command line is wrong, or there is no syncfiles to publish."),
            (124, "Some nodes took too long, and nothing else is wrong."),
        ],
        &[SOCKET],
        &[(
            "Show what would be published, and which nodes would sync:",
            "provostctl sync --dry-run cn[001-003]",
        )],
    ),
    sections(
        "provostctl continue",
        ON_NODES,
        &[SOCKET],
        &[("Continue on all nodes that failed:", "provostctl continue @failed")],
    ),
    sections(
        "provostctl boot",
        ON_NODES,
        &[SOCKET],
        &[("Run all that a boot needs:", "provostctl boot cn[001-010]")],
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
        &[
            (
                "Switch a node off and on (ipmitool -H cn001-bmc -U admin -f FILE power cycle), then wait \
                 until it has booted again:",
                "provostctl wait-for cn001 --status booted --since now",
            ),
            (
                "Wait until all nodes have booted:",
                "provostctl wait-for cn[001-512] --status booted --timeout 20m",
            ),
        ],
    ),
];
