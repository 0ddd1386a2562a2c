//! What a script's text says about it before it runs.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// How much of a script is looked at, in bytes.
const LEN: u64 = 1024 * 1024;

/// What runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Bash,
    Sh,
    Perl,
    Python,
    Other,
}

/// A script and its text.
pub(crate) struct Script {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) language: Language,
    /// What the first line gives the interpreter.
    pub(crate) options: Vec<String>,
}

impl Script {
    /// Reads a script; None if there is nothing that could be read.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        // Whatever a script has put in its own place: a pipe without a writer must hold up nobody.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
        let mut text = Vec::new();
        file.take(LEN).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let (language, options) = first_line(text.lines().next().unwrap_or_default());
        Some(Self { path: path.to_owned(), text, language, options })
    }

    /// One of its lines, counted from 1, without its indentation.
    pub(crate) fn line(&self, number: usize) -> Option<&str> {
        self.text.lines().nth(number.checked_sub(1)?).map(str::trim)
    }

    /// The line where a command begins that goes on until this one, told by its first word.
    pub(crate) fn begin(&self, number: usize, command: &str) -> usize {
        let word = command.split_ascii_whitespace().next().unwrap_or_default();
        let has_word = |at: &usize| self.line(*at).is_some_and(|line| line.contains(word));
        // Its own lines, and those that a backslash joins.
        let mut own = command.lines().count();
        let goes_on = |at: &usize| {
            let joined = self.line(*at).is_some_and(|line| line.ends_with('\\'));
            own = own.saturating_sub(usize::from(!joined));
            joined || own > 0
        };
        let mut lines = std::iter::once(number).chain((1..number).rev().take_while(goes_on));
        lines.find(has_word).unwrap_or(number)
    }

    /// The line where a pipeline begins that goes on until this one, and all of it.
    pub(crate) fn pipeline(&self, number: usize) -> Option<(usize, String)> {
        let mut line = self.line(number)?;
        let mut whole = (number, line.to_owned());
        for at in (1..number).rev() {
            let before = self.line(at)?;
            let joined = before.strip_suffix('\\').map(str::trim_end);
            if joined.is_none() && !before.ends_with('|') && !line.starts_with('|') {
                break;
            }
            whole = (at, format!("{} {}", joined.unwrap_or(before), whole.1));
            line = before;
        }
        Some(whole)
    }

    /// Its lines that aren't blank and aren't comments, without their indentation.
    pub(crate) fn code(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> {
        let lines = self.text.lines().collect::<Vec<_>>().into_iter().enumerate();
        let lines = lines.map(|(index, line)| (index + 1, line.trim()));
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    }

    /// Whether nothing comes after this line.
    pub(crate) fn ends_at(&self, number: usize) -> bool {
        self.code().next_back().is_some_and(|(last, _)| last == number)
    }

    /// Whether one of the words, or of the variables, stands in its code.
    pub(crate) fn has_word(&self, wanted: &[&str]) -> bool {
        let is_wanted = |word: &str| wanted.contains(&word.trim_start_matches('$'));
        self.code().any(|(_, line)| words(line).any(is_wanted))
    }

    /// Whether a shell that runs it ends at the first failure.
    pub(crate) fn has_errexit(&self) -> bool {
        self.options.iter().any(|o| is_flag(o, 'e')) || self.sets('e', "errexit")
    }

    /// Whether it sets a shell's option, which has a letter and a name.
    pub(crate) fn sets(&self, letter: char, name: &str) -> bool {
        self.code().any(|(_, line)| {
            let mut words = line.split([' ', '\t', ';', '&', '|']).skip_while(|w| *w != "set");
            words.any(|word| is_flag(word, letter) || word == name)
        })
    }

    /// Whether it has a function of this name.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.code().any(|(_, line)| {
            let mut after = line.split(name).skip(1).map(str::trim_start);
            after.any(|rest| rest.starts_with("()") || rest.starts_with("( )"))
                || line
                    .strip_prefix("function ")
                    .is_some_and(|rest| words(rest).next() == Some(name))
        })
    }

    /// Whether it has functions.
    pub(crate) fn has_functions(&self) -> bool {
        self.code().any(|(_, line)| {
            let named = |before: &str| {
                before.trim_end().ends_with(|c: char| c.is_alphanumeric() || "_-:.".contains(c))
            };
            ["function ", "sub ", "def "].iter().any(|word| line.starts_with(word))
                || line.split_once("()").is_some_and(|(before, _)| named(before))
                || line.split_once("( )").is_some_and(|(before, _)| named(before))
        })
    }

    /// The function in which a line stands, by its indentation; None outside of any.
    pub(crate) fn function_at(&self, number: usize) -> Option<&str> {
        let mut inside: Option<(&str, usize)> = None;
        for line in self.text.lines().take(number.saturating_sub(1)) {
            let indent = line.len() - line.trim_start().len();
            inside = match inside {
                Some((_, of)) if of == indent && line.trim_start().starts_with(['}', ')']) => None,
                None if !line.trim_end().ends_with('}') => defined(line).map(|name| (name, indent)),
                same => same,
            };
        }
        let own = || self.text.lines().nth(number.checked_sub(1)?).and_then(defined);
        inside.map(|(name, _)| name).or_else(own)
    }
}

