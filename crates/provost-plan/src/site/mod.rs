mod error;
mod file;
mod layer;
#[cfg(feature = "schema")]
mod schema;

use std::collections::BTreeMap;
use std::path::Path;

use provost_bundle::{Digest, Policy};

use crate::nodes::fold;
use crate::{Groups, Plan, PlanError, Step, secret};
pub use error::SiteError;
use layer::Layer;
#[cfg(feature = "schema")]
pub use schema::schema;

/// What the site's nodes run, from `site.toml`: defaults, then what groups add in the order of
/// the file, then what nodes add.
#[derive(Clone, Debug)]
pub struct Site {
    layers: Vec<Layer>,
    /// The layers that apply to a node, each by its index.
    of_node: BTreeMap<String, Vec<usize>>,
    overrides: BTreeMap<String, Policy>,
    required: BTreeMap<String, String>,
    used: BTreeMap<String, String>,
}

impl Site {
    /// Reads the text of a `site.toml` that names no groups but its own.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SiteError> {
        Self::parse_with(text, path, Groups::default())
    }

    /// Reads the text of a `site.toml` and checks all that can be checked without the scripts;
    /// `path` is its name in errors. It may name the groups `outside`, too.
    pub fn parse_with(text: &str, path: &Path, outside: Groups) -> Result<Self, SiteError> {
        let file::Content { layers, overrides, required, used } =
            file::Reader::new(text, path, outside).content()?;
        let mut of_node: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, layer) in layers.iter().enumerate() {
            for node in layer.nodes.iter().flatten() {
                of_node.entry(node.clone()).or_default().push(index);
            }
        }
        Ok(Self { layers, of_node, overrides, required, used })
    }

    /// The nodes of its groups, folded.
    pub fn groups(&self) -> BTreeMap<String, String> {
        let group = |layer: &Layer| {
            let names: Vec<String> = layer.nodes.as_ref()?.iter().cloned().collect();
            Some((layer.name.strip_prefix("groups.")?.to_owned(), fold(&names)))
        };
        self.layers.iter().filter_map(group).collect()
    }

    /// The nodes of the groups outside it that it names, folded, by their names in it (`@rack:r1`).
    pub fn used_groups(&self) -> &BTreeMap<String, String> {
        &self.used
    }

    /// The policies that replace what scripts' headers say, by script.
    pub fn overrides(&self) -> &BTreeMap<String, Policy> {
        &self.overrides
    }

    /// The scripts that plans run, each with the first place that names it: the key in `site.toml`
    /// and its line.
    pub fn required(&self) -> &BTreeMap<String, String> {
        &self.required
    }

    /// Whether it has secrets.
    pub fn has_secrets(&self) -> bool {
        self.layers.iter().any(|layer| !layer.env_secret.is_empty())
    }

    /// The plan of each node that a group or a section of its own names. Their generations are 0:
    /// the publisher sets them, as it does the digest of a plan's secrets.
    pub fn plans(&self) -> BTreeMap<String, Plan> {
        let plan =
            |(node, own): (&String, &Vec<usize>)| (node.clone(), self.explained(node, own).plan);
        self.of_node.iter().map(plan).collect()
    }

    /// The text of each node's plan, and of the documents with their secrets, which differ for each `salt`.
    pub fn texts(&self, salt: &str) -> Result<Texts, PlanError> {
        let mut texts = Texts::default();
        for (node, own) in &self.of_node {
            let mut explained = self.explained(node, own);
            if let Some(secrets) = explained.seal(salt)? {
                texts.secrets.insert(node.clone(), secrets);
            }
            texts.plans.insert(node.clone(), explained.plan.body()?);
        }
        Ok(texts)
    }

    /// The plan of a node, and where each part of it comes from. None if no group and no section of
    /// its own names the node.
    pub fn explain(&self, node: &str) -> Option<Explained<'_>> {
        Some(self.explained(node, self.of_node.get(node)?))
    }

    /// The plan of a node that nothing names: what all nodes have.
    pub fn explain_defaults(&self, node: &str) -> Explained<'_> {
        self.explained(node, &[])
    }

    fn explained(&self, node: &str, own: &[usize]) -> Explained<'_> {
        let plan = Plan::empty(node);
        let (secrets, env, postscripts, postbootscripts) = Default::default();
        let mut all = Explained { plan, secrets, env, postscripts, postbootscripts };
        // Those of all nodes come before the groups.
        let of_all = self.layers.iter().take_while(|layer| layer.nodes.is_none());
        for layer in of_all.chain(own.iter().filter_map(|index| self.layers.get(*index))) {
            let plan = &mut all.plan;
            // Of a variable the last value counts, secret or not.
            all.secrets.retain(|name, _| !layer.env.contains_key(name));
            plan.env.retain(|name, _| !layer.env_secret.contains_key(name));
            plan.env.extend(layer.env.clone());
            all.secrets.extend(layer.env_secret.clone());
            plan.runbootscripts = layer.runbootscripts.unwrap_or(plan.runbootscripts);
            let names = layer.env.keys().chain(layer.env_secret.keys());
            all.env.extend(names.map(|name| (name.as_str(), layer.name.as_str())));
            add_new(&mut plan.postscripts, &mut all.postscripts, &layer.postscripts, &layer.name);
            let sections = &mut all.postbootscripts;
            add_new(&mut plan.postbootscripts, sections, &layer.postbootscripts, &layer.name);
        }
        all.plan.secret_env = all.secrets.keys().cloned().collect();
        all
    }
}

