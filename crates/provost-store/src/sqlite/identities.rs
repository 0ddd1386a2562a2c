//! Identities of nodes, and what leads to them. The caller has the transaction, and commits it.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::changes::{save, state_of};
use super::writer::Applied;
use crate::enrolment::REQUESTS;
use crate::enrolment::decide::{Change, KnownJoin, StoredIdentities, decide, the_one};
use crate::{
    Enrolled, EnrolmentRequest, Identity, Join, KeyDigest, NodeState, NotPending, PendingKey,
};

const IDENTITY: &str = "SELECT node, key, since, until, revoked FROM identity";

fn time(row: &Row<'_>, index: usize) -> rusqlite::Result<Timestamp> {
    Ok(Timestamp::from_millisecond(row.get(index)?).unwrap_or(Timestamp::MAX))
}

fn identity(row: &Row<'_>) -> rusqlite::Result<Identity> {
    let revoked: Option<i64> = row.get(4)?;
    let revoked = revoked.map(|at| Timestamp::from_millisecond(at).unwrap_or(Timestamp::MIN));
    let (since, until) = (time(row, 2)?, time(row, 3)?);
    Ok(Identity { node: row.get(0)?, key: row.get(1)?, since, until, revoked })
}

pub(super) fn of_key(db: &Connection, key: KeyDigest) -> rusqlite::Result<Option<Identity>> {
    let select = format!("{IDENTITY} WHERE key = ?");
    db.prepare_cached(&select)?.query_row([key], identity).optional()
}

/// A node's identity; else the one that was revoked last.
pub(super) fn of_node(db: &Connection, node: &str) -> rusqlite::Result<Option<Identity>> {
    let select =
        format!("{IDENTITY} WHERE node = ? ORDER BY revoked IS NOT NULL, revoked DESC LIMIT 1");
    db.prepare_cached(&select)?.query_row([node], identity).optional()
}

pub(super) fn set_joins(db: &Connection, joins: &[Join]) -> rusqlite::Result<Applied<()>> {
    let mut set = db.prepare_cached(
        "INSERT OR REPLACE INTO enrolment_join (node, sha256, until, origin) VALUES (?, ?, ?, ?)",
    )?;
    for Join { node, sha256, until, from } in joins {
        let from = from.map(|network| network.to_string());
        set.execute(params![node, sha256, until.as_millisecond(), from])?;
    }
    Ok(Applied::of(()))
}

pub(super) fn open_windows(
    db: &Connection,
    nodes: &[String],
    until: Timestamp,
) -> rusqlite::Result<Applied<()>> {
    let mut set =
        db.prepare_cached("INSERT OR REPLACE INTO enrolment_window (node, until) VALUES (?, ?)")?;
    for node in nodes {
        set.execute(params![node, until.as_millisecond()])?;
    }
    Ok(Applied::of(()))
}

pub(super) fn close_windows(
    db: &Connection,
    nodes: Option<&[String]>,
    at: Timestamp,
) -> rusqlite::Result<Applied<Vec<String>>> {
    let mut open: Vec<String> = windows(db, at)?.into_iter().map(|(node, _)| node).collect();
    match nodes {
        None => {
            db.execute("DELETE FROM enrolment_window", [])?;
        }
        Some(nodes) => {
            open.retain(|node| nodes.contains(node));
            let mut close = db.prepare_cached("DELETE FROM enrolment_window WHERE node = ?")?;
            for node in nodes {
                close.execute([node])?;
            }
        }
    }
    Ok(Applied::of(open))
}

pub(super) fn windows(
    db: &Connection,
    at: Timestamp,
) -> rusqlite::Result<Vec<(String, Timestamp)>> {
    db.prepare_cached("SELECT node, until FROM enrolment_window WHERE until > ? ORDER BY node")?
        .query_map([at.as_millisecond()], |row| Ok((row.get(0)?, time(row, 1)?)))?
        .collect()
}

