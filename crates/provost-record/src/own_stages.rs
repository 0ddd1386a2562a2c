//! A step's own stages, out of the records of services that ran within it.

use std::collections::HashMap;

use crate::{Inner, Phase, Record};

/// How many of a step's own stages its record has at most, the newest.
const MOST: usize = 100;

impl Inner {
    /// The stages in `records` of services that ran within a step, in order, each service by
    /// itself.
    pub fn of(records: &[Record]) -> Vec<Self> {
        let mut inner: Vec<Self> = Vec::new();
        // What a service recorded last, so that the end of it doesn't repeat its stage's.
        let mut last: HashMap<&str, &Record> = HashMap::new();
        for record in records {
            let before = last.insert(&record.service, record);
            let is_open = |i: &&mut Self| {
                i.result.is_none() && i.service == record.service && i.stage == record.stage
            };
            match record.phase {
                Phase::StageStart => inner.push(Self::start(record)),
                Phase::StageEnd => match inner.iter_mut().rfind(is_open) {
                    Some(open) => *open = Self::end(record),
                    None => inner.push(Self::end(record)),
                },
                _ if !record.is_failure() => {}
                _ if before.is_some_and(|b| b.is_failure() && b.phase == Phase::StageEnd) => {}
                _ => inner.push(Self::end(record)),
            }
        }
        inner.drain(..inner.len().saturating_sub(MOST));
        inner
    }

    fn start(record: &Record) -> Self {
        let (service, stage) = (record.service.clone(), record.stage.clone());
        Self { service, stage, ..Self::default() }
    }

    fn end(record: &Record) -> Self {
        Self {
            result: record.result,
            error_line: record.error_line.clone(),
            error_message: record.error_message.clone(),
            exit_code: record.exit_code,
            signal: record.signal.clone(),
            cause: record.cause,
            command: record.command.clone(),
            called_from: record.called_from.clone(),
            ..Self::start(record)
        }
    }
}

/// The start of the stage that a step is in, by the `records` of services that ran within it: the
/// newest of those whose service has begun no other and not ended since.
pub fn open_stage(records: &[Record]) -> Option<&Record> {
    let mut open: HashMap<&str, (usize, &Record)> = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        match record.phase {
            Phase::StageStart => drop(open.insert(&record.service, (at, record))),
            Phase::StageEnd | Phase::ServiceStart | Phase::ServiceEnd => {
                open.remove(&*record.service);
            }
            _ => {}
        }
    }
    open.into_values().max_by_key(|(at, _)| *at).map(|(_, start)| start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    fn record(service: &str, phase: Phase, stage: &str, result: Option<Outcome>) -> Record {
        let stage = (!stage.is_empty()).then(|| stage.to_owned());
        Record { service: service.to_owned(), stage, result, ..Record::new(phase) }
    }

    #[test]
    fn each_service_has_its_stages_and_no_failure_twice() {
        use Phase::*;
        let (good, bad) = (Some(Outcome::Success), Some(Outcome::Failure));
        let records = [
            record("a", ServiceStart, "", None),
            record("a", StageStart, "one", None),
            record("b", ServiceStart, "", None),
            record("b", StageStart, "one", None),
            record("a", StageEnd, "one", good),
            record("a", StageStart, "two", None),
            record("b", StageEnd, "one", bad),
            record("a", StageEnd, "two", bad),
            record("b", ServiceEnd, "", bad),
            record("a", StageStart, "two", None),
            record("a", StageEnd, "two", good),
            record("a", StageStart, "three", None),
            record("c", ServiceStart, "", None),
            record("c", ServiceEnd, "", bad),
        ];
        let inner = Inner::of(&records);
        let found: Vec<_> = inner.iter().map(|i| (i.title("sub/a.sh"), i.result)).collect();
        let expected = [
            ("one", good),
            ("b: one", bad),
            ("two", bad),
            ("two", good),
            ("three", None),
            ("c", bad),
        ];
        assert_eq!(found, expected.map(|(title, result)| (title.to_owned(), result)));
        assert_eq!(Inner::failed(&inner).map(|i| i.service.as_str()), Some("c"));
        assert_eq!(Inner::failed(&inner[..5]).and_then(|i| i.stage.as_deref()), Some("three"));
        assert_eq!(Inner::failed(&inner[..4]).map(|i| i.service.as_str()), Some("b"));
        assert_eq!(Inner::failed(&inner[..1]), None);

        let open = |until: usize| {
            let start = open_stage(&records[..until]);
            start.map(|start| (start.service.as_str(), start.stage.as_deref().unwrap_or_default()))
        };
        for (until, expected) in [
            (1, None),
            (2, Some(("a", "one"))),
            (3, Some(("a", "one"))),
            (4, Some(("b", "one"))),
            (5, Some(("b", "one"))),
            (6, Some(("a", "two"))),
            (7, Some(("a", "two"))),
            (8, None),
            (14, Some(("a", "three"))),
        ] {
            assert_eq!(open(until), expected, "{until}");
        }
        assert!(open_stage(&[records[1].clone(), record("a", ServiceEnd, "", bad)]).is_none());
    }
}
