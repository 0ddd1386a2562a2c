//! Whether what a server offers isn't older than what this node may run or believe: it must fit together,
//! and must not have expired.

use jiff::Timestamp;
use provost_bundle::{Manifest, Refresh, Validity};
use provost_plan::Plan;
use provost_record::Cause;
use reqwest::header::HeaderMap;

use super::answer::Answer;
use super::server::Server;
use crate::failure::Failure;
use crate::settings::Settings;

/// Refuses a plan of another publication than the bundle's.
pub fn belongs(settings: &Settings, manifest: &Manifest, plan: &Plan) -> Result<(), Failure> {
    let message = match plan.manifest {
        _ if settings.trust.is_unsigned() => return Ok(()),
        Some(own) if manifest.goes_with_plan_of(own) => return Ok(()),
        Some(own) => format!(
            "the plan was published with bundle {own}, and the bundle is {}",
            manifest.generation
        ),
        None => "the plan doesn't name the bundle that it was published with".to_owned(),
    };
    let hint = "publish again; if both are right on the server, look for a cache or proxy that keeps \
                one of the two for too long";
    Err(Failure::new(Cause::Verify, message, hint))
}

/// Refuses a bundle of a generation that is older than the admin allows.
fn is_allowed(settings: &Settings, got: u64) -> Result<(), Failure> {
    let least = settings.least_generation;
    if got >= least {
        return Ok(());
    }
    let message = format!("the bundle is generation {got}; [trust] least_generation is {least}");
    let hint = "see whether that server is out of date, or whether provost.generation on the \
                kernel command line is right";
    Err(Failure::new(Cause::Verify, message, hint))
}

/// Refuses what is older than the admin allows, or has expired. A node that remembers these very
/// generations runs nothing older than before, and `is_remembered`: it only warns.
pub fn check(
    settings: &Settings,
    (manifest, plan): (&Manifest, &Plan),
    is_remembered: bool,
    served_at: Option<Timestamp>,
    refreshed: Option<Validity>,
) -> Result<(), Failure> {
    is_allowed(settings, manifest.generation)?;
    if settings.trust.is_unsigned() {
        return Ok(());
    }
    for (what, validity) in [("bundle", manifest.validity()), ("plan", plan.validity())] {
        let Err(failure) = is_valid(what, validity, served_at, refreshed) else { continue };
        if !is_remembered {
            return Err(failure);
        }
        tracing::warn!(hint = failure.hint, "warning: {}", failure.text());
    }
    Ok(())
}

/// When the first of them expires, once more than half of its time is over and nothing has `refreshed` it.
pub fn expires_soon(
    (manifest, plan): (&Manifest, &Plan),
    refreshed: Option<Validity>,
) -> Option<Timestamp> {
    let now = Timestamp::now();
    let each = [manifest.validity(), plan.validity()].into_iter().flatten();
    let used = each.map(|validity| refreshed.unwrap_or(validity));
    used.filter(|validity| validity.is_old(now)).map(|validity| validity.expires).min()
}

/// Refuses what has expired, unless it was `refreshed`.
fn is_valid(
    what: &str,
    validity: Option<Validity>,
    served_at: Option<Timestamp>,
    refreshed: Option<Validity>,
) -> Result<(), Failure> {
    let is_over = |validity: Validity| validity.has_expired(Timestamp::now(), served_at);
    let message = match validity {
        Some(validity) if !is_over(refreshed.unwrap_or(validity)) => return Ok(()),
        Some(Validity { made, expires }) => format!(
            "the {what} was signed at {made} and has expired at {expires}; this node's clock \
             shows {}",
            provost_record::now()
        ),
        None => format!("the {what} doesn't say until when it may be used"),
    };
    let hint = "sign it again, as is due every 30 days: provostctl publish … --refresh; or set \
                this node's clock, if that is wrong";
    Err(Failure::new(Cause::Verify, message, hint))
}

/// Refuses a manifest, `text`, in which nothing is to be believed, not even how to reach the management
/// node: what was signed once can be replayed.
pub async fn is_believed(
    server: &Server<'_>,
    settings: &Settings,
    (manifest, text): (&Manifest, &str),
    served_at: Option<Timestamp>,
) -> Result<(), Failure> {
    is_allowed(settings, manifest.generation)?;
    if settings.trust.is_unsigned() {
        return Ok(());
    }
    let check = |refreshed| is_valid("bundle", manifest.validity(), served_at, refreshed);
    match check(None) {
        Ok(()) => Ok(()),
        Err(_) => check(refreshed(server, manifest, text).await),
    }
}

/// For how long the server says that this bundle may be used, which the publisher has allowed it to.
pub async fn refreshed(server: &Server<'_>, manifest: &Manifest, text: &str) -> Option<Validity> {
    let key = manifest.refresh_key()?;
    // A channel's is another one than that of all nodes.
    let generation = manifest.generation;
    let get = async |path: &str| {
        let path = format!("{path}?generation={generation}");
        Answer::get(server, &path, Refresh::MAX_BYTES, HeaderMap::new()).await.ok()
    };
    let signature = provost_api::published::signature(Refresh::PATH);
    let (refresh, signature) = tokio::join!(get(Refresh::PATH), get(&signature));
    let refresh = refresh?.text;
    let verified = Refresh::verify(refresh.as_bytes(), &signature?.text, text.as_bytes(), key);
    verified.inspect_err(|why| tracing::warn!("{}: {why}", server.url(Refresh::PATH))).ok()
}
