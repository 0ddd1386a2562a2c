//! Reports what earlier runs have left, and what no journal took: that is sent all the same, if it can be.

use std::time::Duration;

use provost_http::Client;
use provost_record::{Cause, Outcome, Phase, Record, Service};
use tokio::time::Instant;

use super::delivery::Delivery;
use super::servers::ReportError;
use super::spool::Spool;
use crate::failure::Failure;
use crate::fetch::Connection;
use crate::settings::secrets::secrets;
use crate::settings::{Paths, Settings};

/// The wait between two reports.
const PAUSE: Duration = Duration::from_millis(250);

/// Reports what earlier runs have left, within `limit`.
pub(super) async fn drain_backlog(
    settings: &Settings,
    client: &Client,
    paths: &Paths,
    limit: Duration,
) -> Result<(), Failure> {
    let until = Instant::now() + limit;
    let mut delivery = Delivery::new(settings, client, paths, Spool::new(paths), None);
    let hint = "check why the server is slow, or raise `deadline` under [report]";
    let mut last = Failure::new(Cause::Fetch, "reporting: not finished in time", hint);
    loop {
        let pause;
        let mut refused = |text: &str| tracing::warn!("{text}");
        let all = async {
            delivery.deliver(&mut refused).await?;
            delivery.deliver_success_logs(&mut refused).await
        };
        match tokio::time::timeout_at(until, all).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(ReportError::Abort(failure))) => return Err(failure),
            Ok(Err(ReportError::Retry(failure, wait))) => (last, pause) = (failure, PAUSE + wait),
            Err(_) => return Err(last),
        }
        if Instant::now() + pause >= until {
            return Err(last);
        }
        tokio::time::sleep(pause).await;
    }
}

/// How long it may take at most.
const TIME: Duration = Duration::from_secs(10);

/// Sends that a run of `service` failed before its first record. Returns whether a server took it.
pub(super) async fn report_refusal(
    connection: &Connection,
    service: Service,
    failure: &Failure,
) -> bool {
    let start = Record {
        service: service.to_string(),
        node: connection.settings.node.clone(),
        run: connection.run.clone(),
        seq: 1,
        ..Record::new(Phase::ServiceStart)
    };
    let end = Record {
        phase: Phase::ServiceEnd,
        seq: 2,
        result: Some(Outcome::Failure),
        cause: Some(failure.cause),
        error_message: Some(failure.text()),
        hint: Some(failure.hint.clone()),
        ..start.clone()
    };
    report_unwritten(connection, vec![start, end]).await
}

/// Sends `records`, which no journal took, to the first server that takes them. Returns whether one
/// did. Nothing is tried twice: the console has it already.
pub(super) async fn report_unwritten(connection: &Connection, mut records: Vec<Record>) -> bool {
    let Connection { settings, client, paths, .. } = connection;
    let secrets = secrets(settings, None);
    for text in records.iter_mut().flat_map(Record::texts_mut) {
        *text = secrets.hide(text).into_owned();
    }
    let mut delivery = Delivery::new(settings, client, paths, Spool::new(paths), None);
    let time = settings.report_deadline.duration().min(TIME);
    tokio::time::timeout(time, delivery.send_unwritten(&records)).await.unwrap_or(false)
}
