//! The man pages of commands: of the command lines, and of what [`sections`] adds.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use roff::{Roff, bold, roman};

use provost_help::{Layout, sections};

/// Writes a page of a program, and one of each command below it, into `folder`.
pub(crate) fn write(command: Command, layout: &Layout, folder: &Path) -> io::Result<()> {
    let name = command.get_name().to_owned();
    pages(command, &name, layout, folder)
}

fn pages(command: Command, name: &str, layout: &Layout, folder: &Path) -> io::Result<()> {
    let mut command = command.display_name(name.replace(' ', "-"));
    command.build();
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        pages(below.clone(), &format!("{name} {}", below.get_name()), layout, folder)?;
    }
    let page = name.replace(' ', "-");
    // No date: the page changes with the command alone.
    let commands = commands(&command, name, layout);
    let man = Man::new(command).title(page.to_uppercase()).section("8").date("").source("Provost");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    text.extend(body(&commands).bytes());
    text.extend(body(&rest(name)?).bytes());
    fs::write(folder.join(format!("{page}.8")), text)
}

/// Without the preamble, two lines, which stands at the top already.
fn body(page: &Roff) -> String {
    page.render().splitn(3, '\n').last().unwrap_or_default().to_owned()
}

/// The commands below `command`, those of a program under their headings.
fn commands(command: &Command, name: &str, layout: &Layout) -> Roff {
    let mut page = Roff::new();
    if !command.has_subcommands() {
        return page;
    }
    page.control("SH", ["COMMANDS"]);
    let groups: Vec<(Option<&str>, Vec<&Command>)> = match name.contains(' ') {
        true => vec![(None, command.get_subcommands().collect())],
        false => layout
            .headings
            .iter()
            .map(|heading| {
                let found =
                    heading.commands.iter().filter_map(|name| command.find_subcommand(name));
                (Some(heading.title), found.collect())
            })
            .collect(),
    };
    for (title, commands) in groups {
        if let Some(title) = title.filter(|_| layout.headings.len() > 1) {
            page.control("SS", [title]);
        }
        for below in commands {
            let page_name = format!("{} {}", name, below.get_name()).replace(' ', "-");
            let about = below.get_about().map(ToString::to_string).unwrap_or_default();
            page.control("TP", []).text([bold(page_name), roman("(8)")]).text([roman(about)]);
        }
    }
    page
}

/// What the command line doesn't say of the command `name`.
fn rest(name: &str) -> io::Result<Roff> {
    let sections = sections::of(name)
        .ok_or_else(|| io::Error::other(format!("provost-help has no sections of {name:?}")))?;
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

    use clap::error::{ContextKind, ContextValue, ErrorKind};

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
        for (name, command, _) in programs() {
            names(&command, name.to_owned(), &mut all);
        }
        let told: BTreeSet<String> = sections::all().map(|one| one.name.to_owned()).collect();
        assert_eq!(told, all);
    }

    /// Whether all that is missing stands in `provostctl.toml`.
    fn is_named_once(error: &clap::Error) -> bool {
        let named = ["--site <FILE>", "--scripts <DIR>", "--key <FILE>", "--to <WWW>"];
        let is_named = |missing: &String| named.contains(&&**missing);
        error.kind() == ErrorKind::MissingRequiredArgument
            && matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::Strings(all))
                if all.iter().all(is_named))
    }

    #[test]
    fn each_example_is_a_command_line_that_its_program_takes() {
        for sections::Sections { name, examples, .. } in sections::all() {
            for (_, line) in *examples {
                let alone = line.split(['|', '>', '<', '&']).next().unwrap_or_default();
                let words = shell_words::split(alone).expect(line);
                assert!(words.join(" ").starts_with(name), "{name}: {line}");
                let program = programs().into_iter().find(|(program, ..)| *program == words[0]);
                let (_, mut program, _) = program.expect(line);
                match program.try_get_matches_from_mut(&words) {
                    Err(error) if !is_named_once(&error) => panic!("{line}: {error}"),
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }
}
