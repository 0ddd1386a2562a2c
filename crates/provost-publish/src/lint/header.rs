//! What stands in a script's header and has no effect.

use provost_bundle::{Mode, Resume, Trace, When};

use super::finding::{Finding, Level};
use super::syntax;
use crate::Source;

/// How long a run may take unless a node's configuration says otherwise (`[run] deadline`), in seconds.
const RUN_DEADLINE: u64 = 2 * 3600;
/// How a header begins.
const BEGIN: &str = "# /// provost";
/// One of these stands in a script that requests a reboot.
const REBOOTS: [&str; 3] = ["reboot_and_continue", "reboot-request", "PROVOST_REBOOT"];

pub(super) fn of_file(source: &Source, text: &str) -> Vec<Finding> {
    let policy = &source.entry.policy;
    let mut findings = Vec::new();
    let mut warn = |what: &str, hint: &str| {
        findings.push(Finding::of(Level::Warning, source, what, hint));
    };
    let headers = text.lines().filter(|line| line.trim_end() == BEGIN).count();
    if headers > 0 && source.entry.mode == Mode::Data {
        let hint = "make it executable (chmod a+x), if it is a script, or remove the header";
        warn("its header has no effect, because nothing runs it", hint);
        return findings;
    }
    if headers > 1 {
        let hint = "move its keys to the first header";
        warn("its second header has no effect", hint);
    }
    if !policy.inputs.is_empty() && policy.when != Some(When::Change) {
        let hint = "add when = \"change\" to its header, or remove inputs";
        warn("inputs has no effect without when = \"change\"", hint);
    }
    if let Some(name) = policy.inputs.iter().find(|name| !can_be_variable(name)) {
        let hint = "name a variable of env in site.toml, such as inputs = [\"OTHERPKGS1\"]";
        warn(&format!("inputs names {name:?}, which no variable can be called"), hint);
    }
    if policy.trace == Some(Trace::Lines) && syntax::interpreter(text).as_deref() != Some("bash") {
        let hint = "remove trace from its header: then each command that it starts is logged";
        warn("trace = \"lines\" has no effect but on bash scripts", hint);
    }
    let reboots = || REBOOTS.iter().any(|word| text.contains(word));
    if policy.resume == Some(Resume::Again) && !reboots() {
        let hint = "remove resume from its header, or request a reboot: reboot_and_continue REASON";
        warn("resume has no effect: the script requests no reboot", hint);
    }
    if policy.timeout.is_some_and(|limit| limit.duration().as_secs() > RUN_DEADLINE) {
        let hint = "shorten it, or raise deadline under [run] on the nodes that run it";
        warn("its timeout is longer than a whole run may take (2 h by default)", hint);
    }
    findings
}

/// Whether a shell takes it as the name of a variable.
fn can_be_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
