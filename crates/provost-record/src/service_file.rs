//! A service's record file, as OpenShift's shell library or ours wrote it.

use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Outcome, Record};

/// The keys of OpenShift's format. Other writers may use ours for something else.
const KEYS: [&str; 8] = [
    "timestamp",
    "preCommand",
    "postCommand",
    "stage",
    "phase",
    "result",
    "errorLine",
    "errorMessage",
];

/// Why a service's record file can't be judged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing is in it.
    #[error("the file is empty")]
    Empty,
    /// It begins as something else.
    #[error("the file is not a JSON array of records")]
    NotAnArray,
    /// Its end is missing: the writer was killed, or the disk was full.
    #[error("the file is cut off in entry {}", .0.len() + 1)]
    CutOff(Vec<Record>),
    /// An entry is no record. Those before it are.
    #[error("entry {} is not a record: {why}", before.len() + 1)]
    Entry {
        /// The entries before it.
        before: Vec<Record>,
        /// What is wrong with it.
        why: String,
    },
    /// There is more after the array.
    #[error("there is other text after the array's end, behind entry {}", .0.len())]
    More(Vec<Record>),
}

impl Unreadable {
    /// The records before the damage.
    pub fn before(&self) -> &[Record] {
        match self {
            Self::Empty | Self::NotAnArray => &[],
            Self::CutOff(before) | Self::More(before) | Self::Entry { before, .. } => before,
        }
    }
}

/// Reads a service's record file. Only OpenShift's keys have to be as its format has them, a
/// timestamp may be missing, and so may the bracket at the end, as its own reader has it.
pub fn service_records(text: &[u8]) -> Result<Vec<Record>, Unreadable> {
    // A power cut may leave NULs where data was not written yet.
    let blank = |b: &u8| *b == 0 || b.is_ascii_whitespace();
    let end = text.iter().rposition(|b| !blank(b)).ok_or(Unreadable::Empty)?;
    let text = text[..=end].trim_ascii_start();
    let mut rest = text.strip_prefix(b"[").ok_or(Unreadable::NotAnArray)?.trim_ascii_start();
    let mut records = Vec::new();
    loop {
        match rest.first() {
            None => return Ok(records),
            Some(b']') if rest.len() == 1 => return Ok(records),
            Some(b']') => return Err(Unreadable::More(records)),
            Some(b',') if !records.is_empty() => rest = rest[1..].trim_ascii_start(),
            Some(_) if records.is_empty() => {}
            Some(_) => {
                let why = "there is no comma before it".to_owned();
                return Err(Unreadable::Entry { before: records, why });
            }
        }
        let mut entries = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        let entry = match entries.next() {
            Some(Ok(entry)) => entry,
            Some(Err(e)) if !e.is_eof() => {
                return Err(Unreadable::Entry { before: records, why: e.to_string() });
            }
            _ => return Err(Unreadable::CutOff(records)),
        };
        rest = rest[entries.byte_offset()..].trim_ascii_start();
        match record(entry.get()) {
            Ok(record) => records.push(record),
            Err(e) => return Err(Unreadable::Entry { before: records, why: e.to_string() }),
        }
    }
}

fn record(entry: &str) -> serde_json::Result<Record> {
    serde_json::from_str(entry).or_else(|_| {
        let mut entry: serde_json::Map<String, Value> = serde_json::from_str(entry)?;
        // Go's reader takes an empty text for a missing one.
        entry.retain(|key, value| KEYS.contains(&key.as_str()) && value != "");
        Record::deserialize(entry.into_deserializer())
    })
}

/// A time, or the epoch where there is none: some writers leave it out.
pub(crate) fn time<'de, D: Deserializer<'de>>(from: D) -> Result<jiff::Timestamp, D::Error> {
    let text = Option::<std::borrow::Cow<'_, str>>::deserialize(from)?;
    Ok(text.and_then(|text| text.parse().ok()).unwrap_or_default())
}

/// How something ended; none where the text is empty, as some writers leave it.
pub(crate) fn outcome<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Outcome>, D::Error> {
    let outcome = Option::<Outcome>::deserialize(from)?;
    Ok(outcome.filter(|outcome| !outcome.as_str().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;

    fn phases(text: &str) -> Vec<Phase> {
        service_records(text.as_bytes()).unwrap().iter().map(|r| r.phase).collect()
    }

    #[test]
    fn entries_count_without_a_timestamp_and_with_keys_of_others() {
        use Phase::*;
        let text = r#"[ {"phase":"service start"}
            ,{"phase":"stage end","stage":"a","result":"success","attempt":"two","x":[1]},
            {"phase":"service end","result":"success","timestamp":"yesterday","stage":""} ]"#;
        assert_eq!(phases(text), [ServiceStart, StageEnd, ServiceEnd]);
        assert_eq!(phases("[]"), []);
        assert_eq!(phases("[\n{\"phase\":\"service start\"}\n"), [ServiceStart]);
        assert_eq!(phases("[{\"phase\":\"service start\"}]\n\0\0 "), [ServiceStart]);
        let entry = r#"[{"phase":"stage start","result":"","stage":"a"}]"#;
        assert_eq!(service_records(entry.as_bytes()).unwrap()[0].result, None::<Outcome>);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let start = r#"{"phase":"service start"}"#;
        for (text, why) in [
            (String::new(), "the file is empty"),
            (" \n\0".to_owned(), "the file is empty"),
            (start.to_owned(), "the file is not a JSON array of records"),
            ("nothing".to_owned(), "the file is not a JSON array of records"),
            (format!("[{start},"), "the file is cut off in entry 2"),
            (format!("[{start},{{\"pha"), "the file is cut off in entry 2"),
            (format!("[{start}]{start}"), "there is other text after the array's end"),
            (format!("[{start}{start}]"), "entry 2 is not a record: there is no comma"),
            (format!("[{start},7]"), "entry 2 is not a record: invalid type"),
            (format!("[{start},{{}}]"), "entry 2 is not a record: missing field `phase`"),
            (format!("[{start},{{oops}}]"), "entry 2 is not a record: key must be a string"),
        ] {
            let unreadable = service_records(text.as_bytes()).unwrap_err();
            assert!(unreadable.to_string().starts_with(why), "{text}: {unreadable}");
            assert_eq!(unreadable.before().len(), usize::from(text.starts_with("[{")), "{text}");
        }
    }
}