pub(super) fn enrol(
    db: &Connection,
    request: &EnrolmentRequest,
    at: Timestamp,
) -> rusqlite::Result<Applied<Enrolled>> {
    let (change, answer) = decide(request, &known(db, request)?, at);
    let (node, key) = (&*request.node, request.key);
    match change {
        Change::Nothing => return Ok(Applied::of(answer)),
        Change::Identity(until) => set(db, node, key, until, at)?,
        Change::IdentityByJoin(until) => {
            set(db, node, key, until, at)?;
            db.prepare_cached("UPDATE enrolment_join SET spent = ? WHERE node = ?")?
                .execute(params![at.as_millisecond(), node])?;
        }
        Change::Pending { is_second } => {
            note(db, request, is_second, at)?;
            return Ok(Applied::of(answer));
        }
    }
    Ok(Applied { changes_tokens: true, ..Applied::of(answer) })
}

fn known(db: &Connection, request: &EnrolmentRequest) -> rusqlite::Result<StoredIdentities> {
    let node = &*request.node;
    let join = |row: &Row<'_>| {
        let (from, spent): (Option<String>, Option<i64>) = (row.get(2)?, row.get(3)?);
        let spent = spent.map(|at| Timestamp::from_millisecond(at).unwrap_or(Timestamp::MIN));
        let from = from.and_then(|from| from.parse().ok());
        Ok(KnownJoin { sha256: row.get(0)?, until: time(row, 1)?, from, spent })
    };
    let joins = "SELECT sha256, until, origin, spent FROM enrolment_join WHERE node = ?";
    let windows = "SELECT until FROM enrolment_window WHERE node = ?";
    let rejected = "SELECT 1 FROM enrolment_request WHERE node = ? AND key = ? AND rejected";
    let status = state_of(db, node)?.map(|state| state.node().status);
    Ok(StoredIdentities {
        of_key: of_key(db, request.key)?,
        of_node: of_node(db, node)?.filter(|identity| identity.revoked.is_none()),
        join: db.prepare_cached(joins)?.query_row([node], join).optional()?,
        window: db.prepare_cached(windows)?.query_row([node], |row| time(row, 0)).optional()?,
        status: status.unwrap_or_default(),
        is_rejected: db.prepare_cached(rejected)?.exists(params![node, request.key])?,
    })
}

/// Makes a key the node's identity, in place of another one.
fn set(
    db: &Connection,
    node: &str,
    key: KeyDigest,
    until: Timestamp,
    at: Timestamp,
) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM identity WHERE node = ? AND key <> ? AND revoked IS NULL")?
        .execute(params![node, key])?;
    db.prepare_cached(
        "INSERT INTO identity (key, node, since, until) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (key) DO UPDATE SET until = ?4",
    )?
    .execute(params![key, node, at.as_millisecond(), until.as_millisecond()])?;
    db.prepare_cached("DELETE FROM enrolment_request WHERE node = ? AND key = ?")?
        .execute(params![node, key])?;
    if state_of(db, node)?.is_none() {
        save(db, node, &NodeState::new(node, at))?;
    }
    Ok(())
}

/// Remembers a request, of each node a few.
fn note(
    db: &Connection,
    request: &EnrolmentRequest,
    is_second: bool,
    at: Timestamp,
) -> rusqlite::Result<()> {
    let at = at.as_millisecond();
    db.prepare_cached(
        "INSERT INTO enrolment_request (node, key, address, since, last, second)
         VALUES (?1, ?2, ?3, ?4, ?4, ?5)
         ON CONFLICT (node, key) DO UPDATE SET address = ?3, last = ?4, second = ?5",
    )?
    .execute(params![request.node, request.key, request.by.to_string(), at, is_second])?;
    db.prepare_cached(
        "DELETE FROM enrolment_request WHERE node = ?1 AND NOT rejected AND key NOT IN (
             SELECT key FROM enrolment_request WHERE node = ?1 AND NOT rejected
             ORDER BY key = ?2 DESC, last DESC LIMIT ?3)",
    )?
    .execute(params![request.node, request.key, REQUESTS as i64])?;
    Ok(())
}

