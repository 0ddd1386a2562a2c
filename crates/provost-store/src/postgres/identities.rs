//! Identities of nodes, and what leads to them.

use std::net::Ipv4Addr;

use deadpool_postgres::Transaction;
use jiff::Timestamp;
use tokio_postgres::Row;

use super::connect::Database;
use super::error::Failure;
use super::nodes;
use crate::enrolment::REQUESTS;
use crate::enrolment::decide::{Change, KnownJoin, StoredIdentities, decide, the_one};
use crate::{Enrolled, EnrolmentRequest, Identity, Join, KeyDigest, NotPending, PendingKey};

const OF_KEY: &str = "SELECT node, key, since, until, revoked FROM identity WHERE key = $1";
const OF_NODE: &str = "SELECT node, key, since, until, revoked FROM identity WHERE node = $1
     ORDER BY revoked IS NOT NULL, revoked DESC LIMIT 1";

fn time(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX)
}

fn digest(row: &Row, index: usize) -> Result<KeyDigest, Failure> {
    let bytes: &[u8] = row.try_get(index)?;
    bytes.try_into().map_err(|_| Failure::Refused("a digest doesn't have 32 bytes".to_owned()))
}

fn identity(row: &Row) -> Result<Identity, Failure> {
    Ok(Identity {
        node: row.try_get(0)?,
        key: digest(row, 1)?,
        since: time(row.try_get(2)?),
        until: time(row.try_get(3)?),
        revoked: row.try_get::<_, Option<i64>>(4)?.map(time),
    })
}

pub(super) async fn of_key(db: &Database, key: KeyDigest) -> Result<Option<Identity>, Failure> {
    let client = db.client().await?;
    let select = client.prepare_cached(OF_KEY).await?;
    client.query_opt(&select, &[&&key[..]]).await?.as_ref().map(identity).transpose()
}

/// A node's identity; else the one that was revoked last.
pub(super) async fn of_node(db: &Database, node: &str) -> Result<Option<Identity>, Failure> {
    let client = db.client().await?;
    let select = client.prepare_cached(OF_NODE).await?;
    client.query_opt(&select, &[&node]).await?.as_ref().map(identity).transpose()
}

pub(super) async fn set_joins(db: &Database, joins: Vec<Join>) -> Result<(), Failure> {
    // The last one of a node counts.
    let by_node: std::collections::BTreeMap<&str, &Join> =
        joins.iter().map(|join| (&*join.node, join)).collect();
    let names: Vec<&str> = by_node.keys().copied().collect();
    let digests: Vec<&[u8]> = by_node.values().map(|join| &join.sha256[..]).collect();
    let untils: Vec<i64> = by_node.values().map(|join| join.until.as_millisecond()).collect();
    let from = |join: &&Join| join.from.map(|network| network.to_string());
    let from: Vec<Option<String>> = by_node.values().map(from).collect();
    let set = "INSERT INTO enrolment_join (node, sha256, until, origin)
         SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::text[])
         ON CONFLICT (node) DO UPDATE SET sha256 = excluded.sha256, until = excluded.until,
             origin = excluded.origin, spent = NULL";
    db.client().await?.execute(set, &[&names, &digests, &untils, &from]).await?;
    Ok(())
}

pub(super) async fn open_windows(
    db: &Database,
    nodes: Vec<String>,
    until: Timestamp,
) -> Result<(), Failure> {
    let set = "INSERT INTO enrolment_window (node, until)
         SELECT DISTINCT node, $2::bigint FROM unnest($1::text[]) AS new (node)
         ON CONFLICT (node) DO UPDATE SET until = excluded.until";
    db.client().await?.execute(set, &[&nodes, &until.as_millisecond()]).await?;
    Ok(())
}

pub(super) async fn close_windows(
    db: &Database,
    nodes: Option<Vec<String>>,
    at: Timestamp,
) -> Result<Vec<String>, Failure> {
    let close = "DELETE FROM enrolment_window WHERE $1::text[] IS NULL OR node = ANY($1)
         RETURNING node, until";
    let rows = db.client().await?.query(close, &[&nodes]).await?;
    let mut open = Vec::new();
    for row in rows {
        if time(row.try_get(1)?) > at {
            open.push(row.try_get(0)?);
        }
    }
    open.sort();
    Ok(open)
}

pub(super) async fn windows(
    db: &Database,
    at: Timestamp,
) -> Result<Vec<(String, Timestamp)>, Failure> {
    let select = "SELECT node, until FROM enrolment_window WHERE until > $1 ORDER BY node";
    let rows = db.client().await?.query(select, &[&at.as_millisecond()]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, time(row.try_get(1)?)))).collect()
}

/// Nobody else changes what leads to the node's identity until the transaction ends.
async fn lock(change: &Transaction<'_>, node: &str) -> Result<(), Failure> {
    let lock = change.prepare_cached("SELECT pg_advisory_xact_lock(hashtextextended($1, 22))");
    change.execute(&lock.await?, &[&node]).await?;
    Ok(())
}

