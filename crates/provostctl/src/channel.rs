//! `provostctl channel`: nodes that get what is published before all others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use provost_plan::Groups;
use provost_plan::nodes::fold;
use provost_publish::{Channels, PublishError, SecretKey, change_channels, channels};
use provost_steplog::wording;

use crate::failure::{Failure, WRONG};
use crate::format::Format;
use crate::node_list::NodeList;
use crate::output;
use crate::publish::keys;
use crate::signing::Signing;

/// `provostctl channel`.
#[derive(clap::Subcommand)]
pub(crate) enum Channel {
    /// Set the nodes of a channel, from the next publication on
    ///
    /// A node is in one channel at most.
    Set {
        /// Its name, such as canary
        name: Name,
        #[command(flatten)]
        nodes: NodeList,
        #[command(flatten)]
        place: Place,
    },
    /// List the channels and their nodes
    List {
        /// Published folder: www of provostd.toml
        #[arg(long, value_name = "WWW")]
        to: PathBuf,
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Remove a channel
    ///
    /// Its nodes keep what they have until something newer is published to all.
    Remove {
        /// Its name
        name: Name,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(clap::Args)]
pub(crate) struct Place {
    /// Secret key that signs
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    signing: Signing,
    /// Published folder: www of provostd.toml
    #[arg(long, value_name = "WWW")]
    to: PathBuf,
}

/// A channel's name.
#[derive(Clone)]
pub(crate) struct Name(pub(crate) String);

impl std::str::FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        match !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
            true => Ok(Self(text.to_owned())),
            false => Err("not a channel's name\n  hint: use letters, digits, - and _".into()),
        }
    }
}

impl Channel {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Set { name: Name(name), .. } if name == "all" => {
                let error = "\"all\" can't be a channel: metrics and lists name all nodes so";
                let hint =
                    "choose another name, such as canary: provostctl channel set canary NODES";
                Err(Failure::new(error, hint).with_code(WRONG))
            }
            Self::Set { name, nodes, place } => {
                let nodes = nodes.resolve_by(&place.groups()?)?;
                let nodes: BTreeSet<String> = nodes.names.into_iter().collect();
                let count = wording::count(nodes.len(), "node");
                place.change(|channels| {
                    for others in channels.values_mut() {
                        others.retain(|node| !nodes.contains(node));
                    }
                    channels.retain(|_, nodes| !nodes.is_empty());
                    channels.insert(name.0.clone(), nodes);
                })?;
                let text = format!("channel {} has {count} from the next publication on\n", name.0);
                output::print(text.as_bytes())
            }
            Self::List { to, format } => list(to, *format),
            Self::Remove { name, place } => {
                let mut found = false;
                place.change(|channels| found = channels.remove(&name.0).is_some())?;
                match found {
                    true => output::print(format!("channel {} is removed\n", name.0).as_bytes()),
                    false => {
                        let to = place.to.display();
                        let error =
                            format!("removing channel {}: there is no such channel", name.0);
                        Err(Failure::new(
                            error,
                            format!("see which: provostctl channel list --to {to}"),
                        ))
                    }
                }
            }
        }
    }
}

impl Place {
    /// The groups of what is published to all nodes, then ClusterShell's.
    fn groups(&self) -> Result<Groups, Failure> {
        let published = provost_publish::groups(&self.to, Some(&self.key()?)).map_err(failure)?;
        Ok(Groups::of_clustershell().with_site(published))
    }

    fn change(&self, change: impl FnOnce(&mut Channels)) -> Result<(), Failure> {
        change_channels(&self.to, &self.key()?, change).map(drop).map_err(failure)
    }

    fn key(&self) -> Result<SecretKey, Failure> {
        let key = self.signing.key(&self.key)?;
        keys::check(&self.to, &key)?;
        Ok(key)
    }
}

fn list(to: &Path, format: Format) -> Result<(), Failure> {
    let all = channels(to, None).map_err(failure)?;
    let text = match format {
        Format::Json => {
            let json = serde_json::to_string(&all);
            format!("{}\n", json.map_err(|e| Failure::of(&e, "report this as a bug"))?)
        }
        Format::Text if all.is_empty() => "there are no channels\n".to_owned(),
        Format::Text => {
            let line = |(name, nodes): (&String, &BTreeSet<String>)| {
                format!("{name}: {}\n", fold(&nodes.iter().cloned().collect::<Vec<_>>()))
            };
            all.iter().map(line).collect()
        }
    };
    output::print(text.as_bytes())
}

fn failure(error: PublishError) -> Failure {
    Failure::of(&error, error.hint())
}
