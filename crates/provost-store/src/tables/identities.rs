//! Identities of nodes, and what leads to them.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use jiff::Timestamp;

use super::nodes::lock_all;
use crate::enrolment::KEYS_OF_NODE_AND_CLIENT;
use crate::enrolment::decide::{self, KnownJoin, StoredIdentities, decide, the_one};
use crate::sql::{Backend, Change, Lock, Row, Sql, Unreadable, Value, values};
use crate::{
    Answer, Enrolled, Enrolment, EnrolmentRefusal, EnrolmentRequest, Identity, Join,
    KEYS_OF_CLIENT, KEYS_OF_NODE, KeyDigest, Network, NodeState, NotPending, PendingKey,
    UnusedJoin,
};

impl<B: Backend> Enrolment for B {
    fn set_joins(&self, mut joins: Vec<Join>) -> Answer<'_, ()> {
        // Transactions at the same time lock rows in one order. The last one of a node counts.
        joins.sort_by(|a, b| a.node.cmp(&b.node));
        self.change(joins, |db, joins| {
            let set =
                "INSERT INTO enrolment_join (node, sha256, since, until, origin) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (node) DO UPDATE SET sha256 = excluded.sha256, since = excluded.since,
                     until = excluded.until, origin = excluded.origin, spent = NULL";
            let row = |join: &Join| {
                let from = join.from.map(|network| network.to_string());
                values![&join.node, join.sha256, join.since, join.until, from]
            };
            let rows = joins.iter().map(row).collect();
            Box::pin(async { db.each(set, rows).await.map(drop) })
        })
    }

    fn open_windows(&self, mut nodes: Vec<String>, until: Timestamp) -> Answer<'_, ()> {
        nodes.sort_unstable();
        self.change((nodes, until), |db, (nodes, until)| {
            let set = "INSERT INTO enrolment_window (node, until) VALUES ($1, $2)
                 ON CONFLICT (node) DO UPDATE SET until = excluded.until";
            let rows = nodes.iter().map(|node| values![node, *until]).collect();
            Box::pin(async { db.each(set, rows).await.map(drop) })
        })
    }

    fn close_windows(&self, nodes: Option<Vec<String>>, at: Timestamp) -> Answer<'_, Vec<String>> {
        self.change((nodes, at), |db, (nodes, at)| {
            Box::pin(close_windows(db, nodes.as_deref(), *at))
        })
    }

    fn windows(&self, at: Timestamp) -> Answer<'_, Vec<(String, Timestamp)>> {
        self.query(at, |db, at| {
            let select = "SELECT node, until FROM enrolment_window WHERE until > $1 ORDER BY node";
            Box::pin(db.all(select, values![*at], Row::pair))
        })
    }

    fn has_window<'a>(&'a self, node: &'a str, at: Timestamp) -> Answer<'a, bool> {
        self.query((node.to_owned(), at), |db, (node, at)| {
            let select = "SELECT node, until FROM enrolment_window WHERE node = $1 AND until > $2";
            Box::pin(async move {
                let found = db.first(select, values![node, *at], Row::pair::<String, Timestamp>);
                Ok(found.await?.is_some())
            })
        })
    }

    fn enrol(&self, request: EnrolmentRequest, at: Timestamp) -> Answer<'_, Enrolled> {
        self.change((request, at), |db, (request, at)| Box::pin(enrol(db, request, *at)))
    }

    fn pending_keys(&self) -> Answer<'_, Vec<PendingKey>> {
        self.query((), |db, ()| {
            let select = "SELECT node, key, address, since, last, second FROM enrolment_request
                 WHERE NOT rejected ORDER BY node, since";
            Box::pin(db.all(select, [], pending))
        })
    }

    fn approve<'a>(
        &'a self,
        node: &'a str,
        key: Option<KeyDigest>,
        until: Timestamp,
        at: Timestamp,
    ) -> Answer<'a, Result<KeyDigest, NotPending>> {
        self.change((node.to_owned(), key, until, at), |db, (node, key, until, at)| {
            Box::pin(approve(db, node, *key, *until, *at))
        })
    }

    fn reject<'a>(
        &'a self,
        node: &'a str,
        key: Option<KeyDigest>,
    ) -> Answer<'a, Result<KeyDigest, NotPending>> {
        self.change((node.to_owned(), key), |db, (node, key)| Box::pin(reject(db, node, *key)))
    }

    fn revoke(
        &self,
        nodes: Vec<String>,
        at: Timestamp,
    ) -> Answer<'_, Result<Vec<Identity>, Vec<String>>> {
        self.change_reserved((nodes, at), |db, (nodes, at)| Box::pin(revoke(db, nodes, *at)))
    }

    fn identity_of_key(&self, key: KeyDigest) -> Answer<'_, Option<Identity>> {
        self.owner_of_key(key)
    }

    fn identities_until(&self, end: Timestamp) -> Answer<'_, Vec<Identity>> {
        self.query(end, |db, end| {
            let select = "SELECT node, key, since, until, revoked FROM identity
                 WHERE revoked IS NULL AND until < $1 ORDER BY node";
            Box::pin(db.all(select, values![*end], identity))
        })
    }

    fn unused_joins(&self, at: Timestamp) -> Answer<'_, Vec<UnusedJoin>> {
        self.query(at, |db, at| {
            let select = "SELECT node, since, until FROM enrolment_join
                 WHERE spent IS NULL AND until > $1 ORDER BY node";
            Box::pin(db.all(select, values![*at], unused_join))
        })
    }

    fn identity<'a>(&'a self, node: &'a str) -> Answer<'a, Option<Identity>> {
        self.query(node.to_owned(), |db, node| Box::pin(of_node(db, node)))
    }
}

