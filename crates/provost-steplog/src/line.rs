use std::time::Duration;

use jiff::Timestamp;

use crate::{EXEC, EXIT, LINE, PIECE, STDERR, STDOUT, TRACE, WHOLE, quote};

/// One line of a step's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'l> {
    /// The line as it stands in the log, its newline included, where it has one.
    pub raw: &'l [u8],
    /// When it was written, as it stands there; empty in an [`Entry::Other`].
    pub time: &'l str,
    /// What it says.
    pub entry: Entry<'l>,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<'l> {
    /// Something was printed.
    Output {
        /// To which of the two.
        stream: Stream,
        /// Whether a newline follows; else the stream's next line goes on with it.
        whole: bool,
        /// The text.
        text: &'l [u8],
    },
    /// A process has begun a command.
    Exec {
        /// The process.
        pid: u32,
        /// Its parent.
        parent: u32,
        /// The arguments, quoted.
        command: &'l str,
    },
    /// A command has ended.
    Exit {
        /// Its process.
        pid: u32,
        /// How.
        status: Status,
        /// How long after its exec.
        duration: Duration,
    },
    /// A line of bash's xtrace.
    Xtrace {
        /// The bash.
        pid: u32,
        /// The line.
        text: &'l [u8],
    },
    /// The runner says something about the trace.
    Trace(&'l [u8]),
    /// A line of no known kind, such as the note in the middle of a log that was cut for upload.
    Other(&'l [u8]),
}

/// Which of its two outputs a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// The word that stands in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => STDOUT,
            Self::Stderr => STDERR,
        }
    }
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this exit status.
    Exit(i32),
    /// By this signal, e.g. `SIGKILL`.
    Signal(String),
}

impl Status {
    /// Whether this is a failure.
    pub fn is_failure(&self) -> bool {
        *self != Self::Exit(0)
    }

    fn parse(word: &str) -> Option<Self> {
        match word.parse() {
            Ok(status) => Some(Self::Exit(status)),
            Err(_) => word.starts_with("SIG").then(|| Self::Signal(word.to_owned())),
        }
    }
}

/// As it stands in the log.
impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(status) => write!(f, "{status}"),
            Self::Signal(name) => f.write_str(name),
        }
    }
}

/// What follows the time in the line of a command that begins, without a newline.
pub fn exec_line<A: AsRef<[u8]>>(
    pid: u32,
    parent: u32,
    args: impl IntoIterator<Item = A>,
) -> String {
    format!("{EXEC} {WHOLE} {pid} {parent} {}", quote(args))
}

/// What follows the time in the line of a command that has ended, without a newline.
pub fn exit_line(pid: u32, status: &Status, duration: Duration) -> String {
    format!("{EXIT} {WHOLE} {pid} {status} {}ms", duration.as_millis())
}

impl<'l> Line<'l> {
    /// Reads one line, with its newline or without.
    pub fn parse(raw: &'l [u8]) -> Self {
        let line = raw.strip_suffix(b"\n").unwrap_or(raw);
        let known = || {
            let (time, rest) = word(line)?;
            let (name, rest) = word(rest)?;
            let (tag, text) = word(rest)?;
            Some((time, entry(name, tag, text)?))
        };
        match known() {
            Some((time, entry)) => Self { raw, time, entry },
            None => Self::other(raw),
        }
    }

    /// A line of which nothing is to be read.
    pub(super) fn other(raw: &'l [u8]) -> Self {
        let text = raw.strip_suffix(b"\n").unwrap_or(raw);
        Self { raw, time: "", entry: Entry::Other(text) }
    }

    /// When it was written, where that can be read.
    pub fn at(&self) -> Option<Timestamp> {
        self.time.parse().ok()
    }
}

/// The first word of `line`, and what follows the blank behind it.
fn word(line: &[u8]) -> Option<(&str, &[u8])> {
    let at = line.iter().position(|b| *b == b' ')?;
    Some((std::str::from_utf8(&line[..at]).ok()?, &line[at + 1..]))
}

