//! What changes for the nodes: equal changes of many nodes are one.

use std::collections::BTreeMap;

use provost_plan::Plan;
use provost_plan::difference::{Difference, Values, differences};
use provost_publish::PlanChange;

/// Whether the node had a plan before, and has one afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Changed,
    New,
    Gone,
}

/// Nodes whose plans change in the same way.
#[derive(Debug, Default)]
pub(super) struct SameChange {
    pub(super) nodes: Vec<String>,
    /// The least and the greatest generation of their plans, before and afterwards.
    pub(super) before: Option<(u64, u64)>,
    pub(super) after: Option<(u64, u64)>,
    /// The values of each variable that changes, those of the first node; `None` where another node
    /// of the group has others.
    pub(super) values: BTreeMap<String, (Values, bool)>,
}

/// The groups of nodes, by what changes.
pub(super) type Groups = BTreeMap<(Kind, Vec<Difference>), SameChange>;

/// What changes for the nodes.
pub(super) fn groups(changes: &[PlanChange]) -> Groups {
    let mut groups = Groups::new();
    for change in changes {
        let kind = match (&change.before, &change.after) {
            (Some(_), Some(_)) => Kind::Changed,
            (None, _) => Kind::New,
            (_, None) => Kind::Gone,
        };
        let (before, after) = (plan(change.before.as_ref()), plan(change.after.as_ref()));
        let (differences, values) = match kind {
            // What it had is of no use to anybody.
            Kind::Gone => Default::default(),
            _ => differences(before.as_ref(), after.as_ref(), &change.secrets),
        };
        let group = groups.entry((kind, differences)).or_default();
        group.nodes.push(change.node.clone());
        widen(&mut group.before, change.before.as_ref());
        widen(&mut group.after, change.after.as_ref());
        for (name, values) in values {
            let known = group.values.entry(name).or_insert_with(|| (values.clone(), true));
            known.1 &= known.0 == values;
        }
    }
    groups
}

/// The nodes that had something to run before, and have nothing afterwards.
pub(super) fn without_scripts(changes: &[PlanChange]) -> Vec<String> {
    let has_steps = |plan: Option<Plan>| {
        plan.is_some_and(|plan| !plan.postscripts.is_empty() || !plan.postbootscripts.is_empty())
    };
    let lost = |change: &&PlanChange| {
        has_steps(plan(change.before.as_ref())) && !has_steps(plan(change.after.as_ref()))
    };
    changes.iter().filter(lost).map(|change| change.node.clone()).collect()
}

fn plan(text: Option<&(u64, String)>) -> Option<Plan> {
    let (generation, body) = text?;
    // What an older version published may be no plan of this one.
    Plan::parse(format!("generation = {generation}\n{body}").as_bytes()).ok()
}

fn widen(range: &mut Option<(u64, u64)>, plan: Option<&(u64, String)>) {
    if let Some((generation, _)) = plan {
        let (least, greatest) = range.unwrap_or((*generation, *generation));
        *range = Some((least.min(*generation), greatest.max(*generation)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn change(node: &str, before: Option<&str>, after: Option<&str>) -> PlanChange {
        let body = |text: &str| format!("format = 1\nnode = \"{node}\"\n{text}\n");
        PlanChange {
            node: node.to_owned(),
            before: before.map(|text| (3, body(text))),
            after: after.map(|text| (4, body(text))),
            secrets: Vec::new(),
        }
    }

    #[test]
    fn five_hundred_equal_changes_are_one() {
        let plan = |n: u32, steps: &str, master: &str| {
            format!(
                "env = {{ IP = \"{n}.{master}\", MASTER = \"{master}\", OLD = \"1\" }}\n\
                 postscripts = [{steps}]"
            )
        };
        let changes: Vec<_> = (1..=500)
            .map(|n| {
                let before = plan(n, "{ script = \"a\" }, { script = \"b\" }", "1");
                let after =
                    plan(n, "{ script = \"b\" }, { script = \"a\" }, { script = \"c\" }", "2");
                change(&format!("cn{n:03}"), Some(&before), Some(&after))
            })
            .collect();
        let groups = groups(&changes);
        assert_eq!(groups.len(), 1, "{groups:?}");
        let ((kind, differences), group) = groups.first_key_value().unwrap();
        assert_eq!((*kind, group.nodes.len()), (Kind::Changed, 500));
        assert_eq!((group.before, group.after), (Some((3, 3)), Some((4, 4))));
        let env = |name: &str| Difference::Env { name: name.to_owned(), had: true, has: true };
        let added = Difference::Step { list: "postscript", step: "c".to_owned(), is_added: true };
        let expected = [added, Difference::Order("postscript"), env("IP"), env("MASTER")];
        assert_eq!(differences[..], expected);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(group.values["IP"], ((some("1.1"), some("1.2")), false));
        assert_eq!(group.values["MASTER"], ((some("1"), some("2")), true));
        assert!(without_scripts(&changes).is_empty());
    }

    #[test]
    fn nodes_that_lose_all_their_scripts_are_found() {
        let steps = Some("postscripts = [{ script = \"a\" }]");
        let changes = [
            change("gone", steps, None),
            change("emptied", steps, Some("")),
            change("moved", steps, Some("postbootscripts = [{ script = \"a\" }]")),
            change("had-none", Some(""), None),
            change("new", None, steps),
        ];
        assert_eq!(without_scripts(&changes), ["gone", "emptied"]);
        let kinds: BTreeSet<Kind> = groups(&changes).into_keys().map(|(kind, _)| kind).collect();
        assert_eq!(kinds.len(), 3);
    }
}
