//! The scripts that nodes have run.

use std::sync::Arc;

use askama::Template;
use provost_store::{ScriptSummary, Store};

use super::page::{Page, encoded, render};
use crate::listener::refusal::Refusal;

/// How many scripts are listed: a node can report any name.
const MOST: usize = 500;

/// All scripts.
#[derive(Clone)]
pub(crate) struct Scripts {
    pub(crate) store: Arc<dyn Store>,
}

#[derive(Template)]
#[template(path = "scripts.html")]
struct List {
    scripts: Vec<Listed>,
    more: usize,
}

struct Listed {
    name: String,
    href: String,
    nodes: u64,
    failed: u64,
}

impl Page for Scripts {
    fn title(&self) -> String {
        "Scripts".to_owned()
    }

    fn section(&self) -> &'static str {
        "scripts"
    }

    async fn content(&self) -> Result<String, Refusal> {
        let all = self.store.scripts().await?;
        let more = all.len().saturating_sub(MOST);
        let listed = |script: ScriptSummary| Listed {
            href: format!("/scripts/{}", encoded(&script.name)),
            name: script.name,
            nodes: script.nodes,
            failed: script.failed,
        };
        render(&List { scripts: all.into_iter().take(MOST).map(listed).collect(), more })
    }
}
