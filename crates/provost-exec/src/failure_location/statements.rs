//! The commands in a shell script's lines, as far as their text tells them apart: which one of a
//! pipeline failed, and whose status an `exit $?` passes on.

use super::script::{Script, squeezed};

/// Words before a command that leave its status as it is.
const OPENING: &[&str] = &["{", "then", "do", "else"];
/// Words that begin a compound command, and those that end one.
const BEGINNING: &[&str] = &["if", "while", "until", "for", "select", "case"];
const ENDING: &[&str] = &["fi", "done", "esac", "}"];
/// What may stand before an assignment.
const DECLARING: &[&str] = &["local ", "declare ", "typeset ", "export ", "readonly "];

/// A command whose status a later `exit` has passed on.
pub(super) struct Origin {
    pub(super) line: usize,
    pub(super) command: String,
}

/// A command, and the operator before it: none at the beginning.
#[derive(Debug, PartialEq)]
struct Part<'a> {
    operator: &'a str,
    /// The word before it which opens a list.
    opening: Option<&'a str>,
    text: &'a str,
}

impl Part<'_> {
    fn is_piped(&self) -> bool {
        self.operator.starts_with('|') && self.operator != "||"
    }

    fn word(&self) -> &str {
        self.text.split_ascii_whitespace().next().unwrap_or_default()
    }

    /// Whether it is all of a command that isn't compound.
    fn is_simple(&self) -> bool {
        let word = self.word();
        let is_compound = ["elif", "!"].iter().chain(BEGINNING).chain(ENDING).any(|w| *w == word);
        !word.is_empty() && !is_compound && is_whole(self.text)
    }
}

/// Which status an `exit` or an assignment takes.
enum Passed<'a> {
    /// `$?`.
    Last,
    /// `${PIPESTATUS[N]}`.
    Piped(usize),
    Variable(&'a str),
}

/// The command in a function that is all in one line, or else what is given.
pub(super) fn without_function(line: &str) -> &str {
    let body = || {
        let (name, body) = line.strip_suffix('}')?.split_once('{')?;
        let name = name.trim().strip_suffix("()").or_else(|| name.strip_prefix("function "))?;
        let is_name = |c: char| c.is_alphanumeric() || "_-:. ".contains(c);
        name.chars().all(is_name).then(|| body.trim().trim_end_matches(';').trim_end())
    };
    body().unwrap_or(line)
}

/// Of the pipeline in `text` whose last command is `last`, the command that made it fail: without
/// `pipefail` the last one, else the first that has failed.
pub(super) fn first_failed(
    text: &str,
    last: &str,
    statuses: &[i32],
    pipefail: bool,
) -> Option<String> {
    let parts = parts(without_function(text));
    let pipelines = parts.chunk_by(|_, next| next.is_piped());
    let mut fitting: Vec<_> = pipelines.filter(|parts| parts.len() == statuses.len()).collect();
    if fitting.len() > 1 {
        let is_last = |part: &Part<'_>| squeezed(part.text) == squeezed(last);
        fitting.retain(|parts| parts.last().is_some_and(is_last));
    }
    let [pipeline] = fitting[..] else { return None };
    let end = statuses.iter().rposition(|status| *status != 0)?;
    let by_last = !pipefail && end + 1 == statuses.len();
    let failed = if by_last { end } else { statuses.iter().position(|status| *status != 0)? };
    pipeline.get(failed).filter(|part| part.is_simple()).map(|part| part.text.to_owned())
}

