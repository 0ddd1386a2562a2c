//! What becomes of a node's request for an identity, by what is stored: the same in every store.

use jiff::{SignedDuration, Timestamp};

use super::{Enrolled, EnrolmentRefusal, EnrolmentRequest, Identity, KeyDigest, NotPending};
use crate::{Network, Status};

/// What is stored that a request is decided by.
#[derive(Default)]
pub(crate) struct StoredIdentities {
    /// Of the request's key.
    pub(crate) of_key: Option<Identity>,
    /// Of its node, unless that was revoked.
    pub(crate) of_node: Option<Identity>,
    /// The node's join token.
    pub(crate) join: Option<KnownJoin>,
    /// Until when the node's window is open.
    pub(crate) window: Option<Timestamp>,
    pub(crate) status: Status,
    /// Whether the key was rejected.
    pub(crate) is_rejected: bool,
}

pub(crate) struct KnownJoin {
    pub(crate) sha256: [u8; 32],
    pub(crate) until: Timestamp,
    pub(crate) from: Option<Network>,
    pub(crate) spent: Option<Timestamp>,
}

/// For how long a join token gets its node the same answer again: the first may have been lost on its way.
const SAME_ANSWER: SignedDuration = SignedDuration::from_mins(10);

/// What becomes of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Whether the node's join token is spent. It is by its first valid use, whatever becomes of the key:
    /// nobody else who reads it on that node can use it.
    pub(crate) spends_join: bool,
    pub(crate) change: Change,
    pub(crate) answer: Enrolled,
}

/// What a store has to change about the key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Nothing,
    /// The key becomes the node's identity until then, in place of another one.
    Identity(Timestamp),
    /// The request is shown to admins; whether the node has another key.
    Pending {
        is_second: bool,
    },
}

/// What a join token is good for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JoinUse {
    /// An identity.
    First,
    /// The answer that the same key got.
    Again,
}

/// Decides at the server's time `at`.
pub(crate) fn decide(
    request: &EnrolmentRequest,
    known: &StoredIdentities,
    at: Timestamp,
) -> Decision {
    let join = request.join.map(|sha256| check_join(request, sha256, known, at));
    let spends_join = matches!(join, Some(Ok(JoinUse::First)));
    let (change, answer) = decide_key(request, known, join, at);
    Decision { spends_join, change, answer }
}

/// What becomes of the key; `join`: by the request's join token, if it has one.
fn decide_key(
    request: &EnrolmentRequest,
    known: &StoredIdentities,
    join: Option<Result<JoinUse, EnrolmentRefusal>>,
    at: Timestamp,
) -> (Change, Enrolled) {
    let refused = |why| (Change::Nothing, Enrolled::Refused(why));
    if let Some(owner) = &known.of_key {
        if let Some(at) = owner.revoked {
            return refused(EnrolmentRefusal::Revoked(at));
        }
        if owner.node != request.node {
            return refused(EnrolmentRefusal::OtherNodes(owner.node.clone()));
        }
    }
    let identity = |until, is_new| (Change::Identity(until), Enrolled::Identity { until, is_new });
    let present = known.identity_until(request, at);
    match join {
        Some(Err(why)) => return refused(why),
        Some(Ok(JoinUse::First)) => {
            return identity(request.until.max(present.unwrap_or(at)), present.is_none());
        }
        Some(Ok(JoinUse::Again)) | None => {}
    }
    if let Some(until) = present {
        // What was signed once may be sent by others again: it prolongs nothing.
        return match request.is_proven && request.join.is_none() {
            true => identity(request.until.max(until), false),
            false => (Change::Nothing, Enrolled::Identity { until, is_new: false }),
        };
    }
    if known.is_rejected {
        return refused(EnrolmentRefusal::Rejected);
    }
    let is_second = known.of_node.as_ref().is_some_and(|identity| identity.until > at);
    let is_eligible = matches!(known.status, Status::Defined | Status::Installing);
    match known.window.is_some_and(|until| until > at) && is_eligible {
        true if is_second => {
            (Change::Pending { is_second }, Enrolled::Refused(EnrolmentRefusal::SecondKey))
        }
        true => identity(request.until, true),
        false => (Change::Pending { is_second }, Enrolled::Pending),
    }
}

impl StoredIdentities {
    /// Until when the request's key is its node's identity, if it is.
    fn identity_until(&self, request: &EnrolmentRequest, at: Timestamp) -> Option<Timestamp> {
        let owner = self.of_key.as_ref()?;
        let is_its = owner.node == request.node && owner.revoked.is_none() && owner.until > at;
        is_its.then_some(owner.until)
    }
}

fn check_join(
    request: &EnrolmentRequest,
    sha256: [u8; 32],
    known: &StoredIdentities,
    at: Timestamp,
) -> Result<JoinUse, EnrolmentRefusal> {
    let Some(join) = known.join.as_ref().filter(|join| join.sha256 == sha256) else {
        return Err(EnrolmentRefusal::UnknownJoin);
    };
    let has_identity = known.identity_until(request, at).is_some();
    let good_for = match join.spent {
        Some(spent) if has_identity && at.duration_since(spent) < SAME_ANSWER => JoinUse::Again,
        Some(spent) => return Err(EnrolmentRefusal::SpentJoin(spent)),
        None if join.until <= at => return Err(EnrolmentRefusal::EndedJoin(join.until)),
        None => JoinUse::First,
    };
    if let Some(network) = join.from.filter(|network| !network.contains(request.by)) {
        return Err(EnrolmentRefusal::ElsewhereJoin(network.to_string()));
    }
    match request.planned {
        Some(address) if address.to_canonical() != request.by.to_canonical() => {
            Err(EnrolmentRefusal::ElsewhereJoin(address.to_string()))
        }
        _ => Ok(good_for),
    }
}

/// Which pending key an admin means: `named`, or the only one. Each of `keys` has whether it was
/// rejected.
pub(crate) fn the_one(
    keys: &[(KeyDigest, bool)],
    named: Option<KeyDigest>,
) -> Result<KeyDigest, NotPending> {
    if let Some(named) = named {
        let found = keys.iter().find(|(key, _)| *key == named);
        return found.map(|(key, _)| *key).ok_or(NotPending::None);
    }
    let open: Vec<KeyDigest> =
        keys.iter().filter(|(_, is_rejected)| !is_rejected).map(|(key, _)| *key).collect();
    match open[..] {
        [] => Err(NotPending::None),
        [key] => Ok(key),
        _ => Err(NotPending::Many(open)),
    }
}
