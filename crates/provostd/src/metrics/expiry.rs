//! When what is published and certificates end.

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use provost_api::Expires;
use provost_api::admins::Expiring;

/// Gauges of what expires.
#[derive(Default)]
pub(crate) struct ExpiryGauges {
    certificates: Family<[(&'static str, String); 1], Gauge>,
    published: Family<[(&'static str, String); 1], Gauge>,
    expiring: Family<[(&'static str, String); 1], Gauge>,
}

impl ExpiryGauges {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "When a certificate of provostd ends, in seconds of Unix time";
        registry.register_with_unit(
            "certificate_expiry_timestamp",
            help,
            Unit::Seconds,
            self.certificates.clone(),
        );
        let help = "When what is published expires, in seconds of Unix time";
        registry.register_with_unit(
            "published_expires_timestamp",
            help,
            Unit::Seconds,
            self.published.clone(),
        );
        let help = "What expires soon or has expired; see provostctl expiry";
        registry.register("expiring", help, self.expiring.clone());
    }

    /// When what is published expires, for all nodes and for each channel, and certificates; and how much of each
    /// kind expires soon.
    pub(crate) fn show(&self, all: &[Expiring]) {
        // A channel may have ended.
        self.published.clear();
        for one in all.iter().filter(|one| one.what == Expires::Publication) {
            let channel = [("channel", one.name.clone())];
            self.published.get_or_create(&channel).set(one.expires.as_second());
        }
        for one in all.iter().filter(|one| one.what == Expires::Certificate) {
            let certificate = [("certificate", one.name.clone())];
            self.certificates.get_or_create(&certificate).set(one.expires.as_second());
        }
        for what in Expires::ALL {
            let soon = all.iter().filter(|one| one.what == what && one.soon).count();
            self.expiring.get_or_create(&[("what", what.to_string())]).set(soon as i64);
        }
    }
}
