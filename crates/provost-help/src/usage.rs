//! What is wrong with a command line.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// How clap's own last line begins, in whose place the hint stands.
const LAST_LINE: &str = "\nFor more information";

/// Prints on stderr what is wrong with the command line `args` of `program`, and a hint, unless what is wrong
/// has its own.
pub fn complain(error: &Error, program: &Command, args: &[OsString]) {
    let styled = error.render();
    let has_colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut text = if has_colour { styled.ansi().to_string() } else { styled.to_string() };
    text.truncate(text.rfind(LAST_LINE).unwrap_or(text.len()));
    text.truncate(text.trim_end().len());
    if !text.contains("hint: ") {
        let command = command(error, program, args);
        text += &match error.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                format!("\n\n  hint: name a command: {command} COMMAND")
            }
            _ => format!("\n\n  hint: see {command} --help"),
        };
    }
    // Fails where stderr is closed.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints help or a version on stdout. A closed pipe is no error: nobody wants to read it.
///
/// # Errors
///
/// Where stdout can't be written, such as to a full disk.
pub fn print(text: &Error) -> io::Result<()> {
    match text.print().and_then(|()| io::stdout().flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e),
        _ => Ok(()),
    }
}

/// The command that the line means, as far as it names one.
fn command(error: &Error, program: &Command, args: &[OsString]) -> String {
    let unknown = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => Some(&**word),
        _ => None,
    };
    let (mut at, mut path) = (program, program.get_name().to_owned());
    let words = args.iter().skip(1).filter_map(|word| word.to_str());
    for word in words.take_while(|word| Some(*word) != unknown) {
        if let Some(below) = at.find_subcommand(word) {
            at = below;
            path = format!("{path} {word}");
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn the_command_is_the_one_that_the_line_means() {
        let new = Command::new("new").arg(Arg::new("for").long("for").num_args(1));
        let key = Command::new("key").subcommand_required(true).subcommand(new);
        let mut program = Command::new("ctl").arg(Arg::new("url").long("url").global(true));
        program = program.subcommand_required(true).subcommand(key).subcommand(Command::new("run"));
        for (line, expected) in [
            ("ctl key new --zork", "ctl key new"),
            ("ctl --url x key new --for", "ctl key new"),
            ("ctl key zork run", "ctl key"),
            ("ctl zork run", "ctl"),
            ("ctl", "ctl"),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = program.try_get_matches_from_mut(&args).unwrap_err();
            assert_eq!(command(&error, &program, &args), expected, "{line}");
        }
    }
}
