//! A job: on how many nodes it is done, where that failed, and what the nodes have reported since.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use provost_plan::nodes::fold;
use provost_steplog::wording;
use provost_store::{JobState, Node, UpdateStatus, failure_groups_by, words};

use super::action::{Action, of_node};
use super::confirmation::shown;
use super::overview::tone;
use super::page::{Page, encoded, render};
use crate::admin::jobs::Job;
use crate::admin::jobs::carried::Jobs;
use crate::fleet::Fleet;
use crate::fleet::snapshot::Member;
use crate::listener::refusal::Refusal;

/// How many causes are shown.
const MOST_GROUPS: usize = 40;
/// The longest set of nodes that an address has, in characters.
const MOST_IN_ADDRESS: usize = 2_000;

/// The page.
#[derive(Clone)]
pub(super) struct JobPage {
    /// As it was when the page was opened.
    pub(super) job: Job,
    pub(super) jobs: Arc<Jobs>,
    pub(super) fleet: Arc<Fleet>,
}

#[derive(Template)]
#[template(path = "job.html")]
struct Content<'a> {
    title: String,
    job: &'a Job,
    ago: String,
    nodes: String,
    /// Its page, where there is one node.
    href: Option<String>,
    all: usize,
    ended: usize,
    sent: usize,
    is_order: bool,
    /// How long ago it was seen that its daemon is gone, …
    interrupted: Option<String>,
    /// … for which nodes nothing says how it went, and what to type for them.
    rest: String,
    rest_by_hand: Vec<String>,
    typed: Vec<(String, String, String)>,
    failures: Vec<Row>,
    /// What the nodes are now: how many, the word, its tone, and where they are listed.
    statuses: Vec<(usize, String, &'static str, Option<String>)>,
    causes: Vec<Cause>,
    /// How many have reported nothing since.
    silent: usize,
}

struct Row {
    why: String,
    count: String,
    nodes: String,
}

struct Cause {
    id: String,
    count: usize,
    title: String,
    message: String,
    nodes: String,
}

impl Page for JobPage {
    fn title(&self) -> String {
        title(&self.job.word, self.job.script.as_deref(), &self.job.nodes)
    }

    fn section(&self) -> &'static str {
        "nodes"
    }

    async fn content(&self) -> Result<String, Refusal> {
        let snapshot = self.fleet.look().await?;
        // It goes on, maybe by another daemon.
        let job = &self.jobs.job(&self.job.id).await?.unwrap_or_else(|| self.job.clone());
        let now = Timestamp::now();
        let interrupted = match job.state {
            JobState::Interrupted(at) => Some(words::ago(at, now)),
            JobState::Running | JobState::Done(_) => None,
        };
        let rest = job.without_result();
        let failures = job.failures();
        let failed: usize = failures.iter().map(|group| group.nodes.len()).sum();
        let (all, ended, is_order) = (job.nodes.len(), job.ended(), !job.typed.is_empty());
        let members = job.nodes.iter().filter_map(|name| snapshot.member(name));
        let since: Vec<&Arc<Member>> =
            members.filter(|member| is_order && self.has_reported(&member.node)).collect();
        render(&Content {
            title: self.title(),
            job,
            ago: words::ago(job.began, now),
            rest_by_hand: job.by_hand_of(&rest.iter().cloned().collect()),
            rest: fold(&rest),
            interrupted,
            nodes: fold(&job.nodes),
            href: if let [one] = &job.nodes[..] { Some(of_node(one)) } else { None },
            all,
            ended,
            sent: ended - failed.min(ended),
            is_order,
            typed: shown(job.typed.clone()),
            failures: failures
                .into_iter()
                .map(|group| Row {
                    count: wording::count(group.nodes.len(), "node"),
                    nodes: fold(&group.nodes),
                    why: group.why,
                })
                .collect(),
            statuses: self.statuses(&since),
            causes: self.causes(&since),
            silent: (ended - failed.min(ended)).saturating_sub(since.len()),
        })
    }
}

impl JobPage {
    /// Whether the node has begun what it was told.
    fn has_reported(&self, node: &Node) -> bool {
        // A boot that was sent is noted until the node reports one.
        // The store keeps whole seconds.
        let began = self.job.began.as_second();
        node.boot_sent.is_none() && node.last_seen.is_some_and(|at| at.as_second() >= began)
    }

    fn is_rerun(&self) -> bool {
        self.job.script.is_some()
    }

    fn statuses(
        &self,
        since: &[&Arc<Member>],
    ) -> Vec<(usize, String, &'static str, Option<String>)> {
        let mut by_word = BTreeMap::<(String, &'static str), Vec<String>>::new();
        for Member { node, .. } in since.iter().map(|member| &***member) {
            let shown = match node.updatestatus {
                Some(status) if self.is_rerun() => (status.to_string(), tone_of_rerun(status)),
                _ => (node.status.to_string(), tone(node.status)),
            };
            by_word.entry(shown).or_default().push(node.name.clone());
        }
        let row = |((word, tone), nodes): ((String, &'static str), Vec<String>)| {
            let set = fold(&nodes);
            let href = format!("/nodes?q={}&status={}", encoded(&set), encoded(&word));
            let href = (set.len() <= MOST_IN_ADDRESS).then_some(href);
            (nodes.len(), word, tone, href)
        };
        by_word.into_iter().map(row).collect()
    }

    fn causes(&self, since: &[&Arc<Member>]) -> Vec<Cause> {
        let has_failed = |member: &&&Arc<Member>| match self.is_rerun() {
            true => member.node.updatestatus == Some(UpdateStatus::Failed),
            false => true,
        };
        let failed = since.iter().filter(has_failed);
        let failed = failed.filter_map(|member| Some((&member.node, member.group.as_deref()?)));
        let cause = |group: &provost_store::FailureGroup| Cause {
            id: group.id.clone(),
            count: group.nodes.len(),
            title: group.title(),
            message: group.message(),
            nodes: fold(&group.nodes),
        };
        failure_groups_by(failed).iter().take(MOST_GROUPS).map(cause).collect()
    }
}

/// What is done, and to how many nodes.
pub(super) fn title(word: &str, script: Option<&str>, nodes: &[String]) -> String {
    let action = Action::ALL.into_iter().find(|action| action.word() == word);
    let subject = match nodes {
        [one] => one.clone(),
        many => wording::count(many.len(), "node"),
    };
    match (script, action) {
        (Some(script), _) => format!("Rerun {script} on {subject}"),
        (None, Some(action)) => action.title(&subject),
        (None, None) => format!("{word} {subject}"),
    }
}

fn tone_of_rerun(status: UpdateStatus) -> &'static str {
    match status {
        UpdateStatus::Synced => "good",
        UpdateStatus::Failed => "bad",
        _ => "busy",
    }
}
