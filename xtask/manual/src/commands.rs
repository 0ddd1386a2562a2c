//! The man pages of commands: of the command lines, and of what [`sections`](crate::sections) adds.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use roff::{Roff, bold, roman};

use crate::sections;

/// Writes a page of a program, and one of each command below it, into `folder`.
pub(crate) fn write(command: Command, folder: &Path) -> io::Result<()> {
    let name = command.get_name().to_owned();
    pages(command, &name, folder)
}

fn pages(command: Command, name: &str, folder: &Path) -> io::Result<()> {
    let mut command = command.display_name(name.replace(' ', "-"));
    command.build();
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        pages(below.clone(), &format!("{name} {}", below.get_name()), folder)?;
    }
    let page = name.replace(' ', "-");
    // No date: the page changes with the command alone.
    let man = Man::new(command).title(page.to_uppercase()).section("8").date("").source("Provost");
    let mut text = Vec::new();
    man.render(&mut text)?;
    // The preamble, two lines, stands at the top already.
    let rest = rest(name)?.render();
    text.extend(rest.splitn(3, '\n').last().unwrap_or_default().bytes());
    fs::write(folder.join(format!("{page}.8")), text)
}

/// What the command line doesn't say of the command `name`.
fn rest(name: &str) -> io::Result<Roff> {
    let sections = sections::of(name)
        .ok_or_else(|| io::Error::other(format!("sections.rs has nothing on {name:?}")))?;
    let mut page = Roff::new();
    page.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in sections.exits {
        page.control("TP", []).text([bold(status.to_string())]).text([roman(*meaning)]);
    }
    if !sections.files.is_empty() {
        page.control("SH", ["FILES"]);
        for (path, meaning) in sections.files {
            page.control("TP", []).text([bold(*path)]).text([roman(*meaning)]);
        }
    }
    page.control("SH", ["EXAMPLES"]);
    for (meaning, line) in sections.examples {
        page.control("PP", []).text([roman(*meaning)]);
        page.control("PP", []).control("EX", []).text([roman(format!("    {line}"))]);
        page.control("EE", []);
    }
    page.control("SH", ["SEE ALSO"]);
    page.text([roman(format!("{}.", sections::SEE_ALSO.join(", ")))]);
    Ok(page)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::programs;

    fn names(command: &Command, name: String, all: &mut BTreeSet<String>) {
        for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            names(below, format!("{name} {}", below.get_name()), all);
        }
        all.insert(name);
    }

    #[test]
    fn each_command_has_its_sections_and_nothing_else_has() {
        let mut all = BTreeSet::new();
        for (name, command) in programs() {
            names(&command, name.to_owned(), &mut all);
        }
        let told: BTreeSet<String> = sections::names().map(str::to_owned).collect();
        assert_eq!(told, all);
    }

    #[test]
    fn each_example_is_a_command_line_that_its_program_takes() {
        for name in sections::names() {
            let examples = sections::of(name).map(|sections| sections.examples);
            for (_, line) in examples.unwrap_or_default() {
                let alone = line.split(['|', '>', '<', '&']).next().unwrap_or_default();
                let words = shell_words::split(alone).expect(line);
                assert!(words.join(" ").starts_with(name), "{name}: {line}");
                let program = programs().into_iter().find(|(program, _)| *program == words[0]);
                let (_, mut program) = program.expect(line);
                if let Err(error) = program.try_get_matches_from_mut(&words) {
                    panic!("{line}: {error}");
                }
            }
        }
    }
}
