//! What came in of late: the last events. They are kept from the start on, whether or not somebody looks, because a
//! look at a storm begins in the middle of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use provost_store::{Arrivals, Claim, Event, Lost, Store};
use tokio::sync::broadcast::error::RecvError;

use super::Fleet;
use crate::listener::Stop;

/// How many events are kept, a record each; older ones that came with the oldest of them, too.
pub(crate) const EVENTS: u64 = 200;

/// What came in.
#[derive(Default)]
pub(crate) struct Recent(Mutex<RecentCounts>);

#[derive(Default)]
struct RecentCounts {
    /// When the last one came in, or some were missed.
    last: Option<Timestamp>,
    /// The oldest first.
    events: VecDeque<(Timestamp, RecentEvent)>,
    /// How many events these are.
    count: u64,
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
        kept.last = Some(at);
        let event = match event {
            Event::Records(arrivals) => {
                for arrival in &arrivals.parts {
                    fleet.has_changed(&arrival.node);
                }
                RecentEvent::Records(arrivals)
            }
            Event::Lost(lost) => {
                fleet.has_changed(&lost.node);
                RecentEvent::Lost(lost)
            }
            Event::Claim(claim) => {
                fleet.has_changed(&claim.node);
                RecentEvent::Claim(claim)
            }
            // Pages that show it look again.
            Event::Job(news) => return fleet.has_changed(&news.node),
            Event::Missed => return fleet.has_missed(),
        };
        kept.add(at, event);
    }

    /// Whether something came in since then.
    pub(crate) fn came_since(&self, at: Timestamp) -> bool {
        self.kept().last.is_some_and(|last| last >= at)
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
}

#[cfg(test)]
mod tests {
    use provost_store::Arrival;

    use super::*;

    fn records(count: u64) -> Event {
        let arrival = Arrival { node: "a".into(), records: count, services: Vec::new() };
        Event::Records(Arc::new(Arrivals::of(vec![arrival], Vec::new())))
    }

    #[test]
    fn of_old_events_so_many_are_kept_that_enough_can_be_shown() {
        let (recent, fleet) = (Recent::default(), Fleet::default());
        let kept = || -> u64 { recent.events().iter().map(|(_, event)| event.count()).sum() };
        for count in [500, 60, 60, 60] {
            recent.note(records(count), &fleet, Timestamp::UNIX_EPOCH);
        }
        assert_eq!((recent.events().len(), kept()), (4, 680));
        recent.note(records(20), &fleet, Timestamp::UNIX_EPOCH);
        assert_eq!((recent.events().len(), kept()), (4, EVENTS));
        (0..EVENTS).for_each(|_| recent.note(records(1), &fleet, Timestamp::UNIX_EPOCH));
        assert_eq!(kept(), EVENTS);
    }
}
