//! The secrets of a plan: each run fetches them over TLS, and nothing of them is kept on this node.

use provost_plan::{Plan, secret};
use provost_record::Cause;
use reqwest::header::HeaderMap;

use super::answer::Answer;
use super::error::FetchError;
use super::server::Server;
use crate::failure::Failure;

/// Adds to the plan, which is verified, the values of its secrets, if it has some.
pub async fn add(source: &Server<'_>, plan: &mut Plan) -> Result<(), FetchError> {
    if plan.secret_env.is_empty() {
        return Ok(());
    }
    let path = provost_api::published::secrets(&plan.node);
    let url = source.url(&path);
    if !url.starts_with("https:") {
        let names = plan.secret_env.join(", ");
        let message = format!("fetching {url}: secrets ({names}) are fetched over TLS only");
        let hint = "publish with TLS: provostctl publish … --tls \"$(provostd ca show --tls)\"";
        return Err(FetchError::give_up(Failure::config(message, hint)));
    }
    let answer = Answer::get(source, &path, Plan::MAX_BYTES, HeaderMap::new()).await?;
    if secret::add(plan, answer.text.as_bytes()) {
        return Ok(());
    }
    // There may have been a publication in between.
    let message = format!("checking {url}: it isn't what the signed plan names");
    let hint = "publish again; the file may have been changed since";
    Err(FetchError::inconsistent(Failure::new(Cause::Verify, message, hint)))
}