/// What is published of the nodes of a site: by node, without what the publisher sets.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Their plans.
    pub plans: BTreeMap<String, String>,
    /// The documents with the secrets of those that have some.
    pub secrets: BTreeMap<String, String>,
}

impl Explained<'_> {
    /// Gives the plan the digest of its secrets. Returns their document, if there are any.
    pub fn seal(&mut self, salt: &str) -> Result<Option<String>, PlanError> {
        if self.secrets.is_empty() {
            return Ok(None);
        }
        let document = secret::document(&self.plan.node, &self.secrets, salt)?;
        self.plan.secrets_sha256 = Some(Digest::of(document.as_bytes()));
        Ok(Some(document))
    }
}

/// A node's plan, and which section of `site.toml` each part of it comes from.
#[derive(Clone, Debug)]
pub struct Explained<'s> {
    /// The plan, without the digest of its secrets.
    pub plan: Plan,
    /// The values of its secrets.
    pub secrets: BTreeMap<String, String>,
    /// The section of each variable.
    pub env: BTreeMap<&'s str, &'s str>,
    /// The section of each postscript, in the plan's order.
    pub postscripts: Vec<&'s str>,
    /// The section of each postbootscript.
    pub postbootscripts: Vec<&'s str>,
}

/// Adds the steps that aren't there yet.
fn add_new<'s>(
    steps: &mut Vec<Step>,
    sections: &mut Vec<&'s str>,
    more: &[Step],
    section: &'s str,
) {
    for step in more {
        if !steps.contains(step) {
            steps.push(step.clone());
            sections.push(section);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Result<Site, SiteError> {
        Site::parse(text, Path::new("site.toml"))
    }

    const SITE: &str = r#"
[defaults]
env = { MASTER = "10.0.0.1", ROLE = "none" }
postscripts = ["syslog", "mount_scratch /scratch"]
postbootscripts = ["motd"]

[groups.zebra]
nodes = "cn[001-003]"
postscripts = ["setup z", "syslog", "syslog -v"]
runbootscripts = true

[groups.apple]
nodes = "cn[002-003],login"
env.ROLE = "apple"
postscripts = ["setup a", "setup z"]

[nodes."cn[003-004]"]
env = { ROLE = "own" }
postbootscripts = ["motd", "extra 'a b'"]
runbootscripts = false

[scripts.syslog]
timeout = "5m"
"#;

    #[test]
    fn scripts_add_up_without_repeats_and_the_last_environment_wins() {
        let site = site(SITE).unwrap();
        let plans = site.plans();
        let lists = |node: &str| {
            let plan = &plans[node];
            let join =
                |steps: &[Step]| steps.iter().map(Step::to_string).collect::<Vec<_>>().join("; ");
            (
                join(&plan.postscripts),
                join(&plan.postbootscripts),
                &*plan.env["ROLE"],
                plan.runbootscripts,
            )
        };
        assert_eq!(plans.keys().collect::<Vec<_>>(), ["cn001", "cn002", "cn003", "cn004", "login"]);
        let all = "syslog; mount_scratch /scratch".to_owned();
        let z = format!("{all}; setup z; syslog -v");
        assert_eq!(lists("cn001"), (z.clone(), "motd".to_owned(), "none", true));
        assert_eq!(lists("cn002"), (format!("{z}; setup a"), "motd".to_owned(), "apple", true));
        assert_eq!(
            lists("cn003"),
            (format!("{z}; setup a"), "motd; extra 'a b'".to_owned(), "own", false)
        );
        assert_eq!(lists("cn004"), (all.clone(), "motd; extra 'a b'".to_owned(), "own", false));
        assert_eq!(lists("login").0, format!("{all}; setup a; setup z"));
        assert_eq!(plans["login"].env["MASTER"], "10.0.0.1");
        let why = site.explain("cn003").unwrap();
        let (zebra, apple) = ("groups.zebra", "groups.apple");
        assert_eq!(why.postscripts, ["defaults", "defaults", zebra, zebra, apple]);
        assert_eq!(why.postbootscripts, ["defaults", "nodes.cn[003-004]"]);
        assert_eq!((why.env["MASTER"], why.env["ROLE"]), ("defaults", "nodes.cn[003-004]"));
        assert!(site.explain("cn009").is_none());
        let of_all = site.explain_defaults("cn009");
        assert_eq!((of_all.postscripts.len(), &*of_all.plan.env["ROLE"]), (2, "none"));

        assert_eq!(site.required()["setup"], "groups.zebra.postscripts (site.toml:9)");
        assert_eq!(site.required()["motd"], "defaults.postbootscripts (site.toml:5)");
        assert_eq!(site.overrides()["syslog"].timeout, Some(provost_bundle::Limit::seconds(300)));
        assert!(super::Site::parse("", Path::new("x")).unwrap().plans().is_empty());
    }

    #[test]
    fn of_a_variable_the_last_value_counts_secret_or_not() {
        let text = "[defaults]\nenv = { A = 'a', B = 'b' }\nenv_secret = { C = 'c', D = 'd' }\n\
                    [nodes.n]\nenv = { C = 'open' }\nenv_secret = { A = 'hidden', D = 'own' }\n";
        let site = site(text).unwrap();
        assert!(site.has_secrets());
        let mut why = site.explain("n").unwrap();
        assert_eq!(why.plan.secret_env, ["A", "D"]);
        assert_eq!(
            why.plan.env,
            [("B", "b"), ("C", "open")].map(|(n, v)| (n.into(), v.into())).into()
        );
        assert_eq!((why.env["A"], why.env["C"], why.env["B"]), ("nodes.n", "nodes.n", "defaults"));
        let document = why.seal("salt").unwrap().unwrap();
        let texts = site.texts("salt").unwrap();
        assert_eq!(texts.secrets["n"], document);
        assert_eq!(site.texts("salt").unwrap().plans, texts.plans);
        assert_ne!(site.texts("other").unwrap().plans, texts.plans);
        let mut plan =
            Plan::parse(format!("generation = 1\n{}", texts.plans["n"]).as_bytes()).unwrap();
        assert!(!texts.plans["n"].contains("hidden"), "{}", texts.plans["n"]);
        assert!(secret::add(&mut plan, document.as_bytes()));
        assert_eq!((&*plan.env["A"], &*plan.env["D"], &*plan.env["C"]), ("hidden", "own", "open"));
        for (from, to) in [("hidden", "hiddem"), ("# ", "#")] {
            let other = document.replacen(from, to, 1);
            assert!(!secret::add(&mut plan, other.as_bytes()), "{other}");
        }
        // Who has the plans of two nodes learns not even whether they have the same secrets.
        let texts = super::Site::parse(&text.replace("nodes.n", "nodes.'n[1-2]'"), Path::new("x"));
        let texts = texts.unwrap().texts("salt").unwrap();
        let line = |node: &str| {
            let mut lines = texts.secrets[node].lines();
            lines.next().unwrap().to_owned()
        };
        assert_ne!(line("n1"), line("n2"));
    }

    #[test]
    fn a_script_that_relies_on_it_gets_its_arguments_split_once_more() {
        let text = "resplit = ['t']\n[nodes.a]\npostscripts = ['t \"a b\" c', 'u \"a b\"']\n";
        let plan = &site(text).unwrap().plans()["a"];
        assert_eq!(plan.postscripts[0].args, ["a", "b", "c"]);
        assert_eq!(plan.postscripts[1].args, ["a b"]);
    }

    #[test]
    fn an_error_says_where_it_is() {
        for (text, shown) in [
            ("[defaults]\nenv = 5\n", "site.toml:2: defaults.env: invalid type"),
            (
                "groups.a = 3\n",
                "site.toml:1: groups.a: invalid type: integer `3`, expected a table",
            ),
            (
                "[defaults]\n\npostscript = []\n",
                "site.toml:3: defaults.postscript: unknown field `postscript`",
            ),
            (
                "[groups.a]\nnodes = 'x'\nenv.PORT = 1\n",
                "site.toml:3: groups.a.env.PORT: invalid type: integer `1`, expected a string",
            ),
            (
                "[groups.a]\nnodes = 'x'\nenv_secret.PIN = 1234\n",
                "site.toml:3: groups.a.env_secret.PIN: it isn't a text",
            ),
            (
                "[nodes.a]\nenv.A = '1'\nenv_secret.A = '2'\n",
                "site.toml:2: nodes.a.env.A: it stands under env_secret too",
            ),
            ("[groups.a]\nnodes = 'x'\nenv.A-B = '1'\n", "site.toml:3: groups.a.env.A-B: "),
            (
                "[groups.a]\nnodes = 'x'\npostscripts = ['s',\n5]\n",
                "site.toml:4: groups.a.postscripts[1]: invalid type",
            ),
            (
                "[groups.a]\nnodes = 'x'\npostscripts = ['s',\n't ; u']\n",
                "site.toml:4: groups.a.postscripts: \"t ; u\" can't be run",
            ),
            ("[groups.a]\nnodes = '@b'\n", "site.toml:2: groups.a.nodes: \"@b\" names no nodes"),
            ("\n[groups.a]\n", "site.toml:2: groups.a: the group has no `nodes`"),
            ("[nodes.'cn[']\n", "site.toml:1: nodes.cn[: \"cn[\" names no nodes"),
            ("[nodes.a]\nnodes = 'b'\n", "site.toml:2: nodes.a.nodes: it doesn't belong here"),
            (
                "[scripts.s]\ntimeout = 'none'\n",
                "site.toml:2: scripts.s.timeout: `none` isn't a time limit",
            ),
            ("[scripts.s]\nretry = 1\n", "site.toml:2: scripts.s.retry: unknown field"),
            ("[group.a]\n", "site.toml:1: group: unknown field `group`"),
            ("[defaults\n", "site.toml:1: unclosed table"),
            ("a = 1\na = 2\n", "site.toml:2: duplicate key"),
        ] {
            let error = site(text).unwrap_err();
            assert!(error.to_string().starts_with(shown), "{error}\nnot {shown}");
            assert!(!error.hint().is_empty());
        }
    }
}
