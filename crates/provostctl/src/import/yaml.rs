//! YAML, of which only what JSON has too is needed.

use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

use super::unreadable::Unreadable;

/// Reads a document. A site of 100,000 nodes has some millions of values.
pub(super) fn read(text: &str) -> Result<Value, Unreadable> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: 10_000_000, max_events: 20_000_000, max_merge_keys: 1_000_000 },
        // As Ansible and Warewulf do.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|e| {
        let line = e.location().map_or(1, |at| usize::try_from(at.line()).unwrap_or(1));
        let what = e.without_snippet().to_string();
        Unreadable { line, what: what.lines().next().unwrap_or_default().to_owned() }
    })
}
