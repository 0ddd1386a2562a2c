use std::sync::LazyLock;

use regex::Regex;

use crate::{Out, program};

/// What differs from run to run, and what a snapshot has in its place.
static FILTERS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let programs = regex::escape(&program("").display().to_string());
    // Not as a part of an address.
    let version = format!(r"(?m)(^|[^\d.]){}\b", regex::escape(env!("CARGO_PKG_VERSION")));
    let filters = [
        // Places and identities.
        (r"(/[\w.-]+)*/\.tmp\w{6}\b", "[DIR]"),
        (&*programs, "[BIN]/"),
        (&*version, "$1[VERSION]"),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "[ID]"),
        (r"\b[0-9a-f]{64}\b", "[HEX]"),
        (r"\bRW[\w+/]{54}", "[KEY]"),
        (r"\b[0-9A-F]{16}\b", "[KEY ID]"),
        (r"(\b127\.0\.0\.1:|\bsport = :|\bport )\d{2,}", "$1[PORT]"),
        (r"\.fetch-\w{6}\b", ".fetch-[ID]"),
        (r"\bLinux \d\S+ has", "Linux [VERSION] has"),
        // Only on a machine that lets nobody make one.
        (r"(?m)^ok +cgroup .*\n", ""),
        // Documents and their signatures are fetched at once.
        (r"\.toml\.minisig\b", ".toml"),
        (r"\[PORT\]/\S+\.toml: Connection", "[PORT]/[DOCUMENT]: Connection"),
        // Times.
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [A-Z]{3,5}| [+-]\d{2,4})", "[TIME]"),
        (r"-\d{17}\.tar", "-[TIME].tar"),
        (r"\b\d+(\.\d+)? ?ms\b|\b\d+\.\d+ ?s\b", "[DURATION]"),
        (r#"(Ms|KiB)": ?\d+"#, r#"$1": [N]"#),
        (r"\b\d+ ?(s|seconds?|m|min|minutes?) ago\b", "[AGE] ago"),
        (r"(?m)^(cn\d+ +\w+ +)\d+ ?(s|m|min)( |$)", "$1[AGE]$3"),
        (r"\b\d+ s (ahead|behind)\b", "[N] s ahead"),
        // What takes longest comes first.
        (r"(?m)(^ +\[DURATION\] +\d+ % .*\n)+", "  [DURATION] [N] %  [STAGE]\n"),
        // The machine.
        (r#""facts":\{[^}]*\}"#, r#""facts":{[FACTS]}"#),
        (r"(?m)^( +machine +).*", "$1[FACTS]"),
        // Amounts.
        (r"\b\d+ tr(y|ies)\b", "[N] tries"),
        (r"\b\d+ (Mi|Gi)B free\b", "[N] MiB free"),
        // Columns are as wide as what stood in them.
        (r"(\[[A-Z ]+\]\S*) {2,}(\S)", "$1  $2"),
        (r"(\S) {2,}(\S*\[[A-Z ]+\])", "$1  $2"),
        (r"(?m)(\S) {2,}((default|file|flag)( .*)?)$", "$1  $2"),
        (r"TOOK +WHAT", "TOOK  WHAT"),
    ];
    filters.map(|(regex, name)| (Regex::new(regex).unwrap(), name)).into()
});

impl Out {
    /// What a user sees of a command, for a snapshot: exit status, standard output and standard
    /// error, without what differs from run to run.
    pub fn transcript(&self) -> String {
        let mut text = match self.code {
            Some(code) => format!("exit status {code}\n"),
            None => "ended by a signal\n".to_owned(),
        };
        for (name, content) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !content.is_empty() {
                text += &format!("----- {name} -----\n{content}");
            }
        }
        let filter = |text: String, (regex, name): &(Regex, &str)| {
            regex.replace_all(&text, *name).into_owned()
        };
        FILTERS.iter().fold(text, filter)
    }
}
