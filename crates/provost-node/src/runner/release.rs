//! Releasing a node that the guard holds.

use std::time::Duration;

use jiff::Timestamp;
use provost_record::ExitCode;
use reqwest::Client;

use super::broken::Broken;
use super::run::Run;
use crate::failure::Failure;
use crate::observe::console::Console;
use crate::observe::notices::take_down;
use crate::settings::{Input, Settings};
use crate::state::attempts::Attempts;
use crate::state::root::Root;

/// How long one server may take to say whether this node was released.
const ANSWER: Duration = Duration::from_secs(5);

/// `provost release`: forgets the attempts that failed.
pub fn main(input: &Input) -> ExitCode {
    let paths = input.paths();
    let mut console = Console::new(input, false);
    let cleared = Attempts::read(&paths.state, input.guard().max_attempts.get())
        .and_then(|mut attempts| attempts.clear());
    match cleared {
        Ok(n) => {
            if input.notices() {
                take_down(&paths);
            }
            let s = if n == 1 { "" } else { "s" };
            let there = input.known_there().map(|node| {
                format!("; if the management node holds this node, too: provostctl release {node}")
            });
            let there = there.unwrap_or_default();
            console.say(&format!("released: {n} attempt{s} forgotten{there}"));
            ExitCode::Done
        }
        Err(e) => {
            let message = format!("forgetting the attempts in {}: {e}", paths.state.display());
            let failure = Failure::config(message, "run as root");
            console.say(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}

/// When an admin released this node, as the first server says that knows. Each is asked once and
/// for a short time: a node that is held has no other business there.
pub(crate) async fn asked(settings: &Settings, client: &Client, run: &str) -> Option<Timestamp> {
    for server in &settings.servers {
        let url = format!("{server}plans/{}.toml", settings.node);
        let mut request = client.get(url).header("provost-run", run).timeout(ANSWER);
        if let Some(token) = &settings.token {
            request = request.bearer_auth(&token.0);
        }
        let Ok(response) = request.send().await else { continue };
        let released = response.headers().get("provost-released");
        if let Some(at) = released.and_then(|at| at.to_str().ok()?.parse().ok()) {
            return Some(at);
        }
    }
    None
}

impl Run<'_> {
    /// A node that is held stays so, unless an admin has released it on the management node.
    pub(crate) async fn wait_for_release(
        &mut self,
        input: &Input,
        root: Root,
        failure: Failure,
    ) -> Result<(), Broken> {
        // What was asked for before has no value by the time that somebody releases it.
        self.exchange.head_start = None;
        if let Ok((settings, client)) = self.connect(input, root).await {
            let released = tokio::select! {
                at = asked(&settings, &client, &self.id) => at,
                _ = self.orders.wait_for(|orders| orders.stop.is_some()) => None,
            };
            released.map_or(Ok(()), |at| self.released(at))?;
        }
        if self.attempts.held(None).is_some() {
            return Err(self.refuse(&failure, &[]));
        }
        self.console.say("the management node has released this node");
        self.attempts.count(self.service, &self.id).map_err(|e| self.not_counted(&e))?;
        Ok(())
    }

    pub(crate) fn released(&mut self, at: Timestamp) -> Result<(), Broken> {
        self.attempts.released(at, &self.id).map_err(|e| self.not_counted(&e))
    }

    fn not_counted(&mut self, e: &std::io::Error) -> Broken {
        let message = format!("counting the attempts in {}: {e}", self.paths.state.display());
        self.refuse(&Failure::config(message, "make room there, and start again"), &[])
    }
}
