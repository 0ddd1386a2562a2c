//! Bash's messages in other languages. What bash printed is looked up in its message catalogues (`.mo`
//! files, see "The Format of GNU MO Files" in gettext's manual) and put into English.
//!
//! All languages are tried, because a script may set its own.

use std::fs;
use std::path::{Path, PathBuf};

/// Where catalogues are: `LANGUAGE/LC_MESSAGES/bash.mo`. The second is Ubuntu's.
const FOLDERS: [&str; 2] = ["/usr/share/locale", "/usr/share/locale-langpack"];
/// How a catalogue begins that was made on a machine of this byte order.
const MAGIC: u32 = 0x9504_12de;
/// How many bytes a translation has beside its arguments for it to be recognized.
const LITERAL: usize = 4;

/// A message about a line of a script, `NAME: Zeile 12: TEXT`, in English: `NAME: line 12: TEXT`. The
/// text stays as it is where it isn't bash's own. None if no language has such messages.
pub(super) fn in_english(message: &str) -> Option<String> {
    languages().find_map(|folder| {
        let own = Catalogue::read(&folder.join("bash.mo"))?;
        let (name, line, text) = own.place(message)?;
        let system = || {
            let (about, why) = text.rsplit_once(": ")?;
            let why = Catalogue::read(&folder.join("libc.mo"))?.original(why)?;
            Some(format!("{about}: {why}"))
        };
        // An argument may be a message as well.
        let twice = |text: String| own.original(&text).unwrap_or(text);
        let text = own.original(text).map(twice).or_else(system).unwrap_or_else(|| text.to_owned());
        Some(format!("{name}: line {line}: {text}"))
    })
}

fn languages() -> impl Iterator<Item = PathBuf> {
    let folders = FOLDERS.iter().filter_map(|folder| fs::read_dir(folder).ok());
    folders.flatten().flatten().map(|language| language.path().join("LC_MESSAGES"))
}

/// Pairs of an English text and its translation.
struct Catalogue(Vec<(String, String)>);

impl Catalogue {
    fn read(path: &Path) -> Option<Self> {
        Self::parse(&fs::read(path).ok()?)
    }

    fn parse(file: &[u8]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = file.get(at..at.checked_add(4)?)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        let text = |entry: usize| {
            let (len, at) = (number(entry)? as usize, number(entry.checked_add(4)?)? as usize);
            let text = file.get(at..at.checked_add(len)?)?;
            Some(String::from_utf8_lossy(text).trim_end_matches('\n').to_owned())
        };
        if number(0)? != MAGIC {
            return None;
        }
        let (count, originals, translations) = (number(8)?, number(12)?, number(16)?);
        let pair = |index: u32| {
            let offset = |table: u32| (table as usize).checked_add(index as usize * 8);
            Some((text(offset(originals)?)?, text(offset(translations)?)?))
        };
        Some(Self((0..count).map_while(pair).collect()))
    }

    /// Takes a message apart into the file's name, the line and the rest.
    fn place<'a>(&self, message: &'a str) -> Option<(&'a str, usize, &'a str)> {
        self.0.iter().find_map(|(original, translation)| {
            // The second is that of builtins.
            let (before, after) = match original.as_str() {
                " line " => (format!(":{translation}"), ": "),
                "%s: line %d: " => {
                    let (before, after) = translation.strip_prefix("%s")?.split_once("%d")?;
                    (before.to_owned(), after)
                }
                _ => return None,
            };
            message.match_indices(&before).find_map(|(at, _)| {
                let rest = &message[at + before.len()..];
                let digits = rest.find(|c: char| !c.is_ascii_digit())?;
                let text = rest[digits..].strip_prefix(after)?;
                Some((&message[..at], rest[..digits].parse().ok()?, text))
            })
        })
    }

    /// The English text of a translation with its arguments: the one that has the least of them.
    fn original(&self, text: &str) -> Option<String> {
        let matching = self.0.iter().filter_map(|(original, translation)| {
            let (original, translation) = (pieces(original), pieces(translation));
            let literal: usize = translation.iter().map(|piece| piece.len()).sum();
            let arguments = arguments(text, &translation).filter(|_| literal >= LITERAL)?;
            let mut english = String::new();
            for (at, piece) in original.iter().enumerate() {
                english += piece;
                english += arguments.get(at).copied().unwrap_or_default();
            }
            Some((literal, english))
        });
        matching.max_by_key(|(literal, _)| *literal).map(|(_, english)| english)
    }
}

/// What stands between the arguments of a format, see printf(3).
fn pieces(format: &str) -> Vec<&str> {
    let mut parts = format.split('%');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| {
        let conversion = |c: char| c.is_ascii_alphabetic() && c != 'l';
        part.find(conversion).map_or(part, |at| &part[at + 1..])
    });
    std::iter::once(first).chain(rest).collect()
}

/// What stands in a text in the place of a format's arguments.
fn arguments<'a>(text: &'a str, pieces: &[&str]) -> Option<Vec<&'a str>> {
    let (first, rest) = pieces.split_first()?;
    let mut text = text.strip_prefix(first)?;
    let Some((last, middle)) = rest.split_last() else {
        return text.is_empty().then(Vec::new);
    };
    let mut arguments = Vec::new();
    for piece in middle {
        let (argument, after) = text.split_once(piece)?;
        arguments.push(argument);
        text = after;
    }
    arguments.push(text.strip_suffix(last)?);
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_translation_is_found_by_what_stands_between_its_arguments() {
        let pairs = [
            (" line ", " Zeile "),
            ("%s: line %d: ", "%s: %d. Zeile: "),
            ("%s: command not found", "%s: Kommando nicht gefunden."),
            ("%s: not found", "%s: nicht gefunden."),
            ("%s: %s", "%s: %s"),
            ("syntax error near unexpected token `%s'", "Syntaxfehler beim Symbol »%s«"),
        ];
        let catalogue = Catalogue(pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).into());
        assert_eq!(catalogue.place("./x: Zeile 12: a: b"), Some(("./x", 12, "a: b")));
        assert_eq!(catalogue.place("./x: eval: Zeile 2: a"), Some(("./x: eval", 2, "a")));
        assert_eq!(catalogue.place("./x: 3. Zeile: cd: a"), Some(("./x", 3, "cd: a")));
        assert_eq!(catalogue.place("./x: line 3: a"), None);
        for (text, english) in [
            ("a: Kommando nicht gefunden.", Some("a: command not found")),
            ("exec: a: nicht gefunden.", Some("exec: a: not found")),
            ("Syntaxfehler beim Symbol »fi«", Some("syntax error near unexpected token `fi'")),
            ("a: b", None),
        ] {
            assert_eq!(catalogue.original(text).as_deref(), english, "{text}");
        }
    }

    #[test]
    fn a_file_that_is_no_catalogue_is_none() {
        for file in [&b""[..], b"\xde\x12\x04\x95", &[0xff; 64]] {
            assert!(Catalogue::parse(file).is_none());
        }
        let mut cut = MAGIC.to_ne_bytes().to_vec();
        cut.extend([0, u32::MAX, 20, u32::MAX].map(u32::to_ne_bytes).concat());
        assert!(Catalogue::parse(&cut).unwrap().0.is_empty());
    }
}
