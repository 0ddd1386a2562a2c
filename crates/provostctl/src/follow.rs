//! The log of a step that runs, as its node's beats bring it to provostd.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel};

use provost_api::{Followed, Growth};
use provost_steplog::view::{ShowError, View};
use provost_store::Node;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::client::Client;
use crate::failure::Failure;
use crate::node_set::NodeSet;
use crate::outage::Outage;
use crate::output;

/// A step whose log is followed.
pub(crate) struct Follow<'a> {
    client: &'a Client,
    node: &'a str,
    script: &'a str,
    /// How much of the log has come, in bytes.
    from: u64,
    outage: Option<Outage>,
}

/// How the log of a step came to its end.
enum End {
    /// All of it was shown.
    Whole,
    /// Who reads it has seen enough.
    Closed,
    /// The step has ended, and its last beat didn't come. The log has this run and name.
    Lost(Option<(String, String)>),
}

impl<'a> Follow<'a> {
    /// Of `script` on `node`; none if there is no beat of it.
    pub(crate) async fn of(
        client: &'a Client,
        node: &'a str,
        script: &'a str,
    ) -> Result<Option<Self>, Failure> {
        let follow = Self { client, node, script, from: 0, outage: None };
        let node = follow.running().await?;
        Ok(node.is_some_and(|node| node.running_for.is_some()).then_some(follow))
    }

    /// Shows the log until the step ends.
    pub(crate) async fn show(mut self, view: View) -> Result<(), Failure> {
        output::note(&format!(
            "following {} on {} by its reports, of which the next comes within 40 s",
            self.script, self.node
        ));
        let (pieces, shown) = start(view);
        let end = self.follow(&pieces).await;
        if let Ok(End::Lost(log)) = &end {
            self.rest(log.as_ref(), &pieces).await;
        }
        drop(pieces);
        end?;
        match shown.await {
            Ok(Err(ShowError::Read(e) | ShowError::Write(e))) => output::written(Err(e)),
            Ok(Ok(())) => Ok(()),
            Err(e) => Err(Failure::of(&e, "report this as a bug")),
        }
    }

    async fn follow(&mut self, pieces: &Sender<Vec<u8>>) -> Result<End, Failure> {
        let mut of: Option<(String, String)> = None;
        loop {
            let Some(followed) = self.ask().await? else { continue };
            let (Some(run), Some(log)) = (followed.run, followed.log) else {
                // A daemon that was restarted meanwhile has it again with the next beat.
                if !self.is_running().await? {
                    return Ok(End::Lost(of));
                }
                continue;
            };
            let now = (run, log);
            if of.as_ref().is_some_and(|of| *of != now) {
                return Ok(End::Lost(of));
            }
            of = Some(now);
            let is_idle = followed.pieces.is_empty();
            for piece in followed.pieces {
                if pieces.send(self.take(piece)).is_err() {
                    return Ok(End::Closed);
                }
            }
            if followed.ended {
                return Ok(End::Whole);
            }
            if is_idle && !self.is_running().await? {
                return Ok(End::Lost(of));
            }
        }
    }

    /// What provostd has; none while it can't be reached.
    async fn ask(&mut self) -> Result<Option<Followed>, Failure> {
        match self.client.follow(self.node, self.script, self.from).await {
            Ok(followed) => {
                self.outage = None;
                Ok(Some(followed))
            }
            Err(lost) if lost.is_transient => {
                let mut outage = Outage::after(self.outage.take(), lost);
                outage.news().iter().for_each(|news| output::note(news));
                self.outage = Some(outage);
                Outage::pause().await;
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// What is new in `piece`. One may come again, with more.
    fn take(&mut self, piece: Growth) -> Vec<u8> {
        if let Some(missing @ 1..) = piece.from.checked_sub(self.from) {
            let hint = format!("ssh {} provost log {}", self.node, self.script);
            output::note(&format!(
                "{missing} bytes of the log are left out here; all of it: {hint}"
            ));
        }
        let known = self.from.saturating_sub(piece.from) as usize;
        self.from = piece.to;
        let mut text = piece.text.into_bytes();
        // Where bytes were replaced this is a little less than what is known.
        text.drain(..known.min(text.len()));
        text
    }

    /// The node, if the script runs on it.
    async fn running(&self) -> Result<Option<Node>, Failure> {
        let set = NodeSet { names: vec![self.node.to_owned()] };
        let nodes: Vec<Node> = self.client.nodes(Some(&set)).await?;
        let runs = |node: &Node| {
            node.detail.cause.is_none() && node.detail.stage.as_deref() == Some(self.script)
        };
        Ok(nodes.into_iter().find(runs))
    }

    /// Whether the script still runs, as far as is known.
    async fn is_running(&self) -> Result<bool, Failure> {
        match self.running().await {
            Ok(node) => Ok(node.is_some()),
            Err(lost) if lost.is_transient => Ok(true),
            Err(failure) => Err(failure),
        }
    }

    /// Shows the rest of a log whose last beat didn't come. Of a step that failed it was uploaded.
    async fn rest(&self, of: Option<&(String, String)>, pieces: &Sender<Vec<u8>>) {
        let log = match of {
            Some((run, name)) => self.client.log(run, name).await.ok(),
            None => None,
        };
        let rest = log.as_deref().and_then(|log| log.get(usize::try_from(self.from).ok()?..));
        match rest {
            // Fails where the reader has seen enough.
            Some(rest) => drop(pieces.send(rest.to_vec())),
            None => output::note(&format!(
                "{} has ended; the rest of its log: ssh {} provost log {}",
                self.script, self.node, self.script
            )),
        }
    }
}

/// Starts to show what is sent, until the sender is dropped.
fn start(view: View) -> (Sender<Vec<u8>>, JoinHandle<Result<(), ShowError>>) {
    let (sender, receiver) = channel();
    let pieces = Pieces { receiver, piece: io::Cursor::default() };
    (sender, spawn_blocking(move || view.follow(pieces, io::stdout().lock())))
}

/// The pieces of a log as one stream, which ends with its sender.
struct Pieces {
    receiver: Receiver<Vec<u8>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.piece.read(buffer)? {
                0 if buffer.is_empty() => return Ok(0),
                0 => match self.receiver.recv() {
                    Ok(piece) => self.piece = io::Cursor::new(piece),
                    Err(_) => return Ok(0),
                },
                n => return Ok(n),
            }
        }
    }
}
