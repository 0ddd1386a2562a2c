//! A message without what differs from node to node.

/// What stands for a number, a path, an address, an id, a name or a time, and for several in a row.
const VARIABLE: &str = "#";

/// In a line with one of these, a program says why it failed. Others are its progress.
const ERROR_WORDS: &[&str] = &[
    "abort",
    "bad ",
    "broken",
    "busy",
    "cannot",
    "can't",
    "conflict",
    "corrupt",
    "could not",
    "couldn't",
    "denied",
    "disabled",
    "does not",
    "doesn't",
    "error",
    "exception",
    "exceeded",
    "expired",
    "fail",
    "fatal",
    "forbidden",
    "illegal",
    "incorrect",
    "invalid",
    "is not",
    "isn't",
    "killed",
    "mismatch",
    "missing",
    "no matching",
    "no package",
    "no route",
    "no space",
    "no such",
    "not a ",
    "not exist",
    "not found",
    "not installed",
    "not permitted",
    "nothing provides",
    "out of",
    "panic",
    "problem",
    "read-only",
    "refused",
    "reject",
    "required",
    "segmentation fault",
    "stale",
    "timed out",
    "timeout",
    "too many",
    "unable",
    "unauthorized",
    "unavailable",
    "unexpected",
    "unknown",
    "unmet",
    "unreachable",
    "unrecognized",
    "wrong",
];

/// After these, the next word is a name.
const BEFORE_NAMES: &[&str] = &["host", "hostname", "node"];

/// Units, which differ with the number before them.
const UNITS: &[&str] = &[
    "b", "byte", "gb", "gib", "h", "hour", "kb", "kib", "mb", "mib", "min", "minute", "ms", "s",
    "sec", "second", "tb", "tib",
];

/// How names of systemd's units end. A unit is no host, though its name has a dot.
const UNIT_TYPES: &[&str] = &["mount", "path", "service", "slice", "socket", "target", "timer"];

const DATES: &[&str] = &[
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Mon",
    "Tue", "Wed", "Thu", "Fri", "Sat", "Sun",
];

/// The lines of `message` that say why something failed.
pub(super) fn reasons(message: &str) -> Vec<&str> {
    let says_why = |line: &&str| {
        let line = line.to_lowercase();
        line.starts_with("e:") || ERROR_WORDS.iter().any(|word| line.contains(word))
    };
    message.lines().filter(says_why).collect()
}

/// The lines of `message` that say why something failed, each once, without what differs from node
/// to node. `all` takes the other lines where no line says it.
pub(super) fn message(message: &str, node: &str, all: bool) -> String {
    let mut lines = reasons(message);
    if lines.is_empty() && all {
        lines = message.lines().collect();
    }
    let mut lines: Vec<String> = lines.into_iter().map(|text| line(text, node)).collect();
    // stdout and stderr may come in either order.
    lines.sort_unstable();
    lines.dedup();
    lines.join("\n")
}

fn line(text: &str, node: &str) -> String {
    let text = without_quotes(&without_colours(text));
    let mut words: Vec<String> = Vec::new();
    for raw in text.split_whitespace() {
        let before = words.last().map(String::as_str);
        match word(raw, before, node) {
            Some(word) if word == VARIABLE && before == Some(VARIABLE) => {}
            Some(word) => words.push(word),
            None => {}
        }
    }
    words.join(" ")
}

/// The word that stands for `raw`, none where it says nothing.
fn word(raw: &str, before: Option<&str>, node: &str) -> Option<String> {
    let core = raw.trim_matches(|c: char| !c.is_alphanumeric() && !"/~".contains(c));
    if core.is_empty() {
        return None;
    }
    let lower = core.to_lowercase();
    if let Some((key, _)) = lower.split_once('=').filter(|_| !is_variable(raw, core, node)) {
        return Some(format!("{key}={VARIABLE}"));
    }
    let singular = lower.strip_suffix('s').filter(|word| word.len() > 2).unwrap_or(&lower);
    match before {
        _ if is_variable(raw, core, node) => Some(VARIABLE.to_owned()),
        Some(before) if BEFORE_NAMES.contains(&before) => Some(VARIABLE.to_owned()),
        Some(VARIABLE) if UNITS.contains(&singular) => None,
        // `1 package`, `2 packages`.
        Some(VARIABLE) => Some(singular.to_owned()),
        _ => Some(lower),
    }
}

