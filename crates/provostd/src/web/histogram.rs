//! How long a script took on how many nodes, drawn.

use provost_steplog::wording;
use provost_store::Histogram;

/// The drawing's size, in units of its own.
const WIDTH: u64 = 480;
const HEIGHT: u64 = 100;
/// For how many bars there is room at least: one alone would fill it all.
const LEAST: u64 = 12;

/// Bars of SVG.
pub(super) struct Bars {
    pub(super) bars: Vec<Bar>,
    /// What the axis says at its ends.
    pub(super) from: String,
    pub(super) to: String,
    /// All of it in one line, for those who hear the page.
    pub(super) words: String,
    /// Times beyond the axis.
    pub(super) longer: Option<String>,
}

pub(super) struct Bar {
    pub(super) x: u64,
    pub(super) y: u64,
    pub(super) width: u64,
    pub(super) height: u64,
    pub(super) title: String,
}

impl Bars {
    /// None where there is nothing to compare.
    pub(super) fn of(histogram: &Histogram, max: u64) -> Option<Self> {
        let Histogram { from, step, counts, longer } = histogram;
        let nodes = |count: u64| wording::count(count, "node");
        if counts.iter().sum::<u64>() + longer < 2 {
            return None;
        }
        let most = counts.iter().copied().max().unwrap_or_default().max(1);
        let end = |bar: u64| wording::milliseconds(from + step * bar);
        let room = LEAST.max(counts.len() as u64);
        let wide = WIDTH / room;
        let bar = |(at, count): (u64, u64)| Bar {
            x: at * wide,
            // A single node is seen, too.
            height: if count > 0 { (count * HEIGHT / most).max(2) } else { 0 },
            y: if count > 0 { HEIGHT - (count * HEIGHT / most).max(2) } else { HEIGHT },
            width: wide.saturating_sub(2).max(1),
            title: format!("{} to {}: {}", end(at), end(at + 1), nodes(count)),
        };
        let bars: Vec<Bar> = (0..).zip(counts.iter().copied()).map(bar).collect();
        let shown = counts.iter().zip(&bars).filter(|(count, _)| **count > 0);
        let words: Vec<&str> = shown.map(|(_, bar)| bar.title.as_str()).collect();
        let longer = (*longer > 0).then(|| {
            format!("{} took longer, up to {}", nodes(*longer), wording::milliseconds(max))
        });
        Some(Self { from: end(0), to: end(room), words: words.join(", "), bars, longer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_there_are_nodes() {
        let histogram = Histogram { from: 1000, step: 500, counts: vec![4, 0, 1], longer: 2 };
        let bars = Bars::of(&histogram, 90_000).unwrap();
        let shown: Vec<(u64, u64)> = bars.bars.iter().map(|bar| (bar.x, bar.height)).collect();
        assert_eq!(shown, [(0, 100), (40, 0), (80, 25)]);
        assert!(
            bars.words.ends_with(": 1 node") && bars.words.contains(": 4 nodes, "),
            "{}",
            bars.words
        );
        assert!(bars.longer.unwrap().starts_with("2 nodes took longer, up to "));
        let one = Histogram { counts: vec![1], step: 1, ..Histogram::default() };
        assert!(Bars::of(&one, 1).is_none() && Bars::of(&Histogram::default(), 0).is_none());
    }
}
