//! By what a server tells one version of a file from the next.

use jiff::SignedDuration;
use reqwest::header::{self, HeaderMap};
use serde::{Deserialize, Serialize};

use super::source::http_date;

/// What a server said of the version that it sent. A time of change alone says nothing: a server may
/// take one that was put back, and so has an older time, for one that hasn't changed.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Version {
    etag: Option<String>,
}

impl Version {
    /// Reads it from the headers of the answer that brought it.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name)?.to_str().ok().map(str::to_owned);
        // A web server makes its ETag of size and time (nginx: in whole seconds), so that it can
        // stand for two texts where the time can.
        let time = text(header::LAST_MODIFIED);
        let is_recent = time.is_some_and(|time| is_recent(&time, text(header::DATE)));
        Self { etag: text(header::ETAG).filter(|_| !is_recent) }
    }

    /// The headers by which only another version is sent.
    pub(crate) fn conditions(&self) -> HeaderMap {
        let value = |text: &String| Some((header::IF_NONE_MATCH, text.parse().ok()?));
        self.etag.as_ref().and_then(value).into_iter().collect()
    }
}

/// Whether another change could have the same time: it is told in whole seconds (RFC 9110, 8.8.2.2).
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
