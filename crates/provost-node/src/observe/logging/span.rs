//! What is known of a span while it is open.

use std::time::Instant;

use tracing::Subscriber;
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer;
use tracing_subscriber::registry::LookupSpan;

use super::message::{Context, Fields};

/// Keeps with each span who it is about and since when it is open, for the layers after this one.
pub(super) struct Spans;

/// A span that is open.
pub(super) struct OpenSpan {
    pub(super) context: Context,
    /// Its name and fields.
    pub(super) title: String,
    pub(super) opened: Instant,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: layer::Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let title = fields.title(span.name());
        let open = OpenSpan { context: fields.context, title, opened: Instant::now() };
        span.extensions_mut().insert(open);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: layer::Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        values.record(&mut fields);
        if let Some(open) = span.extensions_mut().get_mut::<OpenSpan>() {
            open.context.update(&fields.context);
        }
    }
}
