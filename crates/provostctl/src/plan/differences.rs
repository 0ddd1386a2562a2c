//! In what two nodes differ.

use std::collections::BTreeSet;
use std::fmt::Write;

use provost_plan::{Explained, Step, secret};
use provost_steplog::Paint;
use provost_steplog::terminal::escape_cell;
use similar::ChangeTag;

/// What one node runs and the other doesn't, or at another place, or with another value.
pub(super) fn differences(a: &Explained<'_>, b: &Explained<'_>) -> String {
    let paint = Paint::of_stdout();
    let mut text = String::new();
    let mut line = |is_added: bool, what: &str, section: &str| {
        let (sign, section) = (if is_added { '+' } else { '-' }, escape_cell(section));
        let what = format!("{sign} {}", escape_cell(what));
        let what = if is_added { paint.good(&what) } else { paint.bad(&what) };
        // Writing to a String can't fail.
        let _ = match &*section {
            "" => writeln!(text, "{what}"),
            section => writeln!(text, "{what}  {}", paint.faint(section)),
        };
    };
    let lists = [
        (
            "postscript",
            (&a.plan.postscripts, &a.postscripts),
            (&b.plan.postscripts, &b.postscripts),
        ),
        (
            "postbootscript",
            (&a.plan.postbootscripts, &a.postbootscripts),
            (&b.plan.postbootscripts, &b.postbootscripts),
        ),
    ];
    for (list, (old, old_from), (new, new_from)) in lists {
        let names = |steps: &[Step]| steps.iter().map(Step::to_string).collect::<Vec<_>>();
        let (old, new) = (names(old), names(new));
        let parts = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
        for change in parts.iter().flat_map(|part| part.iter_changes(&old, &new)) {
            let what = format!("{list} {}", change.value());
            match (change.tag(), change.old_index(), change.new_index()) {
                (ChangeTag::Delete, Some(at), _) => line(false, &what, old_from[at]),
                (ChangeTag::Insert, _, Some(at)) => line(true, &what, new_from[at]),
                _ => {}
            }
        }
    }
    let value = |of: &Explained<'_>, name: &str| {
        let values = [of.plan.env.get(name), of.secrets.get(name)];
        (values.map(Option::<&String>::cloned), is_secret(of, name))
    };
    let both: BTreeSet<&str> = names(a).union(&names(b)).copied().collect();
    for name in both.into_iter().filter(|name| value(a, name) != value(b, name)) {
        for (is_added, of) in [(false, a), (true, b)] {
            let Some(shown) = shown(of, name) else { continue };
            let section = of.env.get(name).copied().unwrap_or_default();
            line(is_added, &format!("env {shown}"), section);
        }
    }
    if a.plan.runbootscripts != b.plan.runbootscripts {
        line(false, &format!("runbootscripts = {}", a.plan.runbootscripts), "");
        line(true, &format!("runbootscripts = {}", b.plan.runbootscripts), "");
    }
    let (node, other) = (&a.plan.node, &b.plan.node);
    match text.is_empty() {
        true => format!("{node} and {other} run the same\n"),
        false => format!("--- {node}\n+++ {other}\n{text}"),
    }
}

/// The names of its variables.
pub(super) fn names<'e>(of: &'e Explained<'_>) -> BTreeSet<&'e str> {
    of.plan.env.keys().chain(&of.plan.secret_env).map(String::as_str).collect()
}

/// A variable, if it has it, without its value if that is secret.
pub(super) fn shown(of: &Explained<'_>, name: &str) -> Option<String> {
    match of.plan.env.get(name) {
        _ if is_secret(of, name) => Some(format!("{name}=(secret)")),
        Some(_) if secret::is_secret(name) => Some(format!("{name}=(hidden)")),
        value => Some(format!("{name}={}", value?)),
    }
}

fn is_secret(of: &Explained<'_>, name: &str) -> bool {
    of.plan.secret_env.iter().any(|secret| secret == name)
}
