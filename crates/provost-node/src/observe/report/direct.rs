//! What no journal took is sent to the management node all the same, if it can be.

use std::time::Duration;

use provost_record::{Outcome, Phase, Record, Service};

use super::delivery::Delivery;
use super::spool::Spool;
use crate::failure::Failure;
use crate::fetch::Connection;
use crate::settings::secrets::secrets;

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
