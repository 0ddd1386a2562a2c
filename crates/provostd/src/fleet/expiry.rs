//! All that expires: what is published, identities, tokens, certificates.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use provost_api::Expires;
use provost_api::admins::Expiring;
use provost_store::{Admin, Identity, Node, Store, StoreError, UnusedJoin};

use crate::listener::tls::CertificateValidity;
use crate::published::expiry::{PublicationExpiry, PublishedExpiry};

/// How long before its end somebody should do something about it, at most: half of its time, if that is less.
const LEAD: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Sees when each ends.
pub(crate) struct Expiry {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) published: PublishedExpiry,
    /// Of the listeners.
    pub(crate) certificates: Vec<CertificateValidity>,
    /// For how long an identity counts.
    pub(crate) valid_for: SignedDuration,
}

impl Expiry {
    /// What expires, soonest first.
    pub(crate) async fn list(&self) -> Result<Vec<Expiring>, StoreError> {
        let now = Timestamp::now();
        let mut all = self.published().await;
        all.extend(self.store.identities_until(Timestamp::MAX).await?.into_iter().map(
            |identity| {
                let soon = is_soon(identity.until, self.valid_for, now);
                of_identity(identity, soon)
            },
        ));
        let joins = self.store.unused_joins(now).await?.into_iter();
        all.extend(joins.map(|UnusedJoin { node, since, until }| Expiring {
            what: Expires::Join,
            soon: is_soon(until, since.duration_until(until), now),
            expires: until,
            hint: format!(
                "make another one, if the node still has to join: provostctl join {node}"
            ),
            name: node,
        }));
        all.extend(self.store.admins().await?.into_iter().map(|admin| of_admin(admin, now)));
        let hint = "replace its file and that of its key, then: systemctl restart provostd";
        all.extend(self.certificates.iter().map(|own| of_certificate(own, hint, now)));
        let database = self.store.server_certificate();
        if let Some(database) = database.and_then(|der| CertificateValidity::of("database", &der)) {
            let hint = "replace its file and that of its key on the database's machine, then let PostgreSQL read \
                        them: SELECT pg_reload_conf()";
            all.push(of_certificate(&database, hint, now));
        }
        all.sort_by(|a, b| {
            (Reverse(a.soon), a.expires, &a.name).cmp(&(Reverse(b.soon), b.expires, &b.name))
        });
        Ok(all)
    }

    /// Of what somebody should take care now.
    pub(crate) async fn soon(&self) -> Result<Vec<Expiring>, StoreError> {
        Ok(self.list().await?.into_iter().filter(|one| one.soon).collect())
    }

    /// What is published for all nodes, and for channels.
    async fn published(&self) -> Vec<Expiring> {
        let key = self.refresh_key().unwrap_or("KEY").to_owned();
        let of = |publication: PublicationExpiry| {
            let hint = match &publication.channel {
                _ if publication.is_refreshed => {
                    "nothing: provostd refreshes it as long as it runs".to_owned()
                }
                None => format!(
                    "sign it again: provostctl publish … --refresh; and let this provostd do so from \
                     now on: --refresh-key {key}"
                ),
                Some(name) => format!(
                    "sign it again: provostctl publish … --to-channel {name} --refresh; or give it to \
                     all nodes: provostctl promote {name}"
                ),
            };
            Expiring {
                what: Expires::Publication,
                name: publication.channel.unwrap_or_else(|| ALL.to_owned()),
                expires: publication.expires,
                soon: publication.soon,
                hint,
            }
        };
        self.published.list().await.into_iter().map(of).collect()
    }

    /// The public key by which this daemon refreshes what is published.
    pub(crate) fn refresh_key(&self) -> Option<&str> {
        self.published.key()
    }

    /// Adds to `nodes` when their identities end, where that is soon.
    pub(crate) async fn show(&self, nodes: &mut [Node]) -> Result<(), StoreError> {
        let end = Timestamp::now().saturating_add(lead(self.valid_for)).unwrap_or(Timestamp::MAX);
        let soon = self.store.identities_until(end).await?.into_iter();
        let soon: HashMap<String, Timestamp> = soon.map(|one| (one.node, one.until)).collect();
        for node in nodes.iter_mut().filter(|_| !soon.is_empty()) {
            node.expires = soon.get(&node.name).copied();
        }
        Ok(())
    }
}

/// What is published for all nodes has this name beside those of channels.
const ALL: &str = "all";

/// How long before its end somebody should do something about what counts for `time`.
fn lead(time: SignedDuration) -> SignedDuration {
    LEAD.min(time / 2)
}

fn is_soon(end: Timestamp, time: SignedDuration, now: Timestamp) -> bool {
    now.duration_until(end) < lead(time)
}

fn of_identity(Identity { node, until, .. }: Identity, soon: bool) -> Expiring {
    let hint = format!(
        "a node renews its identity when it reports: provostctl boot {node}; of a node that is no more: \
         provostctl remove {node}"
    );
    Expiring { what: Expires::Identity, name: node, expires: until, soon, hint }
}

fn of_certificate(certificate: &CertificateValidity, hint: &str, now: Timestamp) -> Expiring {
    let CertificateValidity { name, begins, ends } = *certificate;
    Expiring {
        what: Expires::Certificate,
        name: name.to_owned(),
        expires: ends,
        soon: is_soon(ends, begins.duration_until(ends), now),
        hint: hint.to_owned(),
    }
}

fn of_admin(Admin { name, created, until, role, .. }: Admin, now: Timestamp) -> Expiring {
    let time = created.duration_until(until);
    let days = time.as_hours() / 24;
    let lasts = if time == SignedDuration::from_hours(days * 24) {
        format!("{days}d")
    } else {
        format!("{time:#}")
    };
    let add = format!("provostctl admin add {name} --role {role} --for {lasts}");
    let remove = format!("provostctl admin remove {name}");
    let hint = if until > now {
        format!("{remove}, then {add}")
    } else {
        format!("give a new one: {add}; or, if {name} needs none: {remove}")
    };
    let soon = is_soon(until, time, now);
    Expiring { what: Expires::Admin, expires: until, soon, hint, name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_time_thirty_days_before_or_at_half_of_the_time() {
        let at = |day: i64| Timestamp::from_second(1_800_000_000 + day * 86_400).unwrap();
        let days = |n: i64| SignedDuration::from_hours(24 * n);
        for (time, now, soon) in
            [(365, 334, false), (365, 336, true), (365, 400, true), (7, 3, false), (7, 4, true)]
        {
            assert_eq!(is_soon(at(time), days(time), at(now)), soon, "{time} {now}");
        }
    }
}
