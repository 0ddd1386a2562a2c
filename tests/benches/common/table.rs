use std::fmt;

/// What was measured, a line each.
pub(crate) struct Table(Vec<[String; 5]>);

/// What a ratio has to be.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
    None,
}

impl Target {
    fn judge(self, value: f64) -> String {
        let (sign, limit, holds) = match self {
            Self::AtMost(limit) => ("<=", limit, value <= limit),
            Self::AtLeast(limit) => (">=", limit, value >= limit),
            Self::None => return "-".to_owned(),
        };
        format!("{sign} {limit} {}", if holds { "ok" } else { "MISSED" })
    }
}

impl Table {
    pub(crate) fn new() -> Self {
        let head = ["what", "ours", "theirs", "ratio", "target"];
        Self(vec![head.map(str::to_owned)])
    }

    /// Adds a line that compares two measurements in `unit`. The ratio is ours to theirs.
    pub(crate) fn compare(&mut self, what: &str, unit: &str, ours: f64, theirs: f64, to: Target) {
        let ratio = ours / theirs;
        let value = |v: f64| format!("{v:.1} {unit}");
        let line =
            [what.to_owned(), value(ours), value(theirs), format!("{ratio:.2}"), to.judge(ratio)];
        self.0.push(line);
    }

    /// Adds a line with a measurement in `unit` that stands for itself.
    pub(crate) fn hold(&mut self, what: &str, unit: &str, ours: f64, to: Target) {
        let none = || "-".to_owned();
        self.0.push([what.to_owned(), format!("{ours:.1} {unit}"), none(), none(), to.judge(ours)]);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| self.0.iter().map(|line| line[column].len()).max();
        let widths: [usize; 5] = std::array::from_fn(|column| width(column).unwrap_or(0));
        for line in &self.0 {
            write!(f, "\n{:<w$}", line[0], w = widths[0])?;
            for column in 1..4 {
                write!(f, "  {:>w$}", line[column], w = widths[column])?;
            }
            write!(f, "  {}", line[4])?;
        }
        Ok(())
    }
}
