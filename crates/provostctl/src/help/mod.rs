//! `provostctl help`, and how the help of each command is laid out.

mod topics;

use clap::Command;
use provost_help::{Heading, Layout, sections};

use crate::failure::{Failure, WRONG};
use crate::output;

/// The commands under their headings, and what is below them.
pub static LAYOUT: Layout = Layout {
    headings: &[
        Heading {
            title: "Publish",
            commands: &[
                "publish", "promote", "rollback", "channel", "history", "plan", "try", "key",
                "import",
            ],
        },
        Heading {
            title: "Nodes",
            commands: &["nodes", "show", "why", "log", "journal", "watch", "wait-for", "remove"],
        },
        Heading {
            title: "Identities",
            commands: &[
                "snippet", "enroll", "join", "pending", "approve", "reject", "revoke", "token",
            ],
        },
        Heading {
            title: "Fix and rerun",
            commands: &["rerun", "sync", "continue", "boot", "release", "gather"],
        },
        Heading {
            title: "Management node",
            commands: &[
                "init", "admin", "audit", "expiry", "compat", "backup", "restore", "prune",
                "store", "help",
            ],
        },
    ],
    shows: |_connection, command| asks_provostd(command),
    sections: sections::MANAGEMENT_NODE,
    more: "Help topics: provostctl help exit-status | node-sets | environment\n",
};

/// Whether the command connects to provostd.
fn asks_provostd(command: &str) -> bool {
    match command.split_once(' ') {
        Some(("key", below)) => below != "new",
        Some(("channel" | "import" | "store", _)) => false,
        Some(_) => true,
        // Those that have others below them take options there.
        None => !matches!(
            command,
            "" | "admin"
                | "backup"
                | "channel"
                | "enroll"
                | "help"
                | "import"
                | "init"
                | "key"
                | "plan"
                | "restore"
                | "store"
                | "try"
        ),
    }
}

/// `provostctl help`.
#[derive(clap::Args)]
pub(crate) struct Help {
    /// A command, such as publish or key rotate, or a topic: exit-status, node-sets, environment
    #[arg(value_name = "COMMAND|TOPIC")]
    of: Vec<String>,
}

impl Help {
    /// Prints the help of `program` that is asked for.
    pub(crate) fn run(&self, program: &Command) -> Result<(), Failure> {
        if let [topic] = &*self.of
            && let Some(text) = topics::text(topic, program)
        {
            return output::print(text.as_bytes());
        }
        let mut command = program;
        for word in &self.of {
            command = command.find_subcommand(word).ok_or_else(|| {
                let error = format!("unknown command or help topic {:?}", self.of.join(" "));
                Failure::new(error, "list all: provostctl help").with_code(WRONG)
            })?;
        }
        // What the command prints itself, in the form that its options need.
        let name = program.get_name().to_owned();
        let line = [&name].into_iter().chain(&self.of).map(String::as_str).chain(["--help"]);
        match program.clone().try_get_matches_from(line) {
            Err(help) => output::written(help.print()),
            Ok(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn program() -> Command {
        crate::cli::command()
    }

    #[test]
    fn each_command_has_one_heading_and_one_line() {
        let listed: Vec<&str> =
            LAYOUT.headings.iter().flat_map(|heading| heading.commands).copied().collect();
        let once: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(once.len(), listed.len(), "{listed:?}");
        let program = program();
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        assert_eq!(once, shown.map(Command::get_name).collect());
        let help = LAYOUT.apply(program).render_help().to_string();
        for line in help.lines().take_while(|line| *line != "Options:").skip(2) {
            assert!(line.len() <= 80, "{line}");
            assert!(!line.ends_with('.') && !line.contains("status:"), "{line}");
        }
    }

    #[test]
    fn connection_options_are_shown_where_a_command_asks_provostd() {
        let shown = |words: &[&str]| {
            let mut program = LAYOUT.apply(program());
            program.build();
            let mut command = &mut program;
            for word in words {
                command = command.find_subcommand_mut(word).unwrap();
            }
            command.render_long_help().to_string().contains("\nConnection:\n")
        };
        for words in [&["nodes"][..], &["publish"], &["key", "rotate"], &["admin", "add"]] {
            assert!(shown(words), "{words:?}");
        }
        for words in [&[][..], &["try"], &["plan"], &["key", "new"], &["key"], &["import", "xcat"]]
        {
            assert!(!shown(words), "{words:?}");
        }
    }

    #[test]
    fn connection_options_are_taken_before_and_after_each_command() {
        for line in [
            "provostctl --ca x nodes",
            "provostctl nodes --ca x",
            "provostctl key rotate --ca x --key k --next n --to w",
            "provostctl --ca x key new --out d",
        ] {
            let taken = LAYOUT.apply(program()).try_get_matches_from(line.split(' '));
            let mut matches = taken.expect(line);
            // The value reaches the program, wherever it stands.
            let ca = matches.remove_one::<std::path::PathBuf>("ca");
            assert_eq!(ca.as_deref(), Some(std::path::Path::new("x")), "{line}");
        }
    }
}
