//! Writes the man pages and completions of all commands, the man pages of the reference, the schemas of
//! configuration files and the description of the APIs into a folder: `manual DIR`.

mod commands;
mod openapi;
mod pages;
mod schemas;

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::{Generator, Shell};
use provost_help::Layout;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: manual DIR"))?;
    let folder = Path::new(&folder);
    let [man, completions, schema] = ["man", "completions", "schema"].map(|name| folder.join(name));
    for folder in [&man, &completions, &schema] {
        fs::create_dir_all(folder)?;
    }
    for (name, command, layout) in programs() {
        let mut shown = shown(command.clone());
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut shown, name, &mut text);
            fs::write(completions.join(shell.file_name(name)), text)?;
        }
        commands::write(command, layout, &man)?;
    }
    pages::write(&man)?;
    schemas::write(&schema)?;
    openapi::write(folder)
}

/// The command lines of all programs.
fn programs() -> [(&'static str, Command, &'static Layout); 3] {
    [
        ("provost", provost::command(), &provost::LAYOUT),
        ("provostctl", provostctl::command(), &provostctl::LAYOUT),
        ("provostd", provostd::command(), &provostd::LAYOUT),
    ]
    .map(|(name, command, layout)| {
        (name, layout.arrange(command.name(name).disable_help_subcommand(true)), layout)
    })
}

/// The command without the options that its help hides: clap_complete would offer them.
fn shown(mut command: Command) -> Command {
    command.build();
    without_hidden(&command).disable_help_flag(true).disable_version_flag(true)
}

fn without_hidden(command: &Command) -> Command {
    // clap's names are static, but it hands out shorter borrows of them.
    let name: &'static str = command.get_name().to_owned().leak();
    let mut copy = Command::new(name)
        .args(
            command
                .get_arguments()
                .filter(|arg| !arg.is_hide_set())
                .cloned()
                .map(|arg| arg.global(false)),
        )
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .disable_version_flag(true)
        .version(provost_api::VERSION)
        .subcommands(
            command.get_subcommands().filter(|below| !below.is_hide_set()).map(without_hidden),
        );
    if let Some(about) = command.get_about() {
        copy = copy.about(about.clone());
    }
    copy
}
