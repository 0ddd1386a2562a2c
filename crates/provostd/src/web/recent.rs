//! What came in of late: the numbers of each second, and the last events. It is kept from the start on,
//! whether or not somebody looks, because a look at a storm begins in the middle of it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use provost_record::{Outcome, Phase};
use provost_store::{Claim, Event, Lost, Store};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::broadcast::error::RecvError;

use super::fleet::Fleet;
use crate::listener::Stop;

/// How many seconds are kept.
pub(super) const SECONDS: i64 = 600;
/// How many events are kept.
const EVENTS: usize = 200;

/// What came in.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// Those in which something came in, the oldest first.
    seconds: VecDeque<Second>,
    /// The oldest first.
    events: VecDeque<(Timestamp, RecentEvent)>,
}

/// What came in within one second, by the server's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Second {
    /// Which one, of Unix time.
    pub(super) at: i64,
    /// How many records.
    pub(super) records: u64,
    /// How many runs began …
    pub(super) began: u64,
    /// … ended well …
    pub(super) succeeded: u64,
    /// … and failed, or were lost.
    pub(super) failed: u64,
}

/// One event.
#[derive(Clone, Debug)]
pub(super) enum RecentEvent {
    Record(Arc<RawValue>),
    Lost(Arc<Lost>),
    Claim(Arc<Claim>),
}

/// What of a record counts.
#[derive(Deserialize)]
struct Brief<'a> {
    #[serde(borrow)]
    node: Cow<'a, str>,
    phase: Phase,
    result: Option<Outcome>,
}

impl Recent {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what comes in, and tells `fleet` which nodes have changed, until the daemon ends. It does nothing
    /// else, so that it misses no event of a storm.
    pub(crate) async fn watch(&self, store: &dyn Store, fleet: &Fleet, mut stop: Stop) {
        let mut events = store.events();
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                () = stop.wait() => return,
            };
            match event {
                Ok(event) => self.note(event, fleet, Timestamp::now()),
                Err(RecvError::Lagged(_)) => fleet.has_missed(),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn note(&self, event: Event, fleet: &Fleet, at: Timestamp) {
        let mut kept = self.kept();
        let second = kept.second(at.as_second());
        let event = match event {
            Event::Record(json) => {
                second.records += 1;
                if let Ok(brief) = serde_json::from_str::<Brief<'_>>(json.get()) {
                    fleet.has_changed(&brief.node);
                    match (brief.phase, brief.result) {
                        (Phase::ServiceStart, _) => second.began += 1,
                        (Phase::ServiceEnd, Some(Outcome::Success)) => second.succeeded += 1,
                        (Phase::ServiceEnd, _) => second.failed += 1,
                        _ => {}
                    }
                }
                RecentEvent::Record(json)
            }
            Event::Lost(lost) => {
                second.failed += 1;
                fleet.has_changed(&lost.node);
                RecentEvent::Lost(lost)
            }
            Event::Claim(claim) => {
                fleet.has_changed(&claim.node);
                RecentEvent::Claim(claim)
            }
            Event::Missed => return fleet.has_missed(),
        };
        if kept.events.len() == EVENTS {
            kept.events.pop_front();
        }
        kept.events.push_back((at, event));
    }

    /// The seconds after `at` in which something came in.
    pub(super) fn seconds_after(&self, at: i64) -> Vec<Second> {
        self.kept().seconds.iter().filter(|second| second.at > at).copied().collect()
    }

    /// The last events, the newest first.
    pub(super) fn events(&self) -> Vec<(Timestamp, RecentEvent)> {
        self.kept().events.iter().rev().cloned().collect()
    }
}

impl Kept {
    /// The second `at`, or the newest one if the clock was set back.
    fn second(&mut self, at: i64) -> &mut Second {
        if self.seconds.back().is_none_or(|last| last.at < at) {
            self.seconds.push_back(Second { at, ..Second::default() });
            while self.seconds.front().is_some_and(|first| first.at <= at - SECONDS) {
                self.seconds.pop_front();
            }
        }
        let newest = self.seconds.len() - 1;
        &mut self.seconds[newest]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_counted_and_old_ones_forgotten() {
        let (recent, fleet) = (Recent::default(), Fleet::default());
        let record = |text: &str| {
            let json = RawValue::from_string(text.to_owned()).unwrap();
            Event::Record(Arc::from(json))
        };
        let at = |second| Timestamp::from_second(second).unwrap();
        recent.note(record(r#"{"node":"a","phase":"service start"}"#), &fleet, at(10));
        recent.note(
            record(r#"{"node":"a","phase":"service end","result":"success"}"#),
            &fleet,
            at(10),
        );
        recent.note(
            record(r#"{"node":"a","phase":"service end","result":"failure"}"#),
            &fleet,
            at(11),
        );
        // The clock was set back.
        recent.note(record(r#"{"node":"a","phase":"stage start"}"#), &fleet, at(5));
        let first = Second { at: 10, records: 2, began: 1, succeeded: 1, failed: 0 };
        let second = Second { at: 11, records: 2, began: 0, succeeded: 0, failed: 1 };
        assert_eq!(recent.seconds_after(0), [first, second]);
        recent.note(record("{}"), &fleet, at(10 + SECONDS));
        assert_eq!(recent.seconds_after(10).len(), 2);
        assert_eq!(recent.events().len(), 5);
        (0..EVENTS).for_each(|_| recent.note(record("{}"), &fleet, at(2000)));
        assert_eq!(recent.events().len(), EVENTS);
    }
}
