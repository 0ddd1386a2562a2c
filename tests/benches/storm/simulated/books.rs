//! What the nodes say of their requests, at the level `debug`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

static REQUESTS: LazyLock<Mutex<Requests>> = LazyLock::new(Mutex::default);

/// The requests of all nodes of a storm.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// How long each report took that was acknowledged.
    pub(crate) acks: Vec<Duration>,
    /// Reports that the server couldn't take now.
    pub(crate) refused: usize,
    /// Reports that were repeated, by the reason.
    pub(crate) reports: BTreeMap<String, usize>,
    /// Attempts to fetch that were repeated, by the reason.
    pub(crate) fetches: BTreeMap<String, usize>,
    /// Attempts and reports that a server told when to come again.
    pub(crate) told: usize,
}

impl Requests {
    pub(crate) fn add(&mut self, other: Self) {
        self.acks.extend(other.acks);
        self.refused += other.refused;
        self.told += other.told;
        for (all, of_other) in
            [(&mut self.reports, other.reports), (&mut self.fetches, other.fetches)]
        {
            for (why, count) in of_other {
                *all.entry(why).or_default() += count;
            }
        }
    }
}

/// Collects them, until it is closed.
pub(crate) struct Books;

impl Books {
    pub(crate) fn open() -> Self {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            let subscriber = tracing_subscriber::registry().with(Listener);
            tracing::subscriber::set_global_default(subscriber).unwrap();
        });
        Self
    }

    pub(crate) fn close(self) -> Requests {
        std::mem::take(&mut requests())
    }
}

fn requests() -> std::sync::MutexGuard<'static, Requests> {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Listener;

impl<S: Subscriber> Layer<S> for Listener {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.is_event() && metadata.target().starts_with("provost_node")
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let target = event.metadata().target();
        let mut requests = requests();
        // One that was taken may come with the time of the next.
        requests.told += usize::from(fields.is_told && fields.status != Some(200));
        match (fields.status, fields.took_us) {
            (Some(200), Some(took)) => requests.acks.push(Duration::from_micros(took)),
            // A log.
            (Some(204), _) => {}
            (Some(_), _) => requests.refused += 1,
            _ if target.ends_with("report::reporter") => {
                *requests.reports.entry(fields.why).or_default() += 1;
            }
            _ if target.ends_with("fetch::retry") => {
                *requests.fetches.entry(fields.why).or_default() += 1;
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Fields {
    status: Option<u64>,
    took_us: Option<u64>,
    why: String,
    /// Whether the server has said when to come again.
    is_told: bool,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "status" => self.status = Some(value),
            "took_us" => self.took_us = Some(value),
            "wait_s" => self.is_told = value > 0,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, text: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            let text = format!("{text:?}");
            self.is_told |= text.contains(", and to come back in ");
            // `fetching URL: WHY[, and …]`
            let why = text.split(": ").nth(1).unwrap_or(&text);
            self.why = why.split(", ").next().unwrap_or(why).to_owned();
        }
    }
}
