//! What a program prints to its two pipes, put into the order in which it was written.

use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::fs::OFlags;

use crate::capture::Stream;
use crate::writes::{MOMENT, Watched, Writes};

/// How much is read of a pipe before it is handed on, in bytes; a pipe holds as much.
pub(crate) const CHUNK: usize = 64 * 1024;
/// How much a pipe holds of a program that has filled it, in bytes: so it can go on printing while
/// its log is written. More than this only root may ask for (`/proc/sys/fs/pipe-max-size`).
const WIDE: usize = 1024 * 1024;

/// The two pipes.
pub(crate) struct Output<'a> {
    writes: Option<&'a Writes>,
    watched: Option<Watched<'a>>,
    /// Who wrote in turn, as far as that text hasn't been handed on.
    runs: Vec<Stream>,
    /// How many of those are about the text that is to be handed on next.
    batch: usize,
    outlets: [Outlet; 2],
}

/// One of them.
struct Outlet {
    /// None: its end has come.
    pipe: Option<OwnedFd>,
    /// Whether it was made to hold more.
    widened: bool,
    text: Box<[u8]>,
    /// What of that was read and not handed on.
    from: usize,
    to: usize,
    /// Up to where it is to be handed on next.
    upto: usize,
    /// Whether there was a note since the last of it was read.
    noted: bool,
}

impl<'a> Output<'a> {
    /// Of two pipes that nobody writes to yet.
    pub(crate) fn new(stdout: OwnedFd, stderr: OwnedFd, writes: Option<&'a Writes>) -> Self {
        let watched = writes.and_then(|writes| writes.watch([&stdout, &stderr]));
        let writes = writes.filter(|_| watched.is_some());
        let outlets = [stdout, stderr].map(Outlet::new);
        Self { writes, watched, runs: Vec::new(), batch: 0, outlets }
    }

    /// Now the program runs.
    pub(crate) fn begins(&self) {
        self.writes.inspect(|writes| writes.sweep());
    }

    /// The pipes whose end has not come.
    pub(crate) fn pipes(&self) -> impl Iterator<Item = &OwnedFd> {
        self.outlets.iter().filter_map(|outlet| outlet.pipe.as_ref())
    }

