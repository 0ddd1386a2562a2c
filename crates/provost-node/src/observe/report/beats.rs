//! Beats: a step that runs for long says so, again and again, with the stage of its own that it is in,
//! and brings what its log has grown by where somebody follows it. Another stage has a beat at once.
//! A lost beat is never sent again.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use provost_api::nodes::BeatAnswer;
use provost_api::{Beat, Growth, InnerStage};
use provost_bundle::Limit;
use provost_exec::Secrets;
use provost_steplog::{Entry, Line};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::Instant;

use super::servers::ReportError;
use super::servers::{Response, Servers};
use crate::fetch::Connection;
use crate::observe::observer::StepContext;
use crate::state::own_stages;
use crate::state::own_stages_watch::OwnStagesWatch;

/// The time between two beats, and from a step's start to the first one, without the jitter.
const INTERVAL: Duration = Duration::from_secs(30);
/// The environment variable that shortens it, for tests.
const VARIABLE: &str = "PROVOST_BEAT";
/// The same of a step whose log is followed, and the least where a script comes from stage to stage.
const SHORTEST: Duration = Duration::from_secs(1);
/// The most that a beat has of a log, in bytes.
const MOST_GROWTH: u64 = 64 * 1024;
/// How much of a log's end is read to find the last line, in bytes.
const TAIL: u64 = 4 * 1024;
/// The longest last line, in characters.
const MOST_LINE: usize = 200;

/// The beats of a step that runs.
pub(super) struct Beats {
    task: JoinHandle<()>,
    ended: oneshot::Sender<()>,
}

impl Beats {
    /// Begins with `step`.
    pub(super) fn of(connection: &Connection, step: StepContext<'_>) -> Self {
        let (sender, ended) = oneshot::channel();
        let mut step = Step {
            servers: Servers::new(&connection.settings, &connection.client),
            run: connection.run.clone(),
            stage: step.script.to_owned(),
            log: step.log.to_owned(),
            secrets: step.secrets.clone(),
            began: step.began.into(),
            line: None,
            inner: None,
            has_stages: false,
            sent: None,
            watch: None,
            next_look: Instant::from(step.began) + SHORTEST,
        };
        let beat = async move {
            step.beat(ended).await;
            // To close its watch takes time.
            if step.watch.is_some() {
                spawn_blocking(move || drop(step));
            }
        };
        Self { task: tokio::spawn(beat), ended: sender }
    }

    /// Ends with the step. The task, which comes back, has nothing more to do, unless the log is
    /// followed, of which it sends the rest then, or the script had stages of its own.
    pub(super) fn end(self) -> JoinHandle<()> {
        // Fails where the task has ended.
        let _ = self.ended.send(());
        self.task
    }
}

struct Step {
    servers: Servers,
    run: String,
    stage: String,
    log: PathBuf,
    secrets: Secrets,
    began: Instant,
    line: Option<String>,
    /// The stage of its own that the last beat said.
    inner: Option<InnerStage>,
    /// Whether a beat said one.
    has_stages: bool,
    /// While the log is followed: how much of it the management node has.
    sent: Option<u64>,
    /// Of a step that has run for long enough to have a beat.
    watch: Option<OwnStagesWatch>,
    /// When its own stages may be looked at again.
    next_look: Instant,
}

impl Step {
    async fn beat(&mut self, mut ended: oneshot::Receiver<()>) {
        let interval = std::env::var(VARIABLE).ok().and_then(|text| text.parse::<Limit>().ok());
        let interval = interval.map_or(INTERVAL, Limit::duration);
        let jittered = || interval.mul_f64(1.0 + fastrand::f64() / 4.0);
        let mut wait = jittered();
        loop {
            let has_ended = tokio::select! {
                () = tokio::time::sleep(wait) => false,
                () = self.inner_changed() => {
                    // If this beat is lost, the next one comes soon.
                    wait = SHORTEST;
                    false
                }
                _ = &mut ended => true,
            };
            if has_ended && !self.owes_end() {
                return;
            }
            let (sent, beat) = self.read(has_ended).await;
            let Ok(json) = serde_json::to_string(&beat) else { return };
            let owes_end = self.owes_end();
            let answer = tokio::select! {
                answer = self.servers.send_beat(&self.run, json) => answer,
                _ = &mut ended, if !owes_end => return,
            };
            if has_ended {
                return;
            }
            let asked = answer.as_ref().err().map_or(Duration::ZERO, ReportError::wait);
            self.next_look = Instant::now() + SHORTEST.max(asked);
            let answer = match answer {
                Ok(Response::Taken(answer)) => serde_json::from_slice::<BeatAnswer>(&answer).ok(),
                Ok(Response::Refused(_)) | Err(_) => None,
            };
            (self.sent, wait) = match answer {
                Some(BeatAnswer { follow: true }) => (Some(sent), SHORTEST.min(interval)),
                Some(BeatAnswer { follow: false }) => (None, jittered()),
                // What wasn't taken goes with the next one, for which a busy server says when to come.
                None => (self.sent, (wait * 2).min(jittered()).max(asked)),
            };
        }
    }

    /// Whether the management node is to know when the step ends: another try, or another step of the
    /// same script, isn't in the stage that this one was in.
    fn owes_end(&self) -> bool {
        self.sent.is_some() || self.has_stages
    }

