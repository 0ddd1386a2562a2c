//! What one check of this node showed: `provost check`.

use provost_exec::Secrets;
use provost_record::ExitCode;
use serde::Serialize;

use crate::failure::Failure;
use crate::observe::console::harmless;

/// What one check showed.
#[derive(Serialize)]
pub struct Finding {
    what: &'static str,
    /// Whether it is as it should be.
    pub result: Outcome,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip)]
    of_this_node: bool,
}

/// What trying a server showed.
pub struct ServerCheck {
    /// In order.
    pub findings: Vec<Finding>,
    /// Whether it would serve a run.
    pub serves: bool,
}

/// Whether something is as it should be.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is.
    Ok,
    /// A run would fail.
    Failed,
    /// A run would go on; an admin should know all the same.
    Note,
}

impl Finding {
    /// All is well.
    pub fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { what, result: Outcome::Ok, detail, hint: None, of_this_node: false }
    }

    /// A run would go on; `hint` says what to do.
    pub fn note(what: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        let ok = Self::ok(what, detail);
        Self { result: Outcome::Note, hint: Some(hint.into()), ..ok }
    }

    /// A run would fail by `failure`.
    pub fn failed(what: &'static str, failure: &Failure) -> Self {
        Self {
            what,
            result: Outcome::Failed,
            detail: failure.text(),
            hint: Some(failure.hint.clone()),
            of_this_node: failure.exit_code() == ExitCode::Usage,
        }
    }

    /// Whether something is wrong on this node itself: its configuration, its disk.
    pub fn is_of_this_node(&self) -> bool {
        self.of_this_node
    }

    /// The same without what is secret: a server may say a token back.
    pub fn without(self, secrets: &Secrets) -> Self {
        let hide = |text: String| secrets.hide(&text).into_owned();
        Self { detail: hide(self.detail), hint: self.hint.map(hide), ..self }
    }

    /// A line, and another one for the hint.
    pub fn text(&self) -> String {
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
