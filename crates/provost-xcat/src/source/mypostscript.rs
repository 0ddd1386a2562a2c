//! A node's `mypostscript`: from the web server where it is made in advance, else from xcatd, which
//! makes it when it is asked.

use provost_plan::mypostscript::MyPostscript;
use tokio::time::Instant;

use super::refusals::Refusals;
use super::xcatd;
use provost_node::failure::Failure;
use provost_node::fetch::FetchError;
use provost_node::fetch::answer::Answer;
use provost_node::fetch::server::Server;
use provost_node::settings::{Settings, Xcat};

/// The longest one, in bytes.
const LONGEST: u64 = 4 << 20;

/// The mypostscript of this node, as it was served.
pub(crate) struct ServedMypostscript {
    pub(super) text: String,
    pub(crate) lists: MyPostscript,
    /// Its URL, or the xcatd.
    pub(crate) from: String,
    pub(crate) is_from_xcatd: bool,
}

/// Fetches it, and reads it. An xcatd that has accepted the request may take until `deadline`.
pub(crate) async fn mypostscript(
    source: &Server<'_>,
    settings: &Settings,
    xcat: &Xcat,
    refusals: &Refusals,
    deadline: Instant,
) -> Result<ServedMypostscript, FetchError> {
    let path = format!("{}/mypostscripts/mypostscript.{}", xcat.tftp_dir, settings.node);
    let served = match Answer::get_lossy(source, &path, LONGEST).await {
        Ok(answer) => Ok(answer.text),
        Err(miss) if miss.may_retry() => {
            // Its host may be down, which has a longer limit than an xcatd that is.
            refusals.end(source.base);
            return Err(miss);
        }
        Err(miss) => Err(miss.failure),
    };
    let is_from_xcatd = served.is_err();
    let (text, from) = match served {
        Ok(text) => (text, source.url(&path)),
        Err(before) => {
            let asked = xcatd::getpostscript(settings, xcat, source.base, refusals, deadline).await;
            let (text, port) = asked.map_err(|miss| miss.after(&before))?;
            let host = source.base.host_str().unwrap_or_default();
            (text, format!("xcatd at {host}:{port}"))
        }
    };
    let lists = MyPostscript::parse(&text).map_err(|e| {
        let message = format!("{e}, in the mypostscript of {}, from {from}", settings.node);
        FetchError::abort(Failure::config(message, e.hint()))
    })?;
    Ok(ServedMypostscript { text, lists, from, is_from_xcatd })
}
