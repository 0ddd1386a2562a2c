//! What a program prints to its two pipes, put into the order in which it was written.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use super::pipe::ReadEnd;
use super::stream::Stream;
use super::writes::{MOMENT, WatchedPipes, Writes};

/// How long what a stopped program has printed is read for, while others go on printing.
const BRIEFLY: Duration = Duration::from_millis(1);

/// The two pipes.
pub(crate) struct Output<'a> {
    writes: Option<&'a Writes>,
    watched: Option<WatchedPipes<'a>>,
    /// Who wrote in turn, as far as that text hasn't been handed on.
    runs: Vec<Stream>,
    /// How many of those are about the text that is to be handed on next.
    batch: usize,
    read_ends: [ReadEnd; 2],
    /// Their other ends, until the program has ended.
    write_ends: Option<[OwnedFd; 2]>,
}

impl<'a> Output<'a> {
    /// Two new pipes.
    pub(crate) fn new(writes: Option<&'a Writes>) -> io::Result<Self> {
        let (stdout, out) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, err) = pipe_with(PipeFlags::CLOEXEC)?;
        let watched = writes.and_then(|writes| writes.watch([&stdout, &stderr]));
        let writes = writes.filter(|_| watched.is_some());
        let read_ends = [stdout, stderr].map(ReadEnd::new);
        let write_ends = Some([out, err]);
        Ok(Self { writes, watched, runs: Vec::new(), batch: 0, read_ends, write_ends })
    }

    /// The ends that a program is to write to, stdout's first.
    pub(crate) fn write_ends(&self) -> Option<[BorrowedFd<'_>; 2]> {
        self.write_ends.as_ref().map(|write_ends| write_ends.each_ref().map(OwnedFd::as_fd))
    }

    /// Closes the write ends, because the program has ended: now the pipes end, but for those to which
    /// somebody else can write. As long as they are held nobody is woken who waits for that.
    pub(crate) fn close(&mut self) {
        self.write_ends = None;
    }

    /// The pipes whose end has not come.
    pub(crate) fn pipes(&self) -> impl Iterator<Item = &OwnedFd> {
        self.read_ends.iter().filter(|pipe| !pipe.ended).map(|end| &end.pipe)
    }

    /// Whether something waits that has been read.
    pub(crate) fn waits(&self) -> bool {
        !self.runs.is_empty() || self.read_ends.iter().any(|pipe| pipe.to > 0)
    }

    /// Hands on what waits.
    pub(crate) fn end(&mut self, mut put: impl FnMut(Stream, &[u8])) {
        self.make_batch();
        self.put_in_turn(&mut put);
        self.put_rest(&mut put);
    }

    /// The pipes, to be [opened again](Self::open_again), if they have ended. Before another program
    /// begins: what is noted of these until now is of no use any more.
    pub(crate) fn spare(mut self) -> Option<Self> {
        if self.pipes().next().is_some() {
            return None;
        }
        self.watched.as_ref()?.look(&mut self.runs);
        self.runs.clear();
        Some(self)
    }

    /// The same pipes for another program: to watch new ones and to drop the old ones would be seen in
    /// the time of a short script. None if they aren't like new ones.
    pub(crate) fn open_again(mut self) -> Option<Self> {
        let [stdout, stderr] = &mut self.read_ends;
        self.write_ends = Some([stdout.open_again()?, stderr.open_again()?]);
        Some(self)
    }

    /// Gives away the pipes whose end has not come.
    pub(crate) fn held(self) -> Vec<OwnedFd> {
        let held = self.read_ends.into_iter().filter(|pipe| !pipe.ended);
        held.map(|pipe| pipe.pipe).collect()
    }

    /// Hands on what has come.
    pub(crate) fn take(&mut self, mut put: impl FnMut(Stream, &[u8])) {
        let end = Instant::now() + MOMENT;
        while self.gather(end) && Instant::now() < end {
            self.put_in_turn(&mut put);
        }
        self.put_in_turn(&mut put);
        self.limit_watch_cost();
        self.read_ends.iter_mut().for_each(ReadEnd::make_room);
    }

    /// Hands on all that has come by now, however much somebody goes on printing.
    pub(crate) fn take_all(&mut self, mut put: impl FnMut(Stream, &[u8])) {
        if !self.waits() && !self.has_come() {
            return;
        }
        self.gather(Instant::now() + BRIEFLY);
        self.put_in_turn(&mut put);
        if self.waits() {
            self.end(&mut put);
        }
        self.read_ends.iter_mut().for_each(ReadEnd::make_room);
    }

    /// Whether there is something to read.
    fn has_come(&self) -> bool {
        let mut fds: Vec<_> = self.pipes().map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        !matches!(poll(&mut fds, Some(&Timespec::default())), Ok(0))
    }

    /// Reads until there is no more for now, and makes that a batch, once all of it has been noted,
    /// or should have been: a program that has more to say again and again mustn't keep its keeper
    /// from all else, so after `end` the rest waits for another time. Returns whether there is already
    /// more, for another batch.
    fn gather(&mut self, end: Instant) -> bool {
        let mut until = None;
        let mut waited = false;
        loop {
            let read = self.read_ends.each_mut().map(ReadEnd::read) != [false; 2];
            let Some(watched) = self.watched.as_ref().filter(|_| !self.is_full()) else {
                self.make_batch();
                return false;
            };
            // A note comes right after its text: who has looked reads again before the batch is made,
            // and who was woken by one reads before. So there is a text to each note.
            if read || std::mem::take(&mut waited) {
                let noted = watched.look(&mut self.runs);
                self.read_ends.iter_mut().zip(noted).for_each(|(pipe, it)| pipe.noted |= it);
                if !read || Instant::now() < end {
                    continue;
                }
                // Where it stops mustn't decide what belongs together.
                self.unmake_batch();
                return false;
            }
            // Nothing but notes can be missing of what was printed up to the last look.
            let grown = until.is_some() && self.read_ends.iter().any(|o| o.to > o.upto);
            let before = (self.batch, self.read_ends.each_ref().map(|pipe| pipe.upto));
            self.make_batch();
            let unnoted = self.read_ends.iter().any(ReadEnd::is_unnoted);
            if !unnoted && !self.in_doubt() {
                return false;
            }
            if grown {
                // Who goes on printing owes no note of what came before. What is told apart by that
                // mustn't be mixed, unless a single note may explain it all.
                let late = self.read_ends.iter().zip(self.turns()).all(|(o, n)| o.lines() <= n + 1);
                self.batch = before.0;
                self.read_ends.iter_mut().zip(before.1).for_each(|(o, upto)| o.upto = upto);
                if !late {
                    return true;
                }
            }
            let until = *until.get_or_insert_with(|| Instant::now() + MOMENT);
            let text = if unnoted { PollFlags::empty() } else { PollFlags::IN };
            let came = |watched: &WatchedPipes<'_>| watched.wait(self.pipes(), text, until);
            waited = self.watched.as_ref().is_some_and(came);
            if !waited {
                if self.runs.is_empty() {
                    // Such writes aren't noted: splice(2) on an older kernel.
                    self.watched = None;
                    self.writes = None;
                }
                return grown;
            }
        }
    }

    fn is_full(&self) -> bool {
        self.read_ends.iter().any(ReadEnd::is_full)
    }

    fn make_batch(&mut self) {
        self.batch = self.runs.len();
        self.read_ends.iter_mut().for_each(|pipe| pipe.upto = pipe.to);
    }

    fn unmake_batch(&mut self) {
        self.batch = 0;
        self.read_ends.iter_mut().for_each(|pipe| pipe.upto = pipe.from);
    }

    /// Of several writes to the same pipe the last one's note may be late, and the others' not:
    /// that shows where there are more lines than notes, and matters where both have something to
    /// say.
    fn in_doubt(&self) -> bool {
        self.pipes().next().is_some()
            && self.read_ends.iter().all(|pipe| !pipe.rest().is_empty())
            && self.read_ends.iter().zip(self.turns()).any(|(pipe, turns)| pipe.lines() > turns)
    }

    /// How often each was written to, as far as that was noted of the batch.
    fn turns(&self) -> [usize; 2] {
        let runs = &self.runs[..self.batch];
        [Stream::Stdout, Stream::Stderr].map(|stream| runs.iter().filter(|r| **r == stream).count())
    }

    /// Who wrote R times in turn what are now L lines has written, as far as anybody can tell, L/R
    /// of them each time: exactly so where it was a line each time. Of two turns the second was one
    /// line, as after a table and an error. A turn too many is the first: it was noted after its
    /// text had been handed on.
    fn put_in_turn(&mut self, put: &mut impl FnMut(Stream, &[u8])) {
        let turns = self.turns();
        let lines = [0, 1].map(|at| if turns[at] > 1 { self.read_ends[at].lines() } else { 0 });
        let (mut turn, mut done) = ([0; 2], [0; 2]);
        let mut seen = 0;
        for stream in self.runs[..self.batch].iter().copied() {
            let at = stream as usize;
            let pipe = &mut self.read_ends[at];
            let full = pipe.is_full();
            if full && pipe.from == pipe.to {
                // The rest is still in its pipe.
                break;
            }
            seen += 1;
            turn[at] += 1;
            let mut upto = lines[at] * turn[at] / turns[at];
            if full {
                upto = upto.max(turn[at]);
            } else if (turn[at], turns[at]) == (1, 2) {
                upto = lines[at].saturating_sub(1);
            }
            let few = (turn[at] < turns[at]).then(|| upto - done[at]);
            done[at] = upto;
            pipe.put(few, |text| put(stream, text));
        }
        self.runs.drain(..seen);
        if seen == self.batch {
            self.put_rest(put);
        }
        self.batch = 0;
    }

    /// What was not noted.
    fn put_rest(&mut self, put: &mut impl FnMut(Stream, &[u8])) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.read_ends[stream as usize].put(None, |text| put(stream, text));
        }
    }

    /// To be watched costs a program almost a microsecond a write: one that fills a pipe while it
    /// has nothing to say through the other is spared that until it has been read up.
    fn limit_watch_cost(&mut self) {
        let full = self.is_full();
        if full && self.read_ends.iter().any(|pipe| pipe.to == 0) {
            self.watched = None;
            self.runs.clear();
        } else if !full && self.watched.is_none() {
            let [stdout, stderr] = &self.read_ends;
            if stdout.ended || stderr.ended {
                return;
            }
            let pipes = [&stdout.pipe, &stderr.pipe];
            self.watched = self.writes.and_then(|writes| writes.watch(pipes));
            if self.watched.is_none() {
                self.writes = None;
            }
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
