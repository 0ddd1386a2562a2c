//! How nodes reach provostd by TLS, where the published folder that said so is lost, or older than what nodes have
//! seen: they must not go back to plain HTTP by that.

use std::path::Path;

use provost_api::admins::Generations as Reported;
use provost_bundle::Tls;
use provost_publish::{Prepared, Used};

use super::generations::Ledger;
use super::options::NamedTls;
use crate::failure::Failure;
use crate::output;

/// What is known of it besides what is published.
pub(super) struct LastTls {
    /// The newest generation that was published; 0 before the first.
    generation: u64,
    tls: Option<NamedTls>,
}

impl LastTls {
    /// What was published last by this key; else how the daemon is reached, because another key's owner may
    /// have published since.
    pub(super) fn of(
        ledger: &Ledger,
        www: &Path,
        used: &Used,
        reported: Option<&Reported>,
    ) -> Self {
        let generation = used.published.bundle.max(used.bundle);
        let noted = ledger.of(www).tls.filter(|_| used.published.bundle == generation);
        let own = || reported?.tls.as_deref()?.parse().ok();
        Self { generation, tls: noted.or_else(own).filter(|_| generation > 0) }
    }

    /// For the publication.
    pub(super) fn get(&self) -> Option<(u64, Option<&Tls>)> {
        self.tls.as_ref().map(|tls| (self.generation, tls.get()))
    }

    /// Says that it goes on, where the folder doesn't say it; refuses where nothing does.
    pub(super) fn check(&self, prepared: &Prepared<'_>, www: &Path) -> Result<(), Failure> {
        if self.generation == 0 || !prepared.is_behind(self.generation) {
            return Ok(());
        }
        let www = www.display();
        match &self.tls {
            Some(NamedTls::On(tls)) => {
                output::note(&format!(
                    "note: {www} doesn't say how nodes reach provostd by TLS: going on with {tls}"
                ));
                Ok(())
            }
            Some(NamedTls::Off) => Ok(()),
            None => {
                let error = format!(
                    "publishing to {www}: it was published before, and whether nodes use TLS is unknown"
                );
                let hint =
                    "name it: --tls \"$(provostd ca show --tls)\"; or, if they use none, --tls off";
                Err(Failure::new(error, hint))
            }
        }
    }
}
