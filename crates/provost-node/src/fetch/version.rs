//! How to ask a server for a file only if it has changed.

use jiff::SignedDuration;
use reqwest::header::{self, HeaderMap};
use serde::{Deserialize, Serialize};

use provost_http::http_date;

/// The version of a file that a server sent: its ETag. A time of change alone isn't enough: a file
/// that was restored has an older time, and a server may answer that it hasn't changed.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Version {
    etag: Option<String>,
}

impl Version {
    /// Reads it from the headers of the answer that brought it.
    pub fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name)?.to_str().ok().map(str::to_owned);
        // A web server makes its ETag of size and time (nginx: in whole seconds), so two texts of
        // the same second may share it.
        let time = text(header::LAST_MODIFIED);
        let is_recent = time.is_some_and(|time| is_recent(&time, text(header::DATE)));
        Self { etag: text(header::ETAG).filter(|_| !is_recent) }
    }

    /// The headers by which only another version is sent.
    pub fn conditions(&self) -> HeaderMap {
        let value = |text: &String| Some((header::IF_NONE_MATCH, text.parse().ok()?));
        self.etag.as_ref().and_then(value).into_iter().collect()
    }
}

/// Whether another change could have the same time, which has whole seconds (RFC 9110, 8.8.2.2).
fn is_recent(modified: &str, date: Option<String>) -> bool {
    let age = date.and_then(|date| Some(http_date(&date)?.duration_since(http_date(modified)?)));
    age.is_none_or(|age| age < SignedDuration::from_secs(1))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    #[test]
    fn a_tag_is_asked_with_only_where_it_can_stand_for_one_text() {
        let conditions = |headers: &[(HeaderName, &str)]| {
            let headers = headers.iter().map(|(n, text)| (n.clone(), text.parse().unwrap()));
            let conditions = Version::of(&headers.collect()).conditions();
            conditions.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        };
        let etag = (header::ETAG, "\"6560e7e1-1a\"");
        let changed = (header::LAST_MODIFIED, "Fri, 20 Nov 2026 17:00:01 GMT");
        let later = (header::DATE, "Fri, 20 Nov 2026 17:00:02 GMT");
        let tag = ["if-none-match"];
        assert_eq!(conditions(&[changed.clone(), later.clone(), etag.clone()]), tag);
        assert_eq!(conditions(std::slice::from_ref(&etag)), tag);
        // In that second there may have been another change.
        let same = (header::DATE, "Fri, 20 Nov 2026 17:00:01 GMT");
        assert!(conditions(&[changed.clone(), same, etag.clone()]).is_empty());
        assert!(conditions(&[changed.clone(), etag]).is_empty());
        assert!(conditions(&[changed, later]).is_empty());
    }
}
