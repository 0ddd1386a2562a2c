//! What was changed between two bundles and two plans of a node, by what the publisher keeps of them.

use std::collections::BTreeSet;
use std::path::Path;

use provost_api::admins::{Publication, ScriptChange, ValueChange};
use provost_plan::difference::{Difference, Values, differences};
use provost_plan::{Plan, secret};
use provost_publish::{plan_body, script_bytes, scripts_of};
use similar::TextDiff;

/// What a value is called that nobody may read.
const HIDDEN: &str = "(hidden)";
/// The most lines of a diff. The rest is counted.
const MOST_LINES: usize = 400;
/// The longest script that is compared, in bytes.
const MOST_SCRIPT: usize = 1 << 20;

/// The scripts that differ between two generations; none if one of the two isn't known.
pub(crate) fn scripts(
    publications: &[Publication],
    (from, to): (u64, u64),
) -> Option<Vec<ScriptChange>> {
    let (then, now) = (scripts_of(publications, from)?, scripts_of(publications, to)?);
    let paths: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let differing = paths.into_iter().filter(|path| then.get(*path) != now.get(*path));
    let change = |path: &String| {
        let by = last_change(publications, path, to)?;
        Some(ScriptChange {
            script: path.clone(),
            then: then.get(path).cloned(),
            now: now.get(path).cloned(),
            generation: by.generation,
            at: by.at,
            by: by.by.clone(),
            host: by.host.clone(),
        })
    };
    Some(differing.filter_map(change).collect())
}

/// The publication that gave the script the content that it has in the generation `to`: the first of those in a row
/// that have it so.
fn last_change<'p>(
    publications: &'p [Publication],
    path: &str,
    to: u64,
) -> Option<&'p Publication> {
    let content = scripts_of(publications, to)?.get(path);
    let older = publications.iter().rev().filter(|one| one.generation <= to);
    older.take_while(|one| one.scripts.get(path) == content).last()
}

/// The unified diff of a script between two generations, or why there is none.
pub(crate) fn diff(
    www: &Path,
    change: &ScriptChange,
    (from, to): (u64, u64),
) -> Result<String, String> {
    let text = |sha256: &Option<String>| -> Result<String, String> {
        let Some(sha256) = sha256 else { return Ok(String::new()) };
        let bytes = script_bytes(www, sha256).ok_or("its text isn't kept any more")?;
        if bytes.len() > MOST_SCRIPT {
            return Err("it is too long to compare".to_owned());
        }
        let is_text = !bytes.contains(&0);
        let text = is_text.then(|| String::from_utf8(bytes).ok()).flatten();
        text.ok_or_else(|| "it is no text".to_owned())
    };
    let (then, now) = (text(&change.then)?, text(&change.now)?);
    let name = &change.script;
    let header = [from, to].map(|generation| format!("{name} (generation {generation})"));
    let diff = TextDiff::from_lines(&then, &now);
    let unified = diff.unified_diff().header(&header[0], &header[1]).to_string();
    let lines = unified.lines().count();
    if lines <= MOST_LINES {
        return Ok(unified);
    }
    let kept: String = unified.split_inclusive('\n').take(MOST_LINES).collect();
    Ok(format!("{kept}… and {} more lines\n", lines - MOST_LINES))
}

/// What differs between two plans of a node; none if one of them isn't kept.
pub(crate) fn plans(www: &Path, node: &str, (from, to): (u64, u64)) -> Option<Vec<ValueChange>> {
    let plan = |generation| {
        let body = plan_body(www, node, generation)?;
        let mut plan = Plan::parse(format!("generation = {generation}\n{body}").as_bytes()).ok()?;
        secret::hide_in_arguments(&mut plan);
        Some(plan)
    };
    let (then, now) = (plan(from)?, plan(to)?);
    let (all, values) = differences(Some(&then), Some(&now), &[]);
    let mut changes: Vec<ValueChange> = Vec::new();
    for difference in all {
        changes.push(match difference {
            Difference::Step { list, step, is_added } => {
                let (then, now) = if is_added { (None, Some(step)) } else { (Some(step), None) };
                ValueChange { name: list.to_owned(), then, now }
            }
            Difference::Order(list) => {
                let steps = |plan: &Plan| {
                    let steps = if list == "postscript" {
                        &plan.postscripts
                    } else {
                        &plan.postbootscripts
                    };
                    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                };
                let (then, now) = (Some(steps(&then)), Some(steps(&now)));
                ValueChange { name: format!("order of {list}s"), then, now }
            }
            Difference::RunBootScripts(value) => ValueChange {
                name: "runbootscripts".to_owned(),
                then: Some((!value).to_string()),
                now: Some(value.to_string()),
            },
            Difference::Env { name, .. } => {
                let of_name: Option<&Values> = values.get(&name);
                let (then, now) = of_name.cloned().unwrap_or_default();
                let shown = |value: Option<String>| match secret::is_secret(&name) {
                    true => value.map(|_| HIDDEN.to_owned()),
                    false => value,
                };
                ValueChange { name: format!("env {name}"), then: shown(then), now: shown(now) }
            }
            Difference::Secret { name, had, has } => {
                let shown = |is_there: bool| is_there.then(|| HIDDEN.to_owned());
                ValueChange { name: format!("env {name}"), then: shown(had), now: shown(has) }
            }
        });
    }
    if then.secrets_sha256 != now.secrets_sha256 && then.secret_env == now.secret_env {
        let name = format!("secret {}", now.secret_env.join(" or "));
        let hidden = || Some(HIDDEN.to_owned());
        changes.push(ValueChange { name, then: hidden(), now: hidden() });
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn publication(generation: u64, by: &str, scripts: &[(&str, &str)]) -> Publication {
        let scripts = scripts.iter().map(|(path, sha)| ((*path).into(), (*sha).into()));
        Publication {
            number: generation,
            generation,
            at: jiff::Timestamp::UNIX_EPOCH,
            by: by.to_owned(),
            host: "mgmt".to_owned(),
            action: "publish".to_owned(),
            channel: None,
            scripts: scripts.collect::<BTreeMap<_, _>>(),
        }
    }

    #[test]
    fn each_changed_script_has_the_publication_that_changed_it() {
        let all = [
            publication(1, "ann", &[("a", "1"), ("b", "1"), ("gone", "1")]),
            publication(2, "bob", &[("a", "2"), ("b", "1"), ("gone", "1")]),
            publication(3, "cid", &[("a", "2"), ("b", "1"), ("new", "1")]),
            publication(4, "dan", &[("a", "1"), ("b", "1"), ("new", "1")]),
        ];
        let told = |from, to| -> Vec<String> {
            let changes = scripts(&all, (from, to)).unwrap();
            changes
                .iter()
                .map(|one| format!("{} {} {}", one.script, one.generation, one.by))
                .collect()
        };
        assert_eq!(told(1, 3), ["a 2 bob", "gone 3 cid", "new 3 cid"]);
        assert_eq!(told(2, 4), ["a 4 dan", "gone 3 cid", "new 3 cid"]);
        assert_eq!(told(2, 2), [""; 0]);
        assert_eq!(scripts(&all, (1, 9)), None);
    }
}