impl Script {
    /// The command whose status the only `exit` in a line passes on, if no other can have come
    /// between: it stands right before `exit`, or before the assignment of what that takes.
    pub(super) fn origin(&self, line: usize) -> Option<Origin> {
        let parts = parts(without_function(self.line(line)?));
        let argument = |part: &Part<'_>| {
            let rest = part.text.strip_prefix("exit")?;
            (rest.is_empty() || rest.starts_with(' ')).then(|| unquoted(rest).to_owned())
        };
        let mut exits = parts.iter().enumerate().filter_map(|(at, p)| Some((at, argument(p)?)));
        let (Some((at, argument)), None) = (exits.next(), exits.next()) else { return None };
        match passed(&argument)? {
            Passed::Variable(name) => {
                let (line, at, passed) = self.assigned(name)?;
                self.before(line, at, &passed)
            }
            passed => self.before(line, at, &passed),
        }
    }

    /// The only place where a variable gets a status, if it gets nothing else but 0.
    fn assigned(&self, name: &str) -> Option<(usize, usize, Passed<'_>)> {
        let mut found = None;
        for (line, text) in self.code() {
            let mut uses = uses(text, name);
            for (at, part) in parts(without_function(text)).into_iter().enumerate() {
                let text = DECLARING.iter().find_map(|word| part.text.strip_prefix(word));
                let text = text.unwrap_or(part.text).trim_start();
                let Some(value) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix('='))
                else {
                    continue;
                };
                uses -= 1;
                match passed(unquoted(value)) {
                    _ if ["", "0"].contains(&unquoted(value)) => {}
                    Some(passed @ (Passed::Last | Passed::Piped(_))) if found.is_none() => {
                        found = Some((line, at, passed));
                    }
                    _ => return None,
                }
            }
            // `read NAME` and the like.
            if uses > 0 {
                return None;
            }
        }
        found
    }

    /// The command that came right before one in a line.
    fn before(&self, line: usize, at: usize, passed: &Passed<'_>) -> Option<Origin> {
        let own = parts(without_function(self.line(line)?));
        let (number, text, mut end) = match (at, own[at].operator, own[at].opening) {
            (0, _, None) => {
                let (number, _) = self.code().rfind(|(number, _)| *number < line)?;
                let (number, text) = self.pipeline(number)?;
                let end = parts(&text).len();
                (number, text, end)
            }
            (1.., ";", None) | (1.., "||", None | Some("{")) => (line, self.line(line)?.into(), at),
            _ => return None,
        };
        let all = parts(without_function(&text));
        // A line that ends with `|| {`.
        if at == 0 && all.last().is_some_and(|p| p.operator == "||" && p.opening == Some("{")) {
            end = all.len().checked_sub(usize::from(all.last()?.text.is_empty()))?;
        }
        if number < line && self.is_delimiter(&text) {
            return None;
        }
        let all = all.get(..end)?;
        let from = all.iter().rposition(|part| !part.is_piped())?;
        let pipeline = &all[from..];
        if !matches!(pipeline[0].operator, "" | ";") || !pipeline.iter().all(Part::is_simple) {
            return None;
        }
        let whole = || pipeline.iter().map(|p| p.text).collect::<Vec<_>>().join(" | ");
        let command = match passed {
            Passed::Piped(at) => pipeline.get(*at)?.text.to_owned(),
            _ if self.has_pipefail() => whole(),
            _ => pipeline.last()?.text.to_owned(),
        };
        Some(Origin { line: number, command })
    }

    pub(super) fn has_pipefail(&self) -> bool {
        self.options.iter().any(|option| option == "pipefail") || self.sets('\0', "pipefail")
    }

    /// Whether its text shows that it goes on whenever this command fails, because `&&`, `|| true` or
    /// `|| :` follows wherever that program is called.
    pub(super) fn ignores(&self, command: &str) -> bool {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let program = name(command.split(' ').next().unwrap_or_default());
        let last = self.code().next_back().map(|(number, _)| number);
        let mut calls = Vec::new();
        for (number, line) in self.code() {
            let parts = parts(without_function(line));
            for (at, part) in parts.iter().enumerate() {
                if !part.text.split_ascii_whitespace().any(|word| name(word) == program) {
                    continue;
                }
                let rest = parts.get(at + 1..).unwrap_or_default();
                calls.push(match rest.first().map(|next| (next.operator, next.text)) {
                    Some(("&&", _)) => {
                        let goes_on = Some(number) != last && part.is_simple();
                        goes_on && rest.iter().all(|next| next.operator != "||")
                    }
                    Some(("||", "true" | ":")) => true,
                    _ => false,
                });
            }
        }
        !calls.is_empty() && !calls.contains(&false)
    }

    /// Whether a line ends a text that goes with a command.
    fn is_delimiter(&self, line: &str) -> bool {
        let begins = |text: &str| text.contains("<<") && text.contains(line);
        !line.contains(' ') && self.code().any(|(_, text)| begins(text))
    }

    /// The line where a command begins that ends in this one and has brackets around other commands;
    /// None if its text isn't found there.
    pub(super) fn opening(&self, number: usize, command: &str) -> Option<usize> {
        let plain = |text: &str| squeezed(text).replace(';', "");
        let (wanted, mut text) = (plain(command), String::new());
        let lines: Vec<_> = self.code().filter(|(at, _)| *at <= number).collect();
        let begins = |(at, line): &(usize, &str)| {
            text.insert_str(0, &plain(line.split(" #").next().unwrap_or_default()));
            text.contains(&wanted).then_some(*at)
        };
        lines.iter().rev().find_map(begins)
    }
}

