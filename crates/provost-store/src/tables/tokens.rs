//! The tokens of nodes.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::sql::{Backend, Change, Row, Sql, Unreadable, values};
use crate::{Answer, Token, Tokens};

impl<B: Backend> Tokens for B {
    fn set_tokens(&self, tokens: Vec<Token>, at: Timestamp) -> Answer<'_, Vec<String>> {
        self.change((tokens, at), |db, (tokens, at)| Box::pin(set(db, tokens, None, *at)))
    }

    fn rotate_tokens(
        &self,
        tokens: Vec<Token>,
        old_until: Timestamp,
        at: Timestamp,
    ) -> Answer<'_, Vec<String>> {
        self.change((tokens, old_until, at), |db, (tokens, old_until, at)| {
            Box::pin(set(db, tokens, Some(*old_until), *at))
        })
    }

    fn without_token(&self, names: Vec<String>) -> Answer<'_, Vec<String>> {
        self.query(names, |db, names| Box::pin(without(db, names)))
    }

    fn digests_of<'a>(&'a self, node: &'a str, at: Timestamp) -> Answer<'a, Vec<[u8; 32]>> {
        self.query((node.to_owned(), at), |db, (node, at)| {
            let select = "SELECT sha256 FROM token WHERE node = $1
                 UNION ALL SELECT old_sha256 FROM token WHERE node = $1 AND old_until > $2
                 UNION ALL SELECT sha256 FROM enrolment_join
                     WHERE node = $1 AND spent IS NULL AND until > $2";
            Box::pin(db.all(select, values![node, *at], Row::only))
        })
    }

    fn token_owner(&self, sha256: [u8; 32], at: Timestamp) -> Answer<'_, Option<String>> {
        self.owner_of_token(sha256, at)
    }
}

/// With `old_until`, the token that a node has now counts until then.
async fn set<S: Change>(
    db: &S,
    tokens: &[Token],
    old_until: Option<Timestamp>,
    at: Timestamp,
) -> Result<Vec<String>, S::Error> {
    // Transactions at the same time lock rows in one order. The last one of a node counts.
    let mut sorted: Vec<&Token> = tokens.iter().collect();
    sorted.sort_by_key(|token| &token.node);
    let mut names: Vec<&str> = sorted.iter().map(|token| &*token.node).collect();
    names.dedup();
    let mut new: HashSet<String> = db.add_nodes(&names, at).await?.into_iter().collect();
    // Where the present token was never used, the node still has the one before it.
    let set = "INSERT INTO token (node, sha256) VALUES ($1, $2)
         ON CONFLICT (node) DO UPDATE SET sha256 = excluded.sha256, old_until = $3,
             old_sha256 = CASE
                 WHEN CAST($3 AS bigint) IS NULL THEN NULL
                 WHEN token.old_sha256 IS NOT NULL AND token.old_until > $4 THEN token.old_sha256
                 ELSE token.sha256 END";
    let row = |token: &&Token| values![&token.node, token.sha256, old_until, at];
    db.each(set, sorted.iter().map(row).collect()).await?;
    db.change_owners();
    Ok(tokens.iter().map(|token| &token.node).filter(|node| new.remove(*node)).cloned().collect())
}

async fn without<S: Sql>(db: &S, names: &[String]) -> Result<Vec<String>, S::Error> {
    let select = "SELECT node FROM token WHERE node = $1";
    let found = db.each(select, names.iter().map(|name| values![name]).collect()).await?;
    let with = found.into_iter().map(Row::only).collect::<Result<HashSet<String>, _>>()?;
    Ok(names.iter().filter(|name| !with.contains(*name)).cloned().collect())
}

/// The node that a token counts for.
pub(crate) struct Owner {
    pub(crate) node: String,
    /// Until when, if it is the node's token before the present one.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code))]
    pub(crate) until: Option<Timestamp>,
    /// Whether it is the present one, and the one before it still counts.
    pub(crate) replaces: bool,
}

/// The node whose token has this digest at the time `at`.
pub(crate) async fn owner<S: Sql>(
    db: &S,
    sha256: [u8; 32],
    at: Timestamp,
) -> Result<Option<Owner>, S::Error> {
    let select = "SELECT node, CASE WHEN sha256 = $1 THEN NULL ELSE old_until END,
             sha256 = $1 AND old_sha256 IS NOT NULL
         FROM token WHERE sha256 = $1 OR (old_sha256 = $1 AND old_until > $2)";
    let owner = |row: Row| -> Result<_, Unreadable> {
        let [node, until, replaces] = row.columns()?;
        Ok(Owner { node: node.get()?, until: until.get()?, replaces: replaces.get()? })
    };
    db.first(select, values![sha256, at], owner).await
}

/// The token before this one counts no longer.
pub(crate) async fn retire_before<S: Sql>(db: &S, sha256: [u8; 32]) -> Result<(), S::Error> {
    let retire = "UPDATE token SET old_sha256 = NULL, old_until = NULL WHERE sha256 = $1";
    db.execute(retire, values![sha256]).await.map(drop)
}
