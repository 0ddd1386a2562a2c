//! A value with a lone quote, as a table of xCAT's may have one: what bash would make of the preamble
//! then isn't what anybody meant.

use super::MyPostscriptError;

/// Checks that the preamble's quotes are closed. A lone one in a value pairs with the next value's
/// first one, so that bash would run what is meant as text, or find out at the last line; a value
/// that has several lines ends with its quote. What isn't a value is a site's own, and bash's affair.
pub(super) fn check(preamble: &str) -> Result<(), MyPostscriptError> {
    let mut open: Option<(usize, &str, char)> = None;
    for (number, line) in (1..).zip(preamble.lines()) {
        let (rest, inherited) = match open {
            None => (line, None),
            Some((_, _, quote)) => match line.split_once(quote) {
                None => continue,
                Some((_, rest)) => (rest, open.take()),
            },
        };
        match (inherited, unclosed(rest)) {
            (Some(lone), _) if is_value(lone.1) && !is_end(rest) => return Err(lone_quote(lone)),
            (_, Some(quote)) => open = Some((number, line, quote)),
            (_, None) => {}
        }
    }
    open.map_or(Ok(()), |lone| Err(lone_quote(lone)))
}

fn lone_quote((line, text, quote): (usize, &str, char)) -> MyPostscriptError {
    let name = assignment(text).split_once('=').map_or("a variable", |(name, _)| name.trim());
    MyPostscriptError {
        line,
        what: format!("the value of {name} has a lone {quote}, so that bash can't read it"),
        hint: format!(
            "take the quote out of the xCAT table that {name} comes from (see `tabdump site` and \
             `lsdef`), then make the node's mypostscript anew"
        ),
    }
}

/// Whether a line gives a variable a value, and not what commands print.
fn is_value(text: &str) -> bool {
    let (name, value) = assignment(text).split_once('=').unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_name) && !value.contains('`') && !value.contains("$(")
}

/// Whether nothing of a value can be in what follows it.
fn is_end(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with([';', '#', '&'])
}

fn assignment(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("export ").unwrap_or(text)
}

/// The quote that is open at the end of a line.
fn unclosed(line: &str) -> Option<char> {
    let mut quote = None;
    let mut before = ' ';
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') if before.is_whitespace() => return None,
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        before = c;
    }
    quote
}