/// Whether a text may be all of a command.
pub(super) fn is_whole(text: &str) -> bool {
    let count = |wanted: char| text.matches(wanted).count();
    let even = |quote| count(quote) % 2 == 0;
    even('"') && even('\'') && count('(') == count(')') && !text.ends_with('\\')
}

/// Whether each compound command that begins in a text ends there, and none other.
pub(super) fn is_closed(text: &str) -> bool {
    let depth = |part: &Part<'_>| {
        let begins = i32::from(BEGINNING.contains(&part.word()));
        begins + i32::from(part.opening == Some("{")) - i32::from(ENDING.contains(&part.word()))
    };
    is_whole(text) && parts(without_function(text)).iter().map(depth).sum::<i32>() == 0
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches('"')
}

fn passed(word: &str) -> Option<Passed<'_>> {
    let name = word.strip_prefix('$').map_or("", |name| {
        name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name)
    });
    let piped = name.strip_prefix("PIPESTATUS[").and_then(|rest| rest.strip_suffix(']'));
    match (word, piped) {
        ("" | "$?" | "${?}", _) => Some(Passed::Last),
        (_, Some(number)) => number.parse().ok().map(Passed::Piped),
        _ => {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            (begins && name.chars().all(is_name)).then_some(Passed::Variable(name))
        }
    }
}

/// How often a line has a variable's name where it doesn't take its value.
fn uses(line: &str, name: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_$-./".contains(c);
    let found = line.match_indices(name).filter(|(at, _)| {
        let (before, after) = (&line[..*at], &line[at + name.len()..]);
        let ends = !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        ends && !before.ends_with(is_part) && !before.ends_with("${")
    });
    found.count()
}

/// The commands of a line. What is in quotes and in brackets is part of a command.
fn parts(line: &str) -> Vec<Part<'_>> {
    let bytes = line.as_bytes();
    let (mut found, mut from, mut operator) = (Vec::new(), 0, "");
    // What ends the innermost quote or bracket.
    let mut ends = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        let after = bytes.get(at + 1).copied().unwrap_or_default();
        let mut len = 1;
        match (*byte, ends.last()) {
            (byte, Some(end)) if byte == *end => drop(ends.pop()),
            (_, Some(b'\'')) => {}
            (b'\\', _) => len = 2,
            (b'\'', end) if end != Some(&b'"') => ends.push(b'\''),
            (b'"' | b'`', _) => ends.push(*byte),
            (b'(', end) if before == b'$' || end != Some(&b'"') => ends.push(b')'),
            (b'{', _) if before == b'$' => ends.push(b'}'),
            (_, Some(_)) => {}
            (b'#', None) if before.is_ascii_whitespace() => break,
            (b'&', None) if b"<>".contains(&before) || after == b'>' => {}
            (b'|', None) if before == b'>' => {}
            (b';' | b'&' | b'|', None) => {
                let double = after == *byte || (*byte, after) == (b'|', b'&');
                len += usize::from(double);
                found.push(part(operator, &line[from..at]));
                (operator, from) = (&line[at..at + len], at + len);
            }
            _ => {}
        }
        at += len;
    }
    let rest = part(operator, &line[from.min(line.len())..at.min(line.len())]);
    // Nothing comes after the last semicolon.
    if !(rest.text.is_empty() && rest.opening.is_none() && operator == ";") {
        found.push(rest);
    }
    found
}

