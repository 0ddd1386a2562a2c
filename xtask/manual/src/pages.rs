//! The man pages of the reference: made of its Markdown, which stays the one source.

use std::fs;
use std::io;
use std::path::Path;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use roff::{Inline, Roff, bold, italic, line_break, roman};

use provost_help::sections::SEE_ALSO;

/// Each page's name, what it is about, and its source.
const PAGES: [(&str, &str, &str); 6] = [
    ("provost.toml", "configuration of a node", include_str!("../../../docs/configuration.md")),
    (
        "provostd.toml",
        "configuration of the management node's daemon",
        include_str!("../../../docs/reference/provostd-toml.md"),
    ),
    (
        "provostctl.toml",
        "defaults of the options of provostctl",
        include_str!("../../../docs/reference/provostctl-toml.md"),
    ),
    ("provost-site.toml", "what nodes run", include_str!("../../../docs/reference/site-toml.md")),
    (
        "provost-script",
        "how a script is run, in its header",
        include_str!("../../../docs/reference/script-header.md"),
    ),
    ("provost-json", "what --format json prints", include_str!("../../../docs/reference/json.md")),
];

/// Writes each page into `folder`.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    for (name, about, text) in PAGES {
        fs::write(folder.join(format!("{name}.5")), page(name, about, text))?;
    }
    Ok(())
}

fn page(name: &str, about: &str, markdown: &str) -> String {
    let mut page = Page::default();
    page.roff.control("TH", [&*name.to_uppercase(), "5", "", "Provost"]);
    page.roff.control("SH", ["NAME"]).text([roman(format!("{name} - {about}"))]);
    page.roff.control("SH", ["DESCRIPTION"]);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.add(event);
    }
    page.roff.control("SH", ["SEE ALSO"]);
    page.roff.text([roman(format!("{}.", SEE_ALSO.join(", ")))]);
    page.roff.render()
}

/// What is made of the events so far.
#[derive(Default)]
struct Page {
    roff: Roff,
    /// Of the block that isn't finished.
    inlines: Vec<Inline>,
    font: Option<fn(String) -> Inline>,
    is_code: bool,
    /// How many lists this is in.
    lists: usize,
    /// The heads of a table's columns, and the cells of its row that isn't finished.
    heads: Vec<String>,
    cells: Vec<Vec<Inline>>,
}

impl Page {
    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.is_code => {
                for line in text.lines() {
                    self.roff.text([roman(line)]);
                }
            }
            Event::Text(text) => {
                let font = self.font.unwrap_or(roman);
                self.inlines.push(font(text.into_string()));
            }
            Event::Code(text) => self.inlines.push(bold(text.into_string())),
            Event::SoftBreak | Event::HardBreak => self.inlines.push(roman(" ")),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph if self.lists == 0 => drop(self.roff.control("PP", [])),
            Tag::List(_) => self.lists += 1,
            Tag::Item => {
                self.finish();
                self.roff.control("IP", ["\\(bu", "2"]);
            }
            Tag::CodeBlock(_) => {
                self.finish();
                self.is_code = true;
                self.roff.control("PP", []).control("RS", ["4"]).control("EX", []);
            }
            Tag::Strong => self.font = Some(bold),
            Tag::Emphasis => self.font = Some(italic),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let title = plain(&std::mem::take(&mut self.inlines));
                match level {
                    // The page's own name.
                    HeadingLevel::H1 => {}
                    HeadingLevel::H2 => drop(self.roff.control("SH", [&*title.to_uppercase()])),
                    _ => drop(self.roff.control("SS", [&*title])),
                }
            }
            TagEnd::Paragraph | TagEnd::Item => self.finish(),
            TagEnd::List(_) => self.lists -= 1,
            TagEnd::CodeBlock => {
                self.is_code = false;
                self.roff.control("EE", []).control("RE", []);
            }
            TagEnd::Strong | TagEnd::Emphasis => self.font = None,
            TagEnd::TableCell => self.cells.push(std::mem::take(&mut self.inlines)),
            TagEnd::TableHead => {
                self.heads = self.cells.drain(..).map(|cell| plain(&cell)).collect();
            }
            TagEnd::TableRow => self.row(),
            _ => {}
        }
    }

    /// Ends the block that isn't finished.
    fn finish(&mut self) {
        if !self.inlines.is_empty() {
            self.roff.text(std::mem::take(&mut self.inlines));
        }
    }

    /// A row, as terminals of any width can show it: what it is of, what that means, then the rest.
    fn row(&mut self) {
        let mut cells = std::mem::take(&mut self.cells);
        let meaning = cells.pop().unwrap_or_default();
        let mut cells = cells.into_iter();
        let key = cells.next().unwrap_or_default();
        self.roff.control("TP", []).text([bold(plain(&key))]).text(meaning);
        for (head, cell) in self.heads.iter().skip(1).zip(cells) {
            if !cell.is_empty() {
                let named = [line_break(), italic(head.clone()), roman(": ")];
                self.roff.text(named.into_iter().chain(cell).collect::<Vec<_>>());
            }
        }
    }
}

/// Without fonts.
fn plain(inlines: &[Inline]) -> String {
    let text = |inline: &Inline| match inline {
        Inline::Roman(text) | Inline::Italic(text) | Inline::Bold(text) => text.clone(),
        Inline::LineBreak => String::new(),
    };
    inlines.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_a_list_and_a_block_stays_as_it_is() {
        let text = "# X\n\nSome `code`.\n\n## Keys\n\n| key | default | meaning |\n|---|---|---|\n\
                    | `a` | 3 | how *many* |\n\n```toml\n.a = 1\n```\n\n- one\n- [two](x.md)\n";
        let page = page("x", "about x", text);
        let body = page.split_once(".SH DESCRIPTION\n").unwrap().1;
        assert_eq!(
            body.split(".SH \"SEE ALSO\"").next().unwrap(),
            ".PP\nSome \\fBcode\\fR.\n.SH KEYS\n.TP\n\\fBa\\fR\nhow \\fImany\\fR\n.br\n\
             \\fIdefault\\fR: 3\n.PP\n.RS 4\n.EX\n\\&.a = 1\n.EE\n.RE\n.IP \\(bu 2\none\n.IP \\(bu 2\n\
             two\n"
        );
    }
}
