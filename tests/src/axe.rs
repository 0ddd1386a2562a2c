//! axe-core, which finds what keeps people from using a page. npm fetches it when a test needs it first; it is kept beside
//! what is built, and no program has it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::{missing, program, skip_if};

const PACKAGE: &str = "axe-core@4.11.0";
/// The SHA-256 of that package.
const SHA256: &str = "39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107";
/// The rules: those of WCAG 2.2, levels A and AA.
const TAGS: [&str; 5] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/// axe-core's script.
pub struct Axe(String);

impl Axe {
    /// Fetches it, or skips the test where that can't be done.
    pub fn fetch() -> Self {
        skip_if(missing::program("npm", "npm"));
        let folder = program("axe-core");
        // One process fetches it; the others wait.
        let lock = File::create(folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let script = folder.join("package/axe.min.js");
        if !script.exists() {
            skip_if(Self::pack(&folder));
        }
        Self(fs::read_to_string(script).unwrap())
    }

    /// Puts the package's files into the folder. Returns what is missing, if it can't be fetched.
    fn pack(folder: &PathBuf) -> Option<String> {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir(folder).unwrap();
        let mut npm = Command::new("npm");
        npm.args(["pack", "--silent", PACKAGE]).current_dir(folder);
        let out = npm.stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
        if !out.status.success() {
            return Some(format!("npm can't fetch {PACKAGE}"));
        }
        let file = String::from_utf8(out.stdout).unwrap().trim().to_owned();
        let line =
            format!("echo '{SHA256}  {file}' | sha256sum --check --quiet && tar -xzf '{file}'");
        let out = Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap();
        assert!(out.status.success(), "{PACKAGE} isn't what it was: {out:?}");
        None
    }

    /// The page has no finding.
    #[track_caller]
    pub fn finds_nothing(&self, browser: &Browser) {
        browser.run(&self.0);
        let tags = json!({"runOnly": {"type": "tag", "values": TAGS}});
        browser.run(&format!(
            "window.found = null;
             axe.run(document, {tags}).then((result) => {{ window.found = result.violations; }},
                 (error) => {{ window.found = [{{id: String(error), nodes: []}}]; }});"
        ));
        browser.until("axe is done", |browser| browser.run("return window.found") != Value::Null);
        let found = browser.run(
            "return window.found.flatMap((rule) => [rule.id + ': ' + rule.help,
                 ...rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + ' ' +
                     node.any.concat(node.all, node.none).map((check) => check.message).join('; '))]);",
        );
        assert_eq!(found, json!([]), "{}: {found:#}", browser.url());
    }
}