fn entry<'l>(name: &str, tag: &str, text: &'l [u8]) -> Option<Entry<'l>> {
    let whole = match tag {
        WHOLE => true,
        PIECE => false,
        _ => return None,
    };
    match (name, whole) {
        (STDOUT, _) => Some(Entry::Output { stream: Stream::Stdout, whole, text }),
        (STDERR, _) => Some(Entry::Output { stream: Stream::Stderr, whole, text }),
        (EXEC, true) => {
            let (pid, rest) = word(text)?;
            let (parent, command) = word(rest)?;
            let command = std::str::from_utf8(command).ok()?;
            Some(Entry::Exec { pid: pid.parse().ok()?, parent: parent.parse().ok()?, command })
        }
        (EXIT, true) => {
            let (pid, rest) = word(text)?;
            let (status, duration) = word(rest)?;
            let ms = std::str::from_utf8(duration).ok()?.strip_suffix("ms")?.parse().ok()?;
            let status = Status::parse(status)?;
            Some(Entry::Exit {
                pid: pid.parse().ok()?,
                status,
                duration: Duration::from_millis(ms),
            })
        }
        (LINE, true) => {
            let (pid, text) = word(text)?;
            Some(Entry::Xtrace { pid: pid.parse().ok()?, text })
        }
        (TRACE, true) => Some(Entry::Trace(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIME: &str = "2026-11-20T17:00:02.101Z";

    fn entry_of(rest: &str) -> String {
        let raw = format!("{TIME} {rest}\n");
        let line = Line::parse(raw.as_bytes());
        assert_eq!(line.raw, raw.as_bytes());
        assert_eq!(line.at().is_some(), !matches!(line.entry, Entry::Other(_)), "{rest}");
        match line.entry {
            Entry::Output { stream, whole, text } => {
                format!("{} {whole} {}", stream.as_str(), String::from_utf8_lossy(text))
            }
            Entry::Exec { pid, parent, command } => format!("{pid} of {parent}: {command}"),
            Entry::Exit { pid, status, duration } => {
                format!("{pid} {status} {} {duration:?}", status.is_failure())
            }
            Entry::Xtrace { pid, text } => format!("{pid} {}", String::from_utf8_lossy(text)),
            Entry::Trace(text) => format!("note {}", String::from_utf8_lossy(text)),
            Entry::Other(text) => {
                assert_eq!(text, raw.trim_end_matches('\n').as_bytes());
                "other".to_owned()
            }
        }
    }

    #[test]
    fn each_kind_of_line_is_read() {
        for (rest, expected) in [
            ("stdout F Reading  lists ", "stdout true Reading  lists "),
            ("stderr F ", "stderr true "),
            ("stdout P 1 2", "stdout false 1 2"),
            ("exec F 4711 4705 apt-get install -y 'a b'", "4711 of 4705: apt-get install -y 'a b'"),
            ("exec F 4711 4705 ", "4711 of 4705: "),
            ("exit F 4711 0 3ms", "4711 0 false 3ms"),
            ("exit F 4711 100 6907ms", "4711 100 true 6.907s"),
            ("exit F 4711 SIGKILL 12ms", "4711 SIGKILL true 12ms"),
            ("exit F 4711 SIGRTMIN+3 0ms", "4711 SIGRTMIN+3 true 0ns"),
            ("line F 4711 + [[ -e a ]]", "4711 + [[ -e a ]]"),
            ("trace F 1234 commands were left out here", "note 1234 commands were left out here"),
        ] {
            assert_eq!(entry_of(rest), expected);
        }
    }

    #[test]
    fn what_is_none_of_them_is_kept_as_it_is() {
        for rest in [
            "stdout",
            "stdout F",
            "stdout X a",
            "stdin F a",
            "exec P 1 2 a",
            "exec F 1 2",
            "exec F",
            "exec F x 2 a",
            "exec F -1 2 a",
            "exit F 1 0",
            "exit F 1 0 3",
            "exit F 1 no 3ms",
            "exit F 1 0 3ms ",
            "exit F 1 0 -3ms",
            "line F 1",
            "Exec F 1 2 a",
        ] {
            assert_eq!(entry_of(rest), "other", "{rest}");
        }
        for raw in ["", "\n", " ", "    \n", "--- 7 bytes are left out here ---\n"] {
            assert!(matches!(Line::parse(raw.as_bytes()).entry, Entry::Other(_)), "{raw:?}");
        }
    }

    /// Whatever a script prints or passes on as an argument.
    #[test]
    fn no_script_can_forge_a_line() {
        let forged = b"x\n2026-11-20T17:00:02.101Z exec F 1 2 rm -rf /";
        let text = exec_line(1, 2, [forged]);
        assert!(!text.contains('\n'), "{text}");
        assert_eq!(
            entry_of(&format!("stdout F {TIME} exec F 1 2 rm -rf /")),
            format!("stdout true {TIME} exec F 1 2 rm -rf /")
        );
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(raw in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(Line::parse(&raw).raw, &raw);
        }

        #[test]
        fn no_line_is_too_much(
            name in "stdout|exec|exit|line|trace",
            rest in "( [FPx]?)?( -?[0-9]{1,25}| SIG[A-Z]*| [0-9]{1,25}ms| \\PC*){0,4}",
        ) {
            let raw = format!("{TIME} {name}{rest}\n");
            prop_assert_eq!(Line::parse(raw.as_bytes()).raw, raw.as_bytes());
        }

        #[test]
        fn what_is_written_is_read(
            (pid, parent) in any::<(u32, u32)>(),
            args in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..9),
            status in prop_oneof![
                any::<i32>().prop_map(Status::Exit),
                "SIG[A-Z]{2,6}".prop_map(Status::Signal),
            ],
            ms in any::<u64>(),
        ) {
            let raw = format!("{TIME} {}\n", exec_line(pid, parent, &args));
            let command = &*quote(&args);
            prop_assert_eq!(Line::parse(raw.as_bytes()).entry, Entry::Exec { pid, parent, command });
            let duration = Duration::from_millis(ms);
            let raw = format!("{TIME} {}\n", exit_line(pid, &status, duration));
            prop_assert_eq!(Line::parse(raw.as_bytes()).entry, Entry::Exit { pid, status, duration });
        }
    }
}
