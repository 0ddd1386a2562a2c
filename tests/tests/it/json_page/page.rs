//! docs/reference/json.md as a description of types, which documents are compared with.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/reference/json.md");

pub(crate) struct Page {
    /// By their headings, as links name them.
    objects: BTreeMap<String, Object>,
    /// The keys that documents had, as `OBJECT KEY`.
    seen: RefCell<BTreeSet<String>>,
}

struct Object {
    /// The object whose keys it has, too.
    base: Option<String>,
    has_nulls: bool,
    keys: BTreeMap<String, Key>,
}

struct Key {
    kind: String,
    is_always_there: bool,
}

impl Page {
    pub(crate) fn read() -> Self {
        let object = |text: &str| {
            let (heading, rest) = text.split_once('\n').unwrap();
            let base = rest.split_once("The keys of a [").map(|(_, link)| target(link));
            let rows = rest.lines().filter(|line| line.starts_with("| `")).map(|line| {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                let kind = cells[2].trim_end_matches('?').to_owned();
                let key = Key { is_always_there: kind == cells[2], kind };
                (cells[1].trim_matches('`').to_owned(), key)
            });
            let has_nulls = rest.contains("Unknown values are `null` here.");
            let object = Object { base, has_nulls, keys: rows.collect() };
            (heading.to_lowercase().replace(' ', "-"), object)
        };
        let objects = PAGE.split("\n## ").skip(1).map(object).collect();
        Self { objects, seen: RefCell::default() }
    }

    /// Compares a document, which is an array of objects if `name` ends with `[]`.
    #[track_caller]
    pub(crate) fn check(&self, name: &str, document: &Value) {
        match name.strip_suffix("[]") {
            Some(name) => {
                let all = document.as_array().unwrap();
                assert!(!all.is_empty(), "no {name} was made");
                all.iter().for_each(|one| self.object(name, one));
            }
            None => self.object(name, document),
        }
    }

    /// The keys that no document had.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let keys = |(name, object): (&String, &Object)| {
            object.keys.keys().map(|key| format!("{name} {key}")).collect::<Vec<_>>()
        };
        let seen = self.seen.borrow();
        self.objects.iter().flat_map(keys).filter(|key| !seen.contains(key)).collect()
    }

    #[track_caller]
    fn object(&self, name: &str, value: &Value) {
        let missing = || panic!("the page has no object {name}");
        let own = self.objects.get(name).unwrap_or_else(missing);
        let base = own.base.as_ref().map(|base| (base.as_str(), &self.objects[base]));
        let all = || [Some((name, own)), base].into_iter().flatten();
        let map = value.as_object().unwrap_or_else(|| panic!("{name} is no object: {value}"));
        for (key, value) in map {
            let Some((of, known)) = all().find(|(_, object)| object.keys.contains_key(key)) else {
                panic!("{key} of {name} isn't on the page: {value}");
            };
            self.seen.borrow_mut().insert(format!("{of} {key}"));
            if !(known.has_nulls && value.is_null()) {
                self.value(&known.keys[key].kind, value, &format!("{key} of {name}"));
            }
        }
        for (key, known) in all().flat_map(|(_, object)| &object.keys) {
            let is_there = map.contains_key(key) || !known.is_always_there;
            assert!(is_there, "{key} isn't always in {name}: {value}");
        }
    }

    #[track_caller]
    fn value(&self, kind: &str, value: &Value, place: &str) {
        let is_time = |value: &Value| value.as_str().is_some_and(|text| text.ends_with('Z'));
        let holds = match kind {
            "text" => value.is_string(),
            "number" => value.is_number(),
            "true or false" => value.is_boolean(),
            "time" => is_time(value),
            "object" => value.is_object(),
            "any" => true,
            "array of text" => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            _ => {
                let name = target(kind);
                match value.as_array().filter(|_| kind.starts_with("array of [")) {
                    Some(all) => all.iter().for_each(|one| self.object(&name, one)),
                    None => self.object(&name, value),
                }
                true
            }
        };
        assert!(holds, "{place} is no {kind}: {value}");
    }
}

/// Where a link leads, `…](#NAME)…`.
fn target(link: &str) -> String {
    let (_, target) = link.split_once("](#").unwrap_or_else(|| panic!("{link} is no type"));
    target.split(')').next().unwrap().to_owned()
}
