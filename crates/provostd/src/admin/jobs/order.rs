//! What nodes can be ordered to do, and the site's programs that take an order to a node.

use std::sync::Arc;

use crate::config::HooksConfig;
use crate::notify::program::Hook;

/// What nodes are to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Run what the last kickstart or boot left unfinished.
    Continue,
    /// Run all that a boot needs.
    Boot,
    /// Run one script.
    Rerun,
}

impl Order {
    const ALL: [Self; 3] = [Self::Continue, Self::Boot, Self::Rerun];

    /// The one with that word, if one has it.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word)
    }

    /// Its word: that of `provostctl`, and the event of its program.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Boot => "boot",
            Self::Rerun => "rerun",
        }
    }

    /// The key of its program under `[hooks]`.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Continue => "on_continue",
            Self::Boot => "on_boot",
            Self::Rerun => "on_rerun",
        }
    }
}

/// The site's programs.
pub(crate) struct OrderHooks {
    on_continue: Option<Arc<Hook>>,
    on_boot: Option<Arc<Hook>>,
    on_rerun: Option<Arc<Hook>>,
}

impl OrderHooks {
    pub(crate) fn new(config: &HooksConfig) -> Self {
        let hook = |order: Order, program: &Option<_>| {
            let program = program.clone()?;
            Some(Arc::new(Hook { key: order.key(), program, limit: config.timeout }))
        };
        Self {
            on_continue: hook(Order::Continue, &config.on_continue),
            on_boot: hook(Order::Boot, &config.on_boot),
            on_rerun: hook(Order::Rerun, &config.on_rerun),
        }
    }

    /// The program for `order`, if the site has one.
    pub(crate) fn hook(&self, order: Order) -> Option<Arc<Hook>> {
        match order {
            Order::Continue => self.on_continue.clone(),
            Order::Boot => self.on_boot.clone(),
            Order::Rerun => self.on_rerun.clone(),
        }
    }
}
