//! Trying the install monitor.

use std::time::Duration;

use provost_node::failure::Failure;
use provost_node::finding::Finding;
use provost_node::settings::Settings;
use provost_record::Cause;

use crate::status::monitor::Monitor;
use crate::status::words::is_disabled;

/// Waits up to `limit` for the greeting of the install monitor, and sends nothing. None where the
/// management node isn't xCAT's, and where runs tell it no status.
pub async fn try_monitor(settings: &Settings, limit: Duration) -> Option<Finding> {
    let xcat = settings.xcat.as_ref().filter(|_| !is_disabled())?;
    let monitor = Monitor::new(settings, xcat.monitor_port, limit / 2);
    let greeted = tokio::time::timeout(limit, monitor.ready()).await;
    let late = || {
        let message = format!("no greeting within {} s", limit.as_secs());
        Failure::new(Cause::Fetch, message, "check that xcatd runs: systemctl status xcatd")
    };
    Some(match greeted.unwrap_or_else(|_| Err(late())) {
        Ok(greeted) => Finding::ok("monitor", format!("{} greets this node", greeted.name())),
        Err(failure) => Finding::failed("monitor", &failure),
    })
}
