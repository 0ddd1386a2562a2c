//! The beginning of a job, and its way to the nodes.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use provost_steplog::wording::error_chain;
use provost_store::Store;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;

use super::carried::Jobs;
use super::commands::Commands;
use super::order::{Order, OrderHooks};
use super::{FANOUT, Job};
use crate::admin::accounts::{Actor, AuditId, LaterResult};
use crate::admin::request::{absent, expand, invalid, read_json, short};
use crate::admin::state::AdminState;
use crate::listener::refusal::Refusal;
use crate::nodes::history::KnownNodes;
use crate::notify::program::Hook;

/// How many nodes an order may have.
pub(crate) const MOST_NODES: usize = 5_000;

const EXAMPLE: &str = r#"{"nodes": ["cn[001-004]"], "script": "syslog"}"#;

/// The id of a job that has begun, among the extensions of the answer.
#[derive(Clone)]
pub(crate) struct JobId(pub(crate) String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderRequest {
    nodes: Vec<String>,
    /// Of a rerun.
    script: Option<String>,
}

/// What carries an order to a node.
#[derive(Clone)]
struct Carrier {
    order: Order,
    hook: Arc<Hook>,
    jobs: Arc<Jobs>,
    store: Arc<dyn Store>,
}

type Admin = State<AdminState>;
type Who = Extension<Actor>;
type Audit = Extension<AuditId>;

/// Has nodes run what they left unfinished.
pub(crate) async fn go_on(
    admin: Admin,
    who: Who,
    audit: Audit,
    body: Body,
) -> Result<Response, Refusal> {
    start(Order::Continue, admin, who, audit, body).await
}

/// Has nodes run all that a boot needs.
pub(crate) async fn boot(
    admin: Admin,
    who: Who,
    audit: Audit,
    body: Body,
) -> Result<Response, Refusal> {
    start(Order::Boot, admin, who, audit, body).await
}

/// Has nodes run a script.
pub(crate) async fn rerun(
    admin: Admin,
    who: Who,
    audit: Audit,
    body: Body,
) -> Result<Response, Refusal> {
    start(Order::Rerun, admin, who, audit, body).await
}

/// Begins to have nodes do what a request asks for. The log of changes gets its result later.
async fn start(
    order: Order,
    State(admin): Admin,
    Extension(actor): Who,
    Extension(AuditId(audit)): Audit,
    body: Body,
) -> Result<Response, Refusal> {
    let request: OrderRequest = read_json(body, EXAMPLE).await?;
    let nodes = expand(&request.nodes.join(","))?;
    check(order, &nodes, &admin.known).await?;
    let script = request.script.filter(|_| order == Order::Rerun);
    let commands =
        Commands::new(order, script.as_deref(), &nodes, &*admin.store, &admin.www).await?;
    let by_hand = commands.by_hand(order);
    let hook = hook(&admin.orders, order, &by_hand)?;
    let all = short(&nodes);
    let job = Job::new(order.word(), script, actor.who(), nodes, commands.typed, Some(audit));
    let AdminState { jobs, store, .. } = admin;
    jobs.begin(&job).await?;
    let carrier = Carrier { order, hook, jobs, store };
    let (sender, receiver) = watch::channel(None);
    let id = job.id.clone();
    tokio::spawn(async move {
        let job = Arc::new(job);
        carrier.carry(&job).await;
        let summary = carrier.jobs.end(&job).await.summary();
        tracing::info!("{} {all} by {}: {summary}", order.word(), job.who);
        // Fails where nobody notes it.
        let _ = sender.send(Some(summary));
    });
    let later = (Extension(LaterResult(receiver)), Extension(JobId(id.clone())));
    Ok((StatusCode::ACCEPTED, later, Json(json!({ "job": id }))).into_response())
}

/// Refuses nodes that nobody knows, and too many.
pub(crate) async fn check(
    order: Order,
    nodes: &[String],
    known: &KnownNodes,
) -> Result<(), Refusal> {
    if nodes.len() > MOST_NODES {
        let error = format!("{} nodes are more than {MOST_NODES} at once", nodes.len());
        let hint = format!("choose fewer; or from your machine: provostctl {} NODES", order.word());
        return Err(invalid(error, hint));
    }
    match &known.unknown(nodes).await?[..] {
        [] => Ok(()),
        [one] => Err(Refusal::unknown_node(one)),
        many => Err(absent(
            format!("unknown nodes {}", short(many)),
            "list all nodes: provostctl nodes",
        )),
    }
}

/// The program for `order`.
fn hook(hooks: &OrderHooks, order: Order, by_hand: &[String]) -> Result<Arc<Hook>, Refusal> {
    hooks.hook(order).ok_or_else(|| {
        let error = format!("{}: provostd can't log in to nodes", order.word());
        let by_hand = by_hand.join("; ");
        let hint = format!("{by_hand}; or set {} under [hooks] of provostd.toml", order.key());
        absent(error, hint)
    })
}

impl Carrier {
    async fn carry(&self, job: &Arc<Job>) {
        let mut calls = Vec::new();
        for (command, nodes) in &job.typed {
            calls.extend(nodes.iter().map(|node| (node.clone(), command.clone())));
        }
        let call = |(node, command): (String, String)| {
            let (carrier, job) = (self.clone(), Arc::clone(job));
            async move {
                let failure = carrier.call(&job, &node, &command).await.err();
                carrier.jobs.note(&job, &node, failure).await;
            }
        };
        stream::iter(calls).for_each_concurrent(FANOUT, call).await;
    }

    /// Runs the program for one node.
    async fn call(&self, job: &Job, node: &str, command: &str) -> Result<(), String> {
        // Fails only where the semaphore is closed, which nothing does.
        let _place = self.jobs.places.acquire().await;
        self.note(node, Some(Timestamp::now())).await?;
        let (word, script) = (self.order.word(), job.script.as_deref().unwrap_or_default());
        let message = json!({
            "event": word, "nodes": node, "count": 1, "command": command, "script": job.script,
        });
        let variables = [
            ("PROVOST_EVENT", word),
            ("PROVOST_NODES", node),
            ("PROVOST_COUNT", "1"),
            ("PROVOST_COMMAND", command),
            ("PROVOST_SCRIPT", script),
        ];
        let called = self.hook.run(&variables, message.to_string().into_bytes()).await;
        let Err(failure) = called else { return Ok(()) };
        let line = failure.line.map(|line| format!(": {line}")).unwrap_or_default();
        let why = format!("{}{line}", failure.why);
        match self.note(node, None).await {
            Ok(()) => Err(why),
            Err(error) => Err(format!("{why}; {error}")),
        }
    }

    /// Notes that the node was sent a boot, so that nobody takes the status that it has for its outcome; without a
    /// time, that it wasn't.
    async fn note(&self, node: &str, at: Option<Timestamp>) -> Result<(), String> {
        if self.order == Order::Rerun {
            return Ok(());
        }
        let noted = self.store.note_boot_sent(vec![node.to_owned()], at).await;
        noted.map(drop).map_err(|error| error_chain(&error))
    }
}
