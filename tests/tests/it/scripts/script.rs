//! A script of the corpus, and what its header expects.

use std::fs;
use std::path::{Path, PathBuf};

use regex::bytes::Regex;

use super::interpreters::Interpreter;

/// How closely Provost watches a script: `trace` in its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Commands,
    Lines,
    Off,
}

impl Mode {
    pub(super) const ALL: [Self; 3] = [Self::Commands, Self::Lines, Self::Off];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Lines => "lines",
            Self::Off => "off",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facet {
    Status,
    Stdout,
    Stderr,
    Order,
    Time,
    Leaves,
    Line,
    Command,
    CalledFrom,
}

impl Facet {
    const ALL: [Self; 9] = [
        Self::Status,
        Self::Stdout,
        Self::Stderr,
        Self::Order,
        Self::Time,
        Self::Leaves,
        Self::Line,
        Self::Command,
        Self::CalledFrom,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Order => "order",
            Self::Time => "time",
            Self::Leaves => "leaves",
            Self::Line => "line",
            Self::Command => "command",
            Self::CalledFrom => "called from",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|facet| facet.as_str() == name)
    }

    /// Whether it depends on how busy the machine is.
    pub(super) fn depends_on_load(self) -> bool {
        matches!(self, Self::Order | Self::Time)
    }
}

/// A script and its header, as it is for one interpreter.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) name: String,
    pub(super) text: String,
    /// How it ends: an exit status or a signal.
    pub(super) status: String,
    /// Where it fails: `LINE`, `FUNCTION`, `FILE`.
    pub(super) line: Option<[String; 3]>,
    /// What fails there, in words that are equally right.
    pub(super) commands: Vec<String>,
    /// Where the failing function was called, in the same way.
    pub(super) called_from: Option<[String; 3]>,
    /// The processes that it leaves behind.
    pub(super) leaves: Vec<String>,
    /// Whether lines have no order, because several processes print at once, or lines of both streams
    /// may change places.
    pub(super) is_unordered: bool,
    /// Parts of the output that differ from run to run.
    pub(super) varies: Vec<Regex>,
    /// The oldest version of the interpreter.
    pub(super) needs: Option<String>,
    /// The modes in which something isn't named.
    unnamed: Vec<(Vec<Mode>, Vec<Facet>)>,
}

impl Script {
    /// Those of a folder; what has an extension is a file that they read.
    pub(super) fn all(folder: &Path, interpreter: &Interpreter) -> Vec<Self> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_none()).collect();
        paths.sort();
        paths.iter().map(|path| Self::read(path, interpreter)).collect()
    }

    fn read(path: &Path, interpreter: &Interpreter) -> Self {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut script = Self {
            line: None,
            commands: Vec::new(),
            called_from: None,
            leaves: Vec::new(),
            is_unordered: false,
            varies: Vec::new(),
            needs: None,
            unnamed: Vec::new(),
            status: "0".to_owned(),
            text: fs::read_to_string(path).unwrap(),
            name,
        };
        let text = script.text.clone();
        let comments = text.lines().skip(1).map_while(|line| line.strip_prefix('#'));
        let mut in_policy = false;
        for comment in comments {
            in_policy ^= comment.starts_with(" ///");
            let Some((key, value)) = comment.trim().split_once(": ") else { continue };
            // What begins with a capital letter is for readers.
            if in_policy || key.starts_with(char::is_uppercase) {
                continue;
            }
            let (key, interpreters) = key.split_once(" with ").unwrap_or((key, ""));
            if interpreters.is_empty() || interpreters.split(", ").any(|name| interpreter.is(name))
            {
                let is_known = script.set(key, value).is_some();
                assert!(is_known, "{}: `#{comment}` isn't known", path.display());
            }
        }
        let names_both = script.line.is_some() && !script.commands.is_empty();
        assert!(
            names_both || script.status == "0",
            "{}: the line and the command that fail (or \"none\") aren't in the header",
            path.display()
        );
        script
    }

    /// Sets what one line of the header says; nothing if that isn't known.
    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        let owned = value.to_owned();
        let (key, modes) = key.split_once(" in ").unwrap_or((key, ""));
        let modes: Option<Vec<Mode>> = modes.split_terminator(", ").map(Mode::parse).collect();
        match key {
            "status" => self.status = owned,
            "line" => self.line = Some(self.place(value)),
            "function" => self.line.as_mut()?[1] = owned,
            "file" => self.line.as_mut()?[2] = owned,
            "command" => self.commands.push(owned),
            "called from" => self.called_from = Some(self.place(value)),
            "leaves" => self.leaves = value.split(", ").map(str::to_owned).collect(),
            "order" => self.is_unordered = value == "any",
            "varies" => self.varies.push(Regex::new(value).ok()?),
            "needs" => self.needs = Some(owned),
            "unnamed" => {
                let facets: Option<_> = value.split(", ").map(Facet::parse).collect();
                self.unnamed.push((modes?, facets?));
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads `LINE`, `LINE FUNCTION` or `LINE FUNCTION FILE`.
    fn place(&self, text: &str) -> [String; 3] {
        let mut words = text.splitn(3, ' ');
        let mut word = |default: &str| words.next().unwrap_or(default).to_owned();
        [word(""), word("main"), word(&self.name)]
    }

    /// Whether Provost can't know this and leaves it out.
    pub(super) fn is_unnamed(&self, facet: Facet, mode: Mode) -> bool {
        let mut all = self.unnamed.iter();
        let is_here = |modes: &[Mode]| modes.is_empty() || modes.contains(&mode);
        all.any(|(modes, facets)| facets.contains(&facet) && is_here(modes))
    }
}
