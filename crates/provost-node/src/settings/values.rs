use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use toml::{Table, Value};

use super::fragment::Fragment;

/// What holds where no source says anything else.
const DEFAULTS: &str = include_str!("defaults.toml");

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An option of the command line.
    Flag(&'static str),
    /// A variable of the environment.
    Environment(String),
    /// The kernel's command line.
    Kernel,
    /// The kernel's command line, an argument of xCAT's.
    KernelOfXcat(&'static str),
    /// A file of the configuration.
    File(PathBuf),
    /// What xCAT noted on this root.
    XcatInfo(PathBuf),
    /// What is said about this other key.
    Inferred(&'static str),
    /// What a DHCP client keeps of the lease it has.
    Lease(PathBuf),
    /// One source, and what another one has beyond that.
    Then(Box<[Self; 2]>),
    /// The machine's own name.
    HostName,
    /// The program itself.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Kernel => f.write_str("kernel command line"),
            Self::KernelOfXcat(name) => write!(f, "kernel command line, {name}="),
            Self::File(path) | Self::XcatInfo(path) => write!(f, "file {}", path.display()),
            Self::Inferred(key) => write!(f, "inferred from {key}"),
            Self::Lease(path) => write!(f, "DHCP lease {}", path.display()),
            Self::Then(both) => write!(f, "{}, then {}", both[0], both[1]),
            Self::HostName => f.write_str("host name"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Each value by its key, as in `fetch.deadline`, with where it comes from.
#[derive(Default)]
pub(crate) struct Values {
    told: BTreeMap<String, (Value, Origin)>,
    overruled: Vec<Overruled>,
}

/// What a file says in vain.
pub struct Overruled {
    pub key: String,
    pub file: Origin,
    /// What counts more.
    pub by: Origin,
}

impl Values {
    /// Takes `value` for `key` if no source that was asked before had one.
    pub(crate) fn offer(&mut self, key: &str, value: impl Into<Value>, origin: Origin) {
        let value = value.into();
        let Some((told, by)) = self.told.get(key) else {
            self.told.insert(key.to_owned(), (value, origin));
            return;
        };
        let is_file = |origin: &Origin| matches!(origin, Origin::File(_));
        if is_file(&origin) && !is_file(by) && value != *told {
            let by = by.clone();
            self.overruled.push(Overruled { key: key.to_owned(), file: origin, by });
        }
    }

    /// What files say in vain.
    pub(crate) fn overruled(&self) -> &[Overruled] {
        &self.overruled
    }

    /// Takes what of `more` isn't in the list of `key` yet, after what is there.
    pub(crate) fn add(&mut self, key: &str, more: Vec<String>, origin: Origin) {
        let Some((Value::Array(list), before)) = self.told.get_mut(key) else {
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

    /// The text of `key`, if one was offered.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.told.get(key)?.0.as_str()
    }

    /// The texts in the list of `key`.
    pub(crate) fn list(&self, key: &str) -> impl Iterator<Item = &str> {
        let list = self.told.get(key).and_then(|(value, _)| value.as_array());
        list.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Forgets what was offered for `key`.
    pub(crate) fn remove(&mut self, key: &str) {
        self.told.remove(key);
    }

    /// Takes `with` for `key` in place of what is there, from the same source.
    pub(crate) fn replace(&mut self, key: &str, with: impl FnOnce(&Value) -> Value) {
        if let Some((value, _)) = self.told.get_mut(key) {
            *value = with(value);
        }
    }

    /// Where the value of `key` comes from.
    pub(crate) fn origin(&self, key: &str) -> Option<&Origin> {
        self.told.get(key).map(|(_, origin)| origin)
    }

    /// Takes the defaults, last of all, and reads the whole.
    pub(crate) fn conclude(&mut self) -> Result<Fragment, toml::de::Error> {
        for (key, value) in leaves(&defaults()?) {
            self.offer(&key, value, Origin::Default);
        }
        let mut table = Table::new();
        for (key, (value, _)) in &self.told {
            put(&mut table, key, value.clone());
        }
        Fragment::deserialize(table)
    }

    /// The values with their keys, those of no section first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value, &Origin)> {
        let all = || self.told.iter().map(|(key, (value, origin))| (key.as_str(), value, origin));
        let in_section = |(key, _, _): &(&str, _, _)| key.contains('.');
        all().filter(move |v| !in_section(v)).chain(all().filter(in_section))
    }
}

/// Whether `value` is one that `key` can have.
pub(crate) fn check(key: &str, value: &Value) -> Result<(), toml::de::Error> {
    let mut table = defaults()?;
    put(&mut table, key, value.clone());
    Fragment::deserialize(table).map(|_| ())
}

/// All values of `table` with their keys. An empty section is kept, so that its name is checked.
pub(crate) fn leaves(table: &Table) -> Vec<(String, Value)> {
    let under = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) if !inner.is_empty() => {
            leaves(inner).into_iter().map(|(k, v)| (format!("{key}.{k}"), v)).collect()
        }
        value => vec![(key.clone(), value.clone())],
    };
    table.iter().flat_map(under).collect()
}

/// What `key` is where nobody says.
#[cfg(test)]
pub fn default(key: &str) -> Value {
    leaves(&defaults().unwrap()).into_iter().find(|(k, _)| k == key).unwrap().1
}

fn defaults() -> Result<Table, toml::de::Error> {
    DEFAULTS.parse()
}

fn put(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => match (table.get_mut(key), value) {
            (Some(Value::Table(_)), Value::Table(empty)) if empty.is_empty() => {}
            (_, value) => drop(table.insert(key.to_owned(), value)),
        },
        Some((section, rest)) => {
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
    fn the_defaults_are_whole() {
        let fragment = Values::default().conclude().unwrap();
        assert_eq!(fragment.fetch.deadline.to_string(), "10m");
    }

    #[test]
    fn the_first_source_wins() {
        let mut values = Values::default();
        values.offer("node", "a", Origin::Kernel);
        values.offer("node", "b", Origin::HostName);
        values.offer("guard.max_reboots", 9, Origin::File("f".into()));
        assert_eq!(values.conclude().unwrap().node, "a");
        let told: Vec<_> = values.iter().map(|(key, _, origin)| (key, origin.clone())).collect();
        assert_eq!(told[0], ("node", Origin::Kernel));
        assert!(told.contains(&("guard.max_reboots", Origin::File("f".into()))));
        assert!(told.contains(&("guard.max_attempts", Origin::Default)));
    }
}
