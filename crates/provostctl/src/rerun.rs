//! `provostctl rerun`: an admin's explicit run, on many nodes.

use std::collections::BTreeSet;

use provost_api::admins::{SCRIPTS, Scripts};
use provost_plan::Step;

use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::on_nodes::OnNodes;
use crate::output;
use crate::ssh::Remote;

/// How many scripts a hint names at most.
const MOST_NAMES: usize = 20;

/// `provostctl rerun`.
#[derive(clap::Args)]
#[command(override_usage = "provostctl rerun [OPTIONS] NODES SCRIPT [ARGS]…
       provostctl rerun [OPTIONS] NODES -P LIST
       provostctl rerun [OPTIONS] -f FILE SCRIPT [ARGS]…
       provostctl rerun [OPTIONS] NODES SCRIPT [--dry-run] [--output]")]
pub(crate) struct Rerun {
    /// Change nothing: show what it would change there, equal results together
    #[arg(long)]
    dry_run: bool,
    /// Show what the script printed, equal outputs together
    #[arg(long, conflicts_with = "dry_run")]
    output: bool,
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
        self.dry_run |= self.what.take("--dry-run");
        self.output |= self.what.take("--output");
        if self.what.take("--format=json") {
            self.on.print_json();
        }
        if self.dry_run && self.output {
            let error = "--dry-run and --output exclude each other";
            let hint = "a dry run shows the output of what failed by itself";
            return Err(Failure::new(error, hint).with_code(WRONG));
        }
        let scripts = self.what.scripts()?;
        check(&scripts, client).await?;
        let mut command = vec!["provost", "run"];
        if self.dry_run {
            command.extend(["--dry-run", "--format", "json"]);
        }
        match &self.what.list {
            Some(list) => command.extend(["-P", list]),
            None => command.extend(self.what.script.iter().map(String::as_str)),
        }
        if !self.dry_run {
            let output_of = if self.output { scripts } else { Vec::new() };
            return self.on.run(client, &command, &output_of).await;
        }
        let nodes = self.on.nodes(client).await?;
        let remote = |_: &str| Remote { command: command.clone(), report: None, files: None };
        self.on.dry_run(client, &nodes, remote).await
    }
}

impl What {
    /// Takes `option` from behind SCRIPT, where it is this command's too. A script's own stands behind
    /// `--`, or in a LIST.
    fn take(&mut self, option: &str) -> bool {
        let words: Vec<&str> = option.splitn(2, '=').collect();
        let own = self.script.split(|word| word == "--").next().unwrap_or_default();
        let places = [vec![option], words].into_iter().find_map(|words| {
            let at = own.windows(words.len()).position(|own| own == words)?;
            Some(at..at + words.len())
        });
        let Some(places) = places else { return false };
        self.script.drain(places);
        true
    }

    /// The names of the scripts.
    fn scripts(&self) -> Result<Vec<String>, Failure> {
        if self.list.is_some() != self.script.is_empty() {
            let error = "a rerun is of one script, or of a list of scripts";
            let hint = "name them: provostctl rerun NODES SCRIPT [ARGS]…, or NODES -P LIST";
            return Err(Failure::new(error, hint).with_code(WRONG));
        }
        let mut scripts: Vec<String> = match &self.list {
            Some(list) => Step::parse_list(list)
                .map_err(|e| Failure::new(e.to_string(), e.hint()).with_code(WRONG))?
                .into_iter()
                .map(|step| step.script)
                .collect(),
            None => self.script.first().cloned().into_iter().collect(),
        };
        let mut seen = BTreeSet::new();
        scripts.retain(|script| seen.insert(script.clone()));
        Ok(scripts)
    }
}

/// Refuses a script that isn't published, before any node is asked.
async fn check(scripts: &[String], client: &Client) -> Result<(), Failure> {
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