pub(super) fn pending(db: &Connection) -> rusqlite::Result<Vec<PendingKey>> {
    db.prepare_cached(
        "SELECT node, key, address, since, last, second FROM enrolment_request
         WHERE NOT rejected ORDER BY node, since",
    )?
    .query_map([], |row| {
        let by: String = row.get(2)?;
        let by = by.parse().unwrap_or(std::net::Ipv4Addr::UNSPECIFIED.into());
        let (since, last) = (time(row, 3)?, time(row, 4)?);
        Ok(PendingKey {
            node: row.get(0)?,
            key: row.get(1)?,
            by,
            since,
            last,
            is_second: row.get(5)?,
        })
    })?
    .collect()
}

fn requested(
    db: &Connection,
    node: &str,
    key: Option<KeyDigest>,
) -> rusqlite::Result<Result<KeyDigest, NotPending>> {
    let keys: Vec<(KeyDigest, bool)> = db
        .prepare_cached("SELECT key, rejected FROM enrolment_request WHERE node = ?")?
        .query_map([node], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(the_one(&keys, key))
}

pub(super) fn approve(
    db: &Connection,
    node: &str,
    key: Option<KeyDigest>,
    until: Timestamp,
    at: Timestamp,
) -> rusqlite::Result<Applied<Result<KeyDigest, NotPending>>> {
    let key = match requested(db, node, key)? {
        Ok(key) => key,
        Err(why) => return Ok(Applied::of(Err(why))),
    };
    if let Some(other) = of_key(db, key)?.filter(|owner| owner.node != node) {
        return Ok(Applied::of(Err(NotPending::OtherNodes(other.node))));
    }
    set(db, node, key, until, at)?;
    Ok(Applied { changes_tokens: true, ..Applied::of(Ok(key)) })
}

pub(super) fn reject(
    db: &Connection,
    node: &str,
    key: Option<KeyDigest>,
) -> rusqlite::Result<Applied<Result<KeyDigest, NotPending>>> {
    let key = requested(db, node, key)?;
    if let Ok(key) = key {
        db.execute(
            "UPDATE enrolment_request SET rejected = 1 WHERE node = ? AND key = ?",
            params![node, key],
        )?;
    }
    Ok(Applied::of(key))
}

pub(super) fn revoke(
    db: &Connection,
    nodes: &[String],
    at: Timestamp,
) -> rusqlite::Result<Applied<Result<Vec<Identity>, Vec<String>>>> {
    let (mut unknown, mut revoked) = (Vec::new(), Vec::new());
    for node in nodes {
        if state_of(db, node)?.is_none() {
            unknown.push(node.clone());
        }
    }
    if !unknown.is_empty() {
        return Ok(Applied::of(Err(unknown)));
    }
    for node in nodes {
        revoked.extend(of_node(db, node)?.filter(|identity| identity.revoked.is_none()));
        db.prepare_cached("UPDATE identity SET revoked = ? WHERE node = ? AND revoked IS NULL")?
            .execute(params![at.as_millisecond(), node])?;
        db.prepare_cached(
            "UPDATE node SET token = NULL, old_token = NULL, old_until = NULL WHERE name = ?",
        )?
        .execute([node])?;
        forget(db, node)?;
    }
    Ok(Applied { changes_tokens: true, ..Applied::of(Ok(revoked)) })
}

/// Removes all that could lead to an identity of the node. Keys that an admin has rejected stay so.
fn forget(db: &Connection, node: &str) -> rusqlite::Result<()> {
    for delete in [
        "DELETE FROM enrolment_join WHERE node = ?",
        "DELETE FROM enrolment_window WHERE node = ?",
        "DELETE FROM enrolment_request WHERE node = ? AND NOT rejected",
    ] {
        db.prepare_cached(delete)?.execute([node])?;
    }
    Ok(())
}

/// Removes a node's identity, and all that could lead to another one. A key that was revoked stays so.
pub(super) fn remove(db: &Connection, node: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM identity WHERE node = ? AND revoked IS NULL")?
        .execute([node])?;
    db.prepare_cached("DELETE FROM enrolment_request WHERE node = ?")?.execute([node])?;
    forget(db, node)
}
