//! Trying a web server and the xcatd of its host.

use std::collections::BTreeMap;
use std::time::Duration;

use provost_http::Client;
use provost_node::failure::Failure;
use provost_node::finding::{Finding, ServerCheck};
use provost_node::settings::{Settings, Xcat};
use provost_plan::Step;
use provost_plan::mypostscript::{List, UnusableLine};
use provost_record::Cause;
use provost_steplog::wording;
use reqwest::Url;
use tokio::time::Instant;

use crate::source::mypostscript::{ServedMypostscript, mypostscript};
use crate::source::refusals::Refusals;
use crate::source::tree::{count, web_server};
use crate::status::messages::is_disabled;
use crate::status::monitor::Monitor;

/// How long xcatd may take here. A run waits for as long as it may fetch.
const XCATD: Duration = Duration::from_secs(9);

/// Tries `base` for the listing of its scripts and for this node's mypostscript. None where the
/// scripts of `settings` aren't xCAT's own.
pub async fn try_server(client: &Client, base: &Url, settings: &Settings) -> Option<ServerCheck> {
    let xcat = settings.xcat.as_ref().filter(|xcat| !xcat.is_published)?;
    let mut findings = Vec::new();
    let serves = attempt(client, base, settings, xcat, &mut findings).await;
    Some(ServerCheck { findings, serves })
}

async fn attempt(
    client: &Client,
    base: &Url,
    settings: &Settings,
    xcat: &Xcat,
    findings: &mut Vec<Finding>,
) -> bool {
    let server = web_server(client, base);
    let refusals = Refusals::default();
    let own = mypostscript(&server, settings, xcat, &refusals, Instant::now() + XCATD);
    let (listed, own) = tokio::join!(count(&server, xcat), own);
    findings.push(match &listed {
        Ok(n) => Finding::ok("server", format!("{base} lists {n} postscripts and folders")),
        Err(miss) => Finding::failed("server", &miss.failure),
    });
    let unsigned = "what an xCAT management node serves is unsigned";
    let hint = "publish into its INSTALLDIR/provost and set [trust] keys: without them anybody on the \
                network path can run anything here as root";
    findings.push(Finding::note("signature", unsigned, hint));
    let mistake = own.as_ref().ok().and_then(|own| {
        let cut_short = List::ALL.into_iter().find_map(|list| own.lists.cut_short(list));
        let unusable = || List::ALL.into_iter().flat_map(steps(own)).find_map(Result::err);
        let (what, hint) = match cut_short {
            Some(e) => (e.to_string(), e.hint().to_owned()),
            None => unusable().map(|e| (e.message, e.hint.to_owned()))?,
        };
        Some(Failure::config(format!("{what}, from {}", own.from), hint))
    });
    findings.push(match (&own, &mistake) {
        (Ok(_), Some(mistake)) => Finding::failed("plan", mistake),
        (Ok(own), None) => {
            let n = |list, what| wording::count(steps(own)(list).len(), what);
            let post = n(List::Postscripts, "postscript");
            let boot = n(List::Postbootscripts, "postbootscript");
            Finding::ok("plan", format!("{post}, {boot}, by {}", own.from))
        }
        (Err(miss), _) => Finding::failed("plan", &miss.failure),
    });
    if own.as_ref().is_ok_and(|own| own.is_from_xcatd) && settings.ca.is_none() {
        let hint = "copy the management node's /etc/xcat/cert/server-cert.pem to this node, and \
                    let `ca` under [fetch] name it";
        findings.push(Finding::note(
            "certificate",
            "any machine could have answered as xcatd",
            hint,
        ));
    }
    listed.is_ok_and(|n| n > 0) && own.is_ok() && mistake.is_none()
}

/// The steps of a list, as far as they are known where no preamble was evaluated.
fn steps(own: &ServedMypostscript) -> impl Fn(List) -> Vec<Result<Step, UnusableLine>> {
    |list| own.lists.steps(list, None, &BTreeMap::new())
}

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
