//! The page that asks before nodes are changed: it names them, and what will be typed on them.

use std::collections::{BTreeMap, HashSet};

use askama::Template;
use provost_plan::nodes::fold;
use provost_steplog::wording;

use super::action::Action;
use super::form::Fields;
use super::page::render;
use crate::admin::AdminState;
use crate::admin::jobs::commands::{Commands, scripts};
use crate::admin::jobs::order::Order;
use crate::admin::jobs::start::check;
use crate::admin::request::{absent, short};
use crate::listener::refusal::Refusal;

/// What an admin has chosen.
pub(super) struct Chosen {
    pub(super) nodes: Vec<String>,
    /// Of a rerun.
    pub(super) script: Option<String>,
    /// What the address of the page says besides.
    pub(super) fields: Fields,
    /// Where they come from.
    pub(super) back: String,
    /// The page's own address.
    pub(super) address: String,
}

#[derive(Template)]
#[template(path = "action.html")]
struct Confirmation {
    title: String,
    what: &'static str,
    back: String,
    /// All nodes, folded.
    nodes: String,
    script: Option<String>,
    /// What will be typed: the command, how many nodes, and which.
    typed: Vec<(String, String, String)>,
    /// The nodes whose plans don't have the script.
    unplanned: String,
    /// The nodes of which nothing is known.
    unknown: String,
    /// Where the form goes; nowhere without a program of the site.
    to: Option<String>,
    /// The key of that program.
    key: &'static str,
    /// What to type instead.
    by_hand: Vec<String>,
    next: Option<String>,
}

/// The choice of a script.
#[derive(Template)]
#[template(path = "choose_script.html")]
struct ScriptChoice {
    title: String,
    what: &'static str,
    back: String,
    address: String,
    nodes: String,
    fields: Vec<(String, String)>,
    /// Each script, and whether it is the one that failed.
    scripts: Vec<(String, bool)>,
}

/// The title and the content of the page.
pub(super) async fn confirmation(
    action: Action,
    admin: &AdminState,
    chosen: Chosen,
) -> Result<(String, String), Refusal> {
    if chosen.nodes.is_empty() {
        return Err(absent("no node is selected".to_owned(), "choose nodes in the list: /nodes"));
    }
    match action.order() {
        Some(order) => {
            check(order, &chosen.nodes, &admin.known).await?;
            match (order, &chosen.script) {
                (Order::Rerun, None) => choose(action, admin, chosen).await,
                _ => of_order(action, order, admin, chosen).await,
            }
        }
        None => of_provostd(action, admin, chosen).await,
    }
}

fn subject(nodes: &[String]) -> String {
    match nodes {
        [one] => one.clone(),
        many => wording::count(many.len(), "node"),
    }
}

/// Of what provostd does itself: to the nodes of which something is stored.
async fn of_provostd(
    action: Action,
    admin: &AdminState,
    chosen: Chosen,
) -> Result<(String, String), Refusal> {
    let stored = admin.store.nodes_named(chosen.nodes.clone()).await?;
    let stored: HashSet<String> = stored.into_iter().map(|node| node.name).collect();
    let (known, unknown): (Vec<String>, Vec<String>) =
        chosen.nodes.into_iter().partition(|name| stored.contains(name));
    if known.is_empty() {
        return Err(match &unknown[..] {
            [one] => Refusal::unknown_node(one),
            many => absent(
                format!("nothing is stored of {}", short(many)),
                "list all nodes: provostctl nodes",
            ),
        });
    }
    let subject = subject(&known);
    let next = matches!(action, Action::Release).then(|| fold(&known));
    let page = Confirmation {
        title: action.title(&subject),
        what: action.what(),
        back: chosen.back,
        nodes: fold(&known),
        script: None,
        typed: Vec::new(),
        unplanned: String::new(),
        unknown: fold(&unknown),
        to: Some(format!("/act/{}", action.word())),
        key: "",
        by_hand: Vec::new(),
        next: next.map(|nodes| format!("provostctl continue {nodes}")),
    };
    Ok((page.title.clone(), render(&page)?))
}

/// Of what is typed on the nodes.
async fn of_order(
    action: Action,
    order: Order,
    admin: &AdminState,
    chosen: Chosen,
) -> Result<(String, String), Refusal> {
    let Chosen { nodes, script, back, .. } = chosen;
    let commands =
        Commands::new(order, script.as_deref(), &nodes, &*admin.store, &admin.www).await?;
    let by_hand = commands.by_hand(order);
    let subject = subject(&nodes);
    let title = match &script {
        Some(script) => format!("Rerun {script} on {subject}"),
        None => action.title(&subject),
    };
    let has_program = admin.orders.hook(order).is_some();
    let page = Confirmation {
        title,
        what: action.what(),
        back,
        nodes: fold(&nodes),
        script,
        typed: shown(commands.typed),
        unplanned: fold(&commands.unplanned),
        unknown: String::new(),
        to: has_program.then(|| format!("/act/{}", action.word())),
        key: order.key(),
        by_hand: if has_program { Vec::new() } else { by_hand },
        next: None,
    };
    Ok((page.title.clone(), render(&page)?))
}

/// Commands with their nodes, those of most nodes first.
pub(super) fn shown(typed: BTreeMap<String, Vec<String>>) -> Vec<(String, String, String)> {
    let mut typed: Vec<(String, Vec<String>)> = typed.into_iter().collect();
    typed.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let row = |(command, nodes): (String, Vec<String>)| {
        (command, wording::count(nodes.len(), "node"), fold(&nodes))
    };
    typed.into_iter().map(row).collect()
}

/// Asks which script.
async fn choose(
    action: Action,
    admin: &AdminState,
    chosen: Chosen,
) -> Result<(String, String), Refusal> {
    let www = admin.www.clone();
    let published = tokio::task::spawn_blocking(move || scripts(&www)).await?;
    if published.is_empty() {
        let hint = "publish scripts: provostctl publish";
        return Err(absent("no script is published".to_owned(), hint));
    }
    let failed = failed_stage(admin, &chosen.nodes).await?;
    let is_failed = |script: &String| failed.as_ref() == Some(script);
    let page = ScriptChoice {
        title: action.title(&subject(&chosen.nodes)),
        what: action.what(),
        back: chosen.back,
        address: chosen.address,
        nodes: fold(&chosen.nodes),
        fields: chosen.fields.0.into_iter().filter(|(name, _)| name != "script").collect(),
        scripts: published.into_iter().map(|script| (script.clone(), is_failed(&script))).collect(),
    };
    Ok((page.title.clone(), render(&page)?))
}

/// The stage in which most of the nodes failed.
async fn failed_stage(admin: &AdminState, nodes: &[String]) -> Result<Option<String>, Refusal> {
    let snapshot = admin.fleet.look().await?;
    let mut counts = BTreeMap::<&str, usize>::new();
    for member in nodes.iter().filter_map(|node| snapshot.member(node)) {
        if let (Some(_), Some(stage)) = (&member.group, &member.node.detail.stage) {
            *counts.entry(stage).or_default() += 1;
        }
    }
    Ok(counts.into_iter().max_by_key(|(_, count)| *count).map(|(stage, _)| stage.to_owned()))
}
