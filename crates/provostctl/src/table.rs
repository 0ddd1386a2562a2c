use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Row, Width};
use provost_steplog::Paint;
use provost_steplog::terminal::escape_cell;

/// Blanks between columns.
const GAP: u16 = 2;
/// The widest a column on a terminal may be that is neither the first nor the last.
const WIDEST: u16 = 32;
/// The column that has the status of a row, and its tone.
const STATUS: usize = 1;

/// How a status is shown where there are colours.
#[derive(Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Bad,
    Busy,
    Faint,
}

/// Rows of text in columns, without borders; the second column is a status. A column that is empty
/// but for its head is left out.
pub(crate) struct Table<const N: usize> {
    table: comfy_table::Table,
    has_text: [bool; N],
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(head: [&str; N]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_header(head.map(|cell| Cell::new(cell).add_attribute(Attribute::Bold)));
        Self { table, has_text: [false; N] }
    }

    /// Adds a row. Its text may come from anywhere, so it is escaped.
    pub(crate) fn add(&mut self, row: [String; N], tone: Tone) {
        for (has_text, cell) in self.has_text.iter_mut().zip(&row) {
            *has_text |= !cell.is_empty();
        }
        let mut cells = row.map(|cell| Cell::new(escape_cell(&cell)));
        cells[STATUS] = match tone {
            Tone::Good => cells[STATUS].clone().fg(Color::DarkGreen),
            Tone::Bad => cells[STATUS].clone().fg(Color::DarkRed).add_attribute(Attribute::Bold),
            Tone::Busy => cells[STATUS].clone().fg(Color::DarkYellow),
            Tone::Faint => cells[STATUS].clone().add_attribute(Attribute::Dim),
        };
        let mut row = Row::from(cells);
        // A longer text is cut, not continued on the next line.
        row.max_height(1);
        self.table.add_row(row);
    }

    /// The table. With a `width`, that of a terminal, the middle columns have a limit, and the last
    /// one gets what is left of the width; without it nothing is cut.
    pub(crate) fn render(mut self, width: Option<u16>, paint: Paint) -> String {
        let content = self.table.column_max_content_widths();
        for (index, column) in self.table.column_iter_mut().enumerate() {
            let is_last = index == N - 1;
            column.set_padding((0, if is_last { 0 } else { GAP }));
            let is_long = index > 0 && content[index] > WIDEST;
            match width {
                _ if !self.has_text[index] => column.set_constraint(ColumnConstraint::Hidden),
                Some(_) if is_last => column,
                Some(_) if is_long => {
                    let widest = Width::Fixed(WIDEST + GAP);
                    column.set_constraint(ColumnConstraint::Absolute(widest))
                }
                Some(_) => column.set_constraint(ColumnConstraint::ContentWidth),
                None => column,
            };
        }
        match width {
            Some(width) => {
                self.table.set_width(width).set_content_arrangement(ContentArrangement::Dynamic)
            }
            None => self.table.set_content_arrangement(ContentArrangement::Disabled),
        };
        match paint.is_on() {
            true => self.table.enforce_styling(),
            false => self.table.force_no_tty(),
        };
        format!("{}\n", self.table.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(what: &str) -> Table<4> {
        let mut table = Table::new(["NODE", "STATUS", "EMPTY", "WHAT"]);
        let row = |cells: [&str; 4]| cells.map(str::to_owned);
        table.add(row(["cn001", "failed", "", what]), Tone::Bad);
        table.add(row(["n2", "up", "", ""]), Tone::Good);
        table
    }

    #[test]
    fn columns_line_up_and_the_last_one_is_cut_on_a_terminal_alone() {
        let long = "a long\nstory that nobody reads";
        let plain = Paint::always(false);
        assert_eq!(
            table(long).render(Some(30), plain),
            "NODE   STATUS  WHAT\ncn001  failed  a long\\nstory…\nn2     up\n"
        );
        let whole = table(&"x ".repeat(500)).render(None, plain);
        assert!(whole.contains(&"x ".repeat(500).trim_end().to_owned()), "{whole}");
        let mut long = Table::new(["A", "B", "C"]);
        long.add(["a", "b", "c"].map(|c| c.repeat(99)), Tone::Busy);
        let text = long.render(Some(150), plain);
        assert_eq!(text.lines().nth(1).map(|line| line.chars().count()), Some(150), "{text}");
    }

    #[test]
    fn a_status_has_a_colour_where_there_are_colours() {
        let text = table("").render(None, Paint::always(true));
        assert!(text.contains("\u{1b}[1mNODE"), "{text:?}");
        assert!(text.lines().nth(1).is_some_and(|line| line.contains("\u{1b}[")), "{text:?}");
    }
}
