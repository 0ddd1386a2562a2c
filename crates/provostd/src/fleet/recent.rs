//! What came in of late: the numbers of each second, and the last events. It is kept from the start on,
//! whether or not somebody looks, because a look at a storm begins in the middle of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use provost_store::{Arrivals, Claim, Event, Lost, ServiceChangeKind, Store};
use tokio::sync::broadcast::error::RecvError;

use super::Fleet;
use crate::listener::Stop;

/// How many seconds are kept.
pub(crate) const SECONDS: i64 = 600;
/// How many events are kept, a record each; older ones that came with the oldest of them, too.
pub(crate) const EVENTS: u64 = 200;

/// What came in.
#[derive(Default)]
pub(crate) struct Recent(Mutex<RecentCounts>);

#[derive(Default)]
struct RecentCounts {
    /// Those in which something came in, the oldest first.
    seconds: VecDeque<Second>,
    /// The oldest first.
    events: VecDeque<(Timestamp, RecentEvent)>,
    /// How many events these are.
    count: u64,
}

/// What came in within one second, by the server's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Second {
    /// Which one, of Unix time.
    pub(crate) at: i64,
    /// How many records.
    pub(crate) records: u64,
    /// How many runs began …
    pub(crate) began: u64,
    /// … ended well …
    pub(crate) succeeded: u64,
    /// … and failed, or were lost.
    pub(crate) failed: u64,
}

/// What came at once.
#[derive(Clone, Debug)]
pub(crate) enum RecentEvent {
    Records(Arc<Arrivals>),
    Lost(Arc<Lost>),
    Claim(Arc<Claim>),
}

impl RecentEvent {
    fn count(&self) -> u64 {
        match self {
            Self::Records(arrivals) => arrivals.records(),
            Self::Lost(_) | Self::Claim(_) => 1,
        }
    }
}

impl Recent {
    fn kept(&self) -> MutexGuard<'_, RecentCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what comes in, and tells `fleet` which nodes have changed, until the daemon ends. It does nothing
    /// else, so that it misses no event of a storm.
    pub(crate) async fn watch(
        self: Arc<Self>,
        store: Arc<dyn Store>,
        fleet: Arc<Fleet>,
        mut stop: Stop,
    ) {
        let mut events = store.events();
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                () = stop.wait() => return,
            };
            match event {
                Ok(event) => self.note(event, &fleet, Timestamp::now()),
                Err(RecvError::Lagged(_)) => fleet.has_missed(),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn note(&self, event: Event, fleet: &Fleet, at: Timestamp) {
        let mut kept = self.kept();
        let second = kept.second(at.as_second());
        let event = match event {
            Event::Records(arrivals) => {
                for arrival in &arrivals.parts {
                    fleet.has_changed(&arrival.node);
                    second.records += arrival.records;
                    for change in &arrival.services {
                        match change.kind {
                            ServiceChangeKind::Began => second.began += 1,
                            ServiceChangeKind::Succeeded => second.succeeded += 1,
                            ServiceChangeKind::Failed => second.failed += 1,
                        }
                    }
                }
                RecentEvent::Records(arrivals)
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
        kept.add(at, event);
    }

    /// The seconds after `at` in which something came in.
    pub(crate) fn seconds_after(&self, at: i64) -> Vec<Second> {
        self.kept().seconds.iter().filter(|second| second.at > at).copied().collect()
    }

    /// The last events, the newest first.
    pub(crate) fn events(&self) -> Vec<(Timestamp, RecentEvent)> {
        self.kept().events.iter().rev().cloned().collect()
    }
}

impl RecentCounts {
    fn add(&mut self, at: Timestamp, event: RecentEvent) {
        self.count += event.count();
        self.events.push_back((at, event));
        while let Some(oldest) = self.events.front().map(|(_, event)| event.count())
            && self.count - oldest >= EVENTS
        {
            self.events.pop_front();
            self.count -= oldest;
        }
    }

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
    use provost_store::{Arrival, ServiceChange};

    use super::*;

    fn records(count: u64, services: &[ServiceChangeKind]) -> Event {
        let services = services.iter().map(|kind| ServiceChange { kind: *kind, is_run: false });
        let arrival = Arrival { node: "a".into(), records: count, services: services.collect() };
        Event::Records(Arc::new(Arrivals::of(vec![arrival], Vec::new())))
    }

    #[test]
    fn seconds_are_counted_and_old_ones_forgotten() {
        let (recent, fleet) = (Recent::default(), Fleet::default());
        let at = |second| Timestamp::from_second(second).unwrap();
        let (began, succeeded) = (ServiceChangeKind::Began, ServiceChangeKind::Succeeded);
        recent.note(records(2, &[began, succeeded]), &fleet, at(10));
        recent.note(records(1, &[ServiceChangeKind::Failed]), &fleet, at(11));
        // The clock was set back.
        recent.note(records(1, &[]), &fleet, at(5));
        let first = Second { at: 10, records: 2, began: 1, succeeded: 1, failed: 0 };
        let second = Second { at: 11, records: 2, began: 0, succeeded: 0, failed: 1 };
        assert_eq!(recent.seconds_after(0), [first, second]);
        recent.note(records(1, &[]), &fleet, at(10 + SECONDS));
        assert_eq!(recent.seconds_after(10).len(), 2);
        assert_eq!(recent.events().len(), 4);
    }

    #[test]
    fn of_old_events_so_many_are_kept_that_enough_can_be_shown() {
        let (recent, fleet) = (Recent::default(), Fleet::default());
        let kept = || -> u64 { recent.events().iter().map(|(_, event)| event.count()).sum() };
        for count in [500, 60, 60, 60] {
            recent.note(records(count, &[]), &fleet, Timestamp::UNIX_EPOCH);
        }
        assert_eq!((recent.events().len(), kept()), (4, 680));
        recent.note(records(20, &[]), &fleet, Timestamp::UNIX_EPOCH);
        assert_eq!((recent.events().len(), kept()), (4, EVENTS));
        (0..EVENTS).for_each(|_| recent.note(records(1, &[]), &fleet, Timestamp::UNIX_EPOCH));
        assert_eq!(kept(), EVENTS);
    }
}
