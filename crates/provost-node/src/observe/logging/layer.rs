//! The layer that makes messages of events and of spans that close, for one place.

use std::sync::Arc;

use provost_record::wording;
use tracing::level_filters::LevelFilter;
use tracing::span::Id;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer;
use tracing_subscriber::registry::{LookupSpan, Scope};

use super::message::{Context, Fields, Message, Severity};
use super::span::OpenSpan;

/// A place that messages go to. None of them waits for anything.
pub(super) trait Sink: Send + Sync + 'static {
    /// The least severe messages that go there.
    const LEAST: Severity;

    /// Takes `message`, or loses it.
    fn write(&self, message: &Message);
}

impl<S: Sink> Sink for Arc<S> {
    const LEAST: Severity = S::LEAST;

    fn write(&self, message: &Message) {
        S::write(self, message);
    }
}

/// Brings messages to `sink`.
pub(super) struct MessageLayer<S> {
    sink: S,
    /// What is known outside of all spans.
    outermost: Context,
}

impl<S: Sink> MessageLayer<S> {
    pub(super) fn new(sink: S, node: &str) -> Self {
        Self { sink, outermost: Context { node: node.to_owned(), ..Context::default() } }
    }

    fn context<'a, C: LookupSpan<'a>>(&self, scope: Option<Scope<'a, C>>) -> Context {
        let mut context = self.outermost.clone();
        for span in scope.into_iter().flat_map(Scope::from_root) {
            if let Some(open) = span.extensions().get::<OpenSpan>() {
                context.update(&open.context);
            }
        }
        context
    }
}

impl<C: Subscriber + for<'a> LookupSpan<'a>, S: Sink> Layer<C> for MessageLayer<S> {
    fn on_event(&self, event: &Event<'_>, context: layer::Context<'_, C>) {
        let severity = Severity::from(*event.metadata().level());
        if severity > S::LEAST {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut from = self.context(context.event_scope(event));
        from.update(&fields.context);
        self.sink.write(&Message::new(severity, from, fields.text()));
    }

    /// Says how long the span was open, for who looks where the time went.
    fn on_close(&self, id: Id, context: layer::Context<'_, C>) {
        if S::LEAST < Severity::Debug || LevelFilter::current() < LevelFilter::DEBUG {
            return;
        }
        let Some(span) = context.span(&id) else { return };
        let Some((title, opened)) =
            span.extensions().get::<OpenSpan>().map(|open| (open.title.clone(), open.opened))
        else {
            return;
        };
        let text = format!("{title} took {}", wording::duration(opened.elapsed()));
        let from = self.context(Some(span.scope()));
        self.sink.write(&Message::new(Severity::Debug, from, text));
    }
}
