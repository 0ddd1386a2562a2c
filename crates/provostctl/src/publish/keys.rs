//! Which keys came before the one that signs, as far as the key's folder and the daemon know, and whether nodes
//! trust it.

use std::collections::BTreeMap;
use std::path::Path;

use provost_api::admins::Generations as Reported;
use provost_bundle::Manifest;
use provost_plan::nodes::fold;
use provost_publish::{Prepared, Publication, SecretKey, Succession};
use provost_steplog::wording;

use super::generations::ask;
use crate::address::Admin;
use crate::failure::Failure;
use crate::output;

/// All that is known of it beside what is published: `known` already, by provostd, and beside the `key`.
pub(crate) fn known(
    known: Succession,
    key: Option<&Path>,
    reported: Option<&Reported>,
) -> Result<Succession, Failure> {
    let failed = |what: String| {
        let error = format!("reading which keys came before: {what}");
        Failure::new(error, "repair it, or remove it: what is published has it too")
    };
    let text = reported.and_then(|reported| reported.succession.as_deref()).unwrap_or_default();
    let of_daemon =
        Succession::parse(text).map_err(|what| failed(format!("from provostd: {what}")))?;
    let beside = key.map_or_else(|| Ok(Succession::default()), Succession::beside);
    let beside = beside.map_err(|e| failed(wording::error_chain(&e)))?;
    Ok(known.or_further(of_daemon).or_further(beside))
}

/// Refuses a key that is revoked or replaced by what is published in `www`.
pub(crate) fn check(www: &Path, key: &SecretKey) -> Result<(), Failure> {
    let checked = Succession::published(www).check(key.public());
    checked.map_err(|e| Failure::of(&e, e.hint()))
}

/// Notes it beside the `key`, and with the daemon, which keeps what it reads in what is published. A key on a
/// medium that can't be written is no error.
pub(crate) fn note(succession: &Succession, key: &Path, admin: Option<&Admin>) {
    if *succession == Succession::default() {
        return;
    }
    if let Err(e) = succession.write_beside(key) {
        output::note(&format!(
            "warning: {}; it is in what is published alone\n  hint: let this user write to the key's folder",
            wording::error_chain(&e),
        ));
    }
    if let Some(admin) = admin {
        // It was there a moment ago, and is asked again by the next publication.
        let _ = ask(admin);
    }
}

/// Refuses a key that nodes have said they don't trust, nor one that it has replaced.
pub(crate) fn check_nodes(
    publication: &Publication<'_>,
    prepared: &Prepared<'_>,
    reported: Option<&Reported>,
) -> Result<(), Failure> {
    let own = publication.key.public().id();
    let before: Vec<String> = prepared.links().iter().map(|link| link.key.id()).collect();
    let is_for = |node: &str| match publication.channel {
        Some(channel) => channel.nodes.contains(node),
        None => publication.input.plans.contains_key(node),
    };
    let mut refusing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (node, keys) in reported.iter().flat_map(|reported| &reported.keys) {
        let trusts = keys.iter().any(|key| *key == own || before.contains(key));
        if let (Some(key), false, true) = (keys.first(), trusts, is_for(node)) {
            refusing.entry(key).or_default().push(node.clone());
        }
    }
    if refusing.is_empty() {
        return Ok(());
    }
    let of_key = |(key, nodes): (&&str, &Vec<String>)| {
        let trusts = if nodes.len() == 1 { "trusts" } else { "trust" };
        format!("{} {trusts} key {key}", fold(nodes))
    };
    let nodes: Vec<String> = refusing.iter().map(of_key).collect();
    let error = format!("publishing with key {own}: nodes would refuse it: {}", nodes.join("; "));
    let hint = "publish with the key that they trust, and let it name this one: provostctl key rotate; or \
                add this one to [trust] keys there, and let each run once; of a node that is gone: \
                provostctl remove NODE";
    Err(Failure::new(error, hint))
}

/// The manifest in the folder `www`.
pub(crate) fn published(www: &Path) -> Result<Manifest, Failure> {
    let path = www.join("manifest.toml");
    let failed = |e: &dyn std::error::Error| {
        let error = format!("reading {}: {}", path.display(), wording::error_chain(e));
        Failure::new(error, "name the published folder: --to WWW")
    };
    let text = std::fs::read(&path).map_err(|e| failed(&e))?;
    Manifest::parse(&text).map_err(|e| failed(&e))
}
