//! The words of a line of a list, as xCAT's shell makes them.

use std::collections::BTreeMap;

use crate::Step;

/// A line that names no step that could run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableLine {
    /// The name that its step has all the same.
    pub script: String,
    /// The line, and why it is no step.
    pub message: String,
    /// What an admin can do about it.
    pub hint: &'static str,
}

const PLAIN: &str = "write a script's name and its arguments, such as: mount_scratch /scratch";
const OPERATOR: &str = "put the commands into a script, and name that";

/// Reads a line: what `$NAME` and `${NAME}` stand for in `env` takes their place, then blanks separate
/// the words. xCAT's shell splits them twice, so that no quote holds words together: quotes are plain
/// characters, and so are patterns such as `*`. What would be a second command is refused.
pub fn step(line: &str, env: &BTreeMap<String, String>) -> Result<Step, UnusableLine> {
    let refuse = |why: String, hint| {
        let message = format!("{:?} can't be run: {why}", shortened(line));
        UnusableLine { script: name(line), message, hint }
    };
    let line = without_comment(line);
    if let Some(operator) = operator(line) {
        let why = format!("`{operator}` is for a shell, and no shell reads this line");
        return Err(refuse(why, OPERATOR));
    }
    let text = replaced(line, env);
    let mut words = text.split_ascii_whitespace().map(str::to_owned);
    let Some(script) = words.next() else {
        return Err(refuse("no script is named".to_owned(), PLAIN));
    };
    let step = Step { script, args: words.collect() };
    step.check().map(|()| step).map_err(|why| refuse(why, PLAIN))
}

/// The name by which a line's step is known, whatever else is wrong with it.
pub(super) fn name(line: &str) -> String {
    let ends = |c: char| c.is_ascii_whitespace() || ";&|`$<>".contains(c);
    let first = line.trim().split(ends).next().unwrap_or_default();
    match provost_bundle::check_path(first) {
        Ok(()) => first.to_owned(),
        Err(_) => "mypostscript".to_owned(),
    }
}

pub(super) fn shortened(line: &str) -> String {
    line.chars().take(200).collect()
}

fn without_comment(line: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| {
        line[..*at].chars().next_back().is_none_or(|before| before.is_ascii_whitespace())
    };
    line.match_indices('#').find(begins).map_or(line, |(at, _)| &line[..at])
}

/// The first thing in a line that only a shell could do.
fn operator(line: &str) -> Option<&str> {
    line.char_indices().find_map(|(at, c)| match c {
        ';' | '&' | '|' | '`' | '<' | '>' => Some(&line[at..=at]),
        '$' if line[at..].starts_with("$(") => Some("$("),
        '$' if line[at..].starts_with("${") && variable(&line[at..]).is_none() => Some("${"),
        _ => None,
    })
}

/// The variable that `text` begins with, and how many bytes that takes.
fn variable(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('$')?;
    let inner = rest.strip_prefix('{');
    let name = inner.unwrap_or(rest);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    let (name, rest) = name.split_at(end);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match inner {
        _ if !is_name => None,
        Some(_) => rest.starts_with('}').then_some((name, name.len() + 3)),
        None => Some((name, name.len() + 1)),
    }
}

/// The variables that a line names.
pub fn variables(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('$').filter_map(|(at, _)| Some(variable(&line[at..])?.0))
}

/// The line with the values of its variables; an unknown one has none.
fn replaced(line: &str, env: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        text += &rest[..at];
        rest = &rest[at..];
        let (value, length) = match variable(rest) {
            Some((name, length)) => (env.get(name).map_or("", String::as_str), length),
            None => ("$", 1),
        };
        text += value;
        rest = &rest[length..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let env = [("NODE", "cn1"), ("DISKS", " sda  sdb"), ("NOTE", "a;b*"), ("_x1", "y")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let step = step(line, &env).unwrap();
        std::iter::once(step.script).chain(step.args).collect()
    }

    #[test]
    fn blanks_separate_words_after_variables_were_replaced() {
        for (line, expected) in [
            ("m $NODE ${NODE}x x$NODE.y", &["m", "cn1", "cn1x", "xcn1.y"][..]),
            ("m $DISKS x${DISKS}x", &["m", "sda", "sdb", "x", "sda", "sdbx"]),
            ("m $NOTE $_x1 $NOBODY 5$ $1 $", &["m", "a;b*", "y", "5$", "$1", "$"]),
            ("m \"a b\" 'c' \\d * [e] ~", &["m", "\"a", "b\"", "'c'", "\\d", "*", "[e]", "~"]),
            ("m a#b # why; not", &["m", "a#b"]),
            ("$NODE a", &["cn1", "a"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_could_do_is_refused() {
        for (line, script, why) in [
            ("t ; x", "t", "`;`"),
            ("t;x", "t", "`;`"),
            ("t 'a|b'", "t", "`|`"),
            ("t && x", "t", "`&`"),
            ("t > f", "t", "`>`"),
            ("t `id`", "t", "for a shell"),
            ("t $(id)", "t", "`$(`"),
            ("t ${A:-b}", "t", "`${`"),
            ("$NOBODY", "mypostscript", "no script"),
            ("../x a", "mypostscript", "`..`"),
            ("/bin/sh", "mypostscript", "slash"),
        ] {
            let error = step(line, &BTreeMap::new()).unwrap_err();
            assert_eq!(error.script, script, "{line}");
            assert!(error.message.contains(why), "{line}: {}", error.message);
        }
    }
}
