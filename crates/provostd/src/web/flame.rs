//! Where the time of a step went: its commands as bars, from their beginnings to their ends, those that another one
//! started below it; and what took longest by itself.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::time::Duration;

use jiff::Timestamp;
use provost_steplog::{Command, CommandEnd, Commands, Event, Lines, wording};

use super::percent::Percent;

/// How many bars are drawn, those that took longest.
const MOST_BARS: usize = 300;
/// How many lines of bars.
const MOST_LANES: usize = 16;
/// How high a line is, in pixels: as a finger needs it (WCAG 2.2, 2.5.8).
const LANE: usize = 24;
/// How many commands are named that took longest.
const MOST_NAMED: usize = 8;
/// How much of a command is shown, in characters.
const LONGEST: usize = 160;
/// How narrow a bar may be, in thousandths.
const NARROWEST: u64 = 2;

/// The drawing.
pub(super) struct Flame {
    pub(super) bars: Vec<Bar>,
    /// In pixels.
    pub(super) height: usize,
    /// Where the bars end and the axis begins.
    pub(super) axis: usize,
    /// Marks of time: where, how the text stands beside it, and the text.
    pub(super) ticks: Vec<(Percent, &'static str, String)>,
    /// What took longest by itself.
    pub(super) longest: Vec<Longest>,
    /// How many commands aren't drawn.
    pub(super) left_out: usize,
    /// How many there are, and how long all took.
    pub(super) label: String,
}

/// A command.
pub(super) struct Bar {
    pub(super) x: Percent,
    pub(super) width: Percent,
    /// In pixels.
    pub(super) y: usize,
    pub(super) tone: &'static str,
    pub(super) text: String,
    pub(super) title: String,
}

/// Commands of the same text, without the time of what they started.
pub(super) struct Longest {
    pub(super) text: String,
    pub(super) took: String,
    pub(super) share: String,
    /// How many.
    pub(super) count: String,
}

/// A command in milliseconds since the log began.
struct Placed {
    command: Command,
    start: u64,
    end: u64,
    lane: usize,
}

impl Flame {
    /// Of a step's log; none where no command is in it, or the log says no times.
    pub(super) fn new(log: Vec<u8>) -> Option<Self> {
        let (commands, first, last) = read(log)?;
        let placed = place(commands, first, last);
        let all = millis(first, last).max(1);
        let part = |ms: u64| ms.saturating_mul(1000) / all;
        let mut by_length: Vec<&Placed> =
            placed.iter().filter(|placed| placed.lane < MOST_LANES).collect();
        by_length.sort_by_key(|placed| std::cmp::Reverse(placed.end - placed.start));
        by_length.truncate(MOST_BARS);
        by_length.sort_by_key(|placed| placed.command.number);
        let bar = |placed: &&Placed| Bar {
            x: Percent(part(placed.start).min(1000 - NARROWEST)),
            width: Percent(part(placed.end - placed.start).max(NARROWEST)),
            y: placed.lane * LANE,
            tone: tone(&placed.command),
            text: cut(&placed.command.text),
            title: title(placed),
        };
        let lanes = by_length.iter().map(|placed| placed.lane + 1).max().unwrap_or(1);
        let tick = |index: u64| {
            let anchor = ["start", "middle", "middle", "middle", "end"][index as usize];
            (Percent(index * 250), anchor, wording::milliseconds(all * index / 4))
        };
        Some(Self {
            bars: by_length.iter().map(bar).collect(),
            axis: lanes * LANE,
            height: lanes * LANE + 20,
            ticks: [0, 2, 4].map(tick).to_vec(),
            longest: longest(&placed, all),
            left_out: placed.len() - by_length.len(),
            label: format!(
                "{} in {}",
                wording::count(placed.len(), "command"),
                wording::milliseconds(all)
            ),
        })
    }
}

/// The commands of the log, and the times of its first and its last line.
fn read(log: Vec<u8>) -> Option<(Vec<Command>, Timestamp, Timestamp)> {
    let (mut lines, mut commands) = (Lines::new(Cursor::new(log)), Commands::new(0));
    let (mut found, mut first, mut last) = (Vec::new(), None::<Timestamp>, None::<Timestamp>);
    // It is in memory, where nothing fails.
    while let Ok(Some(line)) = lines.read() {
        if let Some(at) = line.at() {
            first = Some(first.map_or(at, |first| first.min(at)));
            last = Some(last.map_or(at, |last| last.max(at)));
        }
        match commands.take(&line) {
            Some(Event::Ended(command)) => found.push(command),
            Some(Event::Began { before: Some(before), .. }) => found.push(before),
            _ => {}
        }
    }
    found.extend(commands.finish());
    found.sort_by_key(|command| command.number);
    if found.is_empty() { None } else { Some((found, first?, last?)) }
}

/// Gives each command a line: below the one that started it, and where no other is at that time.
fn place(commands: Vec<Command>, first: Timestamp, last: Timestamp) -> Vec<Placed> {
    let all = millis(first, last);
    let mut ends = Vec::<u64>::new();
    let mut lane_of = HashMap::<u32, usize>::new();
    let placed = commands.into_iter().map(|command| {
        let start = command.start.parse().map_or(0, |at| millis(first, at)).min(all);
        let took = command.duration.map(|took| took.as_millis() as u64);
        let end = took.map_or(all, |took| start + took).clamp(start, all);
        let above = lane_of.get(&command.parent).filter(|_| command.depth > 0);
        // A process that became another command stays where it was.
        let lowest = above.map_or(0, |lane| lane + 1);
        let free = ends.iter().skip(lowest).position(|end| *end <= start);
        let lane = free.map_or(ends.len().max(lowest), |lane| lowest + lane);
        ends.resize(ends.len().max(lane + 1), 0);
        ends[lane] = end.max(start + 1);
        lane_of.insert(command.pid, lane);
        Placed { command, start, end, lane }
    });
    placed.collect()
}

/// What took longest by itself, of `all` milliseconds.
fn longest(placed: &[Placed], all: u64) -> Vec<Longest> {
    let mut by_text = BTreeMap::<&str, (Duration, usize)>::new();
    for Placed { command, start, end, .. } in placed {
        let took = command.duration.unwrap_or(Duration::from_millis(end - start));
        let own = by_text.entry(command.text.as_str()).or_default();
        own.0 += took.saturating_sub(command.below);
        own.1 += 1;
    }
    let mut sorted: Vec<_> = by_text.into_iter().collect();
    sorted.sort_by_key(|(_, (took, _))| std::cmp::Reverse(*took));
    let shown = sorted.into_iter().take(MOST_NAMED).map(|(text, (took, count))| {
        let ms = took.as_millis() as u64;
        Longest {
            text: cut(text),
            took: wording::milliseconds(ms),
            share: format!("{} %", ms.saturating_mul(100) / all),
            count: if count > 1 { format!("{count} times") } else { String::new() },
        }
    });
    shown.collect()
}

fn tone(command: &Command) -> &'static str {
    match command.end {
        _ if command.is_failure() => "bad",
        None => "busy",
        Some(_) => "plain",
    }
}