/// Nor makes the key another node's identity. A node is locked before it.
async fn lock_key(change: &Transaction<'_>, key: KeyDigest) -> Result<(), Failure> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex'), 23))";
    change.execute(&change.prepare_cached(lock).await?, &[&&key[..]]).await?;
    Ok(())
}

pub(super) async fn enrol(
    db: &Database,
    request: EnrolmentRequest,
    at: Timestamp,
) -> Result<Enrolled, Failure> {
    let mut client = db.client().await?;
    let tx = client.transaction().await?;
    let (node, key) = (&*request.node, request.key);
    lock(&tx, node).await?;
    lock_key(&tx, key).await?;
    let (change, answer) = decide(&request, &known(&tx, &request).await?, at);
    match change {
        Change::Nothing => return Ok(answer),
        Change::Identity(until) => set(&tx, node, key, until, at).await?,
        Change::IdentityByJoin(until) => {
            set(&tx, node, key, until, at).await?;
            let spend = "UPDATE enrolment_join SET spent = $2 WHERE node = $1";
            let spend = tx.prepare_cached(spend).await?;
            tx.execute(&spend, &[&node, &at.as_millisecond()]).await?;
        }
        Change::Pending { is_second } => note(&tx, &request, is_second, at).await?,
    }
    tx.commit().await?;
    Ok(answer)
}

async fn known(
    tx: &Transaction<'_>,
    request: &EnrolmentRequest,
) -> Result<StoredIdentities, Failure> {
    let node = &*request.node;
    let select = tx.prepare_cached(OF_KEY).await?;
    let of_key = tx.query_opt(&select, &[&&request.key[..]]).await?;
    let select = tx.prepare_cached(OF_NODE).await?;
    let of_node = tx.query_opt(&select, &[&node]).await?;
    let select = "SELECT state,
             (SELECT until FROM enrolment_window WHERE node = $1),
             EXISTS (SELECT FROM enrolment_request WHERE node = $1 AND key = $2 AND rejected)
         FROM (VALUES (1)) AS one LEFT JOIN node ON name = $1";
    let select = tx.prepare_cached(select).await?;
    let row = tx.query_one(&select, &[&node, &&request.key[..]]).await?;
    let state: Option<&str> = row.try_get(0)?;
    let state = state.map(serde_json::from_str::<crate::NodeState>).transpose()?;
    let select = "SELECT sha256, until, origin, spent FROM enrolment_join WHERE node = $1";
    let select = tx.prepare_cached(select).await?;
    let join = match tx.query_opt(&select, &[&node]).await? {
        Some(row) => Some(KnownJoin {
            sha256: digest(&row, 0)?,
            until: time(row.try_get(1)?),
            from: row.try_get::<_, Option<&str>>(2)?.and_then(|from| from.parse().ok()),
            spent: row.try_get::<_, Option<i64>>(3)?.map(time),
        }),
        None => None,
    };
    Ok(StoredIdentities {
        of_key: of_key.as_ref().map(identity).transpose()?,
        of_node: of_node
            .as_ref()
            .map(identity)
            .transpose()?
            .filter(|identity| identity.revoked.is_none()),
        join,
        window: row.try_get::<_, Option<i64>>(1)?.map(time),
        status: state.map(|state| state.node().status).unwrap_or_default(),
        is_rejected: row.try_get(2)?,
    })
}

/// Makes a key the node's identity, in place of another one.
async fn set(
    tx: &Transaction<'_>,
    node: &str,
    key: KeyDigest,
    until: Timestamp,
    at: Timestamp,
) -> Result<(), Failure> {
    let (key, at_ms) = (&key[..], at.as_millisecond());
    let replace = "DELETE FROM identity WHERE node = $1 AND key <> $2 AND revoked IS NULL";
    let replace = tx.prepare_cached(replace).await?;
    tx.execute(&replace, &[&node, &key]).await?;
    let set = "INSERT INTO identity (key, node, since, until) VALUES ($1, $2, $3, $4)
         ON CONFLICT (key) DO UPDATE SET until = excluded.until";
    let set = tx.prepare_cached(set).await?;
    tx.execute(&set, &[&key, &node, &at_ms, &until.as_millisecond()]).await?;
    let settled = "DELETE FROM enrolment_request WHERE node = $1 AND key = $2";
    let settled = tx.prepare_cached(settled).await?;
    tx.execute(&settled, &[&node, &key]).await?;
    nodes::add(tx, &[node], at).await?;
    Ok(())
}

