use std::collections::BTreeMap;

use serde::{Deserialize, de};
use toml::{Table, Value};

use super::fragment::Fragment;
use super::origin::{Origin, Overridden};

/// The values of the keys that no source has.
const DEFAULTS: &str = include_str!("defaults.toml");

/// Each value by its key, such as `fetch.deadline`, with where it comes from.
#[derive(Default)]
pub(crate) struct Values {
    entries: BTreeMap<String, (Value, Origin)>,
    overridden: Vec<Overridden>,
}

impl Values {
    /// Takes `value` for `key`, unless a source that was asked before had one.
    pub(crate) fn offer(&mut self, key: &str, value: impl Into<Value>, origin: Origin) {
        let value = value.into();
        let Some((current, by)) = self.entries.get(key) else {
            self.entries.insert(key.to_owned(), (value, origin));
            return;
        };
        let is_file = |origin: &Origin| matches!(origin, Origin::File(_));
        if is_file(&origin) && !is_file(by) && value != *current {
            let by = by.clone();
            self.overridden.push(Overridden { key: key.to_owned(), file: origin, by });
        }
    }

    /// The values in files that have no effect.
    pub(crate) fn overridden(&self) -> &[Overridden] {
        &self.overridden
    }

    /// Appends to the list of `key` what it doesn't have yet.
    pub(crate) fn add(&mut self, key: &str, more: Vec<String>, origin: Origin) {
        let Some((Value::Array(list), before)) = self.entries.get_mut(key) else {
            return self.offer(key, more, origin);
        };
        let length = list.len();
        for value in more.into_iter().map(Value::from) {
            if !list.contains(&value) {
                list.push(value);
            }
        }
        if list.len() > length {
            *before = Origin::Then(Box::new([before.clone(), origin]));
        }
    }

    /// The text of `key`, if a source had one.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.entries.get(key)?.0.as_str()
    }

    /// The texts in the list of `key`.
    pub(crate) fn list(&self, key: &str) -> impl Iterator<Item = &str> {
        let list = self.entries.get(key).and_then(|(value, _)| value.as_array());
        list.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Removes the value of `key`.
    pub(crate) fn remove(&mut self, key: &str) {
        self.entries.remove(key);
    }

    /// Replaces the value of `key`; its origin stays.
    pub(crate) fn replace(&mut self, key: &str, with: impl FnOnce(&Value) -> Value) {
        if let Some((value, _)) = self.entries.get_mut(key) {
            *value = with(value);
        }
    }

    /// Where the value of `key` comes from.
    pub(crate) fn origin(&self, key: &str) -> Option<&Origin> {
        self.entries.get(key).map(|(_, origin)| origin)
    }

    /// ` (from ORIGIN)`, for a message about the value of `key`.
    pub(crate) fn from(&self, key: &str) -> String {
        self.origin(key).map_or(String::new(), |origin| format!(" (from {origin})"))
    }

    /// Adds the defaults and reads the whole.
    pub(crate) fn merge(&mut self) -> Result<Fragment, toml::de::Error> {
        for (key, value) in leaves(&defaults()?) {
            self.offer(&key, value, Origin::Default);
        }
        let mut table = Table::new();
        for (key, (value, _)) in &self.entries {
            put(&mut table, key, value.clone());
        }
        Fragment::deserialize(table)
    }

    /// The values with their keys, those of no section first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value, &Origin)> {
        let all =
            || self.entries.iter().map(|(key, (value, origin))| (key.as_str(), value, origin));
        let in_section = |(key, _, _): &(&str, _, _)| key.contains('.');
        all().filter(move |v| !in_section(v)).chain(all().filter(in_section))
    }
}

/// What is wrong with a path that isn't one from the root on.
pub(crate) const NOT_ABSOLUTE: &str = "isn't an absolute path";

/// Checks that `key` exists and may have `value`.
pub(crate) fn check(key: &str, value: &Value) -> Result<(), toml::de::Error> {
    let mut table = defaults()?;
    put(&mut table, key, value.clone());
    Fragment::deserialize(table)?;
    // The reader takes one for a text.
    let is_date = |value: &Value| value.is_datetime();
    if is_date(value) || value.as_array().is_some_and(|list| list.iter().any(is_date)) {
        return Err(de::Error::custom("a date without quotes isn't a text"));
    }
    match value.as_str() {
        // Scripts have another working folder, and a boot another one than an admin.
        Some(path) if is_folder(key) && !path.starts_with('/') => {
            Err(de::Error::custom(format_args!("{path:?} {NOT_ABSOLUTE}")))
        }
        _ => Ok(()),
    }
}

/// Whether the value of `key` is a folder on this node.
fn is_folder(key: &str) -> bool {
    key.starts_with("paths.") && key != "paths.group"
}

/// All values of `table` with their keys. An empty section is kept, so that its name is checked.
pub(crate) fn leaves(table: &Table) -> Vec<(String, Value)> {
    let under = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) if !inner.is_empty() => {
            leaves(inner).into_iter().map(|(k, v)| (format!("{}.{k}", part(key)), v)).collect()
        }
        value => vec![(part(key), value.clone())],
    };
    table.iter().flat_map(under).collect()
}

/// A name as a part of a key: one with a dot in it, as a script may have, is quoted.
fn part(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}

/// The first part of a key, and the rest of it.
pub(crate) fn split(key: &str) -> (&str, Option<&str>) {
    let quoted = key.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    match quoted {
        Some((name, rest)) => (name, rest.strip_prefix('.')),
        None => key.split_once('.').map_or((key, None), |(name, rest)| (name, Some(rest))),
    }
}

/// The default of `key`.
#[cfg(test)]
pub(crate) fn default(key: &str) -> Value {
    leaves(&defaults().unwrap()).into_iter().find(|(k, _)| k == key).unwrap().1
}

fn defaults() -> Result<Table, toml::de::Error> {
    DEFAULTS.parse()
}

fn put(table: &mut Table, key: &str, value: Value) {
    match split(key) {
        (key, None) => match (table.get_mut(key), value) {
            (Some(Value::Table(_)), Value::Table(empty)) if empty.is_empty() => {}
            (_, value) => drop(table.insert(key.to_owned(), value)),
        },
        (section, Some(rest)) => {
            let inner = table.entry(section).or_insert_with(|| Table::new().into());
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_complete() {
        let fragment = Values::default().merge().unwrap();
        assert_eq!(fragment.fetch.deadline.to_string(), "10m");
    }

    #[test]
    fn the_first_source_wins() {
        let mut values = Values::default();
        values.offer("node", "a", Origin::Kernel);
        values.offer("node", "b", Origin::HostName);
        values.offer("guard.max_reboots", 9, Origin::File("f".into()));
        assert_eq!(values.merge().unwrap().node, "a");
        let found: Vec<_> = values.iter().map(|(key, _, origin)| (key, origin.clone())).collect();
        assert_eq!(found[0], ("node", Origin::Kernel));
        assert!(found.contains(&("guard.max_reboots", Origin::File("f".into()))));
        assert!(found.contains(&("guard.max_attempts", Origin::Default)));
    }
}
