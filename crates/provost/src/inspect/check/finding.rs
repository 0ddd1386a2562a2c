use provost_exec::Secrets;
use provost_record::ExitCode;
use serde::Serialize;

use provost_node::failure::Failure;
use provost_node::observe::console::harmless;

/// What one look or try showed.
#[derive(Serialize)]
pub(super) struct Finding {
    what: &'static str,
    pub(super) result: Outcome,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip)]
    of_this_node: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Ok,
    Failed,
    /// A run would go on; an admin should know all the same.
    Note,
}

impl Finding {
    pub(super) fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { what, result: Outcome::Ok, detail, hint: None, of_this_node: false }
    }

    pub(super) fn note(
        what: &'static str,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let ok = Self::ok(what, detail);
        Self { result: Outcome::Note, hint: Some(hint.into()), ..ok }
    }

    pub(super) fn failed(what: &'static str, failure: &Failure) -> Self {
        Self {
            what,
            result: Outcome::Failed,
            detail: failure.text(),
            hint: Some(failure.hint.clone()),
            of_this_node: failure.exit_code() == ExitCode::Usage,
        }
    }

    /// Whether something is wrong on this node itself: its configuration, its disk.
    pub(super) fn is_of_this_node(&self) -> bool {
        self.of_this_node
    }

    /// The same without what is secret: a server may say a token back.
    pub(super) fn without(self, secrets: &Secrets) -> Self {
        let hide = |text: String| secrets.hide(&text).into_owned();
        Self { detail: hide(self.detail), hint: self.hint.map(hide), ..self }
    }

    /// A line, and another one for the hint.
    pub(super) fn tell(&self) -> String {
        let result = match self.result {
            Outcome::Ok => "ok",
            Outcome::Failed => "FAILED",
            Outcome::Note => "note",
        };
        let mut text = format!("{result:6}  {:13}  {}\n", self.what, harmless(&self.detail));
        if let Some(hint) = &self.hint {
            text += &format!("{:23}hint: {}\n", "", harmless(hint));
        }
        text
    }
}