fn is_variable(raw: &str, core: &str, node: &str) -> bool {
    let is_path = ["/", "./", "../", "~"].iter().any(|start| raw.starts_with(start))
        || core.contains("/") && (core.starts_with('/') || core.contains(['.', ':']))
        || core.matches('/').count() > 1;
    let short_name = node.split('.').next().unwrap_or(node);
    core.contains(char::is_numeric)
        || is_path
        || is_host(core)
        || [node, short_name].iter().any(|name| core.eq_ignore_ascii_case(name))
        || DATES.contains(&core)
        || core.len() >= 8 && core.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `lustre.example.org`, `root@login`; not `slurmd.service` or `subprocess.CalledProcessError`.
fn is_host(core: &str) -> bool {
    let ending = core.rsplit('.').next().unwrap_or_default();
    let has_dot = core.contains('.') && !core.contains(char::is_uppercase);
    core.contains('@') || has_dot && !UNIT_TYPES.contains(&ending)
}

/// Without the sequences that colour a terminal.
fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest);
    }
    plain + rest
}

/// With what is in quotes made variable. An apostrophe inside a word is no quote.
fn without_quotes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"', '`', '‘', '’', '“', '«']) {
        let (before, quoted) = rest.split_at(at);
        let mut inside = quoted.chars();
        let open = inside.next().unwrap_or_default();
        let closes: &[char] = match open {
            '`' => &['`', '\''],
            '‘' => &['’'],
            '“' => &['”'],
            '«' => &['»'],
            '"' => &['"'],
            _ => &['\''],
        };
        let is_open = !before.ends_with(char::is_alphanumeric);
        let ends = |(_, after): &(&str, &str)| !after.starts_with(char::is_alphanumeric);
        let end = inside
            .as_str()
            .match_indices(closes)
            .map(|(at, close)| (&inside.as_str()[..at], &inside.as_str()[at + close.len()..]))
            .find(ends)
            .filter(|_| is_open);
        plain.push_str(before);
        match end {
            Some((_, after)) => {
                plain.push_str(" 0 ");
                rest = after;
            }
            None => {
                plain.push(open);
                rest = inside.as_str();
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_node_to_node_is_left_out() {
        for (text, normal) in [
            ("E: Unable to locate package slurmd", "e unable to locate package slurmd"),
            ("mount.nfs: Connection timed out after 90 s", "# connection timed out after #"),
            (
                "curl: (7) Failed to connect to 10.0.0.1 port 80",
                "curl # failed to connect to # port #",
            ),
            ("No such file or directory: '/etc/a b.conf'", "no such file or directory #"),
            ("can't open `x' at line 3", "can't open # at line #"),
            ("cn001: 1 package failed", "# package failed"),
            ("cn001: 12 packages failed", "# package failed"),
            ("login: it isn't there", "# it isn't there"),
            ("[2026-11-20 17:00:01] Nov 20 error -5", "# error #"),
            (
                "Failed to start slurmd.service: Unit x.example.org",
                "failed to start slurmd.service unit #",
            ),
            ("\u{1b}[1;31mError\u{1b}[0m: pid=4711 uid=root", "error # uid=#"),
            ("Input/output error on a/b/c and ./x", "input/output error on # and #"),
            (
                "connect to host mgmt port 22: Connection refused",
                "connect to host # port # connection refused",
            ),
            (
                "subprocess.CalledProcessError: returned 0x7ffe",
                "subprocess.calledprocesserror returned #",
            ),
            ("id deadbeefcafe, ‘quoted text’ “and this”", "id #"),
        ] {
            assert_eq!(line(text, "login"), normal, "{text}");
        }
    }

    #[test]
    fn progress_is_left_out_where_a_line_says_why() {
        let text = "Get:7 http://mirror/x [1,234 kB]\nE: Unable to locate package slurmd\n80% done";
        assert_eq!(message(text, "cn001", true), "e unable to locate package slurmd");
        assert_eq!(message("step one\nstep two", "cn001", true), "step one\nstep two");
        assert_eq!(message("step one\nstep two", "cn001", false), "");
        let either = ["x: cannot open\ny failed", "y failed\nx: cannot open\nx: cannot open"];
        let [one, other] = either.map(|text| message(text, "cn001", true));
        assert_eq!(one, other);
    }
}
