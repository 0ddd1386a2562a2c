use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use provost_api::nodes::Acknowledgement;
use provost_api::{Directive, LogKind, limits};
use provost_record::{Phase, now};
use provost_steplog::wording::error_chain;
use provost_store::{Ingested, Report, Sent, Store, StoreError, UploadedLog};
use serde_json::value::RawValue;

use super::failures;
use super::guard::AttemptGuard;
use super::over_quota::OverQuota;
use super::silence::Silence;
use crate::listener::ingest_limiter::IngestLimiter;
use crate::listener::refusal::Refusal;
use crate::metrics::Metrics;

/// Stores what nodes report.
pub(crate) struct Reports {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) guard: AttemptGuard,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) over_quota: Arc<OverQuota>,
    pub(crate) silence: Arc<Silence>,
    pub(crate) places: IngestLimiter,
}

impl Reports {
    /// Stores a batch of a node's records, which was sent so. Returns the answer, and whether more is to come of the run.
    pub(crate) async fn ingest(
        self: &Arc<Self>,
        node: &str,
        body: &[u8],
        sent: Sent,
    ) -> Result<(Acknowledgement, bool), Refusal> {
        let _place = self.places.take()?;
        let mut batch = parse(node, body)?;
        let Some(last) = batch.last_mut() else {
            return Err(invalid("the batch is empty".into()));
        };
        last.sent = Some(sent);
        let last = last.record.clone();
        // In a task of its own: a node whose power is cut after its report closes the connection, which drops the
        // request, and what follows from stored records has to be done all the same.
        let stored = tokio::spawn(Arc::clone(self).store(node.to_owned(), batch)).await;
        let ingested = stored.unwrap_or_else(|error| resume_unwind(error.into_panic()))?;
        let reason = self.guard.after(&last, &ingested.standing);
        let directive = if reason.is_some() { Directive::Hold } else { Directive::Proceed };
        let goes_on = last.phase != Phase::ServiceEnd;
        Ok((Acknowledgement { acked: last.seq, directive, reason }, goes_on))
    }

    /// Stores a batch, and does what follows from it: the node is due to report again, its failures are logged.
    async fn store(self: Arc<Self>, node: String, batch: Vec<Report>) -> Result<Ingested, Refusal> {
        let timings = self.metrics.timings.of(&batch);
        let (begun, waits) = (Instant::now(), self.metrics.waits_for_store());
        let ingested = self.store.ingest(&node, batch, now()).await;
        let ingested = ingested.map_err(|error| self.refused(&node, error))?;
        drop(waits);
        self.metrics.ingested(&ingested, begun.elapsed());
        self.metrics.timings.observe(timings, ingested.repeats);
        self.silence.note(ingested.due);
        failures::log(&ingested.notices);
        Ok(ingested)
    }

    /// When a node whose run goes on may report again, where that isn't soon.
    pub(crate) fn next_report(&self) -> Option<Duration> {
        self.places.next_report(self.store.daemons())
    }

    /// Stores a log.
    pub(crate) async fn put_log(
        &self,
        node: &str,
        log: UploadedLog,
        kind: LogKind,
        bytes: Vec<u8>,
    ) -> Result<(), Refusal> {
        let _place = match kind {
            LogKind::Failure => self.places.take()?,
            LogKind::Success => self.places.take_for_success_log().await?,
        };
        let (size, begun) = (bytes.len(), Instant::now());
        let waits = self.metrics.waits_for_store();
        let stored = self.store.put_log(node, log, kind, bytes).await;
        let made_room = stored.map_err(|error| match kind {
            LogKind::Failure => self.refused(node, error),
            LogKind::Success => without_room(error),
        })?;
        drop(waits);
        self.metrics.pruned(&made_room);
        self.metrics.log_stored(size, begun.elapsed());
        Ok(())
    }

    /// The answer to a node whose report the store refuses.
    fn refused(&self, node: &str, error: StoreError) -> Refusal {
        self.over_quota.note(node, &error);
        error.into()
    }
}

/// The answer to a node whose log of a successful step the store refuses. One that its failed logs leave no room for
/// stays on the node for good.
fn without_room(error: StoreError) -> Refusal {
    match error.retry_after() {
        Some(_) => Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error_chain(&error), error.hint()),
        None => error.into(),
    }
}

/// Reads a batch of the records of `node`.
pub(crate) fn parse(node: &str, body: &[u8]) -> Result<Vec<Report>, Refusal> {
    let texts: Vec<&RawValue> = serde_json::from_slice(body)
        .map_err(|e| invalid(format!("the body isn't a JSON array of records: {e}")))?;
    let read = |(index, text): (usize, &&RawValue)| {
        let refuse = |why: String| invalid(format!("record {index} of the batch: {why}"));
        if text.get().len() > limits::RECORD {
            return Err(refuse(format!("it is longer than {} bytes", limits::RECORD)));
        }
        let report = Report::parse(text).map_err(|e| refuse(e.to_string()))?;
        let record = &report.record;
        record.check_reportable().map_err(|e| refuse(e.to_string()))?;
        if record.node != node {
            return Err(refuse(format!("it is of node {:?}, not of {node:?}", record.node)));
        }
        if !is_run_id(&record.run) {
            return Err(refuse(format!("its run {:?} isn't a UUID in its usual form", record.run)));
        }
        if record.seq > limits::SEQ {
            return Err(refuse(format!("its seq {} is too large", record.seq)));
        }
        Ok(report)
    };
    texts.iter().enumerate().map(read).collect()
}

/// The answer to a batch that isn't one.
pub(crate) fn invalid(error: String) -> Refusal {
    let hint = "install the same version of Provost on the node and the management node; nothing of \
                the batch was stored";
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
}

/// Whether `text` is a run's id in the one form in which nodes write it.
pub(crate) fn is_run_id(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::parse_str(text).is_ok()
}
