use crate::text;

/// Blanks between columns.
const GAP: usize = 2;

/// The widest a column may be that is neither the first nor the last, in characters.
const WIDEST: usize = 32;

/// Rows of text in columns. The last column gets what is left of the width, and is cut there.
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(head: [&str; N]) -> Self {
        Self { rows: vec![head.map(str::to_owned)] }
    }

    /// Adds a row. What is in it may come from anywhere.
    pub(crate) fn add(&mut self, row: [String; N]) {
        let mut row = row.map(|cell| text::line(&cell));
        row.iter_mut().skip(1).take(N.saturating_sub(2)).for_each(|cell| {
            *cell = text::cut(std::mem::take(cell), WIDEST);
        });
        self.rows.push(row);
    }

    /// The table, `width` wide; `paint(row, column, cell)` colours a padded cell, row 0 being the
    /// head. A column in which only the head says something is left out.
    pub(crate) fn render(
        &self,
        width: usize,
        paint: impl Fn(usize, usize, &str) -> String,
    ) -> String {
        let wide = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            let is_empty = cells.clone().skip(1).all(|width| width == 0);
            if is_empty { 0 } else { cells.max().unwrap_or_default() }
        };
        let widths: [usize; N] = std::array::from_fn(wide);
        let before: usize = widths[..N - 1].iter().filter(|w| **w > 0).map(|w| w + GAP).sum();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            let mut blanks = 0;
            for (column, cell) in row.iter().enumerate().filter(|(column, _)| widths[*column] > 0) {
                let cell = match column == N - 1 {
                    true => text::cut(cell.clone(), width.saturating_sub(before).max(1)),
                    false => cell.clone(),
                };
                if cell.is_empty() {
                    blanks += widths[column] + GAP;
                    continue;
                }
                line.push_str(&" ".repeat(blanks));
                line.push_str(&paint(number, column, &cell));
                blanks = widths[column].saturating_sub(cell.chars().count()) + GAP;
            }
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_one_is_cut() {
        let mut table = Table::new(["NODE", "EMPTY", "STATUS", "WHAT"]);
        let row = |cells: [&str; 4]| cells.map(str::to_owned);
        table.add(row(["cn001", "", "failed", "a long\nstory that nobody reads"]));
        table.add(row(["n2", "", "up", ""]));
        let mut long = Table::new(["A", "B", "C"]);
        long.add(["a".repeat(99), "b".repeat(99), "c".repeat(99)]);
        let widths = long.render(150, |_, _, cell| cell.to_owned());
        assert_eq!(widths.lines().nth(1).map(|line| line.chars().count()), Some(150));
        let text = table.render(28, |_, _, cell| cell.to_owned());
        assert_eq!(text, "NODE   STATUS  WHAT\ncn001  failed  a long\\nstor…\nn2     up\n");
    }
}