    /// Whether something waits that has been read.
    pub(crate) fn waits(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Hands on what waits, and gives the pipes away.
    pub(crate) fn end(mut self, mut put: impl FnMut(Stream, &[u8])) -> Vec<OwnedFd> {
        self.make_batch();
        self.put_rest(&mut put);
        let pipes: Vec<_> = self.outlets.into_iter().filter_map(|outlet| outlet.pipe).collect();
        if let Some(watched) = self.watched.filter(|_| pipes.is_empty()) {
            watched.end_later();
        }
        pipes
    }

    /// Hands on what has come.
    pub(crate) fn take(&mut self, mut put: impl FnMut(Stream, &[u8])) {
        while self.gather() {
            self.put_in_turn(&mut put);
        }
        self.put_in_turn(&mut put);
        self.mind_the_cost();
        self.outlets.iter_mut().for_each(Outlet::make_room);
    }

    /// Reads until there is no more for now, and makes that a batch, once all of it has been noted,
    /// or should have been: a program that has more to say again and again mustn't keep its keeper
    /// from all else. Returns whether there is already more, for another batch.
    fn gather(&mut self) -> bool {
        let mut until = None;
        loop {
            let read = self.outlets.each_mut().map(Outlet::read) != [false; 2];
            if self.watched.is_none() || self.outlets.iter().any(Outlet::is_full) {
                self.make_batch();
                return false;
            }
            if !read {
                // Nothing but notes can be missing of what was printed up to the last look.
                let grown = until.is_some() && self.outlets.iter().any(|o| o.to > o.upto);
                let before = (self.batch, self.outlets.each_ref().map(|outlet| outlet.upto));
                self.make_batch();
                let unnoted = self.outlets.iter().any(Outlet::is_unnoted);
                if !unnoted && !self.in_doubt() {
                    return false;
                }
                if grown {
                    // Who goes on printing owes no note of what came before. What is told apart
                    // by that mustn't be mixed, unless a single note may explain it all.
                    let late =
                        self.outlets.iter().zip(self.turns()).all(|(o, n)| o.lines() <= n + 1);
                    self.batch = before.0;
                    self.outlets.iter_mut().zip(before.1).for_each(|(o, upto)| o.upto = upto);
                    if !late {
                        return true;
                    }
                }
                let until = *until.get_or_insert_with(|| Instant::now() + MOMENT);
                let text = if unnoted { PollFlags::empty() } else { PollFlags::IN };
                let came = |watched: &Watched<'_>| watched.wait(self.pipes(), text, until);
                if !self.watched.as_ref().is_some_and(came) {
                    if self.runs.is_empty() {
                        // Such writes aren't noted: splice(2) on an older kernel.
                        self.watched = None;
                        self.writes = None;
                    }
                    return grown;
                }
            }
            if let Some(watched) = &self.watched {
                let noted = watched.look(&mut self.runs);
                self.outlets.iter_mut().zip(noted).for_each(|(outlet, it)| outlet.noted |= it);
            }
        }
    }

    fn make_batch(&mut self) {
        self.batch = self.runs.len();
        self.outlets.iter_mut().for_each(|outlet| outlet.upto = outlet.to);
    }

    /// Of several writes to the same pipe the last one's note may be late, and the others' not:
    /// that shows where there are more lines than notes, and matters where both have something to
    /// say.
    fn in_doubt(&self) -> bool {
        self.pipes().next().is_some()
            && self.outlets.iter().all(|outlet| !outlet.rest().is_empty())
            && self.outlets.iter().zip(self.turns()).any(|(outlet, turns)| outlet.lines() > turns)
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
        let lines = [0, 1].map(|at| if turns[at] > 1 { self.outlets[at].lines() } else { 0 });
        let (mut turn, mut done) = ([0; 2], [0; 2]);
        let mut seen = 0;
        for stream in self.runs[..self.batch].iter().copied() {
            let at = stream as usize;
            let outlet = &mut self.outlets[at];
            let full = outlet.is_full();
            if full && outlet.from == outlet.to {
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
            outlet.put(few, |text| put(stream, text));
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
            self.outlets[stream as usize].put(None, |text| put(stream, text));
        }
    }

    /// To be watched costs a program almost a microsecond a write: one that fills a pipe while it
    /// has nothing to say through the other is spared that until it has been read up.
    fn mind_the_cost(&mut self) {
        let full = self.outlets.iter().any(Outlet::is_full);
        if full && self.outlets.iter().any(|outlet| outlet.to == 0) {
            self.watched = None;
            self.runs.clear();
        } else if !full && self.watched.is_none() {
            let [Some(stdout), Some(stderr)] = self.outlets.each_ref().map(|o| o.pipe.as_ref())
            else {
                return;
            };
            self.watched = self.writes.and_then(|writes| writes.watch([stdout, stderr]));
            if self.watched.is_none() {
                self.writes = None;
            }
        }
    }
}

impl Outlet {
    fn new(pipe: OwnedFd) -> Self {
        // So that there may be nothing to read. It is so at this end alone.
        let _ = rustix::fs::fcntl_setfl(&pipe, OFlags::NONBLOCK);
        let text = vec![0; CHUNK].into_boxed_slice();
        Self { pipe: Some(pipe), widened: false, text, from: 0, to: 0, upto: 0, noted: false }
    }

    /// Whether its pipe may hold more.
    fn is_full(&self) -> bool {
        self.to == self.text.len()
    }

    /// Whether there was anything.
    fn read(&mut self) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        if self.is_full() {
            return false;
        }
        match rustix::io::read(pipe, &mut self.text[self.to..]) {
            Ok(n) if n > 0 => {
                self.to += n;
                self.noted = false;
                if self.is_full() && !self.widened {
                    // Where the kernel has no more room it goes on as it is.
                    let _ = rustix::pipe::fcntl_setpipe_size(pipe, WIDE);
                    self.widened = true;
                }
                return true;
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Ok(_) | Err(_) => self.pipe = None,
        }
        false
    }

    /// Whether there is text of which no note has come yet.
    fn is_unnoted(&self) -> bool {
        self.pipe.is_some() && !self.noted && !self.rest().is_empty()
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.from..self.upto]
    }

    /// How many there are, with the one that has no end yet.
    fn lines(&self) -> usize {
        let rest = self.rest();
        let ends = memchr::memchr_iter(b'\n', rest).count();
        ends + usize::from(rest.last().is_some_and(|last| *last != b'\n'))
    }

    /// Hands on so many lines of what is there, or all.
    fn put(&mut self, lines: Option<usize>, put: impl FnOnce(&[u8])) {
        let rest = self.rest();
        let mut ends = memchr::memchr_iter(b'\n', rest);
        let end = match lines {
            Some(0) => 0,
            Some(lines) => ends.nth(lines - 1).map_or(rest.len(), |end| end + 1),
            None => rest.len(),
        };
        if end > 0 {
            put(&rest[..end]);
        }
        self.from += end;
    }

    fn make_room(&mut self) {
        self.text.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        (self.from, self.upto) = (0, 0);
    }
}
