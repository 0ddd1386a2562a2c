//! What can't even be recorded is told the management node all the same, if it can be.

use std::collections::BTreeMap;
use std::time::Duration;

use provost_exec::Orders;
use provost_record::{Outcome, Phase, Record, Service};
use tokio::sync::watch;

use super::post::Post;
use super::spool::Spool;
use crate::failure::Failure;
use crate::settings::Input;
use crate::settings::secrets::secrets;
use crate::xcat::tell_failed;

/// How long it may take at the most.
const TIME: Duration = Duration::from_secs(10);

/// Tells that a run of `service` failed before its first record, unless `orders` end that.
pub async fn tell_failure(
    input: &Input,
    service: Service,
    failure: &Failure,
    orders: &mut watch::Receiver<Orders>,
) -> bool {
    let settings = input.usable().0;
    if let Some(xcat) = &settings.xcat {
        return tell_failed(&settings, xcat, &input.paths(), service, orders).await;
    }
    let start = Record {
        service: service.to_string(),
        node: input.node(),
        run: uuid::Uuid::now_v7().to_string(),
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
    tell(input, vec![start, end]).await
}

/// Sends `records`, which no journal took, to the first server that takes them. Says whether one
/// did. Nothing is tried twice: the console has told it already.
pub async fn tell(input: &Input, mut records: Vec<Record>) -> bool {
    let (settings, _) = input.usable();
    if settings.xcat.is_some() {
        // It takes no records.
        return false;
    }
    let secrets = secrets(&settings, &BTreeMap::new());
    for text in records.iter_mut().flat_map(Record::texts_mut) {
        *text = secrets.hide(text).into_owned();
    }
    let Ok(client) = crate::http::client(&settings) else { return false };
    let paths = input.paths();
    let mut post = Post::new(&settings, &client, &paths, Spool::new(&paths), None);
    let time = settings.report_deadline.duration().min(TIME);
    tokio::time::timeout(time, post.tell(&records)).await.unwrap_or(false)
}