fn identity(row: Row) -> Result<Identity, Unreadable> {
    let [node, key, since, until, revoked] = row.columns()?;
    Ok(Identity {
        node: node.get()?,
        key: key.get()?,
        since: since.get()?,
        until: until.get()?,
        revoked: revoked.get()?,
    })
}

fn unused_join(row: Row) -> Result<UnusedJoin, Unreadable> {
    let [node, since, until] = row.columns()?;
    Ok(UnusedJoin { node: node.get()?, since: since.get()?, until: until.get()? })
}

pub(crate) async fn of_key<S: Sql>(db: &S, key: KeyDigest) -> Result<Option<Identity>, S::Error> {
    let select = "SELECT node, key, since, until, revoked FROM identity WHERE key = $1";
    db.first(select, values![key], identity).await
}

/// A node's identity; else the one that was revoked last.
async fn of_node<S: Sql>(db: &S, node: &str) -> Result<Option<Identity>, S::Error> {
    let select = "SELECT node, key, since, until, revoked FROM identity WHERE node = $1
         ORDER BY revoked IS NOT NULL, revoked DESC LIMIT 1";
    db.first(select, values![node], identity).await
}

async fn close_windows<S: Sql>(
    db: &S,
    nodes: Option<&[String]>,
    at: Timestamp,
) -> Result<Vec<String>, S::Error> {
    let closed = match nodes {
        None => db.each("DELETE FROM enrolment_window RETURNING node, until", vec![[]]).await?,
        Some(nodes) => {
            let close = "DELETE FROM enrolment_window WHERE node = $1 RETURNING node, until";
            db.each(close, nodes.iter().map(|node| values![node]).collect()).await?
        }
    };
    let mut open = Vec::new();
    for row in closed {
        let (node, until) = row.pair::<String, Timestamp>()?;
        if until > at {
            open.push(node);
        }
    }
    open.sort();
    Ok(open)
}

async fn enrol<S: Change>(
    db: &S,
    request: &EnrolmentRequest,
    at: Timestamp,
) -> Result<Enrolled, S::Error> {
    let (node, key) = (&*request.node, request.key);
    db.lock(Lock::Node(node)).await?;
    db.lock(Lock::Key(key)).await?;
    let decision = decide(request, &known(db, request).await?, at);
    if decision.spends_join {
        let spend = "UPDATE enrolment_join SET spent = $2 WHERE node = $1";
        db.execute(spend, values![node, at]).await?;
    }
    match decision.change {
        decide::Change::Nothing => {}
        decide::Change::Identity(until) => set(db, node, key, until, at).await?,
        decide::Change::Pending { is_second } => {
            if let Some(why) = note(db, request, is_second, at).await? {
                return Ok(Enrolled::Refused(why));
            }
        }
    }
    Ok(decision.answer)
}

