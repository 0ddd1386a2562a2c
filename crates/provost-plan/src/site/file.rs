use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use provost_bundle::Policy;
use provost_bundle::document::line_of;
use serde::Deserialize;
use toml::Spanned;

use super::error::SiteError;
use super::layer::Layer;
use crate::Step;
use crate::groups::{Groups, Resolver};
use crate::nodes::{Expression, NodesError};
use crate::plan::check_env;

/// What nodes run: provost-site.toml(5).
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct File {
    /// What applies to all nodes that a group or a section of their own names.
    #[serde(default)]
    defaults: Section,
    /// What applies to the nodes of a group, by the group's name.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, Section>"))]
    groups: BTreeMap<String, Spanned<Section>>,
    /// What applies to a node, or to the nodes of a range such as "cn[003-004]".
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, Section>"))]
    nodes: BTreeMap<String, Spanned<Section>>,
    /// What overrides the headers of scripts, by the script's name.
    #[serde(default)]
    scripts: BTreeMap<String, Policy>,
    /// Scripts that rely on xCAT's splitting of arguments: at blanks, also inside quotes.
    #[serde(default)]
    resplit: BTreeSet<String>,
}

/// What some nodes run.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Section {
    /// The group's nodes: names and ranges, such as "cn[001-512,600],login".
    // Nothing but a group has any.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    nodes: Option<Spanned<String>>,
    /// Variables of the scripts' environment; their values are texts.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, String>"))]
    env: BTreeMap<String, Spanned<String>>,
    /// Variables whose values aren't in plans: each node gets its own by TLS alone. They are texts.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, String>"))]
    env_secret: BTreeMap<String, Spanned<String>>,
    /// What runs when a node is installed, or boots without a disk: scripts, each with its arguments.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    postscripts: Vec<Spanned<String>>,
    /// What runs when a node has booted: scripts, each with its arguments.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    postbootscripts: Vec<Spanned<String>>,
    /// Whether the postbootscripts run at every boot of an installed node, not only at the first.
    runbootscripts: Option<bool>,
}

fn in_file_order(sections: BTreeMap<String, Spanned<Section>>) -> Vec<(String, Spanned<Section>)> {
    let mut sections: Vec<_> = sections.into_iter().collect();
    sections.sort_by_key(|(_, section)| section.span().start);
    sections
}

/// The content of a `site.toml`, checked.
pub(super) struct Content {
    /// In the order in which they apply.
    pub(super) layers: Vec<Layer>,
    /// The policies that replace what scripts' headers say, by script.
    pub(super) overrides: BTreeMap<String, Policy>,
    /// The scripts that plans run, each with the first place that names it.
    pub(super) required: BTreeMap<String, String>,
    /// The nodes of the groups outside the file that it names, by their names in it.
    pub(super) used: BTreeMap<String, String>,
}

/// Reads a `site.toml`, with the line of everything for errors.
pub(super) struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
    /// The scripts that were read so far, each with the first place that names it.
    required: BTreeMap<String, String>,
    /// The scripts whose arguments are split once more.
    resplit: BTreeSet<String>,
    /// The groups outside the file.
    outside: Groups,
}