/// Remembers a request, of each node a few.
async fn note(
    tx: &Transaction<'_>,
    request: &EnrolmentRequest,
    is_second: bool,
    at: Timestamp,
) -> Result<(), Failure> {
    let (node, key) = (&*request.node, &request.key[..]);
    let note = "INSERT INTO enrolment_request (node, key, address, since, last, second)
         VALUES ($1, $2, $3, $4, $4, $5)
         ON CONFLICT (node, key) DO UPDATE SET address = $3, last = $4, second = $5";
    let note = tx.prepare_cached(note).await?;
    let (by, at) = (request.by.to_string(), at.as_millisecond());
    tx.execute(&note, &[&node, &key, &by, &at, &is_second]).await?;
    let cut = "DELETE FROM enrolment_request WHERE node = $1 AND NOT rejected AND key NOT IN (
             SELECT key FROM enrolment_request WHERE node = $1 AND NOT rejected
             ORDER BY key = $2 DESC, last DESC LIMIT $3)";
    let cut = tx.prepare_cached(cut).await?;
    tx.execute(&cut, &[&node, &key, &(REQUESTS as i64)]).await?;
    Ok(())
}

pub(super) async fn pending(db: &Database) -> Result<Vec<PendingKey>, Failure> {
    let select = "SELECT node, key, address, since, last, second FROM enrolment_request
         WHERE NOT rejected ORDER BY node, since";
    let rows = db.client().await?.query(select, &[]).await?;
    let key = |row: &Row| {
        Ok(PendingKey {
            node: row.try_get(0)?,
            key: digest(row, 1)?,
            by: row.try_get::<_, &str>(2)?.parse().unwrap_or(Ipv4Addr::UNSPECIFIED.into()),
            since: time(row.try_get(3)?),
            last: time(row.try_get(4)?),
            is_second: row.try_get(5)?,
        })
    };
    rows.iter().map(key).collect()
}

async fn requested(
    tx: &Transaction<'_>,
    node: &str,
    key: Option<KeyDigest>,
) -> Result<Result<KeyDigest, NotPending>, Failure> {
    lock(tx, node).await?;
    let select = "SELECT key, rejected FROM enrolment_request WHERE node = $1";
    let rows = tx.query(select, &[&node]).await?;
    let keys = rows.iter().map(|row| Ok((digest(row, 0)?, row.try_get(1)?)));
    Ok(the_one(&keys.collect::<Result<Vec<_>, Failure>>()?, key))
}

pub(super) async fn approve(
    db: &Database,
    node: &str,
    key: Option<KeyDigest>,
    until: Timestamp,
    at: Timestamp,
) -> Result<Result<KeyDigest, NotPending>, Failure> {
    let mut client = db.client().await?;
    let tx = client.transaction().await?;
    let key = match requested(&tx, node, key).await? {
        Ok(key) => key,
        Err(why) => return Ok(Err(why)),
    };
    lock_key(&tx, key).await?;
    let owner = tx.query_opt(OF_KEY, &[&&key[..]]).await?;
    let owner = owner.as_ref().map(identity).transpose()?;
    if let Some(other) = owner.filter(|owner| owner.node != node) {
        return Ok(Err(NotPending::OtherNodes(other.node)));
    }
    set(&tx, node, key, until, at).await?;
    tx.commit().await?;
    Ok(Ok(key))
}

pub(super) async fn reject(
    db: &Database,
    node: &str,
    key: Option<KeyDigest>,
) -> Result<Result<KeyDigest, NotPending>, Failure> {
    let mut client = db.client().await?;
    let tx = client.transaction().await?;
    let key = requested(&tx, node, key).await?;
    if let Ok(key) = key {
        let reject = "UPDATE enrolment_request SET rejected = true WHERE node = $1 AND key = $2";
        tx.execute(reject, &[&node, &&key[..]]).await?;
    }
    tx.commit().await?;
    Ok(key)
}

pub(super) async fn revoke(
    db: &Database,
    names: Vec<String>,
    at: Timestamp,
) -> Result<Result<Vec<Identity>, Vec<String>>, Failure> {
    let mut client = db.client().await?;
    let tx = client.transaction().await?;
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    for node in &sorted {
        lock(&tx, node).await?;
    }
    let known = nodes::lock(&tx, &sorted).await?;
    let unknown: Vec<String> =
        names.iter().filter(|name| !known.contains_key(*name)).cloned().collect();
    if !unknown.is_empty() {
        return Ok(Err(unknown));
    }
    let revoke = "UPDATE identity SET revoked = $2 WHERE node = ANY($1) AND revoked IS NULL
         RETURNING node, key, since, until, revoked";
    let rows = tx.query(revoke, &[&names, &at.as_millisecond()]).await?;
    tx.execute("DELETE FROM token WHERE node = ANY($1)", &[&names]).await?;
    forget(&tx, &names).await?;
    tx.commit().await?;
    rows.iter().map(identity).collect::<Result<_, _>>().map(Ok)
}

/// Removes all that could lead to identities of nodes. Keys that an admin has rejected stay so.
async fn forget(tx: &Transaction<'_>, names: &[String]) -> Result<(), Failure> {
    for delete in [
        "DELETE FROM enrolment_join WHERE node = ANY($1)",
        "DELETE FROM enrolment_window WHERE node = ANY($1)",
        "DELETE FROM enrolment_request WHERE node = ANY($1) AND NOT rejected",
    ] {
        tx.execute(delete, &[&names]).await?;
    }
    Ok(())
}
