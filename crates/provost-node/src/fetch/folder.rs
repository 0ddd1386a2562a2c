//! Scripts and a plan that are on this machine already, as a [`Source`]: `provost try` puts them there.

use futures_util::future::LocalBoxFuture;
use provost_bundle::Manifest;
use provost_exec::{Orders, Supervisor};
use provost_plan::{Plan, secret};
use provost_record::Cause;
use tokio::sync::watch;

use super::error::NotFetched;
use super::published::add_to_path;
use super::retry::StillTrying;
use super::source::{Connection, Fetched, Source};
use crate::failure::Failure;

/// The files of the state folder.
pub struct Folder {
    connection: Connection,
}

impl Folder {
    /// In the folder that the settings name.
    pub fn new(connection: Connection) -> Self {
        Self { connection }
    }

    fn read(&self) -> Result<Fetched, Failure> {
        let state = &self.connection.paths.state;
        let text = |name: &str, most: u64| {
            let path = state.join(name);
            provost_fs::read(&path, most).map_err(|e| {
                let message = format!("reading {}", path.display());
                Failure::unreadable(message, HINT, e)
            })
        };
        let unusable = |e: &dyn std::fmt::Display| Failure::new(Cause::Verify, e, HINT);
        let manifest = text(provost_api::published::MANIFEST, Manifest::MAX_BYTES)?;
        let manifest = Manifest::parse(&manifest).map_err(|e| unusable(&e))?;
        let plan = text("plan.toml", Plan::MAX_BYTES)?;
        let mut plan = Plan::parse(&plan).map_err(|e| unusable(&e))?;
        if !plan.secret_env.is_empty() {
            let secrets = text("secrets.toml", Plan::MAX_BYTES)?;
            secret::add(&mut plan, &secrets)
                .then_some(())
                .ok_or_else(|| unusable(&"secrets.toml"))?;
        }
        let folder = state.join("bundle");
        add_to_path(&mut plan, &folder);
        Ok(Fetched::on_this_machine(manifest, plan, folder))
    }
}

const HINT: &str = "have it made by: provost try SCRIPT --site site.toml --node NODE";

impl Source for Folder {
    fn fetch<'a>(
        &'a mut self,
        _executor: &'a mut Supervisor,
        _orders: &'a mut watch::Receiver<Orders>,
        _still_trying: &'a mut dyn FnMut(StillTrying),
    ) -> LocalBoxFuture<'a, Result<Fetched, NotFetched>> {
        Box::pin(async { Ok(self.read()?) })
    }
}
