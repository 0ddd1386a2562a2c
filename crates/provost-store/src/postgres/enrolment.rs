use jiff::Timestamp;

use super::error::{CONNECT, within};
use super::{Postgres, identities};
use crate::{
    Answer, Enrolled, Enrolment, EnrolmentRequest, Identity, Join, KeyDigest, NotPending,
    PendingKey,
};

impl Enrolment for Postgres {
    fn set_joins(&self, joins: Vec<Join>) -> Answer<'_, ()> {
        self.write(identities::set_joins(&self.database, joins))
    }

    fn open_windows(&self, nodes: Vec<String>, until: Timestamp) -> Answer<'_, ()> {
        self.write(identities::open_windows(&self.database, nodes, until))
    }

    fn close_windows(&self, nodes: Option<Vec<String>>, at: Timestamp) -> Answer<'_, Vec<String>> {
        self.write(identities::close_windows(&self.database, nodes, at))
    }

    fn windows(&self, at: Timestamp) -> Answer<'_, Vec<(String, Timestamp)>> {
        self.read(identities::windows(&self.database, at))
    }

    fn enrol(&self, request: EnrolmentRequest, at: Timestamp) -> Answer<'_, Enrolled> {
        self.write(identities::enrol(&self.database, request, at))
    }

    fn pending_keys(&self) -> Answer<'_, Vec<PendingKey>> {
        self.read(identities::pending(&self.database))
    }

    fn approve<'a>(
        &'a self,
        node: &'a str,
        key: Option<KeyDigest>,
        until: Timestamp,
        at: Timestamp,
    ) -> Answer<'a, Result<KeyDigest, NotPending>> {
        self.write(identities::approve(&self.database, node, key, until, at))
    }

    fn reject<'a>(
        &'a self,
        node: &'a str,
        key: Option<KeyDigest>,
    ) -> Answer<'a, Result<KeyDigest, NotPending>> {
        self.write(identities::reject(&self.database, node, key))
    }

    fn revoke(
        &self,
        nodes: Vec<String>,
        at: Timestamp,
    ) -> Answer<'_, Result<Vec<Identity>, Vec<String>>> {
        self.write(identities::revoke(&self.database, nodes, at))
    }

    fn identity_of_key(&self, key: KeyDigest) -> Answer<'_, Option<Identity>> {
        self.read(within(CONNECT, identities::of_key(&self.database, key)))
    }

    fn identity<'a>(&'a self, node: &'a str) -> Answer<'a, Option<Identity>> {
        self.read(identities::of_node(&self.database, node))
    }
}