    /// Waits until the script is in another stage of its own than the last beat said. Where it is
    /// dropped, a beat has to follow.
    async fn inner_changed(&mut self) {
        loop {
            tokio::time::sleep_until(self.next_look).await;
            match &self.watch {
                Some(watch) => watch.changed().await,
                None => self.watch = Some(OwnStagesWatch::new(&self.log)),
            }
            self.next_look = Instant::now() + SHORTEST;
            if self.current_inner().await != self.inner {
                return;
            }
        }
    }

    /// The stage of its own that the script is in.
    async fn current_inner(&self) -> Option<InnerStage> {
        let (log, secrets) = (self.log.clone(), self.secrets.clone());
        spawn_blocking(move || own_stages::current(&log, &secrets)).await.ok().flatten()
    }

    /// The next beat, and how much of the log the management node has with it.
    async fn read(&mut self, ended: bool) -> (u64, Beat) {
        let (log, sent) = (self.log.clone(), self.sent);
        // Reading must not hold up the loop.
        let read = spawn_blocking(move || grown(&log, sent)).await;
        let growth = read.ok().and_then(Result::ok);
        let line = growth.as_ref().and_then(|growth| last_line(&growth.text));
        self.line = line.or(self.line.take());
        let has = match (sent, &growth) {
            (Some(_), Some(growth)) => growth.to,
            // It begins with so much of what there is.
            (None, Some(growth)) => growth.to.saturating_sub(MOST_GROWTH),
            (sent, None) => sent.unwrap_or(0),
        };
        self.inner = if ended { None } else { self.current_inner().await };
        self.has_stages |= self.inner.is_some();
        let log = self.log.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let elapsed_ms = self.began.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
        let (stage, line, inner) = (self.stage.clone(), self.line.clone(), self.inner.clone());
        let growth = growth.filter(|growth| sent.is_some() && !growth.text.is_empty());
        (has, Beat { stage, log, elapsed_ms, line, inner, ended, growth })
    }
}

/// The whole lines of `log` after the first `sent` bytes, or only of its end.
fn grown(log: &Path, sent: Option<u64>) -> io::Result<Growth> {
    let mut file = provost_fs::open_to_read(log)?;
    let length = file.metadata()?.len();
    let most = if sent.is_some() { MOST_GROWTH } else { TAIL };
    let start = sent.unwrap_or(0).max(length.saturating_sub(most));
    // With the byte before it, which may be the end of a line.
    let begin = start.saturating_sub(1);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    let is_end = |byte: &u8| *byte == b'\n';
    let first = if start == 0 { 0 } else { bytes.iter().position(is_end).map_or(0, |at| at + 1) };
    let end = bytes.iter().rposition(is_end).map_or(0, |at| at + 1);
    let lines = bytes.get(first..end).unwrap_or_default();
    let from = if lines.is_empty() { start } else { begin + first as u64 };
    let text = String::from_utf8_lossy(lines).into_owned();
    Ok(Growth { from, to: from + lines.len() as u64, text })
}

/// The last line of a log's `text` that a script printed.
fn last_line(text: &str) -> Option<String> {
    let printed = |line: &str| match Line::parse(line.as_bytes()).entry {
        Entry::Output { text, .. } => {
            let text = String::from_utf8_lossy(text);
            Some(text.trim().chars().take(MOST_LINE).collect())
        }
        _ => None,
    };
    text.lines().rev().filter_map(printed).find(|line: &String| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_has_grown_by_is_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("01-slow.log");
        let grown = |text: &str, sent| {
            std::fs::write(&log, text).unwrap();
            let growth = grown(&log, sent).unwrap();
            (growth.from, growth.to, growth.text)
        };
        assert_eq!(grown("", Some(0)), (0, 0, String::new()));
        assert_eq!(grown("one\ntwo\nthr", Some(0)), (0, 8, "one\ntwo\n".to_owned()));
        assert_eq!(grown("one\ntwo\nthr", Some(8)), (8, 8, String::new()));
        assert_eq!(grown("one\ntwo\nthree\n", Some(8)), (8, 14, "three\n".to_owned()));
        let long = "0123456789\n".repeat(10_000);
        let (from, to, text) = grown(&long, Some(11));
        assert_eq!((from % 11, to, text.len() as u64), (0, 110_000, to - from));
        assert!(text.len() as u64 <= MOST_GROWTH && text.len() as u64 > MOST_GROWTH - 22);
        let (from, to, _) = grown(&long, None);
        assert!(from % 11 == 0 && to == 110_000 && to - from < TAIL, "{from}");
    }

    #[test]
    fn a_fifo_in_place_of_the_log_holds_nothing_up() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("01-slow.log");
        assert!(std::process::Command::new("mkfifo").arg(&log).status().unwrap().success());
        assert!(grown(&log, Some(0)).is_err());
    }

    #[test]
    fn the_last_line_is_what_a_script_printed_last() {
        let log = "T stdout F first\nT stderr F  12 %\nT stdout F \nT exec F 2 1 sleep 9\n";
        assert_eq!(last_line(log).as_deref(), Some("12 %"));
        assert_eq!(last_line("T exec F 2 1 sleep 9\n"), None);
        let long = format!("T stdout F {}\n", "ä".repeat(1000));
        assert_eq!(last_line(&long).map(|line| line.chars().count()), Some(MOST_LINE));
    }
}
