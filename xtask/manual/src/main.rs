//! Writes the man pages and completions of all commands into a folder: `manual DIR`.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::{Generator, Shell};
use clap_mangen::Man;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: manual DIR"))?;
    let folder = Path::new(&folder);
    for (name, section, command) in [
        ("provost", "8", provost::command()),
        ("provostctl", "8", provostctl::command()),
        ("provostd", "8", provostd::command()),
    ] {
        let command = command.name(name).disable_help_subcommand(true);
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let to = folder.join("completions").join(shell.file_name(name));
            fs::create_dir_all(folder.join("completions"))?;
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut command.clone(), name, &mut text);
            fs::write(to, text)?;
        }
        let man = folder.join("man");
        fs::create_dir_all(&man)?;
        pages(command, name.to_owned(), section, &man)?;
    }
    Ok(())
}

/// A page of a command, and one of each command below it.
fn pages(command: Command, name: String, section: &str, folder: &Path) -> io::Result<()> {
    let mut command = command.display_name(name.clone());
    command.build();
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        let name = format!("{name}-{}", below.get_name());
        pages(below.clone(), name, section, folder)?;
    }
    // No date: the page changes with the command alone.
    let man =
        Man::new(command).title(name.to_uppercase()).section(section).date("").source("Provost");
    let mut text = Vec::new();
    man.render(&mut text)?;
    fs::write(folder.join(format!("{name}.{section}")), text)
}
