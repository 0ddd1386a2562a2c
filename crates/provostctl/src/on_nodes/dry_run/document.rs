//! What `provost run --dry-run --format json` prints, as far as it is needed here.

use provost_store::Detail;
use serde::Deserialize;
use serde_json::Value;

/// What one node has found.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) changes: Vec<Change>,
    pub(super) would: Vec<Would>,
    /// Packages, users and groups.
    #[serde(default)]
    pub(super) databases: Vec<Known>,
    #[serde(default)]
    pub(super) not_compared: Vec<String>,
    #[serde(default)]
    pub(super) more_changes: u64,
    #[serde(default)]
    pub(super) full_at_bytes: Option<u64>,
    #[serde(default)]
    pub(super) memory_full_at_bytes: Option<u64>,
    #[serde(default)]
    pub(super) processes_full_at: Option<u64>,
    /// The record of the step that failed.
    #[serde(default)]
    pub(super) failure: Option<Detail>,
    /// All of it.
    #[serde(skip)]
    pub(super) all: Value,
}

/// What has changed at one path.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Change {
    pub(super) path: String,
    /// `made`, `changed` or `removed`.
    pub(super) change: String,
    pub(super) before: Option<Look>,
    pub(super) after: Option<Look>,
    /// The extended attributes that aren't the same.
    #[serde(default)]
    pub(super) attributes: Vec<String>,
    pub(super) diff: Option<String>,
}

/// What stood at a path, or stands there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Look {
    pub(super) kind: String,
    pub(super) mode: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) size: Option<u64>,
    /// SELinux's.
    pub(super) label: Option<String>,
    /// Where a link leads.
    pub(super) to: Option<String>,
}

/// A package, a user or a group.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Known {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) change: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// What isn't seen in files.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Would {
    pub(super) command: Option<String>,
    pub(super) would: String,
}

impl Document {
    /// Reads one, if that is what `text` is.
    pub(super) fn read(text: &str) -> Option<Self> {
        let all: Value = serde_json::from_str(text).ok()?;
        let document: Self = serde_json::from_value(all.clone()).ok()?;
        Some(Self { all, ..document })
    }

    /// What is the same on nodes with the same result: nothing that only one node can have, such as its
    /// name, the time, or how long a database of its packages is.
    pub(super) fn same(&self, node: &str) -> String {
        let changes: Vec<String> = self.changes.iter().map(Change::same).collect();
        let would: Vec<String> = self.would.iter().map(Would::line).collect();
        let known: Vec<String> = self.databases.iter().map(Known::line).collect();
        let limits = [self.full_at_bytes, self.memory_full_at_bytes, self.processes_full_at];
        let limits = limits.map(|limit| limit.is_some());
        let rest = (known, &self.not_compared, self.more_changes > 0, limits);
        without_name(&format!("{changes:?}{would:?}{rest:?}"), node)
    }
}

impl Change {
    fn same(&self) -> String {
        // Sizes of what is no text differ by nothing that counts, such as the time in a log.
        let look = |look: &Option<Look>| look.clone().map(|look| Look { size: None, ..look });
        let (before, after) = (look(&self.before), look(&self.after));
        format!("{:?}", (&self.path, &self.change, before, after, &self.attributes, &self.diff))
    }

    /// How many lines its diff adds and removes.
    pub(super) fn counts(&self) -> Option<(usize, usize)> {
        // The first two name the files.
        let lines = || self.diff.iter().flat_map(|diff| diff.lines().skip(2));
        let count = |sign: char| lines().filter(|line| line.starts_with(sign)).count();
        Some((count('+'), count('-'))).filter(|counts| *counts != (0, 0))
    }
}

impl Known {
    /// `changed package chrony:amd64 4.3-1 -> 4.3-2`.
    pub(super) fn line(&self) -> String {
        let values = [&self.before, &self.after];
        let values: Vec<&str> = values.into_iter().flatten().map(String::as_str).collect();
        format!("{} {} {} {}", self.change, self.kind, self.name, values.join(" -> "))
    }
}

impl Would {
    /// `ip route add …: would change the network`.
    pub(super) fn line(&self) -> String {
        let command = self.command.as_ref().map_or(String::new(), |command| format!("{command}: "));
        format!("{command}would {}", self.would)
    }
}

/// `text` with a word for the node in place of its name, where that stands as a word of its own.
pub(super) fn without_name(text: &str, node: &str) -> String {
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(node) {
        let (before, found) = rest.split_at(at);
        let after = &found[node.len()..];
        let is_word = !before.ends_with(is_of_word) && !after.starts_with(is_of_word);
        all.push_str(before);
        all.push_str(if is_word { "NODE" } else { node });
        rest = after;
    }
    all.push_str(rest);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_left_out_where_it_is_a_word() {
        let text = "cn1 is cn1.cluster, not cn10, xcn1 or cn1-ib; /etc/cn1";
        assert_eq!(
            without_name(text, "cn1"),
            "NODE is NODE.cluster, not cn10, xcn1 or cn1-ib; /etc/NODE"
        );
    }

    #[test]
    fn a_diff_is_counted_without_its_names() {
        let diff = Some("--- /a\n+++ /a\n@@ -1,2 +1 @@\n--- one\n-two\n+++ 1\n".to_owned());
        let (path, change) = ("/a".to_owned(), "changed".to_owned());
        let change =
            Change { path, change, before: None, after: None, diff, attributes: Vec::new() };
        assert_eq!(change.counts(), Some((1, 2)));
    }
}
