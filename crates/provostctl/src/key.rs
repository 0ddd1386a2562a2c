//! `provostctl key`: the key that signs what is published, and its successor.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use provost_bundle::{Manifest, PublicKey};
use provost_plan::nodes::fold;
use provost_publish::{Action, SecretKey, history, sign_again};
use provost_steplog::wording;
use provost_store::Node;

use crate::address::Admin;
use crate::client::Client;
use crate::failure::Failure;
use crate::output;
use crate::publish::Again;
use crate::signing::Password;

/// `provostctl key`.
#[derive(clap::Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key pair, provost.key and provost.pub; prints the public key's line
    New {
        /// The folder for both
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Protect the secret key by a password, which is asked for
        #[arg(long)]
        password: bool,
        #[command(flatten)]
        from: Password,
    },
    /// Let another key sign what is published. Nodes that trust the old key accept the new one, and
    /// then the old one no more; run it again to see which nodes haven't fetched it yet
    Rotate {
        /// The new secret key, made by provostctl key new; publish with it from then on
        #[arg(long, value_name = "FILE")]
        next: PathBuf,
        #[command(flatten)]
        again: Again,
    },
    /// Let a key count no more on any node: what all nodes have is published again, and says so
    Revoke {
        /// The public key, a line RW…
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
    let (old, mut next) = (load(&again.key)?, load(next_file)?);
    if old.public() == next.public() {
        let hint = "create another key: provostctl key new --out DIR";
        return Err(Failure::new("--key and --next are the same key", hint));
    }
    if old.succeeds(next.public()) {
        let error = format!("the key of --next came before that of {}", again.key.display());
        return Err(Failure::new(error, "create another key: provostctl key new --out DIR"));
    }
    let by = || -> Result<String, Failure> {
        let path = again.to.join("manifest.toml");
        let hint = || "name the published folder: --to WWW".to_owned();
        let failed = |e: &dyn std::error::Error| {
            let error = format!("reading {}: {}", path.display(), wording::error_chain(e));
            Failure::new(error, hint())
        };
        let text = std::fs::read(&path).map_err(|e| failed(&e))?;
        Ok(Manifest::parse(&text).map_err(|e| failed(&e))?.key)
    };
    let signer = by()?;
    if signer == next.public_line() && !next.succeeds(old.public()) {
        let to = again.to.display();
        let error =
            format!("{to} is signed by the key of --next, which doesn't follow that of --key");
        return Err(Failure::new(error, "name the key that signs it now: --key FILE"));
    }
    if signer != next.public_line() {
        if signer != old.public_line() {
            let error = format!("{} is signed by neither key", again.to.display());
            return Err(Failure::new(error, "name the key that signs it now: --key FILE"));
        }
        if !next.succeeds(old.public()) && !again.check && !again.diff {
            old.name_next(&mut next, next_file).map_err(|e| Failure::of(&e, e.hint()))?;
        }
        again.rotate(admin, next_file)?;
    }
    if again.check || again.diff {
        return Ok(());
    }
    sign_again(&again.to, &old, &next).map_err(|e| Failure::of(&e, e.hint()))?;
    output::note(&format!(
        "  hint: publish with --key {} from now on; keep {} beside it; give new nodes, images and \
         kernel command lines the new key: {}",
        next_file.display(),
        next_file.with_extension("succession").display(),
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
