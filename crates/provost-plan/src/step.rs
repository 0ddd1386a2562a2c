use std::borrow::Cow;
use std::fmt;

use provost_bundle::check_path;
use serde::{Deserialize, Serialize};

/// A script with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The script's path in the bundle.
    pub script: String,
    /// Its arguments, as the script gets them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
}

/// Why a line isn't a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line:?} can't be run: {why}")]
pub struct StepError {
    line: String,
    why: String,
    hint: &'static str,
}

impl StepError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        self.hint.to_owned()
    }
}

const PLAIN: &str = "write a script's name and its arguments, such as \"mount_scratch /scratch\"";
const QUOTE: &str = "quote it, if it is text ('a;b', 'a$b'); \
     else put the commands into a script and name that";

impl Step {
    /// Reads a script and its arguments from a line, split as a shell splits words. Nothing else
    /// that a shell does is done: a second command, a redirection or a substitution
    /// is an error: passing it on as text would surprise as much as running it. Patterns such as
    /// `*` are plain text.
    pub fn parse(line: &str) -> Result<Self, StepError> {
        let refuse =
            |why: String, hint| StepError { line: line.chars().take(200).collect(), why, hint };
        if let Some(operator) = shell_operator(line) {
            let why = format!("{operator} is for a shell, and no shell reads this line");
            return Err(refuse(why, QUOTE));
        }
        let words = shell_words::split(line).map_err(|_| {
            refuse("a quote isn't closed".to_owned(), "close it, or put a \\ before it")
        })?;
        let mut words = words.into_iter();
        let Some(script) = words.next() else {
            return Err(refuse("no script is named".to_owned(), PLAIN));
        };
        let step = Self { script, args: words.collect() };
        step.check().map_err(|why| refuse(why, PLAIN))?;
        Ok(step)
    }

    /// Reads xCAT's list form: steps with commas between, as in `s1 p1 p2,s2`. A comma in quotes
    /// is part of an argument.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, StepError> {
        let mut start = 0;
        let mut lines = Vec::new();
        for (at, c, quoted) in quoting(text) {
            if c == ',' && quoted == Quoted::No {
                lines.push(&text[start..at]);
                start = at + 1;
            }
        }
        lines.push(&text[start..]);
        let steps = lines.into_iter().filter(|line| !line.trim().is_empty()).map(Self::parse);
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        if steps.is_empty() {
            let why = "no script is named".to_owned();
            return Err(StepError { line: text.to_owned(), why, hint: PLAIN });
        }
        Ok(steps)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        check_path(&self.script).map_err(|e| e.to_string())?;
        match self.args.iter().any(|arg| arg.contains('\0')) {
            true => Err(format!("an argument of {} has a NUL byte", self.script)),
            false => Ok(()),
        }
    }
}

impl AsRef<Self> for Step {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The line that [`Step::parse`] reads as this step.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = std::iter::once(&self.script).chain(&self.args);
        for (at, word) in words.enumerate() {
            f.write_str(if at > 0 { " " } else { "" })?;
            f.write_str(&quote(word))?;
        }
        Ok(())
    }
}

/// A word as a shell reads it.
fn quote(word: &str) -> Cow<'_, str> {
    match shell_words::quote(word) {
        // To shell-words it is a plain character; here a bare one is the end of the line.
        Cow::Borrowed(plain) if plain.contains('\r') => Cow::Owned(format!("'{plain}'")),
        quoted => quoted,
    }
}

/// How a character is quoted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    /// In double quotes, where a shell still substitutes.
    Double,
    /// In single quotes or after a backslash; also the quotes and the backslash themselves.
    Wholly,
}

/// The characters of a line, each with its place and how it is quoted. Follows POSIX 2.2, as
/// shell-words does.
fn quoting(line: &str) -> impl Iterator<Item = (usize, char, Quoted)> + '_ {
    let mut quote = None;
    let mut escaped = false;
    line.char_indices().map(move |(at, c)| {
        let quoted = match (quote, c) {
            _ if escaped => {
                escaped = false;
                Quoted::Wholly
            }
            (None, '\\') | (Some('"'), '\\') => {
                escaped = true;
                Quoted::Wholly
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                Quoted::Wholly
            }
            (Some(q), c) if q == c => {
                quote = None;
                Quoted::Wholly
            }
            (None, _) => Quoted::No,
            (Some('"'), _) => Quoted::Double,
            (Some(_), _) => Quoted::Wholly,
        };
        (at, c, quoted)
    })
}

