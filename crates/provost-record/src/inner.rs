use serde::{Deserialize, Serialize};

use crate::{Cause, Outcome};

/// A stage that a script recorded itself while it ran as a step, or, without a stage's name, a
/// failure of the script's outside of any stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inner {
    /// The service that the script called itself; its own name, if it gave none.
    pub service: String,
    /// The stage's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// How it ended; none if its end was never recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Outcome>,
    /// Where it failed: `LINE FUNCTION FILE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_line: Option<String>,
    /// The last lines of output, where the script had them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The exit status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// What kind of failure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The command that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The caller's line where it failed in a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_from: Option<String>,
}

impl Inner {
    /// What a step failed in: the last of these that failed, or has no end because the script was
    /// killed in it, and that no later success has made good.
    pub fn failed(inner: &[Self]) -> Option<&Self> {
        let same = |a: &Self, b: &Self| a.service == b.service && a.stage == b.stage;
        let good = |i: &Self| i.result == Some(Outcome::Success);
        let bad = inner.iter().enumerate().rev().filter(|(_, i)| !good(i));
        let mut bad = bad.filter(|(at, i)| !inner[*at..].iter().any(|l| good(l) && same(l, i)));
        bad.next().map(|(_, failed)| failed)
    }

    /// Its name below the step `script`: `apply`, or `other: apply` if it is of another service.
    pub fn title(&self, script: &str) -> String {
        let own = script.rsplit('/').next().unwrap_or(script);
        let own = self.service == script || self.service == own || self.service == stem(own);
        match &self.stage {
            Some(stage) if own => stage.clone(),
            Some(stage) => format!("{}: {stage}", self.service),
            None => self.service.clone(),
        }
    }

    /// Whether it was stopped in order, as systemd stops a service, which is no failure.
    pub fn is_stop(&self) -> bool {
        let is_failure = self.result == Some(Outcome::Failure);
        is_failure && self.cause == Some(Cause::Interrupted) && self.signal.is_some()
    }

    /// The texts that may come from a script or its output.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { service, stage, error_line, error_message, command, called_from, .. } = self;
        let texts = [stage, error_line, error_message, command, called_from];
        std::iter::once(service).chain(texts.into_iter().flatten())
    }
}

/// A script's name without `.sh`, as the shell library calls its service.
fn stem(script: &str) -> &str {
    script.strip_suffix(".sh").unwrap_or(script)
}

/// What ended so: a step, and below it the stage of its own that failed.
pub(crate) fn titled(script: &str, result: Option<Outcome>, inner: &[Inner]) -> String {
    let failed = Inner::failed(inner).filter(|_| result == Some(Outcome::Failure));
    failed
        .filter(|failed| failed.stage.is_some())
        .map_or_else(|| script.to_owned(), |failed| format!("{script}: {}", failed.title(script)))
}
