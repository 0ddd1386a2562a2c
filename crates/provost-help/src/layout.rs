//! The help of a program: of its command line, headings and [`Sections`].

use clap::builder::Styles;
use clap::{Arg, Command};

use crate::sections::{self, Sections};

/// Between columns, and before each line of a list.
const GAP: &str = "  ";

/// Commands that stand together in a program's help.
pub struct Heading {
    /// What they have in common.
    pub title: &'static str,
    /// Their names, in the order of the help.
    pub commands: &'static [&'static str],
}

/// What a program's command line doesn't say of its help.
pub struct Layout {
    /// Its commands. clap has headings for options only (clap-rs/clap#1553).
    pub headings: &'static [Heading],
    /// Whether a command shows an option that all commands take. Commands are named without the
    /// program, such as `key new`; the program itself has no name.
    pub shows: fn(option: &str, command: &str) -> bool,
    /// Exit statuses and examples of its commands.
    pub sections: &'static [&'static [Sections]],
    /// The last lines of its own help.
    pub more: &'static str,
}

impl Layout {
    /// The commands in the order of their headings, each with the options that it uses.
    pub fn arrange(&self, mut program: Command) -> Command {
        let order = self.headings.iter().flat_map(|heading| heading.commands);
        for (at, name) in order.enumerate() {
            if program.find_subcommand(name).is_some() {
                program = program.mut_subcommand(name, |command| command.display_order(at));
            }
        }
        let global: Vec<Arg> =
            program.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
        self.show_used(program, &global, "")
    }

    /// The same with the whole help: for terminals, where pages of their own would be too much.
    pub fn apply(&self, program: Command) -> Command {
        let name = program.get_name().to_owned();
        let mut program = self.add_sections(self.arrange(program), &name);
        let list = self.list(&program);
        if !list.is_empty() {
            let styles = program.get_styles().clone();
            let options = heading(&styles, "Options");
            program = program.help_template(format!(
                "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{options}{{options}}{{after-help}}"
            ));
        }
        program
    }

    /// Hides options that all take from the commands that don't use them. They are accepted there
    /// nevertheless: an alias of the program may have them.
    fn show_used(&self, command: Command, global: &[Arg], name: &str) -> Command {
        let mut command = command;
        for arg in global {
            let hidden = !(self.shows)(arg.get_id().as_str(), name);
            // clap gives the others a copy of their own: that of the program, which may be hidden.
            command = match name {
                "" => command.mut_arg(arg.get_id(), |arg| arg.hide(hidden)),
                _ => command.arg(arg.clone().hide(hidden)),
            };
        }
        command.mut_subcommands(|below| {
            let name = format!("{name} {}", below.get_name());
            self.show_used(below, global, name.trim_start())
        })
    }

    fn add_sections(&self, command: Command, name: &str) -> Command {
        let is_program = !name.contains(' ');
        let styles = command.get_styles().clone();
        let mut command = command.mut_subcommands(|below| {
            let name = format!("{name} {}", below.get_name());
            self.add_sections(below, &name)
        });
        // As a whole: clap's long help has each option on lines of its own.
        if let Some(long) = command.get_long_about().cloned() {
            command = command.about(long).long_about(None);
        }
        if !is_program && command.has_subcommands() {
            let template = one_line_each(&command);
            command = command.help_template(template);
        }
        let found = self.sections.iter().copied().flatten().find(|one| one.name == name);
        let mut text = String::new();
        if let Some(sections) = found {
            text += &examples(sections, &styles);
            if !is_program && sections.has_own_exits() {
                text += &exits(sections, &styles);
            }
        }
        if is_program {
            text += self.more;
        }
        command.after_help(text.trim_end().to_owned())
    }

    /// The commands under their headings, those without one at the end.
    fn list(&self, program: &Command) -> String {
        let all = || program.get_subcommands().filter(|command| !command.is_hide_set());
        let width = all().map(|command| command.get_name().len()).max().unwrap_or_default();
        let find = |name: &&str| all().find(|command| command.get_name() == *name);
        let has_heading = |command: &&Command| {
            self.headings.iter().any(|heading| heading.commands.contains(&command.get_name()))
        };
        let groups = self.headings.iter().map(|heading| {
            (heading.title, heading.commands.iter().filter_map(find).collect::<Vec<_>>())
        });
        let rest = ("Other commands", all().filter(|command| !has_heading(command)).collect());
        let styles = program.get_styles();
        let mut text = String::new();
        for (title, commands) in groups.chain([rest]).filter(|(_, commands)| !commands.is_empty()) {
            text += &heading(styles, title);
            for command in commands {
                text += &row(styles, command, width);
            }
            text.push('\n');
        }
        text
    }
}

/// A command with its summary, which is the first line of what it says about itself.
fn row(styles: &Styles, command: &Command, width: usize) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let summary = about.lines().next().unwrap_or_default();
    let name = command.get_name();
    let pad = " ".repeat(width - name.len());
    let literal = styles.get_literal();
    format!("{GAP}{}{name}{}{pad}{GAP}{summary}\n", literal.render(), literal.render_reset())
}

/// The help of a command that has others below it.
fn one_line_each(command: &Command) -> String {
    let styles = command.get_styles();
    let below = || command.get_subcommands().filter(|below| !below.is_hide_set());
    let width = below().map(|below| below.get_name().len()).max().unwrap_or_default();
    let rows: String = below().map(|below| row(styles, below, width)).collect();
    let (commands, options) = (heading(styles, "Commands"), heading(styles, "Options"));
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{rows}\n{options}{{options}}{{after-help}}"
    )
}

fn heading(styles: &Styles, title: &str) -> String {
    let style = styles.get_header();
    format!("{}{title}:{}\n", style.render(), style.render_reset())
}

fn examples(sections: &Sections, styles: &Styles) -> String {
    let mut text = heading(styles, "Examples");
    for (meaning, line) in sections.examples {
        text += &format!("{GAP}{meaning}\n{GAP}{GAP}{line}\n");
    }
    text.push('\n');
    text
}

fn exits(sections: &Sections, styles: &Styles) -> String {
    let rows = sections.exits.iter().map(|(status, meaning)| {
        let meaning = meaning.trim_end_matches('.');
        format!("{GAP}{status:<3}{GAP}{meaning}\n")
    });
    let mut text = heading(styles, "Exit status");
    text.extend(rows);
    text.push('\n');
    text
}

impl Sections {
    /// Whether its exit statuses are others than those of most commands.
    pub fn has_own_exits(&self) -> bool {
        self.exits != sections::PLAIN
    }
}
