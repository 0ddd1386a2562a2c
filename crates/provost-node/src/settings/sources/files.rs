//! The configuration file and its drop-ins.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Table;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::failure::Failure;
use crate::settings::origin::Origin;
use crate::settings::values::{self, Values};

/// The most bytes of a configuration file: each of its values is checked by itself.
const MOST: u64 = 64 << 10;

/// The configuration file and its drop-ins, as far as they exist.
pub(crate) fn all(file: &Path) -> Vec<PathBuf> {
    let drop_ins = drop_ins(file).unwrap_or_default();
    std::iter::once(file.to_owned()).chain(drop_ins).filter(|path| path.exists()).collect()
}

/// Offers the values of the drop-ins, the last one first, then those of the file itself.
pub(crate) fn offer(
    file: &Path,
    must_exist: bool,
    values: &mut Values,
    mistakes: &mut Vec<Failure>,
) {
    let mut found = Vec::new();
    let drop_ins = drop_ins(file).unwrap_or_else(|failure| {
        mistakes.push(failure);
        Vec::new()
    });
    for path in drop_ins.iter().rev().map(PathBuf::as_path).chain([file]) {
        match provost_fs::read_given_text(path, MOST) {
            Ok(text) => read_file(path, &text, values, &mut found),
            Err(e) if e.kind() == ErrorKind::NotFound && path == file && !must_exist => {}
            Err(e) => mistakes.push(unreadable(path, e)),
        }
    }
    // An unknown key is likely the cause of other mistakes: a value that is missing.
    found.sort_by_key(|(is_known_key, _)| *is_known_key);
    mistakes.extend(found.into_iter().map(|(_, failure)| failure));
}

/// Each value is checked by itself, so that one mistake doesn't hide the rest. Of each mistake
/// `mistakes` has whether its key is known.
fn read_file(path: &Path, text: &str, values: &mut Values, mistakes: &mut Vec<(bool, Failure)>) {
    let mut wrong = |is_known_key: bool, at: usize, what: &str| {
        let line = 1 + text[..at].matches('\n').count();
        let message = format!("{}:{line}: {what}", path.display());
        let hint = match is_known_key {
            true if what.ends_with(values::NOT_ABSOLUTE) => "write the path from / on",
            true => "fix that line",
            false => "fix that line; an unknown key may be a typing error",
        };
        mistakes.push((is_known_key, Failure::config(message, hint)));
    };
    let at = |e: &toml::de::Error| e.span().map_or(0, |span| span.start);
    // The other lines are used all the same: they may name the server to which the mistake is
    // reported.
    let (mut spans, broken) = DeTable::parse_recoverable(text);
    if let Some(e) = broken.first() {
        wrong(true, at(e), e.message());
    }
    let mut numbers = Vec::new();
    remove_big_numbers(spans.get_mut(), &mut numbers);
    for (at, what) in numbers {
        wrong(true, at, &what);
    }
    let table = Table::deserialize(Deserializer::from(spans.clone())).unwrap_or_default();
    for (key, value) in values::leaves(&table) {
        match values::check(&key, &value) {
            Ok(()) if value.is_table() => {}
            Ok(()) => values.offer(&key, value, Origin::File(path.to_owned())),
            // A syntax error may have moved the key into another section.
            Err(_) if !broken.is_empty() => {}
            Err(e) => {
                let at = offset_of(spans.get_ref(), &key);
                // As serde words it.
                let is_known_key = !e.message().starts_with("unknown field");
                wrong(is_known_key, at, &format!("{key}: {}", e.message()));
            }
        }
    }
}

/// Removes the numbers that no key may have, because TOML readers refuse the whole file for one of
/// them. `found` gets where each is in the file, in bytes, and what is wrong.
fn remove_big_numbers(table: &mut DeTable<'_>, found: &mut Vec<(usize, String)>) {
    let mut keys = Vec::new();
    for (key, value) in table.iter_mut() {
        if let DeValue::Table(inner) = value.get_mut() {
            remove_big_numbers(inner, found);
        } else if let Some(number) = big_number(value.get_ref()) {
            let key = key.get_ref();
            found.push((value.span().start, format!("{key}: the number {number} is too big")));
            keys.push(key.clone().into_owned());
        }
    }
    for key in keys {
        table.remove(&*key);
    }
}

/// The number of more than 64 bits that a value is or has in it.
fn big_number<'v>(value: &'v DeValue<'_>) -> Option<&'v str> {
    match value {
        DeValue::Integer(n) => {
            Some(n.as_str()).filter(|text| i64::from_str_radix(text, n.radix()).is_err())
        }
        DeValue::Float(n) => {
            Some(n.as_str()).filter(|text| !text.parse().is_ok_and(f64::is_finite))
        }
        DeValue::Array(list) => list.iter().find_map(|value| big_number(value.get_ref())),
        _ => None,
    }
}

/// Where in its file a key is, in bytes.
fn offset_of(table: &DeTable<'_>, key: &str) -> usize {
    let (name, rest) = values::split(key);
    let Some((found, value)) = table.iter().find(|(key, _)| *key.get_ref() == name) else {
        return 0;
    };
    match (value.get_ref(), rest) {
        (DeValue::Table(inner), Some(rest)) => offset_of(inner, rest),
        _ => found.span().start,
    }
}

/// `provost.d/*.toml` next to the file, by name.
fn drop_ins(file: &Path) -> Result<Vec<PathBuf>, Failure> {
    let folder = file.with_extension("d");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(unreadable(&folder, e)),
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn unreadable(path: &Path, e: std::io::Error) -> Failure {
    let message = format!("reading the configuration {}", path.display());
    let hint = "name the right file with --config, and check that root can read it";
    Failure::unreadable(message, hint, e)
}
