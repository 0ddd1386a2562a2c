//! The browsers that have logged in; in memory, so that a start of the daemon ends them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a session lasts.
pub(crate) const LASTS: Duration = Duration::from_secs(12 * 3600);
/// How many sessions there are at most; at this limit the oldest ends.
const MOST: usize = 1024;

/// The SHA-256 of a secret.
pub(crate) type Digest = [u8; 32];

/// Digests of the sessions' secrets, each with that of the token which it stands for.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<Digest, Session>>);

struct Session {
    token: Digest,
    began: Instant,
}

impl Sessions {
    /// A browser has logged in with a token.
    pub(crate) fn begin(&self, session: Digest, token: Digest) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.began.elapsed() < LASTS);
        if sessions.len() >= MOST
            && let Some(oldest) = sessions.iter().min_by_key(|(_, session)| session.began)
        {
            let oldest = *oldest.0;
            sessions.remove(&oldest);
        }
        sessions.insert(session, Session { token, began: Instant::now() });
    }

    /// The token that a session stands for.
    pub(crate) fn token(&self, session: &Digest) -> Option<Digest> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(session)?;
        (session.began.elapsed() < LASTS).then_some(session.token)
    }

    /// The browser has logged out.
    pub(crate) fn end(&self, session: &Digest) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(number: usize) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_le_bytes());
        digest
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_by_itself_and_the_oldest_makes_room() {
        let sessions = Sessions::default();
        for number in 0..=MOST {
            sessions.begin(digest(number), [7; 32]);
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert_eq!((sessions.token(&digest(0)), sessions.token(&digest(1))), (None, Some([7; 32])));
        sessions.end(&digest(1));
        assert_eq!(sessions.token(&digest(1)), None);
        tokio::time::advance(LASTS - Duration::from_secs(1)).await;
        assert!(sessions.token(&digest(MOST)).is_some());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(sessions.token(&digest(MOST)), None);
    }
}