fn title(placed: &Placed) -> String {
    let took = wording::milliseconds(placed.end - placed.start);
    let how = match &placed.command.end {
        Some(CommandEnd::Status(status)) if status.is_failure() => format!(", status {status}"),
        Some(CommandEnd::Status(_)) => String::new(),
        Some(CommandEnd::Exec) => ", became the next command".to_owned(),
        None => ", has no end in the log".to_owned(),
    };
    let at = wording::milliseconds(placed.start);
    format!("{}: {took}{how}, after {at}", cut(&placed.command.text))
}

fn millis(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or_default()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flame(lines: &[(&str, &str)]) -> Option<Flame> {
        let lines = lines.iter().map(|(time, rest)| format!("2026-11-20T17:00:{time}Z {rest}\n"));
        Flame::new(lines.collect::<String>().into_bytes())
    }

    #[test]
    fn commands_stand_below_what_started_them() {
        let flame = flame(&[
            ("00.000", "stdout F begin"),
            ("01.000", "exec F 10 9 make all"),
            ("01.000", "exec F 11 10 cc a.c"),
            // At the same time, of the same parent.
            ("01.500", "exec F 12 10 cc b.c"),
            ("03.000", "exit F 11 0 2000ms"),
            ("04.000", "exit F 12 1 2500ms"),
            ("04.000", "exec F 13 10 ld"),
            ("05.000", "exit F 13 0 1000ms"),
            ("05.000", "exit F 10 2 4000ms"),
            ("06.000", "exec F 14 9 sleep 4"),
            ("10.000", "exit F 14 0 4000ms"),
        ]);
        let flame = flame.unwrap();
        let bars: Vec<_> =
            flame.bars.iter().map(|b| (&*b.text, b.x.0, b.width.0, b.y / LANE, b.tone)).collect();
        let expected = [
            ("make all", 100, 400, 0, "bad"),
            ("cc a.c", 100, 200, 1, "plain"),
            ("cc b.c", 150, 250, 2, "bad"),
            ("ld", 400, 100, 1, "plain"),
            ("sleep 4", 600, 400, 0, "plain"),
        ];
        assert_eq!(bars, expected);
        assert_eq!(flame.label, "5 commands in 10.0 s");
        let longest: Vec<_> = flame.longest.iter().map(|l| (&*l.text, &*l.share)).collect();
        assert_eq!(longest[0], ("sleep 4", "40 %"));
        // What it started ran at once, so nothing is left for itself.
        assert_eq!(longest.last(), Some(&("make all", "0 %")));
        assert!(flame.bars[2].title.contains("cc b.c: 2.5"), "{}", flame.bars[2].title);
    }

    #[test]
    fn a_log_without_commands_or_times_has_no_timeline() {
        assert!(flame(&[("00.000", "stdout F begin")]).is_none());
        assert!(Flame::new(b"T exec F 1 2 true\n".to_vec()).is_none());
        assert!(Flame::new(Vec::new()).is_none());
    }

    #[test]
    fn of_many_commands_the_longest_are_drawn() {
        let mut log = String::new();
        for n in 0..1000 {
            let (a, b) = (n / 100, n % 100);
            log += &format!("2026-11-20T17:00:0{a}.{b:02}0Z exec F {n} 1 true {n}\n");
            log += &format!("2026-11-20T17:00:0{a}.{b:02}5Z exit F {n} 0 {}ms\n", n % 7);
        }
        let flame = Flame::new(log.into_bytes()).unwrap();
        assert_eq!((flame.bars.len(), flame.left_out), (MOST_BARS, 1000 - MOST_BARS));
        assert!(flame.bars.iter().all(|bar| bar.x.0 + bar.width.0 <= 1000 + NARROWEST));
    }
}
