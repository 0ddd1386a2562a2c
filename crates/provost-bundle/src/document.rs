use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What is wrong with something that was published, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What is wrong with it.
    pub what: String,
    /// What an admin can do about it.
    pub hint: &'static str,
}

impl<T: Into<String>> From<T> for Flaw {
    /// A flaw that only a broken or hostile publisher leaves.
    fn from(what: T) -> Self {
        let hint = "publish again with provostctl publish, and check that no proxy alters it";
        Self { what: what.into(), hint }
    }
}

/// Reads a published document, of at most `most` bytes and in this `format`.
pub fn read<T: DeserializeOwned>(bytes: &[u8], most: u64, format: u32) -> Result<T, Flaw> {
    if bytes.len() as u64 > most {
        return Err(format!("it has {} bytes; {most} are allowed", bytes.len()).into());
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err("it isn't UTF-8 text".into());
    };
    // The format first: a newer one may have other keys.
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let got = parse::<Format>(text)?.format;
    if got != format {
        let what = format!("its format is {got}; this version reads {format}");
        let hint = "install the version of provost on the node that provostctl has";
        return Err(Flaw { what, hint });
    }
    parse(text)
}

/// Refuses a `rehearsal` where something published is wanted, and the reverse.
pub fn check_purpose(rehearsal: bool, wanted: bool) -> Result<(), Flaw> {
    let (what, hint) = match (rehearsal, wanted) {
        (true, false) => (
            "it is a rehearsal, which is for dry runs alone",
            "publish it: provostctl publish …; if you did not rehearse it, look who serves it",
        ),
        (false, true) => ("it is no rehearsal", "make one: provostctl publish --rehearse NODES …"),
        _ => return Ok(()),
    };
    Err(Flaw { what: what.to_owned(), hint })
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Flaw> {
    toml::from_str(text).map_err(|error| {
        let line = line_of(text, error.span());
        format!("line {line}: {}", error.message()).into()
    })
}

/// The line of `text`, from 1, where `span` begins.
pub fn line_of(text: &str, span: Option<std::ops::Range<usize>>) -> usize {
    let at = span.map_or(0, |span| span.start).min(text.len());
    1 + text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count()
}
