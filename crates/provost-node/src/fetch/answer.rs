//! A server's answer that is a text, with the management node's directives in its headers.

use ct_codecs::{Base64, Decoder};
use jiff::Timestamp;
use provost_api::{Directive, headers};
use provost_record::Cause;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::error::FetchError;
use super::server::{Server, broken};
use crate::failure::Failure;
use provost_http::one_line;

/// The longest signature file, in bytes.
pub(super) const MAX_SIGNATURE: u64 = 4096;

/// A server's answer, of a size that fits into memory.
pub struct Answer {
    /// Whether it has no text, because the file is the one that the request's conditions name.
    pub is_unchanged: bool,
    /// The file's text.
    pub text: String,
    /// Its headers.
    pub headers: HeaderMap,
}

impl Answer {
    /// Fetches a text of at most `most` bytes.
    pub async fn get(
        source: &Server<'_>,
        path: &str,
        most: u64,
        conditions: HeaderMap,
    ) -> Result<Self, FetchError> {
        Self::decode(source, path, most, conditions, |bytes| String::from_utf8(bytes).ok()).await
    }

    /// The same of a text whose reader says which line isn't UTF-8: bytes that aren't are replaced.
    pub async fn get_lossy(source: &Server<'_>, path: &str, most: u64) -> Result<Self, FetchError> {
        let decode = |bytes: Vec<u8>| Some(String::from_utf8_lossy(&bytes).into_owned());
        Self::decode(source, path, most, HeaderMap::new(), decode).await
    }

    async fn decode(
        source: &Server<'_>,
        path: &str,
        most: u64,
        conditions: HeaderMap,
        decode: fn(Vec<u8>) -> Option<String>,
    ) -> Result<Self, FetchError> {
        let url = source.url(path);
        let good = [StatusCode::OK, StatusCode::NOT_MODIFIED];
        let good = if conditions.is_empty() { &good[..1] } else { &good[..] };
        let mut response = source.ask(path, conditions, good).await?;
        let is_unchanged = response.status() == StatusCode::NOT_MODIFIED;
        let headers = response.headers().clone();
        let bad = |what: &str, hint: &str| {
            FetchError::give_up(Failure::new(
                Cause::Verify,
                format!("fetching {url}: {what}"),
                hint,
            ))
        };
        let mut bytes = Vec::new();
        while !is_unchanged
            && let Some(more) = response.chunk().await.map_err(|e| broken(&url, &e))?
        {
            bytes.extend_from_slice(&more);
            if bytes.len() as u64 > most {
                let what = format!("it has more than {most} bytes");
                return Err(bad(&what, "check what that server serves: curl -v URL"));
            }
        }
        let hint = "check for a proxy between this node and the server: curl -v URL";
        let Some(text) = decode(bytes) else {
            return Err(bad("it isn't text", hint));
        };
        if !is_unchanged && text.trim().is_empty() {
            let hint = "publish again, and check that the disk of the server isn't full";
            return Err(bad("the file is empty", hint));
        }
        // Neither TOML nor a signature can begin so.
        if text.trim_start().starts_with('<') {
            let what = match title(&text) {
                Some(title) => format!("the server sent a web page instead, {title:?}"),
                None => "the server sent a web page instead".to_owned(),
            };
            return Err(bad(&what, hint));
        }
        Ok(Self { is_unchanged, text, headers })
    }

    /// The directives in its headers.
    pub(crate) fn directives(&self) -> Directives {
        let header = |name| self.header(HeaderName::from_static(name));
        let holds = header(headers::DIRECTIVE).map(Directive::from) == Some(Directive::Hold);
        let hold = holds
            .then(|| header(headers::REASON).map_or("it gives no reason".to_owned(), one_line));
        let released = header(headers::RELEASED).and_then(|time| time.parse().ok());
        let bundle = header(headers::BUNDLE).and_then(|number| number.parse().ok());
        let time = header("date").and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        let renew = header(headers::IDENTITY) == Some(headers::RENEW);
        Directives { hold, released, bundle, time: time.map(|time| time.timestamp()), renew }
    }

    /// The text's signature, if it came with it.
    pub(super) fn signature(&self) -> Option<String> {
        let base64 = self.header(HeaderName::from_static(headers::FILE_SIGNATURE))?;
        let text = String::from_utf8(Base64::decode_to_vec(base64, None).ok()?).ok()?;
        (text.len() as u64 <= MAX_SIGNATURE).then_some(text)
    }

    fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).map(HeaderValue::to_str)?.ok()
    }
}

/// What the management node says and orders in the headers of the plan.
#[derive(Default)]
pub(crate) struct Directives {
    /// Why nothing may run.
    pub(crate) hold: Option<String>,
    /// When an admin released the node.
    pub(crate) released: Option<Timestamp>,
    /// The generation of the bundle that is published for this node. It isn't signed, and says only
    /// which one to ask for.
    pub(crate) bundle: Option<u64>,
    /// What the management node's clock shows.
    pub(crate) time: Option<Timestamp>,
    /// Whether the node has to renew its identity.
    pub(crate) renew: bool,
}

/// The title of a web page: it often names the proxy or portal that sent it.
fn title(page: &str) -> Option<String> {
    let begin = page.find("<title>")? + "<title>".len();
    let title = page[begin..].split('<').next()?;
    Some(title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect())
}

/// The text after `key` in the first line that begins with it, without quotation marks.
pub(super) fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    Some(text.lines().find_map(|line| line.strip_prefix(key))?.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(headers: &[(&'static str, &str)]) -> Answer {
        let header = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        let headers = headers.iter().map(header).collect();
        Answer { is_unchanged: false, text: "text".to_owned(), headers }
    }

    #[test]
    fn the_management_nodes_directives_are_read() {
        let directives = |headers: &[_]| {
            let found = answer(headers).directives();
            (found.hold, found.released.map(|time| time.to_string()))
        };
        assert_eq!(directives(&[]), (None, None));
        let hold = (headers::DIRECTIVE, "hold");
        let reason = (headers::REASON, "3 attempts failed");
        assert_eq!(directives(&[hold, reason]), (Some("3 attempts failed".to_owned()), None));
        assert_eq!(directives(&[hold]).0.as_deref(), Some("it gives no reason"));
        let released = (headers::RELEASED, "2026-11-20T17:00:01Z");
        let proceed = (headers::DIRECTIVE, "proceed");
        let time = Some("2026-11-20T17:00:01Z".to_owned());
        assert_eq!(directives(&[proceed, reason, released]), (None, time));
        assert_eq!(directives(&[proceed, (headers::RELEASED, "yesterday")]), (None, None));
    }

    #[test]
    fn a_web_page_is_known_by_its_title() {
        assert_eq!(title("<html><title> Sign\n in </title>").as_deref(), Some("Sign in"));
        assert_eq!(title("<html>"), None);
    }
}
