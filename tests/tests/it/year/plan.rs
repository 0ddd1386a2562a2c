//! What happens on which day of the year, drawn by a seed.

use std::fmt::{self, Display, Formatter};

use fastrand::Rng;

pub(super) const LAST_DAY: u32 = 365;
/// Nothing is published meanwhile: longer than what is published is valid for.
const QUIET: std::ops::Range<u32> = 120..180;
/// Some nodes are off for half a year.
const ASLEEP: std::ops::Range<u32> = 60..243;

/// Days from one round of the nodes' timers to the next. Real ones come twice a day.
const TIMERS: u32 = 10;

/// How much happens.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) nodes: usize,
    pub(super) rotations: usize,
    pub(super) publishes: usize,
    /// Of each node, beside those on the days when all of them boot.
    pub(super) boots: usize,
}

#[derive(Clone)]
pub(super) enum Event {
    Publish,
    RotateKey,
    Boot(usize),
    /// The timer of all nodes that are on, which renews identities.
    Timers(Vec<usize>),
    /// To the next version.
    UpgradeServer,
    UpgradeNodes,
    Backup,
    /// Of DATA and WWW. Both are restored from the last backup.
    LoseBoth,
    LoseData,
    LoseWww,
}

impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Publish => f.write_str("publish"),
            Self::RotateKey => f.write_str("rotate the publisher's key"),
            Self::Boot(node) => write!(f, "boot node {}", node + 1),
            Self::Timers(nodes) => write!(f, "timers of {} nodes", nodes.len()),
            Self::UpgradeServer => f.write_str("upgrade provostd and provostctl"),
            Self::UpgradeNodes => f.write_str("upgrade provost on all nodes"),
            Self::Backup => f.write_str("back up"),
            Self::LoseBoth => f.write_str("lose DATA and WWW, and restore"),
            Self::LoseData => f.write_str("lose DATA, and restore"),
            Self::LoseWww => f.write_str("lose WWW, and publish"),
        }
    }
}

/// Whether a node is off for half a year.
pub(super) fn sleeps(node: usize) -> bool {
    node % 5 == 4
}

/// The events of the year, each with its day, in order.
pub(super) fn draw(rng: &mut Rng, size: Size) -> Vec<(u32, Event)> {
    let mut events = vec![
        (40, Event::UpgradeServer),
        (70, Event::UpgradeNodes),
        (110, Event::Backup),
        (190, Event::Backup),
        (200, Event::LoseBoth),
        (215, Event::UpgradeServer),
        (230, Event::UpgradeNodes),
        (250, Event::LoseWww),
        (285, Event::Backup),
        (300, Event::LoseData),
        (330, Event::UpgradeServer),
        (345, Event::UpgradeNodes),
    ];
    let kinds = [(Event::Publish, size.publishes), (Event::RotateKey, size.rotations)];
    for (event, times) in kinds {
        for _ in 0..times {
            let busy = LAST_DAY - QUIET.len() as u32 - 1;
            let day = rng.u32(1..busy);
            let day = if day < QUIET.start { day } else { day + QUIET.len() as u32 };
            events.push((day, event.clone()));
        }
    }
    for node in 0..size.nodes {
        let drawn: Vec<u32> = (0..size.boots).map(|_| rng.u32(1..LAST_DAY)).collect();
        // All of them on the first day, at the end of the quiet time, and when the year is over.
        let days = [0, QUIET.end - 1, LAST_DAY].into_iter().chain(drawn);
        let awake = days.filter(|day| !sleeps(node) || !ASLEEP.contains(day));
        events.extend(awake.map(|day| (day, Event::Boot(node))));
    }
    for day in (TIMERS..LAST_DAY).step_by(TIMERS as usize) {
        let awake = |node: &usize| !sleeps(*node) || !ASLEEP.contains(&day);
        events.push((day, Event::Timers((0..size.nodes).filter(awake).collect())));
    }
    events.sort_by_key(|(day, _)| *day);
    events
}
