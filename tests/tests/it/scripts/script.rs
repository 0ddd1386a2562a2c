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

    /// Whether it is what Provost finds out, not what the script does.
    pub(super) fn is_name(self) -> bool {
        matches!(self, Self::Line | Self::Command | Self::CalledFrom)
    }
}

/// Where a line of the header counts: ` in MODE, MODE`, ` with INTERPRETER, INTERPRETER`.
#[derive(Debug, Default)]
struct Scope {
    modes: Vec<String>,
    interpreters: Vec<String>,
}

impl Scope {
    fn has(&self, mode: Mode, interpreter: &Interpreter) -> bool {
        let among = |all: &[String], one: &str| all.is_empty() || all.iter().any(|a| a == one);
        among(&self.modes, mode.as_str()) && among(&self.interpreters, &interpreter.name)
    }
}

/// A fault of Provost's that is known, to be removed with it.
#[derive(Debug)]
pub(super) struct KnownFault {
    scope: Scope,
    pub(super) facet: Facet,
    /// What there is instead; of output, a part of it.
    pub(super) actual: String,
    /// Whether it isn't always there.
    pub(super) sometimes: bool,
}

/// A script and its header.
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
    /// The line that called the failing function, and that line's function.
    pub(super) called_from: Option<String>,
    /// The processes that it leaves behind.
    pub(super) leaves: Vec<String>,
    /// Whether lines have no order, because several processes print at once.
    pub(super) is_unordered: bool,
    /// Parts of the output that differ from run to run.
    pub(super) varies: Vec<Regex>,
    /// The oldest version of the interpreter.
    pub(super) needs: Option<String>,
    unnamed: Vec<(Scope, Vec<Facet>)>,
    known_faults: Vec<KnownFault>,
}

impl Script {
    /// Those of a folder; what has an extension is a file that they read.
    pub(super) fn all(folder: &Path) -> Vec<Self> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_none()).collect();
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut script = Self {
            name,
            status: "0".to_owned(),
            line: None,
            commands: Vec::new(),
            called_from: None,
            leaves: Vec::new(),
            is_unordered: false,
            varies: Vec::new(),
            needs: None,
            unnamed: Vec::new(),
            known_faults: Vec::new(),
            text: String::new(),
        };
        let (mut function, mut file) = (None, None);
        let comments = text.lines().skip(1).map_while(|line| line.strip_prefix('#'));
        let mut in_policy = false;
        for comment in comments {
            in_policy ^= comment.starts_with(" ///");
            let Some((key, value)) = comment.trim().split_once(": ") else { continue };
            // What begins with a capital letter is for readers.
            if in_policy || key.starts_with(char::is_uppercase) {
                continue;
            }
            let owned = || value.to_owned();
            match key {
                "status" => script.status = owned(),
                "line" => script.line = Some([owned(), "main".to_owned(), script.name.clone()]),
                "function" => function = Some(owned()),
                "file" => file = Some(owned()),
                "command" => script.commands.push(owned()),
                "called from" => script.called_from = Some(owned()),
                "leaves" => script.leaves = value.split(", ").map(str::to_owned).collect(),
                "order" => script.is_unordered = value == "any",
                "varies" => script.varies.push(Regex::new(value).unwrap()),
                "needs" => script.needs = Some(owned()),
                _ => script.read_scoped(key, value, path),
            }
        }
        if let Some(line) = &mut script.line {
            line[1] = function.unwrap_or_else(|| line[1].clone());
            line[2] = file.unwrap_or_else(|| line[2].clone());
        }
        let names_both = script.line.is_some() && !script.commands.is_empty();
        assert!(
            names_both || script.status == "0",
            "{}: the line and the command that fail (or \"none\") aren't in the header",
            path.display()
        );
        script.text = text;
        script
    }

    /// A line that may be about some modes and interpreters only.
    fn read_scoped(&mut self, key: &str, value: &str, path: &Path) {
        let mut known = || {
            let (what, scope) = scope(key);
            match what {
                "unnamed" => {
                    let facets: Option<_> = value.split(", ").map(Facet::parse).collect();
                    self.unnamed.push((scope, facets?));
                }
                "known fault" | "known fault sometimes" => {
                    let (facet, actual) = value.split_once(": ")?;
                    let (facet, actual) = (Facet::parse(facet)?, actual.to_owned());
                    let sometimes = what.ends_with("sometimes");
                    self.known_faults.push(KnownFault { scope, facet, actual, sometimes });
                }
                _ => return None,
            }
            Some(())
        };
        assert!(known().is_some(), "{}: `# {key}: {value}` isn't known", path.display());
    }

    /// Whether Provost can't know this and leaves it out.
    pub(super) fn is_unnamed(&self, facet: Facet, mode: Mode, interpreter: &Interpreter) -> bool {
        let mut all = self.unnamed.iter();
        all.any(|(scope, facets)| facets.contains(&facet) && scope.has(mode, interpreter))
    }

    pub(super) fn known_fault(
        &self,
        facet: Facet,
        mode: Mode,
        interpreter: &Interpreter,
    ) -> Option<&KnownFault> {
        let may_lack =
            |scope: &Scope| scope.modes.is_empty() && mode == Mode::Off && facet.is_name();
        let here = |fault: &&KnownFault| {
            fault.facet == facet && fault.scope.has(mode, interpreter) && !may_lack(&fault.scope)
        };
        self.known_faults.iter().find(here)
    }
}

/// Splits `WHAT in MODES with INTERPRETERS`.
fn scope(key: &str) -> (&str, Scope) {
    let list = |text: &str| text.split(", ").map(str::to_owned).collect();
    let (key, interpreters) = key.split_once(" with ").unwrap_or((key, ""));
    let (what, modes) = key.split_once(" in ").unwrap_or((key, ""));
    let [modes, interpreters] =
        [modes, interpreters].map(|text| if text.is_empty() { Vec::new() } else { list(text) });
    (what, Scope { modes, interpreters })
}
