//! Reports what earlier runs have left.

use std::time::Duration;

use provost_record::Cause;
use tokio::time::Instant;

use super::delivery::Delivery;
use super::error::ReportError;
use super::spool::Spool;
use crate::failure::Failure;
use crate::settings::{Paths, Settings};
use provost_http::Client;

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
        match tokio::time::timeout_at(until, delivery.deliver(&mut refused)).await {
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
