//! What the publisher puts before a plan: which publication it belongs to.

use jiff::Timestamp;

use provost_bundle::Validity;

/// The first lines of a published plan.
#[derive(Clone, Copy)]
pub(crate) struct PlanHead {
    /// The plan's own generation.
    pub(crate) generation: u64,
    /// The generation of the manifest that it belongs to.
    pub(crate) manifest: u64,
    pub(crate) validity: Validity,
}

impl PlanHead {
    /// The plan with this body.
    pub(crate) fn with(&self, body: &str) -> String {
        let Self { generation, manifest, validity: Validity { made, expires } } = self;
        format!(
            "generation = {generation}\nmanifest = {manifest}\nmade = \"{made}\"\n\
             expires = \"{expires}\"\n{body}"
        )
    }

    /// The head of a published plan, and its body.
    pub(crate) fn split(text: &str) -> Option<(Self, &str)> {
        let (generation, rest) = value(text, "generation")?;
        let (manifest, rest) = value(rest, "manifest")?;
        let (made, rest) = value(rest, "made")?;
        let (expires, body) = value(rest, "expires")?;
        let time = |text: &str| text.trim_matches('"').parse::<Timestamp>().ok();
        let validity = Validity { made: time(made)?, expires: time(expires)? };
        let (generation, manifest) = (generation.parse().ok()?, manifest.parse().ok()?);
        Some((Self { generation, manifest, validity }, body))
    }
}

/// The value of the first line, if it is that of `key`, and the other lines.
fn value<'a>(text: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
    let (line, rest) = text.split_once('\n')?;
    Some((line.strip_prefix(key)?.strip_prefix(" = ")?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_reads_back() {
        let validity = Validity { made: Timestamp::UNIX_EPOCH, expires: Timestamp::MAX };
        let text = PlanHead { generation: 3, manifest: 7, validity }.with("x = 1\ny = 2\n");
        let (head, body) = PlanHead::split(&text).unwrap();
        assert_eq!((head.generation, head.manifest, body), (3, 7, "x = 1\ny = 2\n"));
        assert_eq!(head.validity, validity);
        assert!(PlanHead::split("generation = 3\nx = 1\n").is_none());
    }
}