/// The first operator that a shell would act on.
fn shell_operator(line: &str) -> Option<String> {
    let mut word_begins = true;
    for (at, c, quoted) in quoting(line) {
        let rest = &line[at..];
        let acts = match (quoted, c) {
            (Quoted::Wholly, _) => false,
            (_, '`') => true,
            (_, '$') => rest[1..]
                .starts_with(|n: char| n.is_ascii_alphanumeric() || "_({@*#?!$-".contains(n)),
            (Quoted::Double, _) => false,
            (Quoted::No, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '\n' | '\r') => true,
            (Quoted::No, '#') => word_begins,
            (Quoted::No, _) => false,
        };
        if acts {
            return Some(match c {
                '$' => format!("`{}`", rest.split_whitespace().next().unwrap_or("$")),
                '\n' | '\r' => "a second line".to_owned(),
                c => format!("`{c}`"),
            });
        }
        word_begins = quoted == Quoted::No && c.is_whitespace();
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        let step = Step::parse(line).unwrap();
        std::iter::once(step.script).chain(step.args).collect()
    }

    #[test]
    fn a_line_is_split_as_a_shell_splits_words() {
        assert_eq!(words("  syslog "), ["syslog"]);
        assert_eq!(
            words(r#"s 'a b' "c 'd'" e\ f "" g"h"i"#),
            ["s", "a b", "c 'd'", "e f", "", "ghi"]
        );
        assert_eq!(
            words(r#"s 'a;b|c' "x && y > z" \; a\$b '$HOME' "\$HOME" '`id`'"#)[1..],
            ["a;b|c", "x && y > z", ";", "a$b", "$HOME", "$HOME", "`id`"]
        );
        assert_eq!(
            words("s *.rpm [a] ~ {a,b} a#b 5$ !x =")[1..],
            ["*.rpm", "[a]", "~", "{a,b}", "a#b", "5$", "!x", "="]
        );
    }

    #[test]
    fn what_only_a_shell_could_do_is_refused() {
        for (line, why) in [
            ("t ; echo x", "`;`"),
            ("t;x", "`;`"),
            ("t | x", "`|`"),
            ("t && x", "`&`"),
            ("t > f", "`>`"),
            ("t < f", "`<`"),
            ("t `id`", "for a shell"),
            ("t $(id)", "`$(id)`"),
            ("t $HOME/x y", "`$HOME/x`"),
            ("t \"$HOME\"", "$HOME"),
            ("t \"`id`\"", "`"),
            ("t (x)", "`(`"),
            ("t # why", "`#`"),
            ("t\nx", "second line"),
            ("t 'a", "isn't closed"),
            ("t \"a", "isn't closed"),
            ("", "no script"),
            ("  ", "no script"),
            ("'' x", "empty"),
            ("/bin/sh -c x", "slash"),
            ("../x", "`..`"),
            ("-x", "`-`"),
            ("t a\0b", "NUL"),
        ] {
            let error = Step::parse(line).unwrap_err();
            assert!(error.to_string().contains(why), "{line:?}: {error}");
        }
    }

    #[test]
    fn a_list_has_commas_between() {
        let list = |text: &str| {
            Step::parse_list(text).unwrap().iter().map(Step::to_string).collect::<Vec<_>>()
        };
        assert_eq!(list("s1 p1 p2,s2"), ["s1 p1 p2", "s2"]);
        assert_eq!(list("s1 'a,b' \"c,d\" e\\,f, s2 ,"), ["s1 a,b c,d e,f", "s2"]);
        assert!(Step::parse_list(" , ").is_err());
        assert!(Step::parse_list("s1,s2;x").is_err());
    }

    proptest! {
        #[test]
        fn a_step_reads_back(args in prop::collection::vec("[ -~äß\t\n\r]{0,8}", 0..4)) {
            let step = Step { script: "s".to_owned(), args };
            prop_assert_eq!(Step::parse(&step.to_string()), Ok(step));
        }
    }
}
