//! `provostctl rerun`: an admin's explicit run, on many nodes.

use provost_api::admins::{SCRIPTS, Scripts};
use provost_plan::Step;

use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::on_nodes::OnNodes;
use crate::output;
use crate::ssh::Remote;

/// How many scripts a hint names at most.
const MOST_NAMES: usize = 20;
/// What keeps a script from changing anything.
const DRY_RUN: &str = "--dry-run";

/// `provostctl rerun`.
#[derive(clap::Args)]
#[command(override_usage = "provostctl rerun [OPTIONS] NODES SCRIPT [ARGS]…
       provostctl rerun [OPTIONS] NODES -P LIST
       provostctl rerun [OPTIONS] -f FILE SCRIPT [ARGS]…
       provostctl rerun [OPTIONS] NODES SCRIPT --dry-run")]
pub(crate) struct Rerun {
    /// Change nothing: show what it would change there, equal results together
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    on: OnNodes,
    #[command(flatten)]
    what: What,
}

#[derive(clap::Args)]
#[group(multiple = false)]
struct What {
    /// Scripts with their arguments, such as "s1 p1 p2,s2"
    #[arg(short = 'P', value_name = "LIST")]
    list: Option<String>,
    /// A script and its arguments
    #[arg(value_name = "SCRIPT [ARGS]…", trailing_var_arg = true, allow_hyphen_values = true)]
    script: Vec<String>,
}

impl Rerun {
    pub(crate) async fn run(mut self, client: &Client) -> Result<(), Failure> {
        if let Some(first) = self.on.take_word() {
            self.what.script.insert(0, first);
        }
        let is_dry = self.what.take_dry_run() || self.dry_run;
        self.what.check(client).await?;
        let mut command = vec!["provost", "run"];
        if is_dry {
            command.extend(["--dry-run", "--format", "json"]);
        }
        match &self.what.list {
            Some(list) => command.extend(["-P", list]),
            None => command.extend(self.what.script.iter().map(String::as_str)),
        }
        if !is_dry {
            return self.on.run(client, &command).await;
        }
        let nodes = self.on.nodes(client).await?;
        let remote = |_: &str| Remote { command: command.clone(), report: None, files: None };
        self.on.dry_run(client, &nodes, remote).await
    }
}

impl What {
    /// Takes `--dry-run` from behind SCRIPT, where it is this command's too: whoever writes it there
    /// wants nothing to change. A script's own stands in a LIST.
    fn take_dry_run(&mut self) -> bool {
        let words = self.script.iter().take_while(|word| *word != "--");
        let Some(at) = words.into_iter().position(|word| word == DRY_RUN) else { return false };
        self.script.remove(at);
        true
    }

    /// Refuses a script that isn't published, before any node is asked.
    async fn check(&self, client: &Client) -> Result<(), Failure> {
        if self.list.is_some() != self.script.is_empty() {
            let error = "a rerun is of one script, or of a list of scripts";
            let hint = "name them: provostctl rerun NODES SCRIPT [ARGS]…, or NODES -P LIST";
            return Err(Failure::new(error, hint).with_code(WRONG));
        }
        let scripts: Vec<String> = match &self.list {
            Some(list) => Step::parse_list(list)
                .map_err(|e| Failure::new(e.to_string(), e.hint()).with_code(WRONG))?
                .into_iter()
                .map(|step| step.script)
                .collect(),
            None => self.script.first().cloned().into_iter().collect(),
        };
        let published = match client.get::<Scripts>(SCRIPTS).await {
            Ok(Scripts { scripts: Some(published), .. }) => published,
            Ok(Scripts { scripts: None, .. }) => return Ok(()),
            Err(failure) => {
                output::note(&format!("not checked what is published: {}", failure.error));
                return Ok(());
            }
        };
        let Some(missing) = scripts.iter().find(|script| !published.contains(script)) else {
            return Ok(());
        };
        let mut names: Vec<&str> = published.iter().map(String::as_str).collect();
        let rest = names.len().saturating_sub(MOST_NAMES);
        names.truncate(MOST_NAMES);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let hint = format!("publish it, or name one of: {}{more}", names.join(", "));
        Err(Failure::new(format!("no script {missing:?} is published"), hint).with_code(WRONG))
    }
}
