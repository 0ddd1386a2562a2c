//! `provostctl key`: the key that signs what is published, and its successor.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use provost_api::admins::Generations;
use provost_bundle::PublicKey;
use provost_plan::nodes::fold;
use provost_publish::{Action, SecretKey, Succession, history, sign_again};
use provost_steplog::wording;
use provost_store::Node;

use crate::address::Admin;
use crate::client::Client;
use crate::failure::Failure;
use crate::key_show::ShowKeys;
use crate::output;
use crate::publish::Again;
use crate::publish::generations::{ask, place};
use crate::publish::keys::{known, published};
use crate::signing::Password;

/// `provostctl key`.
#[derive(clap::Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key pair
    ///
    /// Writes provost.key and provost.pub, and prints the public key's line.
    New {
        /// Folder for both files
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Protect the secret key by a password; asks for it
        #[arg(long)]
        password: bool,
        #[command(flatten)]
        from: Password,
    },
    /// Replace the key that signs by another one
    ///
    /// Nodes that trust the old key accept the new one, and from then on refuse the old one. Run it again to see which
    /// nodes haven't fetched the new key yet.
    Rotate {
        /// New secret key, of provostctl key new; publish with it from then on
        #[arg(long, value_name = "FILE")]
        next: PathBuf,
        #[command(flatten)]
        again: Again,
    },
    /// Show the keys, and how many nodes trust each
    Show(ShowKeys),
    /// Revoke a key: publishes again what all nodes have, which revokes it
    Revoke {
        /// Public key, a line RW…
        #[arg(value_name = "RW…", value_parser = public_key)]
        revoked: PublicKey,
        #[command(flatten)]
        again: Again,
    },
}

fn public_key(line: &str) -> Result<PublicKey, String> {
    PublicKey::from_line(line).map_err(|e| format!("{e}\n  hint: {}", e.hint()))
}

impl KeyCommand {
    pub(crate) fn run(&self, admin: &Admin) -> Result<(), Failure> {
        match self {
            Self::New { out, password, from } => {
                let password = password.then(|| from.new_one()).transpose()?;
                new(out, password.as_deref())
            }
            Self::Revoke { revoked, again } => again.revoke(admin, revoked.clone()),
            Self::Show(show) => show.run(admin),
            Self::Rotate { next, again } => rotate(admin, next, again),
        }
    }
}

fn new(out: &Path, password: Option<&str>) -> Result<(), Failure> {
    let key = SecretKey::new_pair_with(out, password).map_err(|e| Failure::of(&e, e.hint()))?;
    output::note(&format!(
        "wrote {} (keep it secret) and {}; the line for [trust] keys on the nodes:",
        out.join("provost.key").display(),
        out.join("provost.pub").display(),
    ));
    output::print(format!("{}\n", key.public_line()).as_bytes())
}

/// Each step that was done already is left out, so that it can be run again after a failure, and to
/// look.
fn rotate(admin: &Admin, next_file: &Path, again: &Again) -> Result<(), Failure> {
    let load = |path: &Path| again.signing.key(path);
    let (old, next) = (load(&again.key)?, load(next_file)?);
    if old.public() == next.public() {
        let hint = "create another key: provostctl key new --out DIR";
        return Err(Failure::new("--key and --next are the same key", hint));
    }
    let manifest = published(&again.to)?;
    let is_its = |reported: &Generations| place(&reported.www) == place(&again.to);
    let reported = ask(admin).ok().filter(is_its);
    let known = known(Succession::published(&again.to), Some(&again.key), reported.as_ref())?;
    let mut known =
        known.or_further(Succession::beside(next_file).map_err(|e| Failure::of(&e, e.hint()))?);
    if known.has_replaced(next.public()) {
        let error = format!("the key of --next came before that of {}", again.key.display());
        return Err(Failure::new(error, "create another key: provostctl key new --out DIR"));
    }
    let follows = known.last_key() == Some(next.public()) && known.has_replaced(old.public());
    if manifest.key != next.public_line() {
        if manifest.key != old.public_line() {
            let error = format!("{} is signed by neither key", again.to.display());
            return Err(Failure::new(error, "name the key that signs it now: --key FILE"));
        }
        if !follows {
            known.check(old.public()).map_err(|e| Failure::of(&e, e.hint()))?;
            known = known.with_next(&old, next.public()).map_err(|e| Failure::of(&e, e.hint()))?;
            if !again.check && !again.diff {
                known.write_beside(next_file).map_err(|e| Failure::of(&e, e.hint()))?;
            }
        }
        again.rotate(admin, next_file, known)?;
    } else if !follows {
        let to = again.to.display();
        let error =
            format!("{to} is signed by the key of --next, which doesn't follow that of --key");
        return Err(Failure::new(error, "name the key that signs it now: --key FILE"));
    }
    if again.check || again.diff {
        return Ok(());
    }
    sign_again(&again.to, &old, &next).map_err(|e| Failure::of(&e, e.hint()))?;
    output::note(&format!(
        "  hint: set key = \"{}\" in provostctl.toml, or publish with --key\n  \
         hint: give new nodes, images and kernel command lines the new key: {}\n  \
         hint: install.sh has another digest: provostctl enroll open prints it",
        next_file.display(),
        next.public_line(),
    ));
    output::print(seen(admin, &again.to)?.as_bytes())
}

/// Which nodes have fetched what the new key signs, by the generation that it began with.
fn seen(admin: &Admin, www: &Path) -> Result<String, Failure> {
    let records = history(www);
    let first = records.iter().find(|record| record.action == Action::Rotate);
    // After many more publications, all that the history has are the new key's.
    let first = first.or(records.last()).map_or(0, |record| record.generation);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Failure::of(&e, "check the limits of this process"))?;
    let nodes: Result<Vec<Node>, Failure> =
        runtime.block_on(async { Client::new(admin)?.nodes(None).await });
    let nodes = match nodes {
        Ok(nodes) => nodes,
        Err(failure) => {
            return Ok(format!("which nodes have fetched it isn't known: {}\n", failure.error));
        }
    };
    let planned = |name: &str| www.join("plans").join(format!("{name}.toml")).exists();
    let nodes: Vec<&Node> = nodes.iter().filter(|node| planned(&node.name)).collect();
    let has_not = |node: &&&Node| node.bundle.unwrap_or_default() < first;
    let missing: BTreeSet<String> = nodes.iter().filter(has_not).map(|n| n.name.clone()).collect();
    let missing: Vec<String> = missing.into_iter().collect();
    let all = wording::count(nodes.len(), "node");
    Ok(match missing.len() {
        0 => format!("all of {all} have fetched what the new key signs (generation {first})\n"),
        n => format!(
            "{n} of {all} have not fetched what the new key signs (generation {first}) yet: {}\n",
            fold(&missing)
        ),
    })
}
