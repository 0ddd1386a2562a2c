use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What distinguishes a node from another, by name: its kernel, its system, its model.
///
/// They come from the node, so there are few of them and they are short, whatever a record says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Facts(BTreeMap<String, String>);

impl Facts {
    /// The most facts of a node. More of them are left out, in the order of their names.
    pub const MOST: usize = 16;
    /// The longest text, in characters. The rest is cut off.
    pub const LONGEST: usize = 128;

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Those that this version knows, in one line: `rocky 8.10, kernel 4.18.0, x86_64, PowerEdge R650, 64 cpus, 503 GiB`. None if
    /// it knows none.
    pub fn line(&self) -> Option<String> {
        let of =
            |name, before: &str, after: &str| Some(format!("{before}{}{after}", self.get(name)?));
        let facts = [
            of("os", "", ""),
            of("kernel", "kernel ", ""),
            of("arch", "", ""),
            of("model", "", ""),
            of("firmware", "firmware ", ""),
            of("cpus", "", " cpus"),
            self.get("memoryMiB").map(memory),
            of("image", "image ", ""),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        (!facts.is_empty()).then(|| facts.join(", "))
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

/// MiB as people read them: `503 GiB`, `1.9 GiB`, `960 MiB`. What is no number stays.
fn memory(mib: &str) -> String {
    match mib.parse::<u64>() {
        Ok(mib @ 10_240..) => format!("{} GiB", mib / 1024 + u64::from(mib % 1024 >= 512)),
        Ok(mib @ 1024..) => {
            let tenths = (mib * 10 + 512) / 1024;
            match tenths % 10 {
                0 => format!("{} GiB", tenths / 10),
                rest => format!("{}.{rest} GiB", tenths / 10),
            }
        }
        _ => format!("{mib} MiB"),
    }
}

impl<N: Into<String>> FromIterator<(N, String)> for Facts {
    /// Empty ones are left out, and blanks and control characters in a row become one blank.
    fn from_iter<I: IntoIterator<Item = (N, String)>>(facts: I) -> Self {
        let short = |text: &str| {
            let blank = |c: char| c.is_whitespace() || c.is_control();
            let words: Vec<&str> = text.split(blank).filter(|word| !word.is_empty()).collect();
            words.join(" ").chars().take(Self::LONGEST).collect::<String>()
        };
        let facts = facts.into_iter().map(|(name, text)| (short(&name.into()), short(&text)));
        let facts = facts.filter(|(name, text)| !name.is_empty() && !text.is_empty());
        let all: BTreeMap<String, String> = facts.collect();
        Self(all.into_iter().take(Self::MOST).collect())
    }
}

impl<'de> Deserialize<'de> for Facts {
    /// A number counts as its text. What is neither, as a newer program may have it, is left out: no record is refused
    /// for its facts.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Value::Object(facts) = Value::deserialize(deserializer)? else {
            return Ok(Self::default());
        };
        let facts = facts.into_iter().filter_map(|(name, fact)| match fact {
            Value::String(text) => Some((name, text)),
            Value::Number(number) => Some((name, number.to_string())),
            _ => None,
        });
        Ok(facts.collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(of: &Value) -> String {
        let facts: Facts = serde_json::from_value(of.clone()).unwrap();
        serde_json::to_string(&facts).unwrap()
    }

    #[test]
    fn memory_is_shown_in_gib() {
        let shown = |mib: &str| {
            let facts: Facts = [("memoryMiB", mib.to_owned())].into_iter().collect();
            facts.line().unwrap()
        };
        for (mib, expected) in [
            ("515072", "503 GiB"),
            ("257672", "252 GiB"),
            ("16384", "16 GiB"),
            ("10239", "10 GiB"),
            ("1968", "1.9 GiB"),
            ("1024", "1 GiB"),
            ("1023", "1023 MiB"),
            ("18446744073709551615", "18014398509481984 GiB"),
            ("much", "much MiB"),
        ] {
            assert_eq!(shown(mib), expected);
        }
    }

    #[test]
    fn they_are_short_and_few_and_no_record_is_refused_for_them() {
        let mixed = json!({"os": "rocky \n\t 8.10", "cpus": 64, "model": "", "new": [1], "e\u{1b}": "\u{1b}[31m"});
        assert_eq!(facts(&mixed), r#"{"cpus":"64","e":"[31m","os":"rocky 8.10"}"#);
        assert_eq!(facts(&json!("none")), "{}");
        let long = json!({"os": "ä".repeat(1000)});
        assert_eq!(facts(&long), format!(r#"{{"os":"{}"}}"#, "ä".repeat(Facts::LONGEST)));
        let many: Facts = (0..1000).map(|n| (format!("{n:04}"), "x".to_owned())).collect();
        assert_eq!(many.iter().count(), Facts::MOST);
        assert_eq!(many.get("0015"), Some("x"));
    }
}
