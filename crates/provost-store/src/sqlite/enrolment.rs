use jiff::Timestamp;
use rusqlite::Connection;

use super::{Sqlite, identities};
use crate::{
    Answer, Enrolled, Enrolment, EnrolmentRequest, Identity, Join, KeyDigest, NotPending,
    PendingKey,
};

impl Enrolment for Sqlite {
    fn set_joins(&self, joins: Vec<Join>) -> Answer<'_, ()> {
        let work = move |db: &Connection| identities::set_joins(db, &joins);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn open_windows(&self, nodes: Vec<String>, until: Timestamp) -> Answer<'_, ()> {
        let work = move |db: &Connection| identities::open_windows(db, &nodes, until);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn close_windows(&self, nodes: Option<Vec<String>>, at: Timestamp) -> Answer<'_, Vec<String>> {
        let work = move |db: &Connection| identities::close_windows(db, nodes.as_deref(), at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn windows(&self, at: Timestamp) -> Answer<'_, Vec<(String, Timestamp)>> {
        Box::pin(self.read(move |db| identities::windows(db, at)))
    }

    fn enrol(&self, request: EnrolmentRequest, at: Timestamp) -> Answer<'_, Enrolled> {
        let work = move |db: &Connection| identities::enrol(db, &request, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn pending_keys(&self) -> Answer<'_, Vec<PendingKey>> {
        Box::pin(self.read(identities::pending))
    }

    fn approve<'a>(
        &'a self,
        node: &'a str,
        key: Option<KeyDigest>,
        until: Timestamp,
        at: Timestamp,
    ) -> Answer<'a, Result<KeyDigest, NotPending>> {
        let node = node.to_owned();
        let work = move |db: &Connection| identities::approve(db, &node, key, until, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn reject<'a>(
        &'a self,
        node: &'a str,
        key: Option<KeyDigest>,
    ) -> Answer<'a, Result<KeyDigest, NotPending>> {
        let node = node.to_owned();
        let work = move |db: &Connection| identities::reject(db, &node, key);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn revoke(
        &self,
        nodes: Vec<String>,
        at: Timestamp,
    ) -> Answer<'_, Result<Vec<Identity>, Vec<String>>> {
        let work = move |db: &Connection| identities::revoke(db, &nodes, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn identity_of_key(&self, key: KeyDigest) -> Answer<'_, Option<Identity>> {
        Box::pin(async move {
            let read_at = match self.owners.keys.get(&key) {
                Ok(identity) => return Ok(Some(identity)),
                Err(read_at) => read_at,
            };
            let identity = self.read(move |db| identities::of_key(db, key)).await?;
            if let Some(identity) = &identity {
                self.owners.keys.keep(key, identity.clone(), read_at);
            }
            Ok(identity)
        })
    }

    fn identity<'a>(&'a self, node: &'a str) -> Answer<'a, Option<Identity>> {
        let node = node.to_owned();
        Box::pin(self.read(move |db| identities::of_node(db, &node)))
    }
}
