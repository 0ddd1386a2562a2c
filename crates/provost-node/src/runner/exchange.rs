use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use reqwest::Client;

use super::outbox::Outbox;
use super::run::Run;
use crate::failure::Failure;
use crate::fetch::HeadStart;
use crate::observe::report::Reporter;
use crate::settings::secrets::secrets;
use crate::settings::{Input, Settings};
use crate::state::root::Root;

/// What every exchange with the servers needs.
pub(crate) struct Exchange {
    settings: Arc<Settings>,
    /// What is wrong with them. It fails the run in its first stage, where it is told.
    failures: Vec<Failure>,
    client: Result<Client, Failure>,
    /// While nobody has taken up what came of it.
    pub(crate) head_start: Option<HeadStart>,
}

impl Exchange {
    /// Asks the first server for what a fetch begins with, for the run with the id `run`.
    pub(crate) async fn begin(input: &Input, run: &str) -> Self {
        let (settings, failures) = input.usable();
        let client = crate::http::client(&settings);
        let settings = Arc::new(settings);
        let state: PathBuf = input.paths().state;
        let head_start = match &client {
            Ok(client) if failures.is_empty() => {
                HeadStart::take(&settings, client, state, run).await
            }
            _ => None,
        };
        Self { settings, failures, client, head_start }
    }
}

impl Run<'_> {
    /// Begins to report, and returns what it takes to ask the servers.
    pub(crate) async fn connect(
        &mut self,
        input: &Input,
        root: Root,
    ) -> Result<(Arc<Settings>, Client), Failure> {
        let settings = Arc::clone(&self.exchange.settings);
        self.hide(secrets(&settings, &BTreeMap::new()));
        self.begin_xcat_log(input, &settings);
        // What is right serves to report what is wrong.
        if self.outbox.is_none() {
            // Of a root that has booted before it isn't known yet whether anything runs.
            let words = if root == Root::Booted { &[] } else { self.first_words(input, root) };
            self.outbox = Outbox::to_xcat(&settings, self.paths, self.service, words).await;
        }
        let client = self.exchange.client.clone()?;
        if self.outbox.is_none() && !settings.servers.is_empty() {
            let live = (self.service, self.recorder.synced());
            let reporter = Reporter::spawn(&settings, &client, self.paths, live, &self.id);
            self.hold = Some(reporter.hold());
            self.outbox = Some(Outbox::Records(reporter));
        }
        // The first one fails the run, and is told with it.
        input.mistakes.iter().skip(1).for_each(|more| self.console.say(&format!("error: {more}")));
        match self.exchange.failures.first() {
            Some(failure) => Err(failure.clone()),
            None => Ok((settings, client)),
        }
    }
}
