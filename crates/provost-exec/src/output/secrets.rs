//! Values that nobody is to see: taken out of what a program prints before it goes anywhere.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::encoded::{Pattern, base64};
use super::stream::Stream;

/// A shorter value is not looked for, in bytes: it would be found by chance in other text.
const SHORTEST: usize = 4;

/// Values that are to be shown as `[redacted:NAME]`. A value of several lines is looked for line
/// by line. It is found as it is, in base64, and as shells, JSON, XML and URLs quote it; not what
/// else a program makes of it, such as its digest.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Secrets {
    secrets: Vec<Secret>,
    #[serde(skip)]
    patterns: Arc<OnceLock<Vec<Pattern>>>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Secret {
    /// One line of a value, without what is blank around it, or a part of its base64.
    value: String,
    /// What is shown in its place.
    shown: String,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.secrets.iter().map(|secret| &secret.shown)).finish()
    }
}

impl Secrets {
    /// Of names and values.
    pub fn new<'a>(named: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut secrets = Vec::new();
        for (name, value) in named {
            let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST);
            let mut values: BTreeSet<String> = lines.map(str::to_owned).collect();
            if value.trim().len() >= SHORTEST {
                values.extend(base64(value));
                values.extend(base64(value.trim()));
            }
            let secret = |value| Secret { value, shown: format!("[redacted:{name}]") };
            secrets.extend(values.into_iter().map(secret));
        }
        secrets.sort();
        secrets.dedup_by(|a, b| a.value == b.value);
        Self { secrets, patterns: Arc::default() }
    }

    /// `text` without them.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.hide_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(out) => Cow::Owned(String::from_utf8_lossy(&out).into_owned()),
        }
    }

    /// `text` without them.
    pub(crate) fn hide_bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        cut(&found, text, 0, text.len(), &mut out);
        Cow::Owned(out)
    }

    /// The most bytes that one of them takes.
    pub(crate) fn longest(&self) -> usize {
        self.patterns().iter().map(|pattern| pattern.longest).max().unwrap_or_default()
    }

    /// What takes them out of a program's output. None if there are none.
    pub(crate) fn redactor(&self) -> Option<Redactor> {
        let (secrets, longest) = (self.clone(), self.longest());
        (longest > 0).then(|| Redactor { secrets, longest, held: Default::default(), out: vec![] })
    }

    fn patterns(&self) -> &[Pattern] {
        self.patterns
            .get_or_init(|| self.secrets.iter().map(|secret| Pattern::new(&secret.value)).collect())
    }

    /// Where they are in `text`: where each begins and ends, in this order, and what is to be shown. Of those
    /// that begin at the same place, the longest comes first.
    fn find(&self, text: &[u8]) -> Vec<(usize, Reverse<usize>, &str)> {
        let mut found = Vec::new();
        for (pattern, secret) in self.patterns().iter().zip(&self.secrets) {
            pattern.find(text, |begin, end| found.push((begin, Reverse(end), &*secret.shown)));
        }
        found.sort_unstable();
        found
    }
}

/// Takes secrets out of a program's output, whichever pieces that comes in.
pub(crate) struct Redactor {
    secrets: Secrets,
    /// The most bytes that one of them takes.
    longest: usize,
    held: [Held; 2],
    out: Vec<u8>,
}

/// The end of what a stream has brought: it may be the beginning of a secret.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    /// So many of them belong to a secret for which the place holder is out already.
    covered: usize,
}

impl Redactor {
    /// Takes what was read from `stream`. Returns what of it, and of what came before, may go on.
    /// A line is never held back once it is whole.
    pub(crate) fn take(&mut self, stream: Stream, chunk: &[u8]) -> &[u8] {
        let held = &mut self.held[stream as usize];
        held.bytes.extend_from_slice(chunk);
        let line = memchr::memrchr(b'\n', &held.bytes).map_or(0, |at| at + 1);
        let limit = line.max((held.bytes.len() + 1).saturating_sub(self.longest));
        self.release(stream, limit)
    }

