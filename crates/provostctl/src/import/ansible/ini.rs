//! An inventory in Ansible's INI form.

use serde_json::Value;

use super::found::{Ansible, Vars};
use crate::import::unreadable::Unreadable;

/// What the lines of a section are.
enum Section {
    Hosts(String),
    Vars(String),
    Children(String),
}

impl Ansible {
    pub(super) fn read_ini(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut section = Section::Hosts("ungrouped".to_owned());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let read = match line.strip_prefix('[').and_then(heading) {
                Some(heading) => heading.map(|new| {
                    let (Section::Hosts(name) | Section::Vars(name) | Section::Children(name)) =
                        &new;
                    self.groups.entry(name.clone()).or_default();
                    section = new;
                }),
                None => self.line(&section, line),
            };
            read.map_err(|what| Unreadable { line: number, what })?;
        }
        Ok(())
    }

    fn line(&mut self, section: &Section, line: &str) -> Result<(), String> {
        match section {
            Section::Hosts(group) => {
                let words = shell_words::split(without_comment(line)).map_err(|e| e.to_string())?;
                let mut words = words.into_iter();
                let Some(host) = words.next() else { return Ok(()) };
                let mut vars = Vars::new();
                for word in words {
                    let (name, value) = word
                        .split_once('=')
                        .ok_or_else(|| format!("{word:?} is no variable; expected NAME=VALUE"))?;
                    vars.insert(name.to_owned(), value_of(value));
                }
                self.add_hosts(group, &host, &vars)
            }
            Section::Vars(group) => {
                let (name, value) = line
                    .split_once('=')
                    .ok_or_else(|| format!("{line:?} is no variable; expected NAME=VALUE"))?;
                let value = value_of(value.trim());
                let group = self.groups.entry(group.clone()).or_default();
                group.vars.insert(name.trim().to_owned(), value);
                Ok(())
            }
            Section::Children(group) => {
                let child = without_comment(line).trim().to_owned();
                self.groups.entry(child.clone()).or_default();
                self.groups.entry(group.clone()).or_default().children.insert(child);
                Ok(())
            }
        }
    }
}

/// A section, after its `[`; none if the line is a host whose name begins with a range.
fn heading(rest: &str) -> Option<Result<Section, String>> {
    let (name, after) = rest.split_once(']')?;
    if !without_comment(after).trim().is_empty() {
        return None;
    }
    Some(match name.trim().split_once(':') {
        None => Ok(Section::Hosts(name.trim().to_owned())),
        Some((group, "vars")) => Ok(Section::Vars(group.to_owned())),
        Some((group, "children")) => Ok(Section::Children(group.to_owned())),
        Some((_, kind)) => Err(format!("unknown section {kind:?}; expected vars or children")),
    })
}

/// The line up to a `#` outside of quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    line
}

/// A value: Ansible reads it as Python would.
fn value_of(text: &str) -> Value {
    let is_within = |open, close| text.starts_with(open) && text.ends_with(close);
    match text {
        "None" => Value::Null,
        _ if is_within('[', ']') || is_within('{', '}') => Value::Array(Vec::new()),
        _ => Value::String(unquoted(text).to_owned()),
    }
}

/// A quoted text as what is in its quotes, which a comment may follow.
fn unquoted(value: &str) -> &str {
    let quoted = |quote: char| {
        let (text, after) = value.strip_prefix(quote)?.split_once(quote)?;
        let after = after.trim_start();
        (after.is_empty() || after.starts_with('#')).then_some(text)
    };
    quoted('"').or_else(|| quoted('\'')).unwrap_or(value)
}
