//! How this node sends what only it and its management node may know: its plan, its token, its
//! reports. The signed manifest says it. Until one is known, nothing of that kind is sent.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use provost_bundle::{Digest, Tls};
use provost_fs::atomic;
use reqwest::Url;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::identity::Identity;

/// What is in the file where a manifest named no TLS.
const OFF: &str = "off";

/// For how long reports wait for the answer to a fetch, whose connection then serves them as well. A server that
/// takes longer for it may take them.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same where a server has said when to come again: until then it has no place for reports, either.
const TURN: Duration = Duration::from_secs(60);

/// What is known of it, for the whole process.
#[derive(Clone, Debug)]
pub struct PrivateTransport(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    known: watch::Sender<Known>,
    /// What remembers it.
    file: OnceLock<PathBuf>,
    identity: Identity,
    asked: watch::Sender<Asked>,
    /// Whether a token proves who this node is.
    has_token: OnceLock<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// No manifest yet.
    Nothing,
    /// No manifest yet, and nothing waits for one any longer.
    NotAwaited,
    /// A manifest came that isn't believed, because it is too old. It may be a replay, of before there was TLS.
    Withheld,
    /// What a manifest says.
    Named(Option<Tls>),
}

/// How far a fetch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Asked {
    /// It has its answer, or hasn't asked.
    #[default]
    Nothing,
    /// It has asked and has no answer yet.
    Waits,
    /// It comes again when the server has said.
    Later,
}

impl Default for PrivateTransport {
    fn default() -> Self {
        let known = watch::Sender::new(Known::Nothing);
        let (file, has_token) = (OnceLock::new(), OnceLock::new());
        let (identity, asked) = (Identity::default(), watch::Sender::default());
        Self(Arc::new(Shared { known, file, identity, asked, has_token }))
    }
}

impl PrivateTransport {
    /// By what this node proves who it is.
    pub(crate) fn identity(&self) -> &Identity {
        &self.0.identity
    }

    /// A token proves who this node is: it waits for no identity.
    pub fn has_token(&self) {
        // It is set once.
        let _ = self.0.has_token.set(true);
    }

    /// What the last manifest said, by the file in the folder `state`, which remembers the next ones.
    pub fn remember_in(&self, state: &Path) {
        self.0.identity.remember_in(state);
        let file = self.0.file.get_or_init(|| state.join("tls"));
        let Ok(text) = atomic::read(file) else { return };
        let text = String::from_utf8_lossy(&text);
        let named = match text.trim() {
            OFF => Some(None),
            // A file that was damaged is no more than one that is missing.
            line => line.parse().ok().map(Some),
        };
        if let Some(named) = named {
            self.0.known.send_replace(Known::Named(named));
        }
    }

    /// A verified manifest says `tls`.
    pub fn learn(&self, tls: Option<Tls>) {
        let text = tls.as_ref().map_or_else(|| OFF.to_owned(), Tls::to_string);
        let named = Known::Named(tls);
        if self.0.known.send_replace(named.clone()) == named {
            return;
        }
        if let Some(file) = self.0.file.get()
            && let Err(e) = atomic::write(file, format!("{text}\n").as_bytes())
        {
            // The next run learns it again.
            tracing::debug!("writing {}: {e}", file.display());
        }
    }

    /// No manifest came: what would wait for one goes on without.
    pub fn stop_waiting(&self) {
        self.0.known.send_if_modified(|known| {
            let is_open = *known == Known::Nothing;
            if is_open {
                *known = Known::NotAwaited;
            }
            is_open
        });
    }

    /// A signed manifest is too old to be believed: unless another one is known, nothing private is sent.
    pub fn withhold(&self) {
        self.0.known.send_if_modified(|known| {
            let is_open = !matches!(known, Known::Named(_) | Known::Withheld);
            if is_open {
                *known = Known::Withheld;
            }
            is_open
        });
    }

    /// Whether nothing private may be sent.
    pub fn is_withheld(&self) -> bool {
        *self.0.known.borrow() == Known::Withheld
    }

    /// A fetch asks a server, and has its answer when what this returns is dropped.
    pub fn ask(&self) -> Asking {
        self.0.asked.send_if_modified(|asked| {
            let is_first = *asked == Asked::Nothing;
            if is_first {
                *asked = Asked::Waits;
            }
            is_first
        });
        Asking(self.clone())
    }

    /// A server has said when the fetch may ask again.
    pub fn ask_later(&self) {
        self.0.asked.send_replace(Asked::Later);
    }

    /// The fetch asks no more.
    pub fn stop_asking(&self) {
        self.0.asked.send_replace(Asked::Nothing);
    }

    /// Whether a manifest has said it, now or in an earlier run.
    pub fn is_named(&self) -> bool {
        matches!(*self.0.known.borrow(), Known::Named(_))
    }

