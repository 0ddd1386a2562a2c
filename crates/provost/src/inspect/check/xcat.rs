//! Trying an xCAT management node.

use provost_plan::mypostscript::List;

use super::finding::Finding;
use provost_node::failure::Failure;
use provost_node::fetch::Source;
use provost_node::settings::{Settings, Xcat};
use provost_node::xcat::fetch::{Refusals, count, mypostscript};

/// Asks for the listing of its scripts and for this node's mypostscript. Says also whether both
/// would serve a run.
pub(super) async fn attempt(
    source: &Source<'_>,
    settings: &Settings,
    xcat: &Xcat,
    findings: &mut Vec<Finding>,
) -> bool {
    let base = source.base;
    let refusals = Refusals::default();
    let own = mypostscript(source, settings, xcat, &refusals);
    let (listed, own) = tokio::join!(count(source, xcat), own);
    findings.push(match &listed {
        Ok(n) => Finding::ok("server", format!("{base} lists {n} postscripts and folders")),
        Err(miss) => Finding::failed("server", &miss.failure),
    });
    let unsigned = "what an xCAT management node serves is unsigned";
    let hint = "publish into its INSTALLDIR/provost and set [trust] keys, so that nobody on the way \
                can have anything run here as root";
    findings.push(Finding::note("signature", unsigned, hint));
    let mistake = own.as_ref().ok().and_then(|own| {
        let e = List::ALL.into_iter().find_map(|list| own.read.mistake(list, None))?;
        Some(Failure::config(format!("{e}; it is from {}", own.from), e.hint()))
    });
    findings.push(match (&own, &mistake) {
        (Ok(_), Some(mistake)) => Finding::failed("plan", mistake),
        (Ok(own), None) => {
            let n = |list| own.read.steps(list, None).len();
            let (post, boot) = (n(List::Postscripts), n(List::Postbootscripts));
            let from = &own.from;
            Finding::ok("plan", format!("{post} postscripts, {boot} postbootscripts, by {from}"))
        }
        (Err(miss), _) => Finding::failed("plan", &miss.failure),
    });
    if own.as_ref().is_ok_and(|own| own.is_from_xcatd) && settings.ca.is_none() {
        let hint = "copy the management node's /etc/xcat/cert/server-cert.pem to this node, and \
                    let `ca` under [fetch] name it";
        findings.push(Finding::note("certificate", "anybody could have answered as xcatd", hint));
    }
    listed.is_ok_and(|n| n > 0) && own.is_ok() && mistake.is_none()
}
