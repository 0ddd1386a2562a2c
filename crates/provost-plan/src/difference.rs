//! How two plans differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Plan, Step};

/// One difference between two plans, without the values that may differ from node to node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A step that is added, or is removed.
    Step {
        /// `postscript` or `postbootscript`.
        list: &'static str,
        /// The script and its arguments.
        step: String,
        /// Whether it is added.
        is_added: bool,
    },
    /// The steps run in another order.
    Order(&'static str),
    /// Whether the postbootscripts run at every boot.
    RunBootScripts(bool),
    /// A variable that is added, removed or changed.
    Env {
        /// Its name.
        name: String,
        /// Whether the first plan has it, …
        had: bool,
        /// … and the second.
        has: bool,
    },
    /// A secret that is added, removed or changed.
    Secret {
        /// Its name.
        name: String,
        /// Whether the first plan has it, …
        had: bool,
        /// … and the second.
        has: bool,
    },
}

/// The values of a variable before and afterwards.
pub type Values = (Option<String>, Option<String>);

/// How two plans differ, with the values of variables that do. Of secrets no value is known: `changed_secrets` are
/// those that have another one.
pub fn differences(
    before: Option<&Plan>,
    after: Option<&Plan>,
    changed_secrets: &[String],
) -> (Vec<Difference>, BTreeMap<String, Values>) {
    let mut all = Vec::new();
    type Steps = fn(&Plan) -> &[Step];
    let lists: [(&'static str, Steps); 2] = [
        ("postscript", |plan| &plan.postscripts),
        ("postbootscript", |plan| &plan.postbootscripts),
    ];
    for (list, steps) in lists {
        let names = |plan: Option<&Plan>| -> Vec<String> {
            plan.map_or(&[][..], steps).iter().map(Step::to_string).collect()
        };
        let (old, new) = (names(before), names(after));
        let differing = |some: &[String], others: &[String], is_added| -> Vec<Difference> {
            let only = some.iter().filter(|step| !others.contains(step));
            only.map(|step| Difference::Step { list, step: step.clone(), is_added }).collect()
        };
        all.extend(differing(&old, &new, false));
        all.extend(differing(&new, &old, true));
        if !old.iter().filter(|step| new.contains(step)).eq(new.iter().filter(|s| old.contains(s)))
        {
            all.push(Difference::Order(list));
        }
    }
    let every_boot = |plan: Option<&Plan>| plan.is_some_and(|plan| plan.runbootscripts);
    if every_boot(before) != every_boot(after) {
        all.push(Difference::RunBootScripts(every_boot(after)));
    }
    let value = |plan: Option<&Plan>, name: &str| plan.and_then(|plan| plan.env.get(name).cloned());
    let mut values = BTreeMap::new();
    let names = [before, after].into_iter().flatten().flat_map(|plan| plan.env.keys());
    for name in names.collect::<BTreeSet<_>>() {
        let (old, new) = (value(before, name), value(after, name));
        if old != new {
            let (had, has) = (old.is_some(), new.is_some());
            all.push(Difference::Env { name: name.clone(), had, has });
            values.insert(name.clone(), (old, new));
        }
    }
    let secrets = |plan: Option<&Plan>| -> BTreeSet<String> {
        plan.iter().flat_map(|plan| plan.secret_env.iter().cloned()).collect()
    };
    let (old, new) = (secrets(before), secrets(after));
    for name in old.union(&new) {
        let (had, has) = (old.contains(name), new.contains(name));
        if had != has || changed_secrets.contains(name) {
            all.push(Difference::Secret { name: name.clone(), had, has });
        }
    }
    (all, values)
}
