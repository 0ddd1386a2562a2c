//! What is secret whatever the configuration says.

use provost_api::disclosed::{KERNEL_ARGUMENTS, may_leave};

/// What is shown in place of a value.
const SHOWN: &str = "[not shown]";
/// Arguments that an earlier boot may have had, too.
const TOKENS: [&str; 2] = ["provost.token=", "provost.join="];
/// What stands around a word in logs and configurations.
const AROUND: [char; 5] = [' ', '\n', '\t', '"', '\''];

/// Takes out of texts the arguments of the kernel's command line that aren't listed, which its messages
/// show as well, and the users and passwords in URLs.
pub(super) struct Mask {
    /// Each `NAME=VALUE` that isn't shown, with what is shown.
    arguments: Vec<(String, String)>,
}

impl Mask {
    /// For the kernel's command line `line`.
    pub(super) fn of(line: &str) -> Self {
        let hidden = |word: &str| {
            let (name, value) = word.split_once('=')?;
            let may_leave = may_leave(KERNEL_ARGUMENTS, name.trim_matches('"'));
            (!may_leave && !value.is_empty()).then(|| format!("{name}={SHOWN}"))
        };
        let mut arguments = Vec::new();
        for word in words(line) {
            let Some(shown) = hidden(word) else { continue };
            // Programs see it without its quotes.
            let plain = word.replace('"', "");
            arguments.extend([(plain, shown.clone()), (word.to_owned(), shown)]);
        }
        // Of two that begin alike, the longer one is meant.
        arguments.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Self { arguments }
    }

    /// `text` without them.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, word, shown)) = self.next(rest) {
            out += &without_words(&rest[..at]);
            out += shown;
            rest = &rest[at + word.len()..];
        }
        out + &without_words(rest)
    }

    /// The first of the arguments in `text`.
    fn next(&self, text: &str) -> Option<(usize, &str, &str)> {
        let is_whole = |at: &usize| !text[..*at].ends_with(char::is_alphanumeric);
        let found = self.arguments.iter().filter_map(|(word, shown)| {
            let at = text.match_indices(word.as_str()).map(|(at, _)| at).find(is_whole)?;
            Some((at, word.as_str(), shown.as_str()))
        });
        found.min_by_key(|(at, ..)| *at)
    }
}

/// The arguments, as the kernel parts them: a space between double quotes is part of one.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let part = move |c: char| {
        is_quoted ^= c == '"';
        c.is_ascii_whitespace() && !is_quoted
    };
    line.split(part).filter(|word| !word.is_empty())
}

fn without_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(AROUND) {
        let body = word.trim_end_matches(AROUND);
        let end = &word[body.len()..];
        let token = TOKENS.iter().find_map(|name| Some((body.split_once(name)?.0, name)));
        if let Some((before, name)) = token {
            out += &format!("{before}{name}{SHOWN}{end}");
            continue;
        }
        let user = body.split_once("://").and_then(|(scheme, rest)| {
            let host = rest.split('/').next().unwrap_or_default();
            let (user, _) = host.rsplit_once('@')?;
            Some(format!("{scheme}://[redacted]{}", &rest[user.len()..]))
        });
        match user {
            Some(masked) => out += &format!("{masked}{end}"),
            None => out += word,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_by_nature_is_taken_out() {
        let text =
            "quiet provost.token=abcdef ro\nproxy = \"http://me:pw@10.0.0.1:3128/x@y\"\na@b\n";
        assert_eq!(
            Mask::of("").apply(text),
            "quiet provost.token=[not shown] ro\n\
             proxy = \"http://[redacted]@10.0.0.1:3128/x@y\"\na@b\n"
        );
    }

    #[test]
    fn of_the_kernel_s_arguments_those_that_are_listed_have_their_values() {
        let line = "root=/dev/sda1 quiet provost.join=abc rd.iscsi.password=\"two words\" \
                    provost.node=cn001 \"x=y z\" nfsroot=http://u:p@h/ ip=dhcp";
        let mask = Mask::of(line);
        assert_eq!(
            mask.apply(line),
            "root=/dev/sda1 quiet provost.join=[not shown] rd.iscsi.password=[not shown] \
             provost.node=cn001 \"x=[not shown] nfsroot=http://[redacted]@h/ ip=dhcp"
        );
        assert_eq!(
            mask.apply("Run /init with:\n  rd.iscsi.password=two words\n  max=y z\n"),
            "Run /init with:\n  rd.iscsi.password=[not shown]\n  max=y z\n"
        );
    }
}