    /// Returns what is left of `stream` at its end.
    pub(crate) fn finish(&mut self, stream: Stream) -> &[u8] {
        self.release(stream, self.held[stream as usize].bytes.len())
    }

    fn release(&mut self, stream: Stream, limit: usize) -> &[u8] {
        let held = &mut self.held[stream as usize];
        self.out.clear();
        let found = self.secrets.find(&held.bytes);
        held.covered = cut(&found, &held.bytes, held.covered, limit, &mut self.out);
        held.bytes.drain(..limit);
        &self.out
    }
}

/// Puts `text` up to `limit` into `out` without what was `found` and begins there; so much of its
/// beginning is `covered` already. Returns how much of what follows `limit` is covered. Where
/// secrets overlap, all that they cover together is taken out.
fn cut(
    found: &[(usize, Reverse<usize>, &str)],
    text: &[u8],
    covered: usize,
    limit: usize,
    out: &mut Vec<u8>,
) -> usize {
    let mut at = covered;
    for (begin, Reverse(end), shown) in found.iter().take_while(|(begin, ..)| *begin < limit) {
        if *begin >= at {
            out.extend_from_slice(&text[at..*begin]);
            out.extend_from_slice(shown.as_bytes());
        }
        at = at.max(*end);
    }
    if at < limit {
        out.extend_from_slice(&text[at..limit]);
    }
    at.saturating_sub(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets::new([
            ("PW", "hunter2"),
            ("LONG", "hunter2-and-more"),
            ("OVER", "xx-hunter"),
            ("KEY", "  line one \r\nab\nline two"),
            ("SHORT", "abc"),
            ("TWICE", "abab"),
            ("QUOTED", r#"a "b" \c"#),
        ])
    }

    /// What goes on of `text` if it comes in pieces of `size` bytes.
    fn in_pieces(text: &str, size: usize) -> String {
        let mut redactor = secrets().redactor().unwrap();
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            out.extend_from_slice(redactor.take(Stream::Stdout, piece));
        }
        out.extend_from_slice(redactor.finish(Stream::Stdout));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_secret_gets_through_whichever_pieces_it_comes_in() {
        for (text, expected) in [
            ("the word is hunter2!\n", "the word is [redacted:PW]!\n"),
            ("hunter2-and-more", "[redacted:LONG]"),
            ("hunter2-and-mor", "[redacted:PW]-and-mor"),
            ("xx-hunter2-and-more.", "[redacted:OVER]."),
            ("hunter2hunter2\nhunter\n2", "[redacted:PW][redacted:PW]\nhunter\n2"),
            ("abab.ababab.abababab", "[redacted:TWICE].[redacted:TWICE].[redacted:TWICE]"),
            ("abc ab\nline one\nline two\n", "abc ab\n[redacted:KEY]\n[redacted:KEY]\n"),
            (r#"a "b" \c, "a \"b\" \\c""#, "[redacted:QUOTED], \"[redacted:QUOTED]\""),
            ("", ""),
        ] {
            assert_eq!(secrets().hide(text), expected);
            for size in 1..=text.len() {
                assert_eq!(in_pieces(text, size), expected, "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn a_whole_line_is_not_held_back_and_what_is_held_back_is_short() {
        let mut redactor = secrets().redactor().unwrap();
        assert_eq!(redactor.take(Stream::Stdout, b"a line, hunter\nhun"), b"a line, hunter\n");
        for _ in 0..100 {
            redactor.take(Stream::Stderr, &[b'h'; 1000]);
            assert!(redactor.held[Stream::Stderr as usize].bytes.len() < redactor.longest);
        }
    }

    #[test]
    fn a_secret_shows_neither_when_printed_nor_when_debugged() {
        assert!(!format!("{:?}", secrets()).contains("hunter"));
        assert!(Secrets::new([("A", "abc")]).redactor().is_none());
    }
}
