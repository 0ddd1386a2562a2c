use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use provost_api::admins::NewToken;
use provost_store::{Store, Token};

use crate::listener::refusal::Refusal;
use crate::listener::token::{digest, random};

/// Creates a token for each of `nodes`: 256 random bits, of which the store keeps the digest. The old
/// ones count for the time `overlap`, if there is one.
pub(crate) async fn create(
    store: &dyn Store,
    nodes: Vec<String>,
    overlap: Option<SignedDuration>,
    at: Timestamp,
) -> Result<Vec<NewToken>, Refusal> {
    let mut created = nodes.into_iter().map(new_token).collect::<Result<Vec<_>, _>>()?;
    let stored = created.iter();
    let stored = stored.map(|new| Token { node: new.node.clone(), sha256: digest(&new.token) });
    let stored = stored.collect();
    let new = match overlap {
        Some(overlap) => {
            let until = at.saturating_add(overlap).unwrap_or(Timestamp::MAX);
            store.rotate_tokens(stored, until, at).await?
        }
        None => store.set_tokens(stored, at).await?,
    };
    let new: HashSet<String> = new.into_iter().collect();
    created.iter_mut().for_each(|token| token.new = new.contains(&token.node));
    Ok(created)
}

fn new_token(node: String) -> Result<NewToken, Refusal> {
    Ok(NewToken { node, token: random()?, new: false })
}
