//! What the nodes say of their requests, at the level `debug`.

use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

static REQUESTS: Mutex<Requests> =
    Mutex::new(Requests { acks: Vec::new(), refused: 0, failed: 0, fetches: 0 });

/// The requests of all nodes of a storm.
#[derive(Default)]
pub(crate) struct Requests {
    /// How long each report took that was acknowledged.
    pub(crate) acks: Vec<Duration>,
    /// Reports that the server couldn't take now.
    pub(crate) refused: usize,
    /// Reports without an answer.
    pub(crate) failed: usize,
    /// Attempts to fetch that were repeated.
    pub(crate) fetches: usize,
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
        match (fields.status, fields.took_us) {
            (Some(200), Some(took)) => requests.acks.push(Duration::from_micros(took)),
            (Some(_), _) => requests.refused += 1,
            _ if target.ends_with("report::reporter") => requests.failed += 1,
            _ if target.ends_with("fetch::retry") => requests.fetches += 1,
            _ => {}
        }
    }
}

#[derive(Default)]
struct Fields {
    status: Option<u64>,
    took_us: Option<u64>,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "status" => self.status = Some(value),
            "took_us" => self.took_us = Some(value),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
