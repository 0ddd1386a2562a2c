//! Whose token it is. The caller has the transaction, and commits it.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::changes::save;
use super::writer::Applied;
use crate::{NodeState, Token};

/// The node that a token counts for.
pub(super) struct Owner {
    pub(super) node: String,
    /// Until when, if it is the node's token before the present one.
    pub(super) until: Option<Timestamp>,
    /// Whether it is the present one, and the one before it still counts.
    pub(super) replaces: bool,
}

/// Sets nodes' tokens. With `old_until`, the token that a node has now counts until then.
pub(super) fn set(
    db: &Connection,
    tokens: &[Token],
    old_until: Option<Timestamp>,
    at: Timestamp,
) -> rusqlite::Result<Applied<Vec<String>>> {
    let mut applied = Applied { changes_tokens: true, ..Applied::of(Vec::new()) };
    // Where the present token was never used, the node still has the one before it.
    let mut set = db.prepare_cached(
        "UPDATE node SET token = ?2, old_until = ?3, old_token = CASE
             WHEN ?3 IS NULL THEN NULL
             WHEN old_token IS NOT NULL AND old_until > ?4 THEN old_token
             ELSE token END
         WHERE name = ?1",
    )?;
    let until = old_until.map(Timestamp::as_millisecond);
    for Token { node, sha256 } in tokens {
        let values = params![node, sha256, until, at.as_millisecond()];
        if set.execute(values)? == 0 {
            save(db, node, &NodeState::new(node, at))?;
            set.execute(values)?;
            applied.answer.push(node.clone());
        }
    }
    Ok(applied)
}

/// Those of `names` that have no token.
pub(super) fn without(db: &Connection, names: &[String]) -> rusqlite::Result<Vec<String>> {
    let mut select =
        db.prepare_cached("SELECT 1 FROM node WHERE name = ? AND token IS NOT NULL")?;
    let mut without = Vec::new();
    for name in names {
        if !select.exists([name])? {
            without.push(name.clone());
        }
    }
    Ok(without)
}

/// The node whose token has this digest at the time `at`.
pub(super) fn owner(
    db: &Connection,
    sha256: [u8; 32],
    at: Timestamp,
) -> rusqlite::Result<Option<Owner>> {
    let present = db
        .prepare_cached("SELECT name, old_token IS NOT NULL FROM node WHERE token = ?")?
        .query_row([sha256], |row| {
            Ok(Owner { node: row.get(0)?, until: None, replaces: row.get(1)? })
        })
        .optional()?;
    if present.is_some() {
        return Ok(present);
    }
    db.prepare_cached("SELECT name, old_until FROM node WHERE old_token = ? AND old_until > ?")?
        .query_row(params![sha256, at.as_millisecond()], |row| {
            let until = Timestamp::from_millisecond(row.get(1)?).unwrap_or(Timestamp::MIN);
            Ok(Owner { node: row.get(0)?, until: Some(until), replaces: false })
        })
        .optional()
}

/// The token before this one counts no longer.
pub(super) fn retire_before(db: &Connection, sha256: [u8; 32]) -> rusqlite::Result<Applied<()>> {
    db.prepare_cached("UPDATE node SET old_token = NULL, old_until = NULL WHERE token = ?")?
        .execute([sha256])?;
    Ok(Applied { changes_tokens: true, ..Applied::of(()) })
}
