//! Values that nobody is to see: taken out of what a program prints before it goes anywhere.

use std::borrow::Cow;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use super::stream::Stream;

/// A shorter value is not looked for, in bytes: it would be found by chance in other text.
const SHORTEST: usize = 4;

/// Values that are to be shown as `[redacted:NAME]`. A value of several lines is looked for line
/// by line. Only the value itself is found, plain or between double quotes, not what a program
/// makes of it, such as its base64.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secrets(Vec<Secret>);

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Secret {
    /// One line of a value, without what is blank around it.
    value: String,
    /// What is shown in its place.
    shown: String,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|secret| &secret.shown)).finish()
    }
}

impl Secrets {
    /// Of names and values.
    pub fn new<'a>(named: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let lines = named.into_iter().flat_map(|(name, value)| {
            let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST);
            let values = lines.flat_map(|line| [line.to_owned(), quoted(line)]);
            values.map(move |value| Secret { value, shown: format!("[redacted:{name}]") })
        });
        let mut secrets: Vec<Secret> = lines.collect();
        // Of two that begin at the same place, the longer one is meant.
        secrets.sort_by(|a, b| b.value.len().cmp(&a.value.len()).then(a.value.cmp(&b.value)));
        secrets.dedup_by(|a, b| a.value == b.value);
        Self(secrets)
    }

    /// `text` without them.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.0.iter().any(|secret| text.contains(&secret.value)) {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        let finders = self.finders();
        hide(&finders, text.as_bytes(), 0, text.len(), &mut out);
        Cow::Owned(String::from_utf8_lossy(&out).into_owned())
    }

    /// `text` without them.
    pub(crate) fn hide_bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        hide(&self.finders(), text, 0, text.len(), &mut out);
        Cow::Owned(out)
    }

    /// The length of the longest one, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.0.first().map_or(0, |secret| secret.value.len())
    }

    /// What takes them out of a program's output. None if there are none.
    pub(crate) fn redactor(&self) -> Option<Redactor> {
        let longest = self.0.first()?.value.len();
        Some(Redactor { finders: self.finders(), longest, held: Default::default(), out: vec![] })
    }

    fn finders(&self) -> Vec<(Finder<'static>, Vec<u8>)> {
        let finder = |s: &Secret| (Finder::new(&s.value).into_owned(), s.shown.clone().into());
        self.0.iter().map(finder).collect()
    }
}

/// A value as it stands between double quotes in JSON, TOML and shells.
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Takes secrets out of a program's output, whichever pieces that comes in.
pub(crate) struct Redactor {
    finders: Vec<(Finder<'static>, Vec<u8>)>,
    /// The length of the longest secret, in bytes.
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
        held.covered = hide(&self.finders, &held.bytes, held.covered, limit, &mut self.out);
        held.bytes.drain(..limit);
        &self.out
    }
}

/// Puts `text` up to `limit` into `out` without the secrets that begin there; so much of its
/// beginning is `covered` already. Returns how much of what follows `limit` is covered. Where
/// secrets overlap, all that they cover together is taken out.
fn hide(
    finders: &[(Finder<'static>, Vec<u8>)],
    text: &[u8],
    covered: usize,
    limit: usize,
    out: &mut Vec<u8>,
) -> usize {
    let mut found: Vec<(usize, usize, &[u8])> = Vec::new();
    for (finder, shown) in finders {
        let length = finder.needle().len();
        // Also those that overlap: `abab` stands twice in `ababab`.
        let mut from = 0;
        while let Some(next) = finder.find(&text[from..]) {
            let at = from + next;
            found.push((at, at + length, shown.as_slice()));
            from = at + 1;
        }
    }
    // Stable: the longest of those that begin at one place stays the first.
    found.sort_by_key(|(begin, ..)| *begin);
    let mut at = covered;
    for (begin, end, shown) in found.into_iter().take_while(|(begin, ..)| *begin < limit) {
        if begin >= at {
            out.extend_from_slice(&text[at..begin]);
            out.extend_from_slice(shown);
        }
        at = at.max(end);
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
