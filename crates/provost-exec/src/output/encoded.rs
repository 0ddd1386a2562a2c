//! A value in the forms that programs give it: quoted for a shell, in JSON, XML or a URL, in base64.
//!
//! All of them but base64 leave ASCII letters and digits as they are. So the longest run of these is looked
//! for, and what stands around each is compared with the forms that the other characters may have. Each
//! character may have a form of its own, because quoting differs between shells and their versions, and is
//! done twice where one program's text is an argument of another.

use std::collections::BTreeSet;

use ct_codecs::{Base64, Base64NoPadding, Encoder};
use memchr::memmem::Finder;

/// How long the lines are that `base64` and `openssl base64` print, in bytes.
const LINES: [usize; 2] = [76, 64];
/// A shorter part of a base64 text isn't looked for, in bytes: it would be found by chance.
const SHORTEST_BASE64: usize = 6;

/// How a shell begins a word.
const OPENING: [&str; 4] = ["", "'", "\"", "$'"];

/// What one character may look like.
type Forms = BTreeSet<Vec<u8>>;

/// A value that is looked for.
pub(super) struct Pattern {
    /// What is looked for first: the letters and digits, or, where there are none, what the first
    /// character may look like.
    anchors: Vec<Finder<'static>>,
    /// The characters before, the last one first, and those behind.
    before: Vec<Forms>,
    behind: Vec<Forms>,
    /// The most bytes that it can take.
    pub(super) longest: usize,
}

impl Pattern {
    pub(super) fn new(value: &str) -> Self {
        let (start, end) = longest_plain(value);
        let forms = |text: &str| text.chars().map(forms).collect::<Vec<Forms>>();
        let (mut before, mut behind) = (forms(&value[..start]), forms(&value[end..]));
        before.reverse();
        let anchors: Forms = match start == end {
            true => behind.drain(..1).flatten().collect(),
            false => [value.as_bytes()[start..end].to_vec()].into(),
        };
        let most = |forms: &Forms| forms.iter().map(Vec::len).max().unwrap_or_default();
        let longest = most(&anchors) + before.iter().chain(&behind).map(most).sum::<usize>();
        let anchors = anchors.into_iter().map(|form| Finder::new(&form).into_owned()).collect();
        Self { anchors, before, behind, longest }
    }

    /// Calls `found` with where in `text` it begins and ends. Also where it overlaps with itself: `abab`
    /// stands twice in `ababab`.
    pub(super) fn find(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        for anchor in &self.anchors {
            let mut from = 0;
            while let Some(next) = anchor.find(&text[from..]) {
                let at = from + next;
                from = at + 1;
                let end = at + anchor.needle().len();
                let end = follow(end, &self.behind, |at, form| {
                    text[at..].starts_with(form).then_some(at + form.len())
                });
                let begin = follow(at, &self.before, |at, form| {
                    text[..at].ends_with(form).then(|| at - form.len())
                });
                if let (Some(begin), Some(end)) = (begin.first(), end.last()) {
                    found(*begin, *end);
                }
            }
        }
    }
}

/// Where one may be after all characters, from `at` on.
fn follow(
    at: usize,
    characters: &[Forms],
    step: impl Fn(usize, &[u8]) -> Option<usize>,
) -> BTreeSet<usize> {
    let mut places = BTreeSet::from([at]);
    for forms in characters {
        let next = |at: usize| forms.iter().map(move |form| (at, form));
        places =
            places.into_iter().flat_map(next).filter_map(|(at, form)| step(at, form)).collect();
        if places.is_empty() {
            break;
        }
    }
    places
}

/// Where the longest run of ASCII letters and digits begins and ends; nowhere if there are none.
fn longest_plain(value: &str) -> (usize, usize) {
    let mut longest = (0, 0);
    let mut start = 0;
    for (at, c) in value.char_indices().chain([(value.len(), ' ')]) {
        if c.is_ascii_alphanumeric() {
            continue;
        }
        if at - start > longest.1 - longest.0 {
            longest = (start, at);
        }
        start = at + c.len_utf8();
    }
    longest
}

