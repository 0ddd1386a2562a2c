//! By what a server tells one version of a file from the next.

use jiff::SignedDuration;
use reqwest::header::{self, HeaderMap, HeaderName};
use serde::{Deserialize, Serialize};

use super::source::http_date;

/// What a server said of the version that it sent.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Version {
    etag: Option<String>,
    /// Where there is no ETag.
    modified: Option<String>,
}

impl Version {
    /// Reads it from the headers of the answer that brought it.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name)?.to_str().ok().map(str::to_owned);
        let modified = text(header::LAST_MODIFIED);
        // A web server makes its ETag of size and time (nginx: in whole seconds), so that it can
        // stand for two texts where the time can.
        match (text(header::ETAG), modified.as_ref()) {
            (_, Some(time)) if is_recent(time, text(header::DATE)) => Self::default(),
            (Some(etag), _) => Self { etag: Some(etag), modified: None },
            (None, _) => Self { etag: None, modified },
        }
    }

    /// The headers by which only another version is sent.
    pub(super) fn conditions(&self) -> HeaderMap {
        let etag = self.etag.as_ref().map(|etag| (header::IF_NONE_MATCH, etag));
        let modified = self.modified.as_ref().map(|time| (header::IF_MODIFIED_SINCE, time));
        let value = |(name, text): (HeaderName, &String)| Some((name, text.parse().ok()?));
        etag.or(modified).and_then(value).into_iter().collect()
    }
}

/// Whether another change could have the same time: it is told in whole seconds (RFC 9110, 8.8.2.2).
fn is_recent(modified: &str, date: Option<String>) -> bool {
    let age = date.and_then(|date| Some(http_date(&date)?.duration_since(http_date(modified)?)));
    age.is_none_or(|age| age < SignedDuration::from_secs(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_change_is_asked_with_only_where_it_can_stand_for_one_text() {
        let changed = (header::LAST_MODIFIED, "Fri, 20 Nov 2026 17:00:01 GMT");
        let ask = |headers: &[(HeaderName, &str)]| {
            let headers = headers.iter().map(|(n, text)| (n.clone(), text.parse().unwrap()));
            let conditions = Version::of(&headers.collect()).conditions();
            conditions.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        };
        let later = (header::DATE, "Fri, 20 Nov 2026 17:00:02 GMT");
        assert_eq!(ask(&[changed.clone(), later.clone()]), ["if-modified-since"]);
        assert_eq!(ask(&[changed.clone(), later, (header::ETAG, "\"1\"")]), ["if-none-match"]);
        // In that second there may have been another change.
        let same = (header::DATE, "Fri, 20 Nov 2026 17:00:01 GMT");
        assert!(ask(&[changed.clone(), same.clone()]).is_empty());
        assert!(ask(std::slice::from_ref(&changed)).is_empty());
        let etag = (header::ETAG, "\"6560e7e1-1a\"");
        assert!(ask(&[changed, same.clone(), etag.clone()]).is_empty());
        assert_eq!(ask(&[same, etag]), ["if-none-match"]);
    }
}
