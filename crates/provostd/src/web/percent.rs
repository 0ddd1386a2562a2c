use std::fmt;

/// A place or a width in a drawing, in thousandths: SVG takes it in percents, so that texts keep their size
/// however wide the drawing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Percent(pub(super) u64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}%", self.0 / 10, self.0 % 10)
    }
}