/// What `c` may look like.
fn forms(c: char) -> Forms {
    let mut utf8 = [0; 4];
    let plain = c.encode_utf8(&mut utf8).to_owned();
    if c.is_ascii_alphanumeric() {
        return [plain.into_bytes()].into();
    }
    let each = |form: fn(u8) -> String| plain.bytes().map(form).collect::<String>();
    let code = u32::from(c);
    let utf16 = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    // By numbers: C, bash's $'…', Python, Perl, Rust, JSON, URLs, XML.
    let mut forms: Vec<String> = vec![
        each(|b| format!("\\{b:03o}")),
        each(|b| format!("\\x{b:02x}")),
        each(|b| format!("%{b:02x}")),
        utf16,
        format!("\\x{{{code:x}}}"),
        format!("\\u{{{code:x}}}"),
        format!("\\U{code:08x}"),
        format!("&#{code};"),
        format!("&#x{code:x};"),
    ];
    if (0x80..0x100).contains(&code) {
        forms.push(format!("\\x{code:02x}"));
    }
    forms.extend(forms.clone().iter().map(|form| upper(form)));
    if let Some(name) = control(c) {
        forms.push(format!("\\{name}"));
    }
    // A backslash of these is itself quoted in a text within a text.
    let escaped = forms.iter().filter(|form| form.starts_with('\\'));
    let twice: Vec<String> = escaped.map(|form| form.replace('\\', "\\\\")).collect();
    forms.extend(twice);
    // What can't stand between apostrophes has $'…' between two such words.
    if c.is_control() || !c.is_ascii() {
        let joined =
            |form: &String| [format!("'$'{form}"), format!("{form}''"), format!("'$'{form}''")];
        forms.extend(forms.iter().flat_map(joined).collect::<Vec<_>>());
    }
    let more: &[&str] = match c {
        // Bash, JSON of it; dash, its run of several, JSON of these; mksh's run; SQL; XML.
        '\'' => &[
            r"'\''",
            r"'\\''",
            r#"'"'"'"#,
            r#"'"'"#,
            r#"'\"'\"'"#,
            r#"'\"'"#,
            r#""'""#,
            r"'\'",
            r"\''",
            "''",
            "&apos;",
        ],
        '"' => &[r#"'"'"#, r#""""#, r#"\"\""#, "&quot;"],
        '\\' => &[r"\\", r"\\\\"],
        ' ' => &["+"],
        '&' => &["&amp;"],
        '<' => &["&lt;"],
        '>' => &["&gt;"],
        _ => &[],
    };
    forms.extend(more.iter().map(|form| (*form).to_owned()));
    if c.is_whitespace() {
        // A shell has made words of it, each with quotes of its own.
        for (end, begin) in ["", "'", "\""].iter().flat_map(|end| OPENING.map(|b| (end, b))) {
            forms.extend([format!("{end} {begin}"), format!("{end}{c}{begin}")]);
        }
    }
    if c.is_ascii() && !c.is_control() && c != '\\' {
        // Shells, JSON; JSON of that; within another one.
        forms.extend((1..=3).map(|n| "\\".repeat(n) + &plain));
    }
    let mut forms: Forms = forms.into_iter().map(String::into_bytes).collect();
    // Some shells write of a character what isn't printable, or isn't known, by numbers.
    let mut mixed = vec![Vec::new()];
    for byte in plain.bytes() {
        let octal = format!("\\{byte:03o}").into_bytes();
        let with = |text: Vec<u8>| [[&text, &[byte][..]].concat(), [text, octal.clone()].concat()];
        mixed = mixed.into_iter().flat_map(with).collect();
    }
    forms.extend(mixed);
    forms
}

/// The same with the digits above 9 in capitals.
fn upper(form: &str) -> String {
    let lower = ['x', 'u', 'U'];
    form.chars().map(|c| if lower.contains(&c) { c } else { c.to_ascii_uppercase() }).collect()
}

/// The letter that stands for a control character behind a backslash.
fn control(c: char) -> Option<char> {
    Some(match c {
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'E',
        _ => return None,
    })
}

/// The parts of base64 texts by which `value` is found in them: of the value alone, also with a newline
/// behind it, and of a text of which it is a part, such as `USER:PASSWORD`; on a line or on several.
pub(super) fn base64(value: &str) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    let mut add = |text: &str, line: usize| {
        let lines = text.as_bytes().chunks(line).map(String::from_utf8_lossy);
        for part in lines.filter(|part| part.len() >= SHORTEST_BASE64) {
            let url = part.replace('+', "-").replace('/', "_");
            parts.extend([part.into_owned(), url]);
        }
    };
    for whole in [value.to_owned(), format!("{value}\n")] {
        let text = Base64::encode_to_string(&whole).unwrap_or_default();
        LINES.iter().for_each(|line| add(&text, *line));
    }
    for before in 0..3 {
        let text = [&[0; 2][..before], value.as_bytes()].concat();
        let bits = text.len() * 8;
        let text = Base64NoPadding::encode_to_string(text).unwrap_or_default();
        // Without the letters that also stand for bits of what is around it.
        add(&text[(before * 8).div_ceil(6)..bits / 6], LINES[0]);
    }
    parts
}
