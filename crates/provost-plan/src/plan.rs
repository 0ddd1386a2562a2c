use std::collections::BTreeMap;

use jiff::Timestamp;
use provost_bundle::document::{self, Flaw};
use provost_bundle::{Digest, Validity};
use serde::{Deserialize, Serialize};

use crate::Step;
use crate::name::is_node_name;

/// What one node must run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The format of this file; see [`Plan::FORMAT`].
    pub format: u32,
    /// The node.
    pub node: String,
    /// Counts up whenever anything else in the plan changes. The publisher sets it, so it isn't
    /// part of [`body`](Self::body).
    #[serde(skip_serializing)]
    pub generation: u64,
    /// The generation of the manifest that it belongs to. The publisher sets this and the next two
    /// as well; what an xCAT management node gives has none of them.
    #[serde(default, skip_serializing)]
    pub manifest: Option<u64>,
    /// When it was signed.
    #[serde(default, skip_serializing)]
    pub made: Option<Timestamp>,
    /// From when on nodes without a memory refuse it.
    #[serde(default, skip_serializing)]
    pub expires: Option<Timestamp>,
    /// Whether it is for dry runs alone, as the manifest beside it.
    #[serde(default, skip_serializing)]
    pub rehearsal: bool,
    /// Whether the postbootscripts run at every boot of an installed node, not only at the first.
    #[serde(default)]
    pub runbootscripts: bool,
    /// The secrets of the scripts' environment, by name. Their values are in a document of its own; see
    /// [`secret::document`](crate::secret::document).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_env: Vec<String>,
    /// The digest of that document; none where there are no secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets_sha256: Option<Digest>,
    /// The scripts' environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What runs when the node is installed, or boots without a disk.
    #[serde(default)]
    pub postscripts: Vec<Step>,
    /// What runs when it has booted.
    #[serde(default)]
    pub postbootscripts: Vec<Step>,
}

/// Why a plan can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan can't be used: {}", .0.what)]
pub struct PlanError(Flaw);

impl PlanError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        self.0.hint.to_owned()
    }
}

impl Plan {
    /// The format that this version writes, and the only one it reads.
    pub const FORMAT: u32 = 1;
    /// The biggest plan, in bytes.
    pub const MAX_BYTES: u64 = 1 << 20;

    /// A plan of `node` by which nothing runs.
    pub fn empty(node: &str) -> Self {
        Self {
            format: Self::FORMAT,
            node: node.to_owned(),
            generation: 0,
            manifest: None,
            made: None,
            expires: None,
            rehearsal: false,
            runbootscripts: false,
            secret_env: Vec::new(),
            secrets_sha256: None,
            env: BTreeMap::new(),
            postscripts: Vec::new(),
            postbootscripts: Vec::new(),
        }
    }

    /// Reads a plan that is published, and checks all that can be checked without the bundle.
    pub fn parse(bytes: &[u8]) -> Result<Self, PlanError> {
        Self::parse_as(bytes, false)
    }

    /// The same of one that is a rehearsal, or isn't.
    pub fn parse_as(bytes: &[u8], rehearsal: bool) -> Result<Self, PlanError> {
        let plan: Self = document::read(bytes, Self::MAX_BYTES, Self::FORMAT).map_err(PlanError)?;
        document::check_purpose(plan.rehearsal, rehearsal).map_err(PlanError)?;
        plan.check().or_else(refuse)?;
        Ok(plan)
    }

    /// Until when it may be used; none in what older versions published.
    pub fn validity(&self) -> Option<Validity> {
        Some(Validity { made: self.made?, expires: self.expires? })
    }

    /// The plan's text without what the publisher sets, which stands in the first lines of a published
    /// plan, from `generation = N` on.
    pub fn body(&self) -> Result<String, PlanError> {
        self.check().or_else(refuse)?;
        let body = toml::to_string(self).or_else(|e| refuse(e.to_string()))?;
        // Leaves room for the first lines.
        match body.len() as u64 + 256 <= Self::MAX_BYTES {
            true => Ok(body),
            false => Err(PlanError(Flaw {
                what: format!("the plan of {} has {} bytes", self.node, body.len()),
                hint: "shorten its environment in site.toml; put big values into a file of the bundle",
            })),
        }
    }

    fn check(&self) -> Result<(), String> {
        if !is_node_name(&self.node) {
            return Err(format!("{:?} can't be a node's name", self.node));
        }
        for (name, value) in &self.env {
            check_env(name, value)?;
        }
        self.secret_env.iter().try_for_each(|name| check_env(name, ""))?;
        if self.secret_env.is_empty() != self.secrets_sha256.is_none() {
            return Err("it has secrets without a digest, or a digest without secrets".to_owned());
        }
        self.postscripts.iter().chain(&self.postbootscripts).try_for_each(Step::check)
    }
}

/// Checks that a program's environment can have this variable, and a shell can use it.
pub(crate) fn check_env(name: &str, value: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty()
        || name.starts_with(|c: char| c.is_ascii_digit())
        || !name.chars().all(allowed)
    {
        return Err(format!("{name:?} can't be the name of an environment variable"));
    }
    match value.contains('\0') {
        true => Err(format!("the value of {name} has a NUL byte")),
        false => Ok(()),
    }
}

fn refuse<T>(what: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError(what.into().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            format: Plan::FORMAT,
            node: "cn001".to_owned(),
            generation: 7,
            manifest: None,
            made: None,
            expires: None,
            rehearsal: false,
            runbootscripts: true,
            secret_env: vec!["PASSWORD".to_owned()],
            secrets_sha256: Some(Digest::of(b"its document")),
            env: BTreeMap::from([("MASTER".to_owned(), "10.0.0.1 \"quoted\"\nline".to_owned())]),
            postscripts: vec![Step::parse("syslog").unwrap(), Step::parse("s 'a b' ''").unwrap()],
            postbootscripts: vec![],
        }
    }

    #[test]
    fn a_published_plan_reads_back() {
        let text = format!("generation = 7\n{}", plan().body().unwrap());
        assert_eq!(Plan::parse(text.as_bytes()), Ok(plan()));
    }

    #[test]
    fn a_bad_plan_is_refused() {
        let good = format!("generation = 7\n{}", plan().body().unwrap());
        for (from, to, what) in [
            ("format = 1", "format = 2", "its format is 2"),
            ("format = 1", "", "missing field `format`"),
            ("generation = 7", "", "missing field `generation`"),
            ("generation = 7", "generation = -7", "line 1"),
            ("cn001", "../cn001", "node's name"),
            ("MASTER", "MAS-TER", "environment variable"),
            ("PASSWORD", "PASS-WORD", "environment variable"),
            ("secrets_sha256 = ", "# ", "without a digest"),
            ("10.0.0.1", "\\u0000", "NUL"),
            ("\"syslog\"", "\"../syslog\"", "script's name"),
            ("\"a b\"", "\"\\u0000\"", "NUL"),
            ("runbootscripts", "runbootscript", "unknown field `runbootscript`"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from}");
            let error = Plan::parse(bad.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(what), "{to}: {error}");
        }
        assert!(Plan::parse(b"\xff").is_err());
    }
}
