//! What daemons tell each other, as short texts.

use provost_record::Record;
use serde::{Deserialize, Serialize};

use crate::{Arrival, Claim, JobNews, Lost, ServiceChange, ServiceChangeKind};

/// The longest note, in bytes (PostgreSQL's limit is 8000).
const MOST: usize = 7999;
/// What a note of records has besides its parts, in bytes, and a part besides its texts.
const FRAME: usize = 80;
/// How many changes of services a part has, at most.
const CHANGES: usize = 1000;

/// What was stored, as it is told to all daemons.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Note {
    Arrivals(Vec<RecordRange>),
    Lost(Lost),
    Claim(Claim),
    Job(JobNews),
}

/// Records of one run that follow each other.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct RecordRange {
    #[serde(rename = "n")]
    pub(super) node: String,
    /// The id of the run.
    #[serde(rename = "r")]
    pub(super) run: i64,
    /// The seq of the first of them …
    #[serde(rename = "a")]
    pub(super) first: i32,
    /// … and of the last.
    #[serde(rename = "z")]
    pub(super) last: i32,
    /// What they say of services: a letter for each change.
    #[serde(rename = "s", default, skip_serializing_if = "String::is_empty")]
    services: String,
}

impl RecordRange {
    /// Adds a record to the last of `parts`, or as a new one.
    pub(super) fn add_record(parts: &mut Vec<Self>, node: &str, run: i64, record: &Record) {
        let (seq, letter) = (record.seq as i32, ServiceChange::of(record).map(letter));
        match parts.last_mut() {
            Some(part)
                if (part.run, part.last + 1) == (run, seq) && part.services.len() < CHANGES =>
            {
                part.last = seq;
                part.services.extend(letter);
            }
            _ => {
                let (node, services) = (node.to_owned(), letter.into_iter().collect());
                parts.push(Self { node, run, first: seq, last: seq, services });
            }
        }
    }

    pub(super) fn arrival(&self) -> Arrival {
        let records = (i64::from(self.last) - i64::from(self.first) + 1).unsigned_abs();
        let services = self.services.chars().filter_map(change).collect();
        Arrival { node: self.node.clone(), records, services }
    }
}

/// A capital letter for the service `run`.
fn letter(change: ServiceChange) -> char {
    let letter = match change.kind {
        ServiceChangeKind::Began => 'b',
        ServiceChangeKind::Succeeded => 's',
        ServiceChangeKind::Failed => 'f',
    };
    if change.is_run { letter.to_ascii_uppercase() } else { letter }
}

fn change(letter: char) -> Option<ServiceChange> {
    let kind = match letter.to_ascii_lowercase() {
        'b' => ServiceChangeKind::Began,
        's' => ServiceChangeKind::Succeeded,
        'f' => ServiceChangeKind::Failed,
        _ => return None,
    };
    Some(ServiceChange { kind, is_run: letter.is_ascii_uppercase() })
}

impl Note {
    /// As few notes of all `parts` as there may be.
    pub(super) fn of(parts: Vec<RecordRange>) -> Vec<Self> {
        let (mut notes, mut length) = (Vec::new(), 0);
        for part in parts {
            // Nodes' names have nothing to escape.
            let more = part.node.len() + part.services.len() + FRAME;
            match notes.last_mut() {
                Some(Self::Arrivals(parts)) if length + more <= MOST => {
                    parts.push(part);
                    length += more;
                }
                _ => {
                    notes.push(Self::Arrivals(vec![part]));
                    length = FRAME + more;
                }
            }
        }
        notes
    }

    /// Its text. What makes it too long is left out.
    pub(super) fn text(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string(self)?;
        match self {
            Self::Lost(lost) if text.len() > MOST => {
                Self::Lost(Lost { stage: None, ..lost.clone() }).text()
            }
            Self::Claim(claim) if text.len() > MOST => Self::Claim(claim.clone().cut()).text(),
            _ => Ok(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use provost_record::Phase;

    use super::*;

    fn record(seq: u64, phase: Phase, service: &str) -> Record {
        let text = serde_json::json!({
            "timestamp": "2026-11-20T17:00:09Z", "phase": phase, "service": service, "seq": seq,
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn no_note_is_too_long_and_together_they_tell_all() {
        let node = "n".repeat(200);
        let mut parts = Vec::new();
        for run in 0..100 {
            for seq in 1..=2500 {
                let service = if seq % 2 == 0 { "run" } else { "boot" };
                RecordRange::add_record(
                    &mut parts,
                    &node,
                    run,
                    &record(seq, Phase::ServiceEnd, service),
                );
            }
            // A gap.
            RecordRange::add_record(&mut parts, &node, run, &record(5000, Phase::StageEnd, "boot"));
        }
        let notes = Note::of(parts.clone());
        let texts: Vec<String> = notes.iter().map(|note| note.text().unwrap()).collect();
        assert!(texts.iter().all(|text| text.len() <= MOST));
        assert!(texts.iter().filter(|text| text.len() < MOST / 2).count() <= 1, "as few as may be");
        let told = texts.iter().flat_map(|text| match serde_json::from_str(text).unwrap() {
            Note::Arrivals(parts) => parts,
            other => panic!("{other:?}"),
        });
        let told: Vec<RecordRange> = told.collect();
        assert_eq!(told, parts);
        let arrivals: Vec<Arrival> = told.iter().map(RecordRange::arrival).collect();
        assert_eq!(arrivals.iter().map(|arrival| arrival.records).sum::<u64>(), 100 * 2501);
        let services = arrivals.iter().flat_map(|arrival| &arrival.services);
        let of_run = services.clone().filter(|change| change.is_run).count();
        assert_eq!((services.count(), of_run), (100 * 2500, 100 * 1250));
    }
}
