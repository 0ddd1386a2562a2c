//! `provostctl watch`: the overview of `provostctl nodes`, live.

use std::io::IsTerminal;
use std::time::Duration;

use jiff::Timestamp;
use provost_steplog::Paint;
use provost_store::Node;
use tokio::time::timeout;

use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::fleet::Fleet;
use crate::node_list::AnyNodes;
use crate::nodes::Overview;
use crate::outage::Outage;
use crate::output;

/// How soon the screen is drawn again where nothing happens: it shows how long ago things were.
const REDRAW: Duration = Duration::from_secs(10);

/// `provostctl watch`.
#[derive(clap::Args)]
pub(crate) struct Watch {
    #[command(flatten)]
    nodes: AnyNodes,
}

impl Watch {
    /// Shows the nodes until it is ended.
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let set = self.nodes.resolve(client).await?;
        let mut fleet = Fleet::new(client, set.as_ref()).with_beats();
        let mut screen = Screen::default();
        let mut outage = None;
        loop {
            outage = match timeout(REDRAW, fleet.update()).await {
                Ok(Ok(())) => None,
                // A daemon that takes a connection and doesn't answer is still away.
                Err(_) => outage,
                Ok(Err(lost)) if lost.is_transient => Some(Outage::after(outage, lost)),
                Ok(Err(failure)) => return Err(failure.with_code(WRONG)),
            };
            let nodes: Vec<Node> = fleet.nodes.values().cloned().collect();
            screen.show(&nodes, outage.as_mut())?;
            if outage.is_some() {
                Outage::pause().await;
            }
        }
    }
}

/// Where the overview is shown: a terminal has all of it, a pipe a line for each change of the
/// numbers.
#[derive(Default)]
struct Screen {
    /// The line that was printed last.
    last: String,
}

impl Screen {
    fn show(&mut self, nodes: &[Node], outage: Option<&mut Outage>) -> Result<(), Failure> {
        let (now, overview) = (Timestamp::now(), Overview::new(nodes));
        if !std::io::stdout().is_terminal() {
            let line = match outage {
                Some(outage) => outage.news(),
                None => Some(overview.summary()).filter(|line| *line != self.last),
            };
            if let Some(line) = line {
                output::print(format!("{now:.0} {line}\n").as_bytes())?;
                self.last = line;
            }
            return Ok(());
        }
        let mut text = overview.text(now, output::width(), Paint::of_stdout());
        if let Some(outage) = outage {
            text = format!("{}\n\n{text}", wrapped(&outage.text(), output::width()));
        }
        // Home, and clear the screen (ECMA-48).
        output::print(format!("\x1b[H\x1b[2J{}", fitting(&text, output::height())).as_bytes())
    }
}

/// `text` with lines that a terminal doesn't wrap: it would count them otherwise.
fn wrapped(text: &str, width: Option<u16>) -> String {
    let width = width.map_or(usize::MAX, usize::from);
    let mut out = String::new();
    for line in text.lines() {
        for (at, c) in line.chars().enumerate() {
            if at > 0 && at % width == 0 {
                out.push('\n');
            }
            out.push(c);
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// The first lines of `text`, as many as a screen has room for.
fn fitting(text: &str, height: Option<u16>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let room = height.map_or(usize::MAX, |height| usize::from(height).saturating_sub(1).max(2));
    if lines.len() <= room {
        return text.to_owned();
    }
    let hidden = lines.len() - (room - 1);
    format!("{}\n… {hidden} more lines: provostctl nodes\n", lines[..room - 1].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_as_many_lines_as_the_screen_shows() {
        assert_eq!(wrapped("äbcdef\n  hint", Some(3)), "äbc\ndef\n  h\nint");
        assert_eq!(wrapped("äbcdef\n  hint", None), "äbcdef\n  hint");
    }

    #[test]
    fn what_has_no_room_on_the_screen_is_counted() {
        let text = "1\n2\n3\n4\n5\n";
        assert_eq!(fitting(text, None), text);
        assert_eq!(fitting(text, Some(6)), text);
        assert_eq!(fitting(text, Some(5)), "1\n2\n3\n… 2 more lines: provostctl nodes\n");
    }
}
