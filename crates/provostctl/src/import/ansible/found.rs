//! What the files of an inventory say, before Ansible's rules are applied.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::hosts;
use crate::import::inventory::Omitted;

/// Variables as they are read.
pub(super) type Vars = BTreeMap<String, Value>;

/// What the files say.
#[derive(Default)]
pub(in crate::import) struct Ansible {
    pub(super) groups: BTreeMap<String, AnsibleGroup>,
    pub(super) hosts: BTreeMap<String, Vars>,
    pub(super) omitted: Omitted,
}

#[derive(Default)]
pub(super) struct AnsibleGroup {
    pub(super) hosts: BTreeSet<String>,
    pub(super) children: BTreeSet<String>,
    pub(super) vars: Vars,
}

impl Ansible {
    /// Adds hosts to a group, each with these variables. `pattern` may have ranges.
    pub(super) fn add_hosts(
        &mut self,
        group: &str,
        pattern: &str,
        vars: &Vars,
    ) -> Result<(), String> {
        let (names, port) = hosts::expand(pattern)?;
        for name in names {
            if port {
                self.omitted.add("the port", "nothing here uses it", &name);
            }
            self.groups.entry(group.to_owned()).or_default().hosts.insert(name.clone());
            self.hosts.entry(name).or_default().extend(vars.clone());
        }
        Ok(())
    }
}
