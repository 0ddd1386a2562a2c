//! What was changed for a node between two of its runs, and what was published when.

use axum::Json;
use axum::extract::{Extension, Path, Query, State};
use provost_api::admins::{NodeChanges, Publication, ScriptChange};
use provost_store::Generations;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use super::accounts::{Actor, May};
use super::request::invalid;
use crate::listener::refusal::Refusal;
use crate::published::{PublishedFolder, changes};

/// What is asked.
#[derive(Deserialize)]
pub(crate) struct Asked {
    /// The bundles of the two runs: `16-17`.
    bundles: Option<String>,
    /// Their plans: `3-4`.
    plans: Option<String>,
    /// The script whose diff is asked for.
    script: Option<String>,
}

/// The publications, the oldest first.
pub(crate) async fn publications(
    State(www): State<PublishedFolder>,
) -> Result<Json<Vec<Publication>>, Refusal> {
    Ok(Json(spawn_blocking(move || provost_publish::publications(&www)).await?))
}

/// What was changed. Texts and values are for those who may operate.
pub(crate) async fn changes(
    State(www): State<PublishedFolder>,
    Extension(actor): Extension<Actor>,
    Path(node): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Json<NodeChanges>, Refusal> {
    let bundles = asked.bundles.as_deref().map(range).transpose()?;
    let plans = asked.plans.as_deref().map(range).transpose()?;
    let may_read = actor.may() >= May::OPERATE;
    let found = spawn_blocking(move || {
        of_node(&www, &node, (bundles, plans), asked.script.as_deref(), may_read)
    });
    Ok(Json(found.await?))
}

/// What was changed for a node between two bundles and two plans, with the diff of a script. Texts and values are for
/// who `may_read` them. It reads files.
pub(crate) fn of_node(
    www: &PublishedFolder,
    node: &str,
    (bundles, plans): (Generations, Generations),
    script: Option<&str>,
    may_read: bool,
) -> NodeChanges {
    let mut found = NodeChanges::default();
    if let Some(bundles) = bundles {
        let publications = provost_publish::publications(www);
        found.scripts = changes::scripts(&publications, bundles);
        let is_it = |one: &&ScriptChange| Some(&*one.script) == script;
        let of_script = found.scripts.iter().flatten().find(is_it);
        match of_script.map(|one| changes::diff(www, one, bundles)) {
            Some(Ok(diff)) if may_read => found.diff = Some(diff),
            Some(Err(why)) => found.hidden = Some(why),
            _ => {}
        }
    }
    // What isn't a name is no file's.
    let plans = plans.filter(|_| provost_plan::is_node_name(node));
    found.plan = plans.and_then(|plans| changes::plans(www, node, plans));
    if !may_read {
        for value in found.plan.iter_mut().flatten() {
            (value.then, value.now) = (None, None);
        }
        let is_empty = found.scripts.iter().flatten().next().is_none()
            && found.plan.iter().flatten().next().is_none();
        let why = || "texts and values are for the role operate".to_owned();
        found.hidden = (!is_empty).then(why);
    }
    found
}

/// `16-17`.
fn range(text: &str) -> Result<(u64, u64), Refusal> {
    let numbers = text.split_once('-').and_then(|(from, to)| {
        let number = |text: &str| text.parse::<u64>().ok();
        Some((number(from)?, number(to)?))
    });
    numbers
        .ok_or_else(|| invalid(format!("{text:?} are no two generations"), "write them as 16-17"))
}
