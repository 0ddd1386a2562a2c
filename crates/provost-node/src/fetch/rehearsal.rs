//! What `provostctl publish --rehearse` has sent, as a [`Source`] for a dry run: verified as what is
//! fetched is. No other run takes it, and no generation of it is remembered outside of the sandbox.

use std::fs::File;
use std::path::PathBuf;

use futures_util::future::LocalBoxFuture;
use provost_api::published::{REHEARSED_PACK, REHEARSED_SECRETS};
use provost_exec::{Orders, Supervisor};
use provost_plan::{Plan, secret};
use provost_record::Cause;
use provost_steplog::wording;
use tokio::sync::watch;

use super::bundles::Bundles;
use super::documents::{Documents, Verified};
use super::error::NotFetched;
use super::published::add_to_path;
use super::retry::StillTrying;
use super::source::{Connection, Fetched, Source};
use super::{fresh, keys};
use crate::failure::Failure;

const HINT: &str = "send it again: provostctl publish --rehearse NODES …";

/// The files in a folder.
pub struct Rehearsal {
    connection: Connection,
    folder: PathBuf,
}

impl Rehearsal {
    /// In `folder`.
    pub fn new(connection: Connection, folder: PathBuf) -> Self {
        Self { connection, folder }
    }

    fn read(&self) -> Result<Fetched, Failure> {
        let Connection { settings, paths, .. } = &self.connection;
        let bundles = Bundles::open(&paths.state)?;
        let trust = keys::trust(settings, &paths.state)?;
        let documents = Documents::rehearsed(&self.folder)?;
        let Verified { manifest, mut plan, .. } = documents.verify_as(settings, &trust, true)?;
        bundles.check_generations("the rehearsal", 0, &manifest, &plan).map_err(|e| e.failure)?;
        fresh::belongs(settings, &manifest, &plan)?;
        fresh::check(settings, (&manifest, &plan), false, None, None)
            .map_err(|failure| Failure { hint: HINT.to_owned(), ..failure })?;
        let unreadable = |name: &str, e| Failure::unreadable(format!("reading {name}"), HINT, e);
        if !plan.secret_env.is_empty() {
            let path = self.folder.join(REHEARSED_SECRETS);
            let secrets = provost_fs::read(&path, Plan::MAX_BYTES)
                .map_err(|e| unreadable(REHEARSED_SECRETS, e))?;
            if !secret::add(&mut plan, &secrets) {
                let message =
                    format!("checking {REHEARSED_SECRETS}: the signed plan names another");
                return Err(Failure::new(Cause::Verify, message, HINT));
            }
        }
        let pack = File::open(self.folder.join(REHEARSED_PACK));
        let pack = pack.map_err(|e| unreadable(REHEARSED_PACK, e))?;
        let new = bundles.begin()?;
        provost_bundle::unpack(pack, &manifest, new.path())
            .map_err(|e| Failure::new(Cause::Verify, wording::error_chain(&e), e.hint()))?;
        let folder = bundles.switch_to(new)?;
        add_to_path(&mut plan, &folder);
        Ok(Fetched::on_this_machine(manifest, plan, folder))
    }
}

impl Source for Rehearsal {
    fn fetch<'a>(
        &'a mut self,
        _executor: &'a mut Supervisor,
        _orders: &'a mut watch::Receiver<Orders>,
        _still_trying: &'a mut dyn FnMut(StillTrying),
    ) -> LocalBoxFuture<'a, Result<Fetched, NotFetched>> {
        Box::pin(async { Ok(self.read()?) })
    }
}