    /// Waits until it is known, and by what this node proves who it is, or nothing is left to wait for; and a while for
    /// the answer to a fetch that is on its way.
    pub async fn wait_ready(&self) {
        // Each wait fails where the sender is gone, which this is.
        let _ = self.0.known.subscribe().wait_for(|known| *known != Known::Nothing).await;
        if self.tls().is_some() && self.0.has_token.get().is_none() {
            self.0.identity.known().await;
        }
        let mut asked = self.0.asked.subscribe();
        let _ = timeout(PATIENCE, asked.wait_for(|asked| *asked != Asked::Waits)).await;
        if *asked.borrow() == Asked::Later {
            let _ = timeout(TURN, asked.wait_for(|asked| *asked == Asked::Nothing)).await;
        }
    }

    /// How to reach the management node by TLS, if it is known.
    pub fn tls(&self) -> Option<Tls> {
        match &*self.0.known.borrow() {
            Known::Named(tls) => tls.clone(),
            Known::Nothing | Known::NotAwaited | Known::Withheld => None,
        }
    }

    /// The public keys of servers and authorities that the manifest names.
    pub(crate) fn keys(&self) -> Vec<Digest> {
        self.tls().map_or_else(Vec::new, |tls| tls.keys)
    }

    /// Where the server at `base` takes what is private.
    pub fn private(&self, base: &Url) -> Url {
        let mut url = base.clone();
        if base.scheme() == "http"
            && let Some(Tls { port, .. }) = self.tls()
        {
            url.set_path("/");
            // Both are as in every http URL.
            let _ = url.set_scheme("https");
            let _ = url.set_port(Some(port));
        }
        url
    }
}

/// A fetch that has no answer yet.
pub struct Asking(PrivateTransport);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.stop_asking();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::Instant;

    use super::*;

    fn tls() -> Tls {
        Tls { port: 8482, keys: vec![Digest::of(b"key")] }
    }

    #[test]
    fn what_a_manifest_said_is_known_in_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let next = || {
            let transport = PrivateTransport::default();
            transport.remember_in(folder.path());
            transport
        };
        let first = next();
        assert!(!first.is_named() && first.tls().is_none());
        first.learn(Some(tls()));
        assert_eq!(next().tls(), Some(tls()));
        next().learn(None);
        assert!(next().is_named() && next().tls().is_none());
        std::fs::write(folder.path().join("tls"), "8482:\0").unwrap();
        assert!(!next().is_named());
    }

    #[test]
    fn what_is_private_goes_to_the_servers_own_port() {
        let transport = PrivateTransport::default();
        let private = |base: &str| transport.private(&base.parse().unwrap()).to_string();
        assert_eq!(private("http://10.0.0.1:8480/"), "http://10.0.0.1:8480/");
        transport.learn(Some(tls()));
        assert_eq!(private("http://10.0.0.1:8480/"), "https://10.0.0.1:8482/");
        assert_eq!(private("http://[fd00::1]/www/"), "https://[fd00::1]:8482/");
        // A proxy of the site's own speaks TLS already.
        assert_eq!(private("https://mn/"), "https://mn/");
    }

    #[tokio::test]
    async fn reports_wait_for_the_answer_to_a_fetch() {
        let transport = PrivateTransport::default();
        transport.learn(None);
        let asking = transport.ask();
        assert!(transport.wait_ready().now_or_never().is_none());
        transport.ask_later();
        drop(asking);
        transport.wait_ready().await;
    }

    #[tokio::test(start_paused = true)]
    async fn reports_wait_with_a_fetch_that_was_told_when_to_come_again() {
        let (transport, began) = (PrivateTransport::default(), Instant::now());
        transport.learn(None);
        transport.ask_later();
        assert!(transport.wait_ready().now_or_never().is_none());
        let asking = transport.ask();
        transport.wait_ready().await;
        assert_eq!(began.elapsed(), TURN, "asking again changes nothing");
        drop(asking);
        transport.wait_ready().await;
        assert_eq!(began.elapsed(), TURN);
    }

    #[tokio::test]
    async fn an_assumption_ends_the_wait_and_changes_nothing_that_is_known() {
        let transport = PrivateTransport::default();
        transport.stop_waiting();
        transport.wait_ready().await;
        assert!(!transport.is_named());
        transport.learn(Some(tls()));
        transport.stop_waiting();
        assert_eq!(transport.tls(), Some(tls()));
    }

    #[tokio::test]
    async fn what_is_withheld_is_sent_once_a_manifest_is_believed() {
        let transport = PrivateTransport::default();
        transport.stop_waiting();
        transport.withhold();
        transport.stop_waiting();
        transport.wait_ready().await;
        assert!(transport.is_withheld() && !transport.is_named());
        transport.learn(None);
        transport.withhold();
        assert!(!transport.is_withheld());
    }
}
