//! A node's `mypostscript`: from the web server where it is made in advance, else from xcatd, which
//! makes it when it is asked.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use provost_plan::mypostscript::MyPostscript;
use reqwest::header::HeaderMap;

use super::refusals::Refusals;
use super::xcatd;
use crate::failure::Failure;
use crate::fetch::FetchError;
use crate::fetch::answer::Answer;
use crate::fetch::source::Source;
use crate::settings::{Settings, Xcat};

/// The longest one, in bytes.
const LONGEST: u64 = 4 << 20;

/// This node's own.
pub struct Own {
    pub(crate) text: String,
    pub read: MyPostscript,
    /// Where it is from.
    pub from: String,
    pub is_from_xcatd: bool,
}

/// Fetches it, and reads it.
pub fn mypostscript<'a>(
    source: &'a Source<'a>,
    settings: &'a Settings,
    xcat: &'a Xcat,
    refusals: &'a Refusals,
) -> LocalBoxFuture<'a, Result<Own, FetchError>> {
    // Not by its type: it would be compiled once for each caller.
    fetch(source, settings, xcat, refusals).boxed_local()
}

async fn fetch(
    source: &Source<'_>,
    settings: &Settings,
    xcat: &Xcat,
    refusals: &Refusals,
) -> Result<Own, FetchError> {
    let path = format!("{}/mypostscripts/mypostscript.{}", xcat.tftp_dir, settings.node);
    let served = match Answer::get(source, &path, LONGEST, HeaderMap::new()).await {
        Ok(answer) => Ok(answer.text),
        Err(miss) if miss.may_retry() => {
            // Its host may have gone down; that is another matter.
            refusals.end(source.base);
            return Err(miss);
        }
        Err(miss) => Err(miss.failure),
    };
    let is_from_xcatd = served.is_err();
    let (text, from) = match served {
        Ok(text) => (text, source.url(&path)),
        Err(before) => {
            let asked = xcatd::getpostscript(settings, xcat, source.base, refusals).await;
            let (text, port) = asked.map_err(|miss| miss.after(&before))?;
            let host = source.base.host_str().unwrap_or_default();
            (text, format!("xcatd at {host}:{port}"))
        }
    };
    let read = MyPostscript::parse(&text).map_err(|e| {
        let message = format!("{e}; it is that of {}, from {from}", settings.node);
        FetchError::abort(Failure::config(message, e.hint()))
    })?;
    Ok(Own { text, read, from, is_from_xcatd })
}
