//! A bundle that is published next to xCAT's own scripts, as a [`Source`].

use futures_util::future::LocalBoxFuture;
use jiff::Timestamp;
use provost_exec::{Orders, Supervisor};
use provost_node::fetch::NotFetched;
use provost_node::fetch::published::Published;
use provost_node::fetch::retry::StillTrying;
use provost_node::fetch::source::{Connection, Fetched, Source};
use provost_node::settings::Xcat;
use tokio::sync::watch;

use super::environment::{add_environment, is_debugged};
use super::tree::mirror;

/// The bundle, whose scripts run in `/xcatpost`, with the environment that xCAT gives them.
pub(crate) struct PublishedScripts {
    connection: Connection,
    xcat: Xcat,
    published: Published,
}

impl PublishedScripts {
    pub(crate) fn new(connection: Connection, xcat: Xcat) -> Self {
        Self { published: Published::new(connection.clone()), connection, xcat }
    }

    fn complete(&self, mut fetched: Fetched) -> Result<Fetched, NotFetched> {
        let paths = &self.connection.paths;
        mirror(&fetched.manifest, &fetched.folder, paths)?;
        // The scripts are called from the other folder alone.
        let bundle = format!(":{}", fetched.folder.display());
        if let Some(path) = fetched.plan.env.get_mut("PATH")
            && let Some(others) = path.strip_suffix(&bundle)
        {
            *path = others.to_owned();
        }
        fetched.folder.clone_from(&paths.xcatpost);
        add_environment(
            &mut fetched.plan,
            &fetched.folder,
            &self.xcat,
            &self.connection,
            fetched.server.as_ref(),
        );
        fetched.shows_commands = is_debugged(&fetched.plan.env);
        Ok(fetched)
    }
}

impl Source for PublishedScripts {
    fn prefetch(&mut self) -> LocalBoxFuture<'_, ()> {
        self.published.prefetch()
    }

    fn released(&mut self) -> LocalBoxFuture<'_, Option<Timestamp>> {
        self.published.released()
    }

    fn fetch<'a>(
        &'a mut self,
        executor: &'a mut Supervisor,
        orders: &'a mut watch::Receiver<Orders>,
        still_trying: &'a mut dyn FnMut(StillTrying),
    ) -> LocalBoxFuture<'a, Result<Fetched, NotFetched>> {
        Box::pin(async {
            let fetched = self.published.fetch(executor, orders, still_trying).await?;
            self.complete(fetched)
        })
    }
}
