use serde::{Deserialize, Serialize};

use crate::Limit;

/// How one script is run, where that differs from the default. Written in the script's header,
/// in the manifest, and in `site.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// How long it may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Limit>,
    /// When it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// The environment variables whose change makes it run again; for `when = "change"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// How often it is retried after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// What its failure means for the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// Where the run goes on after a reboot that it asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// What happens to processes that outlive it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leak: Option<Leak>,
    /// What is logged of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// When a script runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// In every run whose plan names it.
    #[default]
    Always,
    /// Until it has succeeded once with these arguments, even if the script changes later.
    Once,
    /// When the script, its arguments or its inputs differ from those of its last success.
    Change,
    /// Only when an admin names it.
    Manual,
}

/// What a script's failure means for the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The run stops and has failed.
    #[default]
    Stop,
    /// The run goes on and has failed all the same.
    Continue,
    /// It is recorded and has no other effect.
    Ignore,
}

/// Where a run goes on after a reboot that a script asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Resume {
    /// At the next script.
    #[default]
    Next,
    /// At the same script again, which gets the number of reboots it has asked for.
    Again,
}

/// What happens to processes that outlive their script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Leak {
    /// They are named and live on.
    #[default]
    Warn,
    /// They are named and killed.
    Kill,
    /// They are named and killed, and the script has failed.
    Fail,
}

/// How closely a script is watched, as far as it can't notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trace {
    /// Each command that it starts stands in its log, and where it fails is found.
    #[default]
    Commands,
    /// Where it fails is found, if it is a bash script.
    Lines,
    /// Nothing is done to it.
    Off,
}

/// Why a script's header can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct HeaderError {
    /// The line of the file, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

impl HeaderError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        "write `# /// provost`, then lines such as `# timeout = \"20m\"`, then `# ///`".to_owned()
    }
}

impl Policy {
    /// Whether it sets nothing, so that all is as by default.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This policy, overridden by what `other` sets.
    pub fn overridden_by(&self, other: &Self) -> Self {
        Self {
            timeout: other.timeout.or(self.timeout),
            when: other.when.or(self.when),
            inputs: if other.inputs.is_empty() { &self.inputs } else { &other.inputs }.clone(),
            retries: other.retries.or(self.retries),
            on_failure: other.on_failure.or(self.on_failure),
            resume: other.resume.or(self.resume),
            leak: other.leak.or(self.leak),
            trace: other.trace.or(self.trace),
        }
    }

    /// Reads the policy from a script's header: the lines between `# /// provost` and `# ///`,
    /// TOML after the `#`. A script without a header sets nothing.
    pub fn from_script(text: &[u8]) -> Result<Self, HeaderError> {
        let mut lines = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end).enumerate();
        let Some((opened, _)) = lines.find(|(_, line)| marker(line) == Some(b"provost")) else {
            return Ok(Self::default());
        };
        // Blank lines for the lines before, so that TOML's line numbers are the file's.
        let mut toml = "\n".repeat(opened + 1);
        for (index, line) in lines {
            let refuse = |what: &str| HeaderError { line: index + 1, what: what.to_owned() };
            if marker(line) == Some(b"") {
                return parse(&toml);
            }
            if marker(line) == Some(b"provost") {
                return Err(refuse("a second `# /// provost` before the first one's `# ///`"));
            }
            let Some(comment) = line.strip_prefix(b"#") else { break };
            let comment =
                std::str::from_utf8(comment).map_err(|_| refuse("the header isn't UTF-8 text"))?;
            toml.push_str(comment);
            toml.push('\n');
        }
        let what = "the header that begins here isn't closed by a line `# ///`".to_owned();
        Err(HeaderError { line: opened + 1, what })
    }
}

/// What follows `# ///`, if the line begins so.
fn marker(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"#")?.trim_ascii_start().strip_prefix(b"///").map(<[u8]>::trim_ascii)
}

fn parse(toml: &str) -> Result<Policy, HeaderError> {
    toml::from_str(toml).map_err(|error| {
        let at = error.span().map_or(toml.len(), |span| span.start).min(toml.len());
        let line = 1 + toml.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
        HeaderError { line, what: error.message().to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_in_any_language_with_hash_comments() {
        let script = b"#!/usr/bin/perl\n\n# /// provost\r\n# timeout = \"20m\" # long\n#when = \"change\"\n#\n# inputs = [\n#   \"OTHERPKGS1\",\n# ]\n# retries = 2\n# on_failure = \"continue\"\n# resume = \"again\"\n# leak = \"kill\"\n# trace = \"off\"\n# ///\nprint 1;\n";
        let policy = Policy::from_script(script).unwrap();
        assert_eq!(policy.timeout, Some(Limit::seconds(1200)));
        assert_eq!(policy.when, Some(When::Change));
        assert_eq!(policy.inputs, ["OTHERPKGS1"]);
        assert_eq!(policy.retries, Some(2));
        assert_eq!(policy.on_failure, Some(OnFailure::Continue));
        assert_eq!(policy.resume, Some(Resume::Again));
        assert_eq!(policy.leak, Some(Leak::Kill));
        assert_eq!(policy.trace, Some(Trace::Off));

        for (word, trace) in [("commands", Trace::Commands), ("lines", Trace::Lines)] {
            let script = format!("# /// provost\n# trace = \"{word}\"\n# ///\n");
            assert_eq!(Policy::from_script(script.as_bytes()).unwrap().trace, Some(trace));
        }
        assert!(Policy::from_script(b"#!/bin/sh\n# /// other\n# x\n").unwrap().is_empty());
        assert!(Policy::from_script(b"\x7fELF\xff\xfe").unwrap().is_empty());
    }

    #[test]
    fn a_bad_header_is_refused_with_its_line() {
        for (script, line, what) in [
            (
                &b"#!/bin/sh\n# /// provost\n# timeout = \"20m\"\necho\n# ///\n"[..],
                2,
                "isn't closed",
            ),
            (b"#!/bin/sh\n# /// provost\n", 2, "isn't closed"),
            (
                b"# /// provost\n# retries = 1\n# timout = \"20m\"\n# ///\n",
                3,
                "unknown field `timout`",
            ),
            (b"# /// provost\n# timeout = \"none\"\n# ///\n", 2, "finite"),
            (b"# /// provost\n# timeout = 30\n# ///\n", 2, "with its unit"),
            (b"# /// provost\n# retries = -1\n# ///\n", 2, "-1"),
            (b"# /// provost\n# when =\n# ///\n", 2, ""),
            (
                b"# /// provost\n# trace = \"on\"\n# ///\n",
                2,
                "unknown variant `on`, expected one of `commands`, `lines`, `off`",
            ),
            (b"# /// provost\n# leak = \"\xff\"\n# ///\n", 2, "UTF-8"),
            (b"# /// provost\n# ///provost\n# ///\n", 2, "second"),
        ] {
            let error = Policy::from_script(script).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.to_string().contains(what), "{error}");
        }
    }

    #[test]
    fn an_override_replaces_only_what_it_says() {
        let script = Policy { retries: Some(2), when: Some(When::Once), ..Policy::default() };
        let site = Policy { retries: Some(0), leak: Some(Leak::Fail), ..Policy::default() };
        let both = script.overridden_by(&site);
        assert_eq!(
            (both.retries, both.when, both.leak),
            (Some(0), Some(When::Once), Some(Leak::Fail))
        );
    }
}
