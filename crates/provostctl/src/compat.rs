//! `provostctl compat`: which versions of the programs there are, and whether they work together.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use provost_api::admins::{HEALTH, Health, SCRIPTS, Scripts};
use provost_plan::nodes::fold;
use provost_steplog::{Paint, wording};
use provost_store::Node;
use serde::Serialize;

use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::table::{Table, Tone};

/// A node that hasn't reported for longer doesn't count.
const REPORTED: SignedDuration = SignedDuration::from_hours(30 * 24);

/// `provostctl compat`.
#[derive(clap::Args)]
pub(crate) struct Compat {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The versions of the programs of a site.
#[derive(Serialize)]
struct Versions {
    provostctl: &'static str,
    provostd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<PublishedManifest>,
    /// Of the nodes that reported in the last 30 days.
    programs: Vec<NodePrograms>,
}

#[derive(Serialize)]
struct PublishedManifest {
    format: u32,
    generation: u64,
}

/// The nodes whose program has the same version.
#[derive(Serialize)]
struct NodePrograms {
    version: String,
    count: usize,
    nodes: String,
    supported: bool,
}

impl Compat {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let versions = Versions::ask(client).await?;
        let text = match self.format {
            Format::Text => versions.table().render(output::width(), Paint::of_stdout()),
            Format::Json => {
                let json = serde_json::to_string(&versions);
                json.map_err(|e| Failure::of(&e, "report this as a bug"))? + "\n"
            }
        };
        output::print(text.as_bytes())?;
        versions.unsupported().map_or(Ok(()), Err)
    }
}

impl Versions {
    async fn ask(client: &Client) -> Result<Self, Failure> {
        let health: Health = client.get(HEALTH).await?;
        let provostd = health.version.ok_or_else(|| {
            Failure::new("provostd doesn't name its version", "install a newer provostd")
        })?;
        let published: Scripts = client.get(SCRIPTS).await?;
        let manifest = published.format.zip(published.generation);
        let nodes: Vec<Node> = client.nodes(None).await?;
        Ok(Self {
            provostctl: provost_api::VERSION,
            manifest: manifest.map(|(format, generation)| PublishedManifest { format, generation }),
            programs: programs(&nodes, &provostd, Timestamp::now()),
            provostd,
        })
    }

    fn table(&self) -> Table<5> {
        let mut table = Table::new(["PROGRAM", "VERSION", "SUPPORTED", "COUNT", "NODES"]);
        let own = |name: &str, version: &str| [name, version, "", "", ""].map(str::to_owned);
        table.add(own("provostctl", self.provostctl), Tone::Good);
        table.add(own("provostd", &self.provostd), Tone::Good);
        if let Some(PublishedManifest { format, generation }) = self.manifest {
            let version = format!("format {format}, generation {generation}");
            table.add(own("manifest", &version), Tone::Good);
        }
        for NodePrograms { version, count, nodes, supported } in &self.programs {
            let (word, tone) = if *supported { ("yes", Tone::Good) } else { ("no", Tone::Bad) };
            let row = ["provost", version, word, &count.to_string(), nodes].map(str::to_owned);
            table.add(row, tone);
        }
        table
    }

    /// The nodes whose programs aren't supported.
    fn unsupported(&self) -> Option<Failure> {
        let bad: Vec<_> = self.programs.iter().filter(|program| !program.supported).collect();
        let count: usize = bad.iter().map(|program| program.count).sum();
        let names = bad.iter().map(|p| format!("{} ({})", p.nodes, p.version));
        let names = names.collect::<Vec<_>>().join(", ");
        // Of two programs the one that is too old is replaced.
        let is_newer = |p: &&NodePrograms| minor(&p.version) > minor(&self.provostd);
        let hint = match bad.iter().any(is_newer) {
            true => format!("install a newer provostd: {} is too old for them", self.provostd),
            false => format!("install provost {} on them", self.provostd),
        };
        let nodes = wording::count(count, "node");
        let error =
            format!("provostd {} doesn't support the program of {nodes}: {names}", self.provostd);
        (count > 0).then(|| Failure::new(error, hint))
    }
}

/// The programs of the nodes that reported lately, the oldest first.
fn programs(nodes: &[Node], provostd: &str, now: Timestamp) -> Vec<NodePrograms> {
    let mut by_version = BTreeMap::<_, Vec<String>>::new();
    for node in nodes {
        if let (Some(version), Some(seen)) = (&node.program, node.last_seen)
            && now.duration_since(seen) <= REPORTED
        {
            by_version.entry((minor(version), version)).or_default().push(node.name.clone());
        }
    }
    let program = |((_, version), names): ((_, &String), Vec<String>)| NodePrograms {
        version: version.clone(),
        count: names.len(),
        nodes: fold(&names),
        supported: is_supported(version, provostd),
    };
    by_version.into_iter().map(program).collect()
}

/// A program of a node works with a provostd that is one minor version older, and with any newer one of the same
/// major version.
fn is_supported(program: &str, provostd: &str) -> bool {
    let (Some(program), Some(provostd)) = (minor(program), minor(provostd)) else { return false };
    program.0 == provostd.0 && program.1 <= provostd.1.saturating_add(1)
}

/// The major and the minor version: `(1, 2)` of `1.2.3-rc.1`.
fn minor(version: &str) -> Option<(u64, u64)> {
    let mut numbers = version.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_be_one_minor_version_newer_or_any_older() {
        for (program, provostd, expected) in [
            ("1.2.3", "1.2.0", true),
            ("1.3.0-rc.1", "1.2.9", true),
            ("1.4.0", "1.2.9", false),
            ("1.0.0", "1.20.0", true),
            ("1.9.0", "2.0.0", false),
            ("2.0.0", "1.9.0", false),
            ("new", "1.9.0", false),
            ("1", "1.9.0", false),
        ] {
            assert_eq!(is_supported(program, provostd), expected, "{program} with {provostd}");
        }
    }

    #[test]
    fn nodes_are_counted_by_version_if_they_reported_in_the_last_30_days() {
        let now: Timestamp = "2026-11-27T12:00:00Z".parse().unwrap();
        let node = |name: &str, program: Option<&str>, seen: Option<&str>| Node {
            name: name.to_owned(),
            program: program.map(str::to_owned),
            last_seen: seen.map(|seen| seen.parse().unwrap()),
            ..Node::default()
        };
        let lately = Some("2026-10-28T12:00:00Z");
        let nodes = [
            node("cn001", Some("1.10.0"), lately),
            node("cn002", Some("1.9.1"), lately),
            node("cn003", Some("1.10.0"), lately),
            node("cn004", Some("0.1.0"), Some("2026-10-28T11:59:59Z")),
            node("cn005", None, lately),
            node("cn006", Some("0.1.0"), None),
        ];
        let found = programs(&nodes, "1.8.0", now);
        let versions = Versions {
            provostctl: "1.8.0",
            provostd: "1.8.0".to_owned(),
            manifest: None,
            programs: found,
        };
        assert_eq!(
            serde_json::to_value(&versions.programs).unwrap(),
            serde_json::json!([
                { "version": "1.9.1", "count": 1, "nodes": "cn002", "supported": true },
                { "version": "1.10.0", "count": 2, "nodes": "cn[001,003]", "supported": false },
            ])
        );
        let failure = versions.unsupported().unwrap();
        assert_eq!(
            failure.error,
            "provostd 1.8.0 doesn't support the program of 2 nodes: cn[001,003] (1.10.0)"
        );
        assert_eq!(failure.hint, "install a newer provostd: 1.8.0 is too old for them");
    }
}
