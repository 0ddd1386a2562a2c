//! Releasing a node that the guard holds.

use std::time::Duration;

use jiff::Timestamp;
use provost_record::ExitCode;
use reqwest::Client;

use super::guard::Attempts;
use crate::console::Console;
use crate::failure::Failure;
use crate::messages::take_down;
use crate::settings::{Input, Settings};

/// How long one server may take to say whether this node was released.
const ANSWER: Duration = Duration::from_secs(5);

/// `provost release`: forgets the attempts that failed.
pub(crate) fn main(input: &Input) -> ExitCode {
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
            console.say(&format!(
                "released: {n} attempt{s} forgotten; if the management node holds this node, too: \
                 provostctl release {}",
                input.node()
            ));
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
pub(super) async fn asked(settings: &Settings, client: &Client, run: &str) -> Option<Timestamp> {
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
