//! `cargo xtask release --check`: whether all agree on the version that is to be released.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::{cargo, notices};

/// The heading of what isn't released yet, as Keep a Changelog has it.
const UNRELEASED: &str = "## [Unreleased]";

/// Prints each thing that doesn't agree, in a line.
pub(crate) fn check() -> Result<()> {
    let mut problems = problems(cargo::root(), env!("CARGO_PKG_VERSION"));
    if let Err(error) = notices::check() {
        problems.push(error.to_string());
    }
    for problem in &problems {
        eprintln!("error: {problem}");
    }
    match problems.len() {
        0 => {
            println!("{} can be released", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        n => bail!("{} can't be released: {n} to fix", env!("CARGO_PKG_VERSION")),
    }
}

/// What in the checkout `root` doesn't agree with `version`.
fn problems(root: &Path, version: &str) -> Vec<String> {
    let mut problems = changelog(root, version);
    problems.extend(tag(root, version));
    problems.extend(recordings(root, version));
    problems.extend(pages(root, version));
    problems
}

fn changelog(root: &Path, version: &str) -> Vec<String> {
    let text = fs::read_to_string(root.join("CHANGELOG.md")).unwrap_or_default();
    let mut problems = Vec::new();
    let section = |heading: &str| {
        let (_, rest) = text.split_once(heading)?;
        let (first, body) = rest.split_once('\n').unwrap_or((rest, ""));
        Some((first.to_owned(), body.split("\n## ").next().unwrap_or_default().to_owned()))
    };
    let has_lines = |body: &str| body.lines().any(|line| line.starts_with("- "));
    match section(&format!("## [{version}]")) {
        None => problems.push(format!(
            "CHANGELOG.md has no heading ## [{version}] - YEAR-MONTH-DAY: cut it from {UNRELEASED}"
        )),
        Some((rest, body)) => {
            let date = rest.trim().trim_start_matches("- ");
            let is_date = date.len() == 10
                && date.split('-').map(str::len).eq([4, 2, 2])
                && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            if !is_date {
                problems
                    .push(format!("CHANGELOG.md: [{version}] has no date: write YEAR-MONTH-DAY"));
            }
            if !has_lines(&body) {
                problems.push(format!("CHANGELOG.md: [{version}] has no changes"));
            }
        }
    }
    if section(UNRELEASED).is_some_and(|(_, body)| has_lines(&body)) {
        problems.push(format!("CHANGELOG.md: move what is under {UNRELEASED} to [{version}]"));
    }
    problems
}

/// The commit has the tag of the version, and nothing is changed since.
fn tag(root: &Path, version: &str) -> Vec<String> {
    let git = |args: &[&str]| {
        let out = cargo::command("git").current_dir(root).args(args).output();
        out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default()
    };
    let tag = format!("v{version}");
    let mut problems = Vec::new();
    if !git(&["tag", "--points-at", "HEAD"]).lines().any(|line| line == tag) {
        problems.push(format!("this commit has no tag {tag}: git tag --sign {tag}"));
    }
    let changed = git(&["status", "--porcelain"]);
    if !changed.trim().is_empty() {
        let count = changed.lines().count();
        problems.push(format!("the checkout has uncommitted changes ({count}): git status"));
    }
    problems
}

/// What later versions are tested against.
fn recordings(root: &Path, version: &str) -> Vec<String> {
    let minor = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
    let folder = format!("tests/compat/{minor}");
    let has_files = fs::read_dir(root.join(&folder)).is_ok_and(|mut files| files.next().is_some());
    match has_files {
        true => Vec::new(),
        false => vec![format!(
            "{folder} isn't there: cargo nextest run -E 'test(compat::record)' --run-ignored only"
        )],
    }
}

/// File names of packages that pages have.
fn pages(root: &Path, version: &str) -> Vec<String> {
    let folders = ["", "docs", "docs/with"].map(|folder| root.join(folder));
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| {
        // The others are about versions: an upgrade has two.
        path.extension().is_some_and(|end| end == "md")
            && !path.ends_with("CHANGELOG.md")
            && !path.ends_with("upgrade.md")
    });
    paths.sort();
    let mut problems = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap_or_default();
        for (number, line) in text.lines().enumerate() {
            let others = packages(line).filter(|named| *named != version);
            let page = path.strip_prefix(root).unwrap_or(&path).display();
            problems.extend(others.map(|named| {
                format!("{page}:{} names a package of version {named}, not {version}", number + 1)
            }));
        }
    }
    problems
}

/// The versions of the packages that a line names: `provost_0.1.0-1_amd64.deb`, `provost-server-0.1.0-1.x86_64.rpm`.
fn packages(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| c.is_whitespace() || "`()\"',;".contains(c));
    words.filter_map(|word| {
        let rest = word.rsplit('/').next()?.strip_prefix("provost")?;
        let rest = rest.strip_prefix("-server").unwrap_or(rest);
        let rest = rest.strip_prefix(['_', '-'])?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let version = rest[..end].trim_end_matches('.');
        (version.split('.').count() == 3).then_some(version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A checkout that agrees on 0.2.0.
    fn checkout() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "CHANGELOG.md",
            "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- One thing.\n\n\
             ## [0.1.0] - 2026-01-01\n\n- All.\n",
        );
        write("tests/compat/0.2/journal.json", "[]");
        write("docs/install.md", "apt install ./provost-server_0.2.0-1_amd64.deb\n");
        let git = |args: &[&str]| {
            let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
            let mut command = cargo::command("git");
            command.current_dir(root.path()).args(identity).args(args);
            assert!(command.output().unwrap().status.success(), "{args:?}");
        };
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message", "Release"]);
        git(&["tag", "v0.2.0"]);
        root
    }

    #[test]
    fn a_release_on_which_all_agree_has_no_problems() {
        assert_eq!(problems(checkout().path(), "0.2.0"), Vec::<String>::new());
    }

    #[test]
    fn each_thing_that_does_not_agree_is_named() {
        let root = checkout();
        let found = problems(root.path(), "0.3.0");
        let expected =
            ["no heading ## [0.3.0]", "no tag v0.3.0", "tests/compat/0.3", "version 0.2.0"];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (problem, part) in found.iter().zip(expected) {
            assert!(problem.contains(part) && problem.lines().count() == 1, "{problem}");
        }
        let log = root.path().join("CHANGELOG.md");
        for (text, part) in [
            (
                "## [Unreleased]\n\n- New.\n\n## [0.2.0] - 2026-12-01\n\n- One.\n",
                "move what is under",
            ),
            ("## [Unreleased]\n\n## [0.2.0]\n\n- One.\n", "has no date"),
            ("## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n## [0.1.0]\n\n- One.\n", "no changes"),
        ] {
            fs::write(&log, text).unwrap();
            let found = problems(root.path(), "0.2.0");
            assert!(found[0].contains(part), "{found:#?}");
            assert!(found[1].contains("uncommitted changes (1)"), "{found:#?}");
        }
    }

    #[test]
    fn packages_are_found_in_text() {
        let line = "`./provost_0.1.0-1_amd64.deb` and provost-server-0.2.1-1.x86_64.rpm, provost-0.1.0.tar.gz";
        assert_eq!(packages(line).collect::<Vec<_>>(), ["0.1.0", "0.2.1", "0.1.0"]);
        assert_eq!(packages("provost-boot.service provost-server provost_tests").count(), 0);
    }
}
