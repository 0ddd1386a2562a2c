//! What is done about a step while it runs: by order, or because its time is over.

use std::io;
use std::time::Instant;

use rustix::process::Signal;

use super::running::{Ending, Running};
use crate::keeper::wire::{Order, Report, Wire};
use crate::orders::TOGETHER;
use crate::outcome::Event;
use crate::process::tree;

impl Running<'_, '_> {
    pub(super) fn handle_orders(&mut self, wire: &mut Wire) -> io::Result<()> {
        while let Some(order) = wire.next()? {
            self.handle(order, wire);
        }
        Ok(())
    }

    fn handle(&mut self, order: Order, wire: &mut Wire) {
        match order {
            Order::Stop(signal) => self.end(Ending::Interrupted(signal), wire),
            Order::Hurry => {
                if self.status.is_none() || self.ends_tree() {
                    self.kill(wire);
                }
                self.clock.leak = Some(Instant::now());
            }
            Order::Pause => {
                tree::signal(self.pid, Signal::STOP);
                self.clock.pause();
                wire.send(&Report::Paused);
            }
            Order::Resume => {
                tree::signal(self.pid, Signal::CONT);
                self.clock.resume();
            }
            Order::Prepare(step) => self.next.set(step),
            // One step at a time; the runner waits for its end.
            Order::Run(_) | Order::Dismiss => {}
        }
    }

    fn end(&mut self, why: Ending, wire: &mut Wire) {
        // Once the program itself has ended, its result stands; unless the same signal did that.
        let stands = match why {
            Ending::TimedOut => true,
            Ending::Interrupted(_) => self.ended_at.elapsed() > TOGETHER,
        };
        if self.ending.is_some() || (self.status.is_some() && stands) {
            return;
        }
        self.ending = Some(why);
        if let Some(tracer) = self.tracer.as_mut().filter(|_| self.status.is_none()) {
            tracer.ending();
        }
        self.clock.leak = None;
        tree::terminate(self.pid);
        wire.send(&Report::Event(Event::Terminating));
        self.clock.act = Some(Instant::now() + self.step.limits.grace);
    }

    fn kill(&mut self, wire: &mut Wire) {
        self.kill_tree();
        wire.send(&Report::Event(Event::Killing));
        self.clock.act = None;
    }

    pub(super) fn check_deadlines(&mut self, wire: &mut Wire) {
        if self.clock.is_due(self.clock.slow) {
            wire.send(&Report::Event(Event::Slow));
            self.clock.slow = None;
        }
        if self.clock.is_due(self.clock.act) {
            match self.ending {
                None => self.end(Ending::TimedOut, wire),
                Some(_) => self.kill(wire),
            }
        }
    }
}
