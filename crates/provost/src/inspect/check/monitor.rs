//! Trying the install monitor of an xCAT management node.

use provost_record::Cause;

use super::LIMIT;
use super::finding::Finding;
use provost_node::failure::Failure;
use provost_node::settings::Settings;
use provost_node::xcat::{greeting, is_quiet};

/// Waits for its greeting, and says nothing. None where runs don't tell it anything but `next`
/// either.
pub(super) async fn attempt(settings: &Settings) -> Option<Finding> {
    let xcat = settings.xcat.as_ref().filter(|_| !is_quiet())?;
    let greeting = greeting(settings, xcat, LIMIT / 2);
    let late = || {
        let message = format!("none has greeted within {} s", LIMIT.as_secs());
        Failure::new(Cause::Fetch, message, "see that xcatd runs: systemctl status xcatd")
    };
    let greeted = tokio::time::timeout(LIMIT, greeting).await;
    Some(match greeted.unwrap_or_else(|_| Err(late())) {
        Ok(name) => Finding::ok("monitor", format!("{name} greets this node")),
        Err(failure) => Finding::failed("monitor", &failure),
    })
}
