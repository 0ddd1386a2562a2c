//! What a node runs, as its page shows it: steps and environment, each with where it comes from.

use provost_plan::{Plan, Step, secret};

use super::page::encoded;
use crate::published::node_plans::NodePlan;

/// The longest value that is shown, in characters.
const LONGEST: usize = 200;

/// A plan.
pub(super) struct ShownPlan {
    /// Its generations.
    pub(super) head: String,
    /// Whether it is known where its parts come from.
    pub(super) has_sections: bool,
    /// The lists of steps: their names, and a row for each step.
    pub(super) lists: Vec<(&'static str, Vec<PlanStep>)>,
    pub(super) env: Vec<Variable>,
}

/// A step of the plan.
pub(super) struct PlanStep {
    pub(super) script: String,
    pub(super) href: String,
    pub(super) args: String,
    pub(super) from: String,
}

/// A variable of the scripts' environment.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether the value isn't shown.
    pub(super) is_hidden: bool,
    pub(super) from: String,
}

impl ShownPlan {
    pub(super) fn new(of_node: &NodePlan) -> Self {
        let NodePlan { plan, site } = of_node;
        let mut plan = plan.clone();
        secret::hide_in_arguments(&mut plan);
        let explained = site.as_ref().and_then(|site| site.explain(&plan.node));
        let empty = Vec::new();
        let (first, second) = explained
            .as_ref()
            .map_or((&empty, &empty), |known| (&known.postscripts, &known.postbootscripts));
        let lists = [
            ("Postscripts", steps(&plan.postscripts, first)),
            ("Postbootscripts", steps(&plan.postbootscripts, second)),
        ];
        let from = |name: &str| {
            let section = explained.as_ref().and_then(|known| known.env.get(name).copied());
            section.unwrap_or_default().to_owned()
        };
        let plain = plan.env.iter().map(|(name, value)| {
            let is_hidden = secret::is_secret(name);
            let value =
                if is_hidden { "hidden: its name is a secret's".to_owned() } else { cut(value) };
            Variable { name: name.clone(), value, is_hidden, from: from(name) }
        });
        let secret = plan.secret_env.iter().map(|name| Variable {
            name: name.clone(),
            value: "secret".to_owned(),
            is_hidden: true,
            from: from(name),
        });
        let mut env: Vec<Variable> = plain.chain(secret).collect();
        env.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            head: head(&plan),
            has_sections: explained.is_some(),
            lists: lists.into_iter().filter(|(_, steps)| !steps.is_empty()).collect(),
            env,
        }
    }
}

fn head(plan: &Plan) -> String {
    let parts = [
        Some(format!("plan {}", plan.generation)),
        plan.manifest.map(|bundle| format!("bundle {bundle}")),
        plan.expires.map(|at| format!("valid until {at}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn steps(steps: &[Step], sections: &[&str]) -> Vec<PlanStep> {
    let step = |(index, step): (usize, &Step)| {
        let text = step.to_string();
        let args = text.strip_prefix(&step.script).unwrap_or_default();
        PlanStep {
            href: format!("/scripts/{}", encoded(&step.script)),
            args: cut(args.trim_start()),
            script: step.script.clone(),
            from: sections.get(index).copied().unwrap_or_default().to_owned(),
        }
    };
    steps.iter().enumerate().map(step).collect()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use provost_plan::Site;

    use super::*;

    #[test]
    fn secrets_are_hidden_and_each_part_has_its_section() {
        let text = "[defaults]\nenv = { MASTER = '10.0.0.1', DB_PASSWORD = 'x1x1' }\npostscripts = ['syslog']\n\
                    [groups.compute]\nnodes = 'cn1'\npostscripts = [\"mount '/a b' -p x1x1\"]\n\
                    env_secret = { API = 'x2' }\n";
        let site = Arc::new(Site::parse(text, Path::new("site.toml")).unwrap());
        let plan = site.explain("cn1").unwrap().plan;
        let shown = ShownPlan::new(&NodePlan { plan: plan.clone(), site: Some(site) });
        let env: Vec<_> =
            shown.env.iter().map(|v| (&*v.name, &*v.value, v.is_hidden, &*v.from)).collect();
        let expected = [
            ("API", "secret", true, "groups.compute"),
            ("DB_PASSWORD", "hidden: its name is a secret's", true, "defaults"),
            ("MASTER", "10.0.0.1", false, "defaults"),
        ];
        assert_eq!(env, expected);
        let [(_, steps)] = shown.lists.as_slice() else { panic!() };
        let steps: Vec<_> = steps.iter().map(|s| (&*s.script, &*s.args, &*s.from)).collect();
        assert_eq!(
            steps,
            [("syslog", "", "defaults"), ("mount", "'/a b' -p '(hidden)'", "groups.compute")]
        );
        let unknown = ShownPlan::new(&NodePlan { plan, site: None });
        assert!(!unknown.has_sections && unknown.env[2].from.is_empty());
    }
}
