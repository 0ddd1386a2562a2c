//! Fisher's exact test of a table of two by two, two-sided: how probable is a table that is as improbable as this one,
//! or more, where chance alone distributes (R. A. Fisher, Statistical Methods for Research Workers, §21.02).

/// How many nodes have something, of how many of which it is known whether they have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// They have it.
    pub having: usize,
    /// All.
    pub of: usize,
}

/// Tables that differ in this little are as probable as each other: sums of logarithms are not exact.
const ROUNDING: f64 = 1e-7;

/// The test, for tables of a number of nodes.
pub(super) struct Fisher {
    /// The logarithms of the factorials of 0, 1, 2 and so on.
    factorials: Vec<f64>,
}

impl Fisher {
    pub(super) fn new(most: usize) -> Self {
        let mut sum = 0.0;
        let next = |n: usize| {
            sum += if n == 0 { 0.0 } else { (n as f64).ln() };
            sum
        };
        Self { factorials: (0..=most).map(next).collect() }
    }

    /// How probable it is that chance distributes what some of two kinds of nodes have so, or less evenly.
    pub(super) fn two_sided(&self, a: Share, b: Share) -> f64 {
        let (having, all) = (a.having + b.having, a.of + b.of);
        // The logarithm of the probability that `k` of the first have it.
        let probability = |k: usize| {
            self.choose(a.of, k) + self.choose(b.of, having - k) - self.choose(all, having)
        };
        let this = probability(a.having);
        let range = having.saturating_sub(b.of)..=having.min(a.of);
        let as_improbable = range.map(probability).filter(|other| *other <= this + ROUNDING);
        as_improbable.map(f64::exp).sum::<f64>().min(1.0)
    }

    fn choose(&self, n: usize, k: usize) -> f64 {
        self.factorials[n] - self.factorials[k] - self.factorials[n - k]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against exact fractions.
    #[test]
    fn it_is_as_the_statistician_has_it() {
        let fisher = Fisher::new(2_000);
        for ((a, of_a), (b, of_b), expected) in [
            // The lady who tastes tea.
            ((3, 4), (1, 4), 0.485_714_285_7),
            ((4, 4), (0, 4), 0.028_571_428_57),
            ((8, 10), (1, 10), 0.005_477_494_642),
            ((0, 5), (0, 5), 1.0),
            ((5, 5), (5, 5), 1.0),
            ((3, 3), (0, 7), 0.008_333_333_333),
        ] {
            let p = fisher.two_sided(Share { having: a, of: of_a }, Share { having: b, of: of_b });
            assert!((p - expected).abs() < 1e-9, "{a}/{of_a} {b}/{of_b}: {p}");
        }
        let p = fisher.two_sided(Share { having: 24, of: 24 }, Share { having: 0, of: 488 });
        assert!(p > 0.0 && p < 1e-30, "{p}");
    }
}
