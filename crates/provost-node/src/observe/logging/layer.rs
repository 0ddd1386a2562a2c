//! The layer that makes messages of events and of spans that close, for one place.

use std::sync::Arc;

use provost_steplog::wording;
use tracing::level_filters::LevelFilter;
use tracing::span::Id;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer;
use tracing_subscriber::registry::{LookupSpan, Scope};

use super::message::{Context, Fields, Message, Severity};
use super::message_batch;
use super::span::OpenSpan;

/// A place that messages go to. None of them waits for anything.
pub(super) trait Sink: Send + Sync + 'static {
    /// The least severe messages that go there.
    const LEAST: Severity;

    /// Takes `message`, or loses it.
    fn write(&self, message: &Message);
}

/// Brings messages to `sink`.
pub(super) struct MessageLayer<S> {
    sink: Arc<S>,
    /// What is known outside of all spans.
    outermost: Context,
}

impl<S: Sink> MessageLayer<S> {
    pub(super) fn new(sink: Arc<S>, node: &str) -> Self {
        Self { sink, outermost: Context { node: node.to_owned(), ..Context::default() } }
    }

    fn deliver(&self, message: Message) {
        let (sink, waits) = (Arc::clone(&self.sink), message.severity > Severity::Warning);
        message_batch::deliver(move || sink.write(&message));
        if !waits {
            message_batch::release();
        }
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
        self.deliver(Message::new(severity, from, fields.text()));
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
        self.deliver(Message::new(Severity::Debug, from, text));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt;

    use super::super::span::Spans;
    use super::*;

    #[derive(Default)]
    struct Lines(Mutex<Vec<(Severity, String)>>);

    impl Sink for Lines {
        const LEAST: Severity = Severity::Debug;

        fn write(&self, message: &Message) {
            let Context { node, run, stage, .. } = &message.context;
            let lines = message.lines.join(" / ");
            let line = format!("{node} {run} {}: {lines}", stage.as_deref().unwrap_or("-"));
            self.0.lock().unwrap().push((message.severity, line));
        }
    }

    #[test]
    fn a_message_is_from_the_spans_around_it_and_a_span_says_how_long_it_was_open() {
        let lines = Arc::new(Lines::default());
        let subscriber = Registry::default()
            .with(LevelFilter::DEBUG)
            .with(Spans)
            .with(MessageLayer::new(Arc::clone(&lines), "cn001"));
        tracing::subscriber::with_default(subscriber, || {
            let run = tracing::info_span!("run", node = "cn002", run = 7).entered();
            tracing::info_span!("step", stage = "bad", attempt = 2).in_scope(|| {
                tracing::error!(hint = "fix it", path = %"/x", "error: it failed");
            });
            drop(run);
            tracing::debug!("after");
        });
        let mut lines = std::mem::take(&mut *lines.0.lock().unwrap());
        for (_, line) in &mut lines[1..3] {
            let (text, took) = line.rsplit_once(" took ").unwrap();
            assert!(took.ends_with(" ms"), "{took}");
            *line = text.to_owned();
        }
        let expected = [
            (Severity::Error, "cn002 7 bad: error: it failed path=/x / hint: fix it"),
            (Severity::Debug, "cn002 7 bad: step bad attempt=2"),
            (Severity::Debug, "cn002 7 -: run"),
            (Severity::Debug, "cn001  -: after"),
        ];
        assert_eq!(lines, expected.map(|(severity, line)| (severity, line.to_owned())));
    }
}
