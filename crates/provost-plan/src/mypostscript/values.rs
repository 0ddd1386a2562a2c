//! Values with a quote in them, which an xCAT table may have: xCAT writes `NAME='VALUE'` and below it
//! `export NAME`, whatever the value. bash then takes a part of it as the value, if any, and runs
//! the rest, or reports an open quote at the last line. A value that isn't one word is an error here,
//! before that. Everything else is the site's own, and left to bash.

use super::error::MyPostscriptError;

/// Checks the values of variables that the preamble sets at the beginning of a line and exports.
pub(super) fn check(preamble: &str) -> Result<(), MyPostscriptError> {
    let (mut begin, mut number, mut export) = (0, 1, 0);
    while begin < preamble.len() {
        if export <= begin {
            let next = preamble[begin..].find("\nexport ");
            export = next.map_or(preamble.len(), |at| begin + at + 1);
        }
        let text = &preamble[begin..export];
        // The end of the line that has that place.
        let upto = |place: usize| text[place..].find('\n').map_or(text.len(), |at| place + at + 1);
        let mut done = upto(0);
        if let Some(name) = assigned(&text[..done]) {
            let exports = preamble[export..].lines().next().unwrap_or_default();
            let exports = exports.split_whitespace().any(|word| word == name);
            let what = match read(&text[name.len() + 1..]) {
                Value::Apostrophe => Some("a ' in it, where bash ends the value".to_owned()),
                Value::Open(quote) if exports => {
                    Some(format!("a {quote} in it, where bash ends the value"))
                }
                Value::Words if exports => {
                    Some("more than one word, and bash would run the rest as a command".to_owned())
                }
                Value::Open(_) | Value::Words | Value::Bashs => None,
                Value::Word(after) => {
                    done = upto(text.len() - after.len());
                    None
                }
            };
            if let Some(what) = what {
                return Err(MyPostscriptError {
                    line: number,
                    what: format!("the value of {name} has {what}"),
                    hint: format!(
                        "remove it from the xCAT table that {name} comes from (see `tabdump site` \
                         and `lsdef`), then write the node's mypostscript anew"
                    ),
                });
            }
        }
        number += text[..done].matches('\n').count();
        begin += done;
    }
    Ok(())
}

/// How bash reads a value.
enum Value<'t> {
    /// One word, and what follows it.
    Word(&'t str),
    /// A quote that ends within a word, as in `'it's'`.
    Apostrophe,
    /// A quote that doesn't end before the variable is exported.
    Open(char),
    /// A word and a command.
    Words,
    /// Something that only bash can read.
    Bashs,
}

fn read(value: &str) -> Value<'_> {
    let after = match word(value) {
        Value::Word(after) => after,
        other => return other,
    };
    let line = after.lines().next().unwrap_or_default().trim();
    let next = line.trim_start_matches([';', '&', '|']).trim_start();
    // A site may have several commands on a line; a line that ends with a quote may be xCAT's value.
    let is_sites = next.len() < line.len() && !(value.starts_with('\'') && line.ends_with('\''));
    let is_over = next.is_empty() || next.starts_with(['#', '<', '>', ')', '\\']);
    match is_over || is_sites || assigned(next).is_some() {
        true => Value::Word(after),
        false => Value::Words,
    }
}

/// Reads one word.
fn word(text: &str) -> Value<'_> {
    let mut quote = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        match (quote, c) {
            (None | Some('"'), '\\') => drop(chars.next()),
            (None | Some('"'), '`') | (None, '(') => return Value::Bashs,
            (None | Some('"'), '$') if "({'\"".contains(next) => return Value::Bashs,
            (None, '\'' | '"') => quote = Some(c),
            (None, ';' | '&' | '|' | '<' | '>' | ')') => return Value::Word(&text[at..]),
            (None, c) if c.is_whitespace() => return Value::Word(&text[at..]),
            (Some('\''), '\'') if next.is_alphanumeric() => return Value::Apostrophe,
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    quote.map_or(Value::Word(""), Value::Open)
}

/// The variable that a line assigns, if it begins with an assignment.
pub(super) fn assigned(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}
