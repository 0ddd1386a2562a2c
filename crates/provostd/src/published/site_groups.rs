//! The groups of the site that is published, and which nodes are in which. Read again when they have changed.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use provost_plan::nodes::expand;
use provost_publish::{GROUPS, groups};

use super::PublishedFolder;

/// The groups of what is published to all nodes.
pub(crate) struct SiteGroups {
    www: PublishedFolder,
    last: Mutex<Option<(FileState, Arc<Membership>)>>,
}

/// What changes with each publication: the file's inode and times. None: there is no file.
type FileState = Option<(u64, i64, i64)>;

/// Which nodes are in which groups.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    /// By name.
    pub(crate) groups: Vec<(String, Vec<String>)>,
    /// The groups of each node, by their indexes.
    of_node: HashMap<String, Vec<usize>>,
}

impl SiteGroups {
    pub(crate) fn new(www: PublishedFolder) -> Self {
        Self { www, last: Mutex::default() }
    }

    /// The groups as they are now; none where they can't be read. It may read a file of a site's size.
    pub(crate) fn read(&self) -> Arc<Membership> {
        let state = state(&self.www.join(GROUPS));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((seen, membership)) = last.as_ref()
            && *seen == state
        {
            return Arc::clone(membership);
        }
        let folded = groups(&self.www, None).unwrap_or_default();
        let groups = folded.into_iter();
        // A name that a newer version folds in another way is of no group here.
        let groups = groups.filter_map(|(name, nodes)| Some((name, expand(&nodes).ok()?)));
        let membership = Arc::new(Membership::new(groups.collect()));
        *last = Some((state, Arc::clone(&membership)));
        membership
    }
}

impl Membership {
    pub(crate) fn new(groups: Vec<(String, Vec<String>)>) -> Self {
        let mut of_node = HashMap::<String, Vec<usize>>::new();
        for (index, (_, nodes)) in groups.iter().enumerate() {
            for node in nodes {
                of_node.entry(node.clone()).or_default().push(index);
            }
        }
        Self { groups, of_node }
    }

    /// The names of the node's groups.
    pub(crate) fn of(&self, node: &str) -> Vec<&str> {
        let indexes = self.of_node.get(node).into_iter().flatten();
        indexes.map(|index| self.groups[*index].0.as_str()).collect()
    }
}

fn state(file: &Path) -> FileState {
    let file = fs::metadata(file).ok()?;
    Some((file.ino(), file.mtime(), file.mtime_nsec()))
}
