//! Fetching what is published for this node, and verifying it.

pub mod answer;
pub mod bundles;
mod document;
pub mod documents;
pub mod download;
mod enrol;
pub mod error;
pub mod folder;
pub mod fresh;
pub mod generations;
pub mod host_keys;
pub mod keys;
/// What is mounted on this node.
pub mod mounts;
mod other_servers;
pub mod prefetch;
pub mod published;
pub mod rehearsal;
pub mod retry;
pub mod secrets;
pub mod server;
pub mod source;
pub mod transfer;
pub mod version;

use provost_steplog::wording;
use std::path::Path;

use jiff::Timestamp;

use documents::Documents;

pub use error::{FetchError, NotFetched};
pub use server::{Server, broken};
pub use source::{Connection, Fetched, Source};

/// The manifest and the plan as they were fetched last, by name. Nobody has looked at them since.
pub fn kept_texts(state: &Path) -> Vec<(&'static str, String)> {
    Documents::kept(state).into_iter().flat_map(Documents::into_texts).collect()
}

/// Renews this node's identity where a server says that it is time. A later call may succeed where this
/// one doesn't, until the identity has ended.
pub async fn renew_identity(connection: &Connection) {
    let Connection { settings, client, paths, run, .. } = connection;
    if !client.identity().is_known() {
        return;
    }
    let kept = Documents::kept(&paths.state);
    let Ok(trust) = keys::trust(settings, &paths.state) else { return };
    for server in &settings.servers {
        let server = Server::published(settings, client, server, run);
        // The answer to the request for the plan says it.
        if Documents::fetch(&server, settings, &trust, kept.as_ref()).await.is_ok() {
            return;
        }
    }
}

/// How long ago something was published, so that a server that stands still is noticed.
pub fn age(created: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - created.as_second();
    let span = match seconds.abs() {
        s @ ..60 => wording::count(s, "second"),
        s @ 60..3600 => wording::count(s / 60, "minute"),
        s @ 3600..86_400 => wording::count(s / 3600, "hour"),
        s => wording::count(s / 86_400, "day"),
    };
    match seconds {
        0.. => format!("{span} ago"),
        _ => format!("{span} ahead of this node's clock"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        let at = |s| Timestamp::from_second(s).unwrap();
        let told = [0, 1, 90, 7300, 3 * 86_400 + 5].map(|s| age(at(0), at(s)));
        assert_eq!(
            told,
            ["0 seconds ago", "1 second ago", "1 minute ago", "2 hours ago", "3 days ago"]
        );
        assert_eq!(age(at(7200), at(0)), "2 hours ahead of this node's clock");
    }
}