impl Language {
    /// That of the interpreter which a first line names after its `#!`.
    pub(crate) fn of(line: &str) -> Self {
        interpreter(line).0
    }
}

/// What runs a script with this first line, and the options that it gets.
fn first_line(line: &str) -> (Language, Vec<String>) {
    line.strip_prefix("#!").map_or((Language::Sh, Vec::new()), interpreter)
}

fn interpreter(line: &str) -> (Language, Vec<String>) {
    let mut words = line.split_ascii_whitespace().peekable();
    let mut path = words.next().unwrap_or_default();
    if path.ends_with("/env") {
        let _ = words.next_if(|word| *word == "-S");
        path = words.next().unwrap_or_default();
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let language = match name {
        "bash" => Language::Bash,
        "sh" | "dash" | "ash" => Language::Sh,
        "busybox" if words.next_if(|w| ["sh", "ash"].contains(w)).is_some() => Language::Sh,
        _ if name.starts_with("perl") => Language::Perl,
        _ if name.starts_with("python") => Language::Python,
        _ => Language::Other,
    };
    (language, words.map(str::to_owned).collect())
}

/// Whether a word is a group of one-letter options, this one among them.
pub(crate) fn is_flag(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        letters.contains(letter) && letters.chars().all(|c| c.is_ascii_alphabetic())
    })
}

/// The words of a line, whatever stands between them; `$x` isn't the word `x`.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && !"_$".contains(c)).filter(|w| !w.is_empty())
}

/// The function of which a shell's definition begins in a line.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let named = line.split_once('(').filter(|(_, rest)| rest.trim_start().starts_with(')'));
    let word = line.strip_prefix("function ").and_then(|rest| rest.split([' ', '(']).next());
    word.or(named.map(|(name, _)| name.trim_end())).filter(|name| !name.contains(' '))
}

/// A text without its spaces, which a shell that prints a command sets in its own way.
pub(crate) fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::failure_location) fn script(dir: &Path, text: &str) -> Script {
        std::fs::write(dir.join("x"), text).unwrap();
        Script::read(&dir.join("x")).unwrap()
    }

    #[test]
    fn a_first_line_names_a_language_and_its_options() {
        for (line, language, options) in [
            ("#!/bin/bash -eu", Language::Bash, &["-eu"][..]),
            ("#! /usr/bin/env -S bash -e -u", Language::Bash, &["-e", "-u"]),
            ("#!/usr/bin/env python3", Language::Python, &[]),
            ("#!/bin/busybox sh -e", Language::Sh, &["-e"]),
            ("#!/usr/bin/awk -f", Language::Other, &["-f"]),
            ("#!", Language::Other, &[]),
            ("echo", Language::Sh, &[]),
        ] {
            let (found, words) = first_line(line);
            assert_eq!((found, &words[..]), (language, &options.map_strings()[..]), "{line}");
        }
    }

    trait Strings {
        fn map_strings(&self) -> Vec<String>;
    }
    impl Strings for [&str] {
        fn map_strings(&self) -> Vec<String> {
            self.iter().map(|s| (*s).to_owned()).collect()
        }
    }

    #[test]
    fn options_are_seen_where_they_are_set() {
        let dir = tempfile::tempdir().unwrap();
        for (text, errexit) in [
            ("#!/bin/sh -e\n", true),
            ("set -eu; x\n", true),
            ("x && set -o errexit\n", true),
            ("grep -e x\n# set -e\n", false),
            ("set +e\n", false),
        ] {
            assert_eq!(script(dir.path(), text).has_errexit(), errexit, "{text}");
        }
    }
}