async fn known<S: Sql>(db: &S, request: &EnrolmentRequest) -> Result<StoredIdentities, S::Error> {
    let select = "SELECT state, opened.until, sha256, joined.until, origin, spent, EXISTS (
             SELECT 1 FROM enrolment_request WHERE node = $1 AND key = $2 AND rejected)
         FROM (SELECT 1) AS one
         LEFT JOIN node ON name = $1
         LEFT JOIN enrolment_window AS opened ON opened.node = $1
         LEFT JOIN enrolment_join AS joined ON joined.node = $1";
    let values = values![&request.node, request.key];
    let known = db.first(select, values, stored).await?.unwrap_or_default();
    let of_node = of_node(db, &request.node).await?;
    Ok(StoredIdentities {
        of_key: of_key(db, request.key).await?,
        of_node: of_node.filter(|identity| identity.revoked.is_none()),
        ..known
    })
}

/// What is stored besides identities.
fn stored(row: Row) -> Result<StoredIdentities, Unreadable> {
    let [state, window, sha256, until, from, spent, is_rejected] = row.columns()?;
    let state = state.get::<Option<String>>()?;
    let state = state.map(|state| serde_json::from_str::<NodeState>(&state)).transpose()?;
    let join = match sha256 {
        Value::Null => None,
        sha256 => Some(KnownJoin {
            sha256: sha256.get()?,
            until: until.get()?,
            from: from.get::<Option<String>>()?.and_then(|from| from.parse().ok()),
            spent: spent.get()?,
        }),
    };
    Ok(StoredIdentities {
        join,
        window: window.get()?,
        status: state.map(|state| state.node().status).unwrap_or_default(),
        is_rejected: is_rejected.get()?,
        ..StoredIdentities::default()
    })
}

/// Makes a key the node's identity, in place of another one.
async fn set<S: Change>(
    db: &S,
    node: &str,
    key: KeyDigest,
    until: Timestamp,
    at: Timestamp,
) -> Result<(), S::Error> {
    let replace = "DELETE FROM identity WHERE node = $1 AND key <> $2 AND revoked IS NULL";
    db.execute(replace, values![node, key]).await?;
    let set = "INSERT INTO identity (key, node, since, until) VALUES ($1, $2, $3, $4)
         ON CONFLICT (key) DO UPDATE SET until = excluded.until";
    db.execute(set, values![key, node, at, until]).await?;
    let decided = "DELETE FROM enrolment_request WHERE node = $1 AND key = $2";
    db.execute(decided, values![node, key]).await?;
    db.add_nodes(&[node], at).await?;
    db.change_owners();
    Ok(())
}

/// Remembers a request. A flood pushes out nothing but keys of its own; why there is no room for it, if so.
async fn note<S: Sql>(
    db: &S,
    request: &EnrolmentRequest,
    is_second: bool,
    at: Timestamp,
) -> Result<Option<EnrolmentRefusal>, S::Error> {
    let EnrolmentRequest { node, key, by, .. } = request;
    let client = Network::of_client(*by);
    let again = "UPDATE enrolment_request SET address = $3, last = $4, second = $5
         WHERE node = $1 AND key = $2";
    if db.execute(again, values![node, *key, by.to_string(), at, is_second]).await? > 0 {
        return Ok(None);
    }
    let count = "SELECT
             (SELECT count(*) FROM enrolment_request WHERE node = $1 AND NOT rejected),
             (SELECT count(*) FROM enrolment_request WHERE client = $2 AND NOT rejected),
             (SELECT count(*) FROM enrolment_request
                 WHERE node = $1 AND client = $2 AND NOT rejected)";
    let counts = |row: Row| -> Result<[i64; 3], Unreadable> {
        let [of_node, of_client, of_both] = row.columns()?;
        Ok([of_node.get()?, of_client.get()?, of_both.get()?])
    };
    let counts = db.first(count, values![node, client.to_string()], counts).await?;
    let [of_node, of_client, of_both] = counts.unwrap_or_default();
    if of_both >= KEYS_OF_NODE_AND_CLIENT {
        let replace = "DELETE FROM enrolment_request WHERE node = $1 AND key = (
                 SELECT key FROM enrolment_request
                 WHERE node = $1 AND client = $2 AND NOT rejected AND key <> (
                     SELECT key FROM enrolment_request
                     WHERE node = $1 AND client = $2 AND NOT rejected ORDER BY since, key LIMIT 1)
                 ORDER BY last, key LIMIT 1)";
        db.execute(replace, values![node, client.to_string()]).await?;
    } else if of_node >= KEYS_OF_NODE {
        return Ok(Some(EnrolmentRefusal::TooManyOfNode));
    } else if of_client >= KEYS_OF_CLIENT {
        return Ok(Some(EnrolmentRefusal::TooManyOfClient(client)));
    }
    let note = "INSERT INTO enrolment_request (node, key, address, client, since, last, second)
         VALUES ($1, $2, $3, $4, $5, $5, $6)";
    let (by, client) = (by.to_string(), client.to_string());
    db.execute(note, values![node, *key, by, client, at, is_second]).await?;
    Ok(None)
}

