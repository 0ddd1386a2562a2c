//! Who may report, and who may change something.

use super::common::{PLAIN, SOCKET};
use crate::sections::command::{Sections, sections};

const ADD_ADMIN: &str = "provostctl admin add lee --role operate --for 90d >lee.token";
const OPEN_WINDOW: &str = "provostctl enroll open cn[001-512] --for 2h";

pub(super) const ALL: &[Sections] = &[
    sections(
        "provostctl token",
        PLAIN,
        &[SOCKET],
        &[("Make tokens for all nodes:", "provostctl token cn[001-512] >tokens")],
    ),
    sections(
        "provostctl pending",
        PLAIN,
        &[SOCKET],
        &[("Show which keys wait for approval:", "provostctl pending")],
    ),
    sections(
        "provostctl expiry",
        PLAIN,
        &[SOCKET],
        &[("See what expires next, and what to do about it:", "provostctl expiry")],
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
        &[("Show this week's changes, each with its admin:", "provostctl audit --since 7d")],
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
];
