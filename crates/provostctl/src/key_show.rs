//! `provostctl key show`: which key signs, which ones it has replaced, and which of them nodes trust.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use provost_bundle::PublicKey;
use provost_plan::nodes::fold;
use provost_publish::Succession;
use provost_steplog::terminal::{escape_cell, escape_json};
use provost_steplog::wording;
use serde::Serialize;

use crate::address::Admin;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::publish::generations::{ask, place};
use crate::publish::keys::{known, published};

/// `provostctl key show`.
#[derive(clap::Args)]
pub(crate) struct ShowKeys {
    /// Published folder: www of provostd.toml; by default, what provostd knows
    #[arg(long, value_name = "WWW")]
    to: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What a key is good for.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// It signs what is published.
    Signs,
    /// Another one has taken its place.
    Replaced,
    /// It was revoked.
    Revoked,
    /// Nodes trust it, and nothing else is known of it.
    Other,
}

/// A key, as it is shown.
#[derive(Serialize)]
struct Shown {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    state: State,
    /// When another one took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<Timestamp>,
    /// The id of the one that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Which nodes trust it; none where provostd can't be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<String>>,
}

impl ShowKeys {
    pub(crate) fn run(&self, admin: &Admin) -> Result<(), Failure> {
        let asked = ask(admin);
        let www = self.to.as_deref().map(place);
        let is_its = |of: &PathBuf| www.as_ref().is_none_or(|www| *of == *www);
        let reported = asked.as_ref().ok().filter(|reported| is_its(&place(&reported.www)));
        let www =
            www.or_else(|| reported.map(|reported| reported.www.clone())).ok_or_else(|| {
                let why = asked.as_ref().err().cloned().unwrap_or_default();
                Failure::new(
                    format!("asking provostd for its keys: {why}"),
                    "name the published folder: --to WWW",
                )
            })?;
        let known = known(Succession::published(&www), None, reported)?;
        // Another machine's folder can't be read here, and its last key signs.
        let signs = match published(&www) {
            Ok(manifest) => PublicKey::from_line(&manifest.key).ok(),
            Err(failure) => match known.last_key() {
                Some(key) => Some(key.clone()),
                None => return Err(failure),
            },
        };
        let keys = shown(&known, signs.as_ref(), reported.map(|reported| &reported.keys));
        let text = match self.format {
            Format::Json => {
                let json = serde_json::to_string(&keys);
                let json = json.map_err(|e| Failure::of(&e, "report this as a bug"))?;
                format!("{}\n", escape_json(&json))
            }
            Format::Text => text(&keys),
        };
        output::print(text.as_bytes())?;
        if let Err(why) = asked {
            output::note(&format!(
                "note: which nodes trust which key isn't known: {}",
                escape_cell(&why)
            ));
        }
        Ok(())
    }
}

/// The keys: the chain from the first to the one that signs, then revoked ones, then others that nodes trust.
fn shown(
    known: &Succession,
    signs: Option<&PublicKey>,
    trusted: Option<&BTreeMap<String, Vec<String>>>,
) -> Vec<Shown> {
    let nodes = |id: &str| {
        let of_key = |(node, keys): (&String, &Vec<String>)| {
            keys.iter().any(|key| key == id).then(|| node.clone())
        };
        trusted.map(|trusted| trusted.iter().filter_map(of_key).collect::<Vec<_>>())
    };
    let key = |key: &PublicKey, state| {
        let state = if known.revoked().contains(key.line()) { State::Revoked } else { state };
        let (id, line) = (key.id(), Some(key.line().to_owned()));
        Shown { nodes: nodes(&id), id, key: line, state, replaced: None, next: None }
    };
    let mut keys: Vec<Shown> = Vec::new();
    for link in known.links() {
        let (replaced, next) = (Some(link.made), Some(link.next.id()));
        keys.push(Shown { replaced, next, ..key(&link.key, State::Replaced) });
    }
    keys.extend(signs.map(|signs| key(signs, State::Signs)));
    let revoked = known.revoked().iter().filter_map(|line| PublicKey::from_line(line).ok());
    for revoked in revoked {
        if keys.iter().all(|shown| shown.key.as_deref() != Some(revoked.line())) {
            keys.push(key(&revoked, State::Revoked));
        }
    }
    for id in trusted.into_iter().flat_map(BTreeMap::values).flatten() {
        if keys.iter().all(|shown| shown.id != *id) {
            let (id, nodes) = (id.clone(), nodes(id));
            keys.push(Shown {
                id,
                key: None,
                state: State::Other,
                replaced: None,
                next: None,
                nodes,
            });
        }
    }
    keys
}

/// A line for each key.
fn text(keys: &[Shown]) -> String {
    let line = |shown: &Shown| {
        let Shown { id, key, state, replaced, nodes, .. } = shown;
        let mut words = match (state, replaced) {
            (State::Signs, _) => "signs".to_owned(),
            (State::Replaced, Some(at)) => format!("replaced {at}"),
            (State::Replaced, None) => "replaced".to_owned(),
            (State::Revoked, _) => "revoked".to_owned(),
            (State::Other, _) => "signs nothing here".to_owned(),
        };
        let is_old = matches!(state, State::Replaced | State::Revoked);
        match nodes.as_deref() {
            Some([]) if is_old => words += "; no node trusts it",
            Some(nodes) => {
                let trust = if nodes.len() == 1 { "trusts" } else { "trust" };
                let count = wording::count(nodes.len(), "node");
                words += &format!("; {count} {}{trust} it", if is_old { "still " } else { "" });
                if is_old || *state == State::Other {
                    words += &format!(": {}", fold(nodes));
                }
            }
            None => {}
        }
        // It may have come from a node.
        let id = escape_cell(id);
        format!("{id}  {}  {words}\n", key.as_deref().unwrap_or("(its line isn't known)"))
    };
    keys.iter().map(line).collect()
}
