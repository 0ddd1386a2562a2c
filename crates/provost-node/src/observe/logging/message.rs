//! A message as all layers take it.

use std::fmt::{Debug, Write};
use std::sync::{PoisonError, RwLock};

use jiff::Timestamp;
use provost_exec::Secrets;
use provost_steplog::terminal::escape;
use tracing::Level;
use tracing::field::{Field, Visit};

/// The program's name in the system's logs.
pub(super) const TAG: &str = "provost";

/// How severe a message is, in the numbers of syslog(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something failed.
    Error = 3,
    /// Something is wrong, but the run goes on.
    Warning = 4,
    /// What happens.
    Info = 6,
    /// Of use to who looks for a defect; `PROVOST_LOG=debug` shows it.
    Debug = 7,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::ERROR => Self::Error,
            Level::WARN => Self::Warning,
            Level::INFO => Self::Info,
            _ => Self::Debug,
        }
    }
}

/// Whom a message is from. Empty where it isn't known.
#[derive(Clone, Default)]
pub struct Context {
    /// The node's name.
    pub node: String,
    /// `kickstart`, `boot` or `run`.
    pub service: String,
    /// The run's id.
    pub run: String,
    /// The script that is running, if one is.
    pub stage: Option<String>,
}

impl Context {
    /// Takes what `inner`, a span inside this one, knows better.
    pub(super) fn update(&mut self, inner: &Self) {
        let pairs = [
            (&mut self.node, &inner.node),
            (&mut self.service, &inner.service),
            (&mut self.run, &inner.run),
        ];
        for (outer, inner) in pairs {
            if !inner.is_empty() {
                outer.clone_from(inner);
            }
        }
        if inner.stage.is_some() {
            self.stage.clone_from(&inner.stage);
        }
    }
}

/// The fields of an event or a span.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) context: Context,
    /// The text, of an event.
    pub(super) message: String,
    hint: Option<String>,
    /// The others, each as ` NAME=VALUE`.
    others: String,
}

impl Fields {
    /// An event's text: its message, other fields behind it, and the hint on a line of its own.
    pub(super) fn text(self) -> String {
        let hint = self.hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
        self.message + &self.others + &hint
    }

    /// A span's title: its name, stage and other fields.
    pub(super) fn title(&self, name: &str) -> String {
        let stage = self.context.stage.as_ref().map_or(String::new(), |stage| format!(" {stage}"));
        format!("{name}{stage}{}", self.others)
    }

    fn take(&mut self, name: &str, value: String) {
        match name {
            "message" => self.message = value,
            "hint" => self.hint = Some(value),
            "node" => self.context.node = value,
            "service" => self.context.service = value,
            "run" => self.context.run = value,
            "stage" => self.context.stage = Some(value),
            // Writing to a String can't fail.
            _ => drop(write!(self.others, " {name}={value}")),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.take(field.name(), format!("{value:?}"));
    }
}

/// What one event says. It shows no secret and steers no terminal.
pub(super) struct Message {
    pub(super) at: Timestamp,
    pub(super) severity: Severity,
    pub(super) context: Context,
    pub(super) lines: Vec<String>,
}

impl Message {
    pub(super) fn new(severity: Severity, context: Context, text: String) -> Self {
        let lines = hidden(text).lines().map(escape).collect();
        Self { at: provost_record::now(), severity, context, lines }
    }
}

/// One for all layers. None until the first settings are read.
static SECRETS: RwLock<Option<Secrets>> = RwLock::new(None);

/// Hides `secrets`, and none of those before, in all messages from now on.
pub fn hide(secrets: Secrets) {
    *SECRETS.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets);
}

/// `text` without what is hidden.
pub(super) fn hidden(text: String) -> String {
    match &*SECRETS.read().unwrap_or_else(PoisonError::into_inner) {
        Some(secrets) => secrets.hide(&text).into_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_span_overrides_what_it_knows() {
        let mut context = Context { node: "cn001".into(), run: "1".into(), ..Context::default() };
        context.update(&Context {
            stage: Some("bad".into()),
            run: "2".into(),
            ..Context::default()
        });
        assert_eq!((&*context.node, &*context.run), ("cn001", "2"));
        assert_eq!(context.stage.as_deref(), Some("bad"));
    }

    #[test]
    fn no_line_steers_a_terminal() {
        let message = Message::new(Severity::Info, Context::default(), "a\x1b[2J\nb".into());
        assert_eq!(message.lines, ["a\\u{1b}[2J", "b"]);
    }
}
