//! Which server a report goes to.

use std::time::Duration;

use reqwest::Url;
use tokio::time::Instant;

/// How long a server is left alone that refuses reports for good, as a cache of files does.
const REFUSES: Duration = Duration::from_secs(60);

/// The servers of one management node, one of which has its turn.
pub(super) struct ServerRotation {
    /// At least one.
    servers: Vec<Server>,
    at: usize,
}

struct Server {
    url: Url,
    /// When it may be asked again.
    due: Instant,
    /// Whether it would refuse a report again.
    refuses: bool,
}

impl ServerRotation {
    pub(super) fn new(urls: &[Url]) -> Self {
        let due = Instant::now();
        let server = |url: &Url| Server { url: url.clone(), due, refuses: false };
        Self { servers: urls.iter().map(server).collect(), at: 0 }
    }

    /// The server whose turn it is.
    pub(super) fn server(&self) -> &Url {
        &self.servers[self.at].url
    }

    /// How many servers there are.
    pub(super) fn count(&self) -> usize {
        self.servers.len()
    }

    /// The server whose turn it is took nothing, and asked to be left alone for the time `wait`. Returns how
    /// long to wait for the next one's turn.
    pub(super) fn pass_on(&mut self, wait: Duration) -> Duration {
        self.leave(wait, false)
    }

    /// The server whose turn it is would refuse a report again. Returns how long to wait for the next
    /// one's turn, or nothing if each of them refuses.
    pub(super) fn refused(&mut self) -> Option<Duration> {
        let wait = self.leave(REFUSES, true);
        if !self.servers.iter().all(|server| server.refuses) {
            return Some(wait);
        }
        *self =
            Self::new(&self.servers.iter().map(|server| server.url.clone()).collect::<Vec<_>>());
        None
    }

    /// The next turn is that of the server which may be asked first; of several, the next in order.
    fn leave(&mut self, wait: Duration, refuses: bool) -> Duration {
        let (now, count) = (Instant::now(), self.servers.len());
        let server = &mut self.servers[self.at];
        (server.due, server.refuses) = (now + wait, refuses);
        let in_order = (1..=count).map(|step| (self.at + step) % count);
        let due = |at: usize| self.servers[at].due.max(now);
        self.at = in_order.min_by_key(|at| due(*at)).unwrap_or(self.at);
        due(self.at) - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Duration = Duration::ZERO;

    fn turns(names: &[&str]) -> ServerRotation {
        let url = |name: &&str| format!("http://{name}/").parse().unwrap();
        ServerRotation::new(&names.iter().map(url).collect::<Vec<_>>())
    }

    fn name(turns: &ServerRotation) -> &str {
        turns.server().host_str().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_server_holds_no_other_one_up_and_is_not_asked_before_its_time() {
        let seconds = Duration::from_secs;
        let mut turns = turns(&["busy", "dead", "free"]);
        assert_eq!((turns.pass_on(seconds(30)), name(&turns)), (NONE, "dead"));
        assert_eq!((turns.pass_on(NONE), name(&turns)), (NONE, "free"));
        assert_eq!((turns.pass_on(seconds(10)), name(&turns)), (NONE, "dead"));
        assert_eq!((turns.pass_on(seconds(20)), name(&turns)), (seconds(10), "free"));
        tokio::time::advance(seconds(30)).await;
        assert_eq!((turns.pass_on(NONE), name(&turns)), (NONE, "busy"));
    }

    #[tokio::test(start_paused = true)]
    async fn what_each_server_refuses_is_not_to_be_tried_again() {
        let mut one = turns(&["one"]);
        assert_eq!((one.refused(), name(&one)), (None, "one"));
        let mut turns = turns(&["cache", "daemon"]);
        assert_eq!((turns.refused(), name(&turns)), (Some(NONE), "daemon"));
        assert_eq!((turns.pass_on(NONE), name(&turns)), (NONE, "daemon"));
        assert_eq!((turns.refused(), name(&turns)), (None, "cache"));
        // The next report is tried at each of them.
        assert_eq!((turns.refused(), name(&turns)), (Some(NONE), "daemon"));
    }
}
