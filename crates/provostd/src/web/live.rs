//! Pages that change while they are open. However many tabs show the same page, its content is made
//! once, and sent to each only when it has changed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::page::{Page, rendered, with_failed};
use crate::fleet::open_pages::{Content, OpenPages};
use crate::fleet::{Fleet, SHARE};
use crate::listener::Stop;
use crate::nodes::beats::Beats;

/// The shortest time between two contents of a page.
const PACE: Duration = Duration::from_millis(400);
/// How often the content is made anew where nothing happens: it says how long ago things were.
const IDLE: Duration = Duration::from_secs(10);

/// How long a page waits for what its icon shows.
const AT_ONCE: Duration = Duration::from_millis(200);

/// How pages are shown, whatever their content.
pub(crate) struct Pages {
    pub(crate) open: OpenPages,
    /// What says that a content may be another one.
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) beats: Arc<Beats>,
    pub(crate) stop: Stop,
}

impl Pages {
    /// How many nodes fail; none where that can't be read at once.
    pub(super) async fn failed(&self) -> usize {
        let snapshot = timeout(AT_ONCE, self.fleet.look()).await;
        snapshot.map_or(0, |snapshot| snapshot.map_or(0, |snapshot| snapshot.failed()))
    }
}

/// The contents of the page that is known as `path`, from now on.
pub(super) fn stream(
    pages: Arc<Pages>,
    page: impl Page,
    path: String,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (receiver, sender) = pages.open.open(&path);
    if let Some(sender) = sender {
        tokio::spawn(keep(Arc::clone(&pages), page, path, sender));
    }
    let contents =
        stream::unfold((receiver, pages.stop.clone()), |(mut receiver, mut stop)| async {
            loop {
                tokio::select! {
                    changed = receiver.changed() => changed.ok()?,
                    () = stop.wait() => return None,
                }
                let content = receiver.borrow_and_update().clone();
                if let Some(content) = content {
                    let event = Event::default().event("content").data(&*content);
                    return Some((Ok(event), (receiver, stop)));
                }
            }
        });
    Sse::new(contents).keep_alive(KeepAlive::default())
}

/// Makes the content of a page whenever it may have changed, until nobody has the page open.
async fn keep(pages: Arc<Pages>, page: impl Page, path: String, sender: watch::Sender<Content>) {
    let mut stop = pages.stop.clone();
    loop {
        let making = async {
            loop {
                make(&pages, &page, &sender).await;
            }
        };
        tokio::select! {
            () = making => {}
            () = sender.closed() => {}
            () = stop.wait() => {}
        }
        // Somebody may have come meanwhile.
        if pages.open.is_closed(&path) {
            return;
        }
    }
}

/// Makes the content, and waits until it may be another one.
async fn make(pages: &Pages, page: &impl Page, sender: &watch::Sender<Content>) {
    let mut changes = pages.fleet.changes();
    let mut beats = pages.beats.news();
    let mut stamp = pages.fleet.look().await.ok().map(|now| page.stamp(&now));
    let began = Instant::now();
    // What can't be made isn't sent: the tab shows what it has, and a reload says why.
    if let Ok(content) = rendered(page).await {
        let content = with_failed(content, pages.failed().await);
        sender.send_if_modified(|last| {
            let is_new = last.as_deref() != Some(&*content);
            if is_new {
                *last = Some(content.into());
            }
            is_new
        });
    }
    // All pages that are open share that part of the time.
    sleep(PACE.max(began.elapsed() * SHARE * pages.open.count())).await;
    let until = Instant::now() + IDLE;
    loop {
        let now = tokio::select! {
            now = changes.next() => now,
            // Of any node, or missed.
            _ = beats.recv() => pages.fleet.look().await.ok(),
            () = tokio::time::sleep_until(until) => return,
        };
        let now = now.map(|now| page.stamp(&now));
        if now != stamp {
            return;
        }
        stamp = now;
    }
}
