//! What is done about a step while it runs: by order, or since its time is over.

use std::io;
use std::time::Instant;

use rustix::process::Signal;

use super::running::{Ending, Running};
use crate::keeper::wire::{Line, Order, Report};
use crate::orders::TOGETHER;
use crate::outcome::Event;
use crate::process::tree;

impl Running<'_, '_> {
    pub(super) fn heed(&mut self, line: &mut Line) -> io::Result<()> {
        while let Some(order) = line.next()? {
            self.obey(order, line);
        }
        Ok(())
    }

    fn obey(&mut self, order: Order, line: &mut Line) {
        match order {
            Order::Stop(signal) => self.end(Ending::Interrupted(signal), line),
            Order::Hurry => {
                if self.status.is_none() || self.ends_tree() {
                    self.kill(line);
                }
                self.clock.leak = Some(Instant::now());
            }
            Order::Pause => {
                tree::signal(self.pid, Signal::STOP);
                self.clock.pause();
                line.say(&Report::Paused);
            }
            Order::Resume => {
                tree::signal(self.pid, Signal::CONT);
                self.clock.resume();
            }
            Order::Prepare(step) => self.next.prepare(step),
            // One step at a time; the runner waits for its end.
            Order::Run(_) | Order::Dismiss => {}
        }
    }

    fn end(&mut self, why: Ending, line: &mut Line) {
        // Once the program itself has ended, its result stands; unless the same signal did that.
        let stands = match why {
            Ending::TimedOut => true,
            Ending::Interrupted(_) => self.ended_at.elapsed() > TOGETHER,
        };
        if self.ending.is_some() || (self.status.is_some() && stands) {
            return;
        }
        self.ending = Some(why);
        self.clock.leak = None;
        tree::terminate(self.pid);
        line.say(&Report::Event(Event::Terminating));
        self.clock.act = Some(Instant::now() + self.step.limits.grace);
    }

    fn kill(&mut self, line: &mut Line) {
        self.release();
        tree::kill(self.status.is_none().then_some(self.pid), self.leaf);
        line.say(&Report::Event(Event::Killing));
        self.clock.act = None;
    }

    pub(super) fn mind_the_clock(&mut self, line: &mut Line) {
        if self.clock.is_due(self.clock.slow) {
            line.say(&Report::Event(Event::Slow));
            self.clock.slow = None;
        }
        if self.clock.is_due(self.clock.act) {
            match self.ending {
                None => self.end(Ending::TimedOut, line),
                Some(_) => self.kill(line),
            }
        }
    }
}
