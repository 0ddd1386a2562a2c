//! How the help of each command is laid out.

use provost_help::{Heading, Layout, sections};

/// The commands under their headings, and what is below them.
pub static LAYOUT: Layout = Layout {
    headings: &[
        Heading { title: "Run", commands: &["boot", "kickstart", "run", "try", "release"] },
        Heading { title: "Look", commands: &["status", "log", "analyze", "check", "gather"] },
        Heading {
            title: "In scripts and units",
            commands: &["fetch", "record", "reboot-request", "sign-host-keys", "report"],
        },
        Heading {
            title: "Images and xCAT",
            commands: &["stamp", "install", "xcatdsklspost", "xcatinstallpost"],
        },
    ],
    shows: is_used,
    sections: sections::NODE,
    more: "More on a command: provost help COMMAND, or man provost-COMMAND\n",
};

/// Whether the command uses an option that all of them take.
fn is_used(option: &str, command: &str) -> bool {
    match option {
        // What the scripts of a run print.
        "verbose" => {
            matches!(command, "boot" | "kickstart" | "run" | "xcatdsklspost" | "xcatinstallpost")
        }
        _ => !matches!(command, "try" | "record" | "reboot-request"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::command;

    #[test]
    fn each_command_has_one_heading_and_one_line() {
        let listed: Vec<&str> =
            LAYOUT.headings.iter().flat_map(|heading| heading.commands).copied().collect();
        let once: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(once.len(), listed.len(), "{listed:?}");
        let program = command();
        let named: BTreeSet<&str> =
            program.get_subcommands().map(clap::Command::get_name).collect();
        assert!(named.is_subset(&once), "{named:?}");
        let help = LAYOUT.apply(command()).render_help().to_string();
        for line in help.lines().take_while(|line| *line != "Options:").skip(2) {
            assert!(line.len() <= 80, "{line}");
        }
    }

    #[test]
    fn verbose_is_shown_where_scripts_run_and_taken_everywhere() {
        for (command, is_shown) in
            [("boot", true), ("run", true), ("status", false), ("log", false)]
        {
            let mut program = LAYOUT.apply(super::super::command());
            program.build();
            let help = program.find_subcommand_mut(command).map(|c| c.render_help().to_string());
            assert_eq!(help.unwrap().contains("--verbose"), is_shown, "{command}");
        }
        for line in ["provost -v boot", "provost boot -v", "provost status -v"] {
            let matches =
                LAYOUT.apply(command()).try_get_matches_from(line.split(' ')).expect(line);
            assert!(matches.get_flag("verbose"), "{line}");
        }
    }
}