fn pending(row: Row) -> Result<PendingKey, Unreadable> {
    let [node, key, by, since, last, is_second] = row.columns()?;
    Ok(PendingKey {
        node: node.get()?,
        key: key.get()?,
        by: by.get::<String>()?.parse().unwrap_or(Ipv4Addr::UNSPECIFIED.into()),
        since: since.get()?,
        last: last.get()?,
        is_second: is_second.get()?,
    })
}

async fn requested<S: Change>(
    db: &S,
    node: &str,
    key: Option<KeyDigest>,
) -> Result<Result<KeyDigest, NotPending>, S::Error> {
    db.lock(Lock::Node(node)).await?;
    let select = "SELECT key, rejected FROM enrolment_request WHERE node = $1";
    Ok(the_one(&db.all(select, values![node], Row::pair).await?, key))
}

async fn approve<S: Change>(
    db: &S,
    node: &str,
    key: Option<KeyDigest>,
    until: Timestamp,
    at: Timestamp,
) -> Result<Result<KeyDigest, NotPending>, S::Error> {
    let key = match requested(db, node, key).await? {
        Ok(key) => key,
        Err(why) => return Ok(Err(why)),
    };
    db.lock(Lock::Key(key)).await?;
    if let Some(other) = of_key(db, key).await?.filter(|owner| owner.node != node) {
        return Ok(Err(NotPending::OtherNodes(other.node)));
    }
    set(db, node, key, until, at).await?;
    Ok(Ok(key))
}

async fn reject<S: Change>(
    db: &S,
    node: &str,
    key: Option<KeyDigest>,
) -> Result<Result<KeyDigest, NotPending>, S::Error> {
    let key = requested(db, node, key).await?;
    if let Ok(key) = key {
        let reject = "UPDATE enrolment_request SET rejected = $3 WHERE node = $1 AND key = $2";
        db.execute(reject, values![node, key, true]).await?;
    }
    Ok(key)
}

async fn revoke<S: Change>(
    db: &S,
    names: &[String],
    at: Timestamp,
) -> Result<Result<Vec<Identity>, Vec<String>>, S::Error> {
    let sorted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    for node in sorted {
        db.lock(Lock::Node(node)).await?;
    }
    if let Err(unknown) = lock_all(db, names).await? {
        return Ok(Err(unknown));
    }
    let revoke = "UPDATE identity SET revoked = $2 WHERE node = $1 AND revoked IS NULL
         RETURNING node, key, since, until, revoked";
    let revoked = db.each(revoke, names.iter().map(|node| values![node, at]).collect()).await?;
    for delete in FORGET {
        db.each(delete, names.iter().map(|node| values![node]).collect()).await?;
    }
    db.change_owners();
    Ok(Ok(revoked.into_iter().map(identity).collect::<Result<_, _>>()?))
}

/// Removes a node's token, and all that could lead to an identity. Keys that an admin has rejected stay so.
const FORGET: [&str; 4] = [
    "DELETE FROM token WHERE node = $1",
    "DELETE FROM enrolment_join WHERE node = $1",
    "DELETE FROM enrolment_window WHERE node = $1",
    "DELETE FROM enrolment_request WHERE node = $1 AND NOT rejected",
];
