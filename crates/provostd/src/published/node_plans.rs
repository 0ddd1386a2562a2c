//! What a node runs, and which section of `site.toml` each part of it comes from, where the history may be read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use provost_plan::{Groups, Plan, Site, is_node_name};
use provost_publish::{Record, history};

use super::PublishedFolder;

/// The plans of the published folder. A site is read again when another one is published.
pub(crate) struct NodePlans {
    www: PublishedFolder,
    last: Mutex<Option<(FileState, Option<Arc<Site>>)>>,
}

/// What changes with each publication: the manifest's inode and times. None: there is none.
type FileState = Option<(u64, i64, i64)>;

/// A plan, and the site that it was made from, if that is known.
pub(crate) struct NodePlan {
    pub(crate) plan: Plan,
    pub(crate) site: Option<Arc<Site>>,
}

impl NodePlans {
    pub(crate) fn new(www: PublishedFolder) -> Self {
        Self { www, last: Mutex::default() }
    }

    /// The plan of a node; none where none is published, or it can't be read. It may read a file of a site's size.
    pub(crate) fn read(&self, node: &str) -> Option<NodePlan> {
        if !is_node_name(node) {
            return None;
        }
        let text = fs::read(self.www.join(provost_api::published::plan(node))).ok()?;
        let plan = Plan::parse(&text).ok()?;
        let site = self.site().filter(|site| is_of(&plan, site));
        Some(NodePlan { plan, site })
    }

    /// The site that was published to all nodes last.
    fn site(&self) -> Option<Arc<Site>> {
        let state = state(&self.www.join(provost_api::published::MANIFEST));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((seen, site)) = last.as_ref()
            && *seen == state
        {
            return site.clone();
        }
        let newest = history(&self.www).into_iter().find(|record| record.channel.is_none());
        let parse = |record: Record| {
            let groups = Groups::used_before(&record.groups);
            Site::parse_with(&record.site, Path::new("site.toml"), groups).ok()
        };
        let site = newest.and_then(parse).map(Arc::new);
        *last = Some((state, site.clone()));
        site
    }
}

/// Whether the plan was made from the site.
fn is_of(plan: &Plan, site: &Site) -> bool {
    site.explain(&plan.node).is_some_and(|explained| {
        let made = explained.plan;
        (&made.env, &made.secret_env, &made.postscripts, &made.postbootscripts)
            == (&plan.env, &plan.secret_env, &plan.postscripts, &plan.postbootscripts)
    })
}

fn state(file: &Path) -> FileState {
    let file = fs::metadata(file).ok()?;
    Some((file.ino(), file.mtime(), file.mtime_nsec()))
}
