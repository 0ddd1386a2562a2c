//! A page: what it shows, and of what that is made.

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use provost_steplog::terminal::escape;

use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;

/// What a page shows. It has the parts that its content is made of.
pub(super) trait Page: Clone + Send + Sync + 'static {
    /// The title of its window.
    fn title(&self) -> String;

    /// Where the menu has it.
    fn section(&self) -> &'static str;

    /// Its content, as HTML.
    fn content(&self) -> impl Future<Output = Result<String, Refusal>> + Send;

    /// The node that it is about, if anything is stored of it: its page says what an admin may do with it.
    fn node(&self) -> impl Future<Output = Option<&str>> + Send {
        async { None }
    }

    /// The query of the list of nodes that it is, where that selects some.
    fn selected(&self) -> Option<String> {
        None
    }

    /// Whom it is for, where not all see the same: tabs of one audience share a content.
    fn audience(&self) -> &'static str {
        ""
    }

    /// What its content depends on: while this is the same, so is the content.
    fn stamp(&self, snapshot: &Snapshot) -> u64 {
        snapshot.version
    }
}

/// The page's content, in which nothing of a script's text can hide.
pub(super) async fn rendered(page: &impl Page) -> Result<String, Refusal> {
    Ok(harmless(&page.content().await?))
}

/// The content of a page that is live, with what the icon shows while the page is open.
pub(super) fn with_failed(content: String, failed: usize) -> String {
    format!("{content}\n<i id=\"site-failed\" hidden data-count=\"{failed}\"></i>")
}

/// The text of a template.
pub(super) fn render(template: &impl Template) -> Result<String, Refusal> {
    template.render().map_err(Refusal::bug)
}

/// `text` as a part of an address.
pub(super) fn encoded(text: &str) -> impl std::fmt::Display {
    utf8_percent_encode(text, NON_ALPHANUMERIC)
}

/// HTML in which control characters, and those that turn the direction of writing around, are
/// written out: a script may have printed them. The template has made the rest of it harmless.
pub(super) fn harmless(html: &str) -> String {
    let lines: Vec<String> = html.split('\n').map(escape).collect();
    lines.join("\n")
}
