use std::time::{Duration, Instant};

use crate::step::Limits;

/// When what is due. None: never.
pub(crate) struct Clock {
    pub(crate) slow: Option<Instant>,
    /// SIGTERM, or after it SIGKILL.
    pub(crate) act: Option<Instant>,
    pub(crate) leak: Option<Instant>,
    paused_at: Option<Instant>,
    /// How long it was paused in all.
    pub(crate) paused: Duration,
}

impl Clock {
    /// The clock of a program that begins now.
    pub(crate) fn new(limits: &Limits) -> Self {
        let now = Instant::now();
        Self {
            slow: Some(now + limits.slow),
            act: Some(now + limits.timeout),
            leak: None,
            paused_at: None,
            paused: Duration::ZERO,
        }
    }

    pub(crate) fn next(&self) -> Option<Duration> {
        if self.paused_at.is_some() {
            return None;
        }
        let next = [self.slow, self.act, self.leak].into_iter().flatten().min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    pub(crate) fn is_due(&self, at: Option<Instant>) -> bool {
        self.paused_at.is_none() && at.is_some_and(|at| Instant::now() >= at)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused_at.is_some()
    }

    pub(crate) fn pause(&mut self) {
        self.paused_at.get_or_insert_with(Instant::now);
    }

    /// What was due then is due as much later as the pause was long.
    pub(crate) fn resume(&mut self) {
        let Some(since) = self.paused_at.take() else { return };
        let pause = since.elapsed();
        self.paused += pause;
        for at in [&mut self.slow, &mut self.act, &mut self.leak].into_iter().flatten() {
            *at += pause;
        }
    }
}
