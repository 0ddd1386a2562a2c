//! What runs the scripts of a language here.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{missing, skip_part};

/// The folder with further builds of bash, `FOLDER/NAME/bash` or `FOLDER/bashNAME`.
const MORE_BASHES: &str = "PROVOST_TEST_BASH";

/// Each language, which is the name of its folder, with its program and Debian's package of that.
const LANGUAGES: [(&str, &str, &str); 11] = [
    ("bash", "bash", "bash"),
    ("dash", "dash", "dash"),
    ("ash", "busybox", "busybox"),
    ("ksh", "ksh", "ksh"),
    ("zsh", "zsh", "zsh"),
    ("python", "python3", "python3"),
    ("perl", "perl", "perl"),
    ("ruby", "ruby", "ruby"),
    ("tcl", "tclsh", "tcl"),
    ("awk", "awk", "gawk"),
    ("make", "make", "make"),
];

/// An interpreter of a language's scripts.
#[derive(Debug)]
pub(super) struct Interpreter {
    /// As the table and the headers call it, such as `python` or `bash 4.2`.
    pub(super) name: String,
    pub(super) language: &'static str,
    /// The folder of a program that takes the place of the one in scripts' first lines.
    pub(super) folder: Option<PathBuf>,
    version: String,
}

impl Interpreter {
    /// Those of this machine, and each bash of `PROVOST_TEST_BASH`, for which a folder is made in `shells`.
    pub(super) fn all(shells: &Path) -> Vec<Self> {
        let mut all = Vec::new();
        for (language, program, package) in LANGUAGES {
            if let Some(missing) = missing::program(program, package) {
                skip_part(&format!("scripts in {language}: {missing}"));
                continue;
            }
            let version =
                if language == "bash" { version(Path::new("bash")) } else { String::new() };
            all.push(Self { name: language.to_owned(), language, folder: None, version });
        }
        for bash in more_bashes() {
            let version = version(&bash);
            let folder = shells.join(&version);
            fs::create_dir(&folder).unwrap();
            symlink(&bash, folder.join("bash")).unwrap();
            let name = format!("bash {version}");
            all.push(Self { name, language: "bash", folder: Some(folder), version });
        }
        all
    }

    /// Whether a header means this one by `python`, `bash 4.2` or `bash 4.2 to 5.1`.
    pub(super) fn is(&self, name: &str) -> bool {
        let Some(versions) = name.strip_prefix("bash ").filter(|_| self.language == "bash") else {
            return self.name == name;
        };
        let (first, last) = versions.split_once(" to ").unwrap_or((versions, versions));
        (number(first)..=number(last)).contains(&number(&self.version))
    }

    /// Whether it is at least of this version.
    pub(super) fn is_at_least(&self, needed: &str) -> bool {
        number(&self.version) >= number(needed)
    }
}

/// A version such as `5.2`, to compare.
fn number(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap()).collect()
}

fn more_bashes() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os(MORE_BASHES) else { return Vec::new() };
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let bash = |path: PathBuf| if path.is_dir() { path.join("bash") } else { path };
    let mut all: Vec<PathBuf> = entries.map(bash).filter(|path| path.is_file()).collect();
    all.sort();
    assert!(!all.is_empty(), "{MORE_BASHES}: no bash in {}", folder.display());
    all
}

/// A bash's version, such as `5.2`.
fn version(bash: &Path) -> String {
    let print = "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}";
    let out = Command::new(bash).args(["-c", print]).output().unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}