type Result<T> = std::result::Result<T, SiteError>;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, path: &'a Path, outside: Groups) -> Self {
        Self { text, path, required: BTreeMap::new(), resplit: BTreeSet::new(), outside }
    }

    pub(super) fn content(mut self) -> Result<Content> {
        let mut file = self.file()?;
        self.resplit = std::mem::take(&mut file.resplit);
        let definition = |(name, section): (&String, &Spanned<Section>)| {
            Some((name.clone(), section.get_ref().nodes.as_ref()?.get_ref().clone()))
        };
        let groups = file.groups.iter().filter_map(definition).collect();
        let groups = std::mem::take(&mut self.outside).with_site(groups);
        let mut resolver = groups.resolver();
        let mut layers = vec![self.layer("defaults", None, file.defaults)?];
        for (name, section) in in_file_order(file.groups) {
            let (key, span) = (format!("groups.{name}"), section.span());
            let mut section = section.into_inner();
            let Some(nodes) = section.nodes.take() else {
                let hint = format!("add a line such as nodes = \"cn[001-512]\" under [{key}]");
                return Err(self.error(&key, span, "the group has no `nodes`", hint));
            };
            let place = format!("{key}.nodes");
            let nodes = self.nodes(&place, nodes.span(), nodes.get_ref(), &mut resolver)?;
            layers.push(self.layer(&key, Some(nodes), section)?);
        }
        for (name, section) in in_file_order(file.nodes) {
            let key = format!("nodes.{name}");
            let nodes = self.nodes(&key, section.span(), &name, &mut resolver)?;
            layers.push(self.layer(&key, Some(nodes), section.into_inner())?);
        }
        let used = resolver.into_used();
        Ok(Content { layers, overrides: file.scripts, required: self.required, used })
    }

    fn file(&self) -> Result<File> {
        let hint = "correct that line: keys as in man provost-site.toml, texts in quotes";
        let deserializer = toml::Deserializer::parse(self.text).map_err(|e| SiteError {
            path: self.path.to_owned(),
            line: line_of(self.text, e.span()),
            what: e.message().to_owned(),
            hint: hint.to_owned(),
        })?;
        serde_path_to_error::deserialize(deserializer).map_err(|e| {
            // serde's name for the inside of a `Spanned` isn't a key of the file.
            let key = e.path().to_string().replace(".$__serde_spanned_private_value", "");
            let at = e.inner().span().unwrap_or_default();
            // That would show the value.
            let is_secret = key.contains(".env_secret.");
            let what = if is_secret { "it isn't a text" } else { e.inner().message() };
            self.error(&key, at, what, hint)
        })
    }

    fn layer(
        &mut self,
        key: &str,
        nodes: Option<BTreeSet<String>>,
        section: Section,
    ) -> Result<Layer> {
        if let Some(nodes) = &section.nodes {
            let hint = "only groups have nodes: remove it, or make the section a [groups.NAME]";
            let key = format!("{key}.nodes");
            return Err(self.error(&key, nodes.span(), "it doesn't belong here", hint));
        }
        if let Some(name) = section.env_secret.keys().find(|name| section.env.contains_key(*name)) {
            let (key, at) = (format!("{key}.env.{name}"), section.env[name].span());
            let hint = "name it once: under env_secret, if nobody is to see it";
            return Err(self.error(&key, at, "it stands under env_secret too", hint));
        }
        Ok(Layer {
            name: key.to_owned(),
            nodes,
            env: self.env(&format!("{key}.env"), section.env)?,
            env_secret: self.env(&format!("{key}.env_secret"), section.env_secret)?,
            postscripts: self.steps(format!("{key}.postscripts"), &section.postscripts)?,
            postbootscripts: self
                .steps(format!("{key}.postbootscripts"), &section.postbootscripts)?,
            runbootscripts: section.runbootscripts,
        })
    }

    fn env(
        &self,
        key: &str,
        variables: BTreeMap<String, Spanned<String>>,
    ) -> Result<BTreeMap<String, String>> {
        let check = |(name, value): (String, Spanned<String>)| {
            check_env(&name, value.get_ref()).map_err(|what| {
                let hint = "use letters, digits and _ in the name, and no digit first";
                self.error(&format!("{key}.{name}"), value.span(), &what, hint)
            })?;
            Ok((name, value.into_inner()))
        };
        variables.into_iter().map(check).collect()
    }

    fn steps(&mut self, key: String, lines: &[Spanned<String>]) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        for line in lines {
            let mut step = Step::parse(line.get_ref())
                .map_err(|e| self.error(&key, line.span(), &e.to_string(), e.hint()))?;
            if self.resplit.contains(&step.script) {
                step.args = step
                    .args
                    .iter()
                    .flat_map(|a| a.split_whitespace())
                    .map(str::to_owned)
                    .collect();
            }
            // Counting lines takes a moment; most scripts are named many times.
            let by = || {
                let place = line_of(self.text, Some(line.span()));
                format!("{key} ({}:{place})", self.path.display())
            };
            self.required.entry(step.script.clone()).or_insert_with(by);
            steps.push(step);
        }
        Ok(steps)
    }

    fn nodes(
        &self,
        key: &str,
        at: Range<usize>,
        text: &str,
        resolver: &mut Resolver<'_>,
    ) -> Result<BTreeSet<String>> {
        let mut read = || -> std::result::Result<Vec<String>, NodesError> {
            text.parse::<Expression>()?.nodes(|set| resolver.nodes(set))
        };
        let names = read().map_err(|e| self.error(key, at, &e.to_string(), e.hint()))?;
        Ok(names.into_iter().collect())
    }

    fn error(&self, key: &str, at: Range<usize>, what: &str, hint: impl Into<String>) -> SiteError {
        SiteError {
            path: self.path.to_owned(),
            line: line_of(self.text, Some(at)),
            what: format!("{key}: {what}"),
            hint: hint.into(),
        }
    }
}
