//! Writes the man pages and completions of all commands, the man pages of the reference, the schemas of
//! configuration files and the description of the APIs into a folder: `manual DIR`.

mod commands;
mod openapi;
mod pages;
mod schemas;
mod sections;

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::{Generator, Shell};

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: manual DIR"))?;
    let folder = Path::new(&folder);
    let [man, completions, schema] = ["man", "completions", "schema"].map(|name| folder.join(name));
    for folder in [&man, &completions, &schema] {
        fs::create_dir_all(folder)?;
    }
    for (name, command) in programs() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut command.clone(), name, &mut text);
            fs::write(completions.join(shell.file_name(name)), text)?;
        }
        commands::write(command, &man)?;
    }
    pages::write(&man)?;
    schemas::write(&schema)?;
    openapi::write(folder)
}

/// The command lines of all programs.
fn programs() -> [(&'static str, Command); 3] {
    [
        ("provost", provost::command()),
        ("provostctl", provostctl::command()),
        ("provostd", provostd::command()),
    ]
    .map(|(name, command)| (name, command.name(name).disable_help_subcommand(true)))
}
