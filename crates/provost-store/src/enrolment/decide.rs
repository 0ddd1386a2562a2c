//! What becomes of a node's request for an identity, by what is stored: the same in every store.

use jiff::Timestamp;

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

/// What a store has to change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Nothing,
    /// The key becomes the node's identity until then, in place of another one.
    Identity(Timestamp),
    /// The same, and the join token is spent.
    IdentityByJoin(Timestamp),
    /// The request is shown to admins; whether the node has another key.
    Pending {
        is_second: bool,
    },
}

/// Decides at the server's time `at`.
pub(crate) fn decide(
    request: &EnrolmentRequest,
    known: &StoredIdentities,
    at: Timestamp,
) -> (Change, Enrolled) {
    let refused = |why| (Change::Nothing, Enrolled::Refused(why));
    let new = || Enrolled::Identity { until: request.until, is_new: true };
    if let Some(owner) = &known.of_key {
        if let Some(at) = owner.revoked {
            return refused(EnrolmentRefusal::Revoked(at));
        }
        if owner.node != request.node {
            return refused(EnrolmentRefusal::OtherNodes(owner.node.clone()));
        }
        if owner.until > at {
            // What was signed once may be sent by others again: it prolongs nothing.
            return match request.is_proven {
                true => {
                    let until = request.until.max(owner.until);
                    (Change::Identity(until), Enrolled::Identity { until, is_new: false })
                }
                false => {
                    (Change::Nothing, Enrolled::Identity { until: owner.until, is_new: false })
                }
            };
        }
    }
    if let Some(join) = request.join {
        return match check_join(request, join, known.join.as_ref(), at) {
            Ok(()) => (Change::IdentityByJoin(request.until), new()),
            Err(why) => refused(why),
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
        true => (Change::Identity(request.until), new()),
        false => (Change::Pending { is_second }, Enrolled::Pending),
    }
}

fn check_join(
    request: &EnrolmentRequest,
    sha256: [u8; 32],
    join: Option<&KnownJoin>,
    at: Timestamp,
) -> Result<(), EnrolmentRefusal> {
    let Some(join) = join.filter(|join| join.sha256 == sha256) else {
        return Err(EnrolmentRefusal::UnknownJoin);
    };
    if let Some(at) = join.spent {
        return Err(EnrolmentRefusal::SpentJoin(at));
    }
    if join.until <= at {
        return Err(EnrolmentRefusal::EndedJoin(join.until));
    }
    if let Some(network) = join.from.filter(|network| !network.contains(request.by)) {
        return Err(EnrolmentRefusal::ElsewhereJoin(network.to_string()));
    }
    match request.planned {
        Some(address) if address.to_canonical() != request.by.to_canonical() => {
            Err(EnrolmentRefusal::ElsewhereJoin(address.to_string()))
        }
        _ => Ok(()),
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
