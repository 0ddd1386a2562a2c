//! A dry run on many nodes: equal results stand together, each shown once.

mod document;
mod groups;
mod text;

use std::cell::RefCell;

use provost_steplog::Paint;
use provost_store::Detail;
use serde_json::Value;

use self::document::Document;
use self::groups::{Group, Groups};
use super::progress::Progress;
use super::report::Reports;
use super::row::Row;
use super::summary;
use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::known_hosts::KnownHosts;
use crate::node_set::NodeSet;
use crate::output;
use crate::ssh::{Remote, RemoteResult, Ssh};

/// What a program says that is too old for it, in clap's words.
const TOO_OLD: &[&str] = &["unexpected argument '--dry-run'", "unexpected argument '--bundle'"];

/// Runs on each of `nodes` its dry run, which prints a document, and prints what they have found.
pub(crate) async fn on_each<'r>(
    ssh: &Ssh,
    format: Format,
    client: &Client,
    nodes: &NodeSet,
    remote: impl Fn(&str) -> Remote<'r>,
) -> Result<(), Failure> {
    let known_hosts = KnownHosts::of(client).await;
    let (reports, groups) = (Reports::default(), RefCell::new(Groups::default()));
    let progress = Progress::new(nodes.names.len());
    let ended = |node: &str, result: RemoteResult| {
        let document = Document::read(&reports.take(node));
        let row = row(node, &result, document.as_ref());
        groups.borrow_mut().add(&row, document);
        progress.add(row);
    };
    tokio::select! {
        () = ssh.on_each(nodes, &known_hosts, remote, |node| reports.open(node), ended) => {}
        () = progress.tick() => {}
    }
    let rows = progress.finish();
    let groups = groups.into_inner().sorted();
    let text = match format {
        Format::Json => {
            let groups: Vec<Value> = groups.iter().map(Group::json).collect();
            format!("{}\n", Value::Array(groups))
        }
        Format::Text => text::text(&groups, Paint::of_stdout()),
    };
    output::print(text.as_bytes())?;
    let hint = "fix what the lines above name; nothing was changed by it";
    summary::verdict(&rows).map_err(|failure| match rows.iter().any(Row::has_failed) {
        true => Failure { hint: hint.to_owned(), ..failure },
        false => failure,
    })
}

fn row(node: &str, result: &RemoteResult, document: Option<&Document>) -> Row {
    let is_too_old =
        TOO_OLD.iter().any(|words| result.lines.iter().any(|line| line.contains(words)));
    let detail = match document {
        Some(document) => document.failure.clone().map(|found| {
            let hint = found.hint.as_deref().and_then(hint_without_run);
            Detail { hint, ..found }
        }),
        None if is_too_old => Some(Detail {
            error_message: Some("its provost is too old for a dry run".to_owned()),
            hint: Some("install on it the package provost of this version".to_owned()),
            ..Detail::default()
        }),
        None => None,
    };
    let row = Row::new(node, result, detail);
    match document {
        Some(_) => row,
        None => row.without_result("it printed no result of a dry run"),
    }
}

/// A hint of a node without what is for a run only: there is no log of a dry run, and nothing to run again.
fn hint_without_run(hint: &str) -> Option<String> {
    let before = hint.split("then: provost ").next().unwrap_or_default();
    let parts = before.split("; ").map(|part| part.trim_end_matches([' ', ',', ';']));
    let parts: Vec<&str> = parts
        .filter(|part| !part.is_empty() && *part != "fix it" && !part.contains("provost log "))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_no_log_and_no_other_run() {
        for (hint, is) in [
            ("see all its output on the node: provost log x; fix it, then: provost run x", None),
            (
                "see where it hangs: provost log x; fix it or raise its `timeout` (3s now), then: provost run x",
                Some("fix it or raise its `timeout` (3s now)"),
            ),
            (
                "look for the OOM killer in `dmesg`; see all its output on the node: provost log x; fix it, then: \
                 provost run x",
                Some("look for the OOM killer in `dmesg`"),
            ),
            (
                "install /bin/ksh on the node, or change the script's first line; then: provost run x",
                Some("install /bin/ksh on the node, or change the script's first line"),
            ),
            ("add the repository that has slurmd", Some("add the repository that has slurmd")),
        ] {
            assert_eq!(hint_without_run(hint).as_deref(), is, "{hint}");
        }
    }
}
