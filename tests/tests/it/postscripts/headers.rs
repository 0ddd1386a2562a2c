//! What each script says of itself, and the lists that are made of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::Out;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// All files of the folder, and those among them that are scripts, each in order.
fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("postscripts")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn scripts() -> Vec<PathBuf> {
    files().into_iter().filter(|path| path.extension().is_none()).collect()
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn each_has_a_policy_and_explains_itself() {
    for script in scripts() {
        let text = fs::read_to_string(&script).unwrap();
        for part in ["\n# /// provost\n# timeout = \"", "\n# when = \""] {
            assert!(text.contains(part), "{} lacks {part:?}", name(&script));
        }
        let library = root().join("lib-sh");
        for help in ["--help", "-h"] {
            let out: Out = Command::new(&script).arg(help).output().unwrap().into();
            let out = out.expect(0);
            assert!(out.stdout.starts_with(&format!("usage: {}", name(&script))), "{out:?}");
        }
        let path = format!("/usr/sbin:/usr/bin:/sbin:/bin:{}", library.display());
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(&script);
        command.args(["no", "such", "argument"]).env_clear().env("PATH", path);
        let out: Out = command.env("PROVOST_ROOT", folder.path()).output().unwrap().into();
        assert_eq!(out.code, Some(1), "{out:?}");
        assert!(out.stderr.lines().last().unwrap().starts_with("hint: "), "{out:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{}", name(&script));
    }
}

#[test]
fn the_table_in_the_docs_is_made_of_them() {
    let mut awk = Command::new("awk");
    awk.arg("-f").arg(root().join("docs/postscripts.awk")).args(files());
    let table = Out::from(awk.output().unwrap()).expect(0).stdout;
    let page = fs::read_to_string(root().join("docs/postscripts.md")).unwrap();
    assert!(
        page.contains(&format!("\n\n{table}\n")),
        "put this in its place (awk -f docs/postscripts.awk postscripts/*):\n{table}"
    );
}

/// Which columns of which rows a table of a page has: its cells, from the line that begins with `first`.
fn rows(page: &str, first: &str) -> Vec<Vec<String>> {
    let lines = page.lines().skip_while(|line| !line.starts_with(first)).skip(2);
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    lines.take_while(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn for_each_the_docs_say_on_which_systems_it_was_tested() {
    let page = fs::read_to_string(root().join("docs/postscripts.md")).unwrap();
    let rows = rows(&page, "| tested on |");
    // Scripts with the same results share a row.
    let names = rows.iter().flat_map(|row| row[1].split(", "));
    let mut listed: Vec<_> = names.map(|name| name.trim_matches('`').to_owned()).collect();
    listed.sort();
    assert_eq!(listed, scripts().iter().map(|path| name(path).to_owned()).collect::<Vec<_>>());
    for row in rows {
        for cell in &row[2..row.len() - 1] {
            assert!(["real", "tools", "stand-ins", "no"].contains(&cell.as_str()), "{row:?}");
        }
    }
}

#[test]
fn the_daemon_tells_the_times_of_each_apart() {
    let list = fs::read_to_string(root().join("crates/provostd/src/metrics/timings.rs")).unwrap();
    let list = list.split_once("const DEFAULT").unwrap().1.split_once("];").unwrap().0;
    for script in scripts() {
        assert!(list.contains(&format!("\"{}\"", name(&script))), "{} isn't there", name(&script));
    }
}