fn part<'a>(operator: &'a str, text: &'a str) -> Part<'a> {
    let text = text.trim();
    let opening = OPENING.iter().find(|word| {
        text.strip_prefix(**word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let text = opening.map_or(text, |word| text[word.len()..].trim_start());
    Part { operator, opening: opening.copied(), text }
}

#[cfg(test)]
mod tests {
    use super::super::script::tests::script;
    use super::*;

    #[test]
    fn the_first_that_failed_of_a_pipeline_is_named() {
        for (text, last, statuses, failed) in [
            ("ls /no | sort | cat", "cat", &[2, 0, 0][..], "ls /no"),
            ("ls /no | sort | cat", "cat", &[0, 1, 1], "sort"),
            ("f() { a 'x | y' |& b; }", "b", &[1, 0], "a 'x | y'"),
            ("x && a \"$(b | c)\" | d >|f || e", "d >| f", &[3, 0], "a \"$(b | c)\""),
            ("a | b; c | d", "d", &[1, 0], "c"),
            ("a | b; c | b", "b", &[1, 0], ""),
            ("a | while read -r x; do b; done", "b", &[1, 0], "a"),
            ("if ! a | b; then", "b", &[0, 1], "b"),
            ("a 2>&1 | b &>f # | c", "b", &[1, 0], "a 2>&1"),
        ] {
            assert_eq!(
                first_failed(text, last, statuses, true).unwrap_or_default(),
                failed,
                "{text}"
            );
        }
    }

    #[test]
    fn a_compound_command_ends_in_its_line_or_does_not() {
        for (text, closed) in [
            ("a | while read -r x; do b || exit 4; done", true),
            ("f() { a | { b; c; } }", true),
            ("a | sort", true),
            ("a | while read -r x; do", false),
            ("done", false),
            ("} | cat", false),
            ("fi 2>&1 | tee log", false),
            ("a | (", false),
        ] {
            assert_eq!(is_closed(text), closed, "{text}");
        }
    }

    #[test]
    fn the_command_is_named_whose_status_an_exit_passes_on() {
        let dir = tempfile::tempdir().unwrap();
        for (text, origin) in [
            ("dpkg -i x\n\n# so\nexit $?", "1 dpkg -i x"),
            ("dpkg -i x; exit", "1 dpkg -i x"),
            ("dpkg -i x || exit $?", "1 dpkg -i x"),
            ("f() { dpkg -i x; exit \"$?\"; }", "1 dpkg -i x"),
            ("if true; then dpkg -i x; exit ${?}; fi", "1 dpkg -i x"),
            ("main 2>&1 | tee log; exit ${PIPESTATUS[0]}", "1 main 2>&1"),
            ("main |\n  tee log\nexit \"${PIPESTATUS[1]}\"", "1 tee log"),
            ("a | b\nexit $?", "1 b"),
            ("set -o pipefail\na | b\nexit $?", "2 a | b"),
            ("rc=0\na || rc=$?\necho $rc\nexit $rc", "2 a"),
            ("a || {\n  local rc=$?\n  echo no >&2\n  exit \"$rc\"\n}", "1 a"),
            ("a || { rc=$?; echo no; exit $rc; }", "1 a"),
            ("x=$(a; b)\nexit $?", "1 x=$(a; b)"),
            // Others may have come between.
            ("a || rc=1\nb || rc=$?\nexit $rc", ""),
            ("a\nread rc\nexit $rc", ""),
            ("a || rc=$?\nb || rc=$?\nexit $rc", ""),
            ("a && b; exit $?", ""),
            ("a && b || exit $?", ""),
            ("if a; then\n  b\nfi\nexit $?", ""),
            ("if ! a; then\n  exit $?\nfi", ""),
            ("a &\nexit $?", ""),
            ("cat <<X\nx\nX\nexit $?", ""),
            ("a 'x\n  y'\nexit $?", ""),
            ("a; exit $?; exit 3", ""),
            ("exit 3", ""),
            ("exit $?", ""),
            ("trap 'a; exit $?' EXIT", ""),
            ("case x in\nx) a; exit $? ;;\nesac", ""),
        ] {
            let script = script(dir.path(), text);
            let line = script.code().find(|(_, line)| line.contains("exit")).unwrap().0;
            let found = script.origin(line).map(|o| format!("{} {}", o.line, o.command));
            assert_eq!(found.unwrap_or_default(), origin, "{text}");
        }
    }

    #[test]
    fn a_failure_is_ignored_where_the_text_shows_it() {
        let dir = tempfile::tempdir().unwrap();
        for (text, ignored) in [
            ("ip link show && a\nb", true),
            ("/sbin/ip link show >f 2>&1 && a; b\nb", true),
            ("ip link show || true\nb", true),
            ("ip link show && a", false),
            ("ip link show && a || exit 1\nb", false),
            ("if ip link show && a; then\nb\nfi", false),
            ("ip link show || exit 1\nb", false),
            ("ip link show && a\nip addr\nb", false),
            ("b", false),
        ] {
            assert_eq!(script(dir.path(), text).ignores("ip link show"), ignored, "{text}");
        }
    }

    #[test]
    fn a_function_in_one_line_is_left_out() {
        for (line, command) in [
            ("f() { a; b x; }", "a; b x"),
            ("function f { a; }", "a"),
            ("f() {", "f() {"),
            ("echo ${x}", "echo ${x}"),
            ("x() (a)", "x() (a)"),
        ] {
            assert_eq!(without_function(line), command);
        }
    }
}
