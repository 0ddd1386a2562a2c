use std::path::{Path, PathBuf};

use super::fragment::Fragment;
use crate::failure::Failure;

/// Where the configuration is where nobody says otherwise.
const DEFAULT: &str = "/etc/provost/provost.toml";

/// What all sources together say, not yet checked.
pub(crate) struct Input {
    pub(super) fragment: Fragment,
    /// A token that was given directly.
    pub(super) token: Option<String>,
}

impl Input {
    /// Reads the configuration file, its drop-ins (`provost.d/*.toml` beside it, in order of
    /// their names), the kernel command line and the environment; later ones win. A file that
    /// was asked for must be there.
    pub(crate) fn read(config: Option<&Path>) -> Result<Self, Failure> {
        let file = config.unwrap_or(Path::new(DEFAULT));
        let mut table = toml::Table::new();
        match std::fs::read_to_string(file) {
            Ok(text) => merge(&mut table, parse(file, &text)?),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && config.is_none() => {}
            Err(e) => return Err(unreadable(file, &e)),
        }
        for path in drop_ins(file)? {
            let text = std::fs::read_to_string(&path).map_err(|e| unreadable(&path, &e))?;
            merge(&mut table, parse(&path, &text)?);
        }
        let fragment = Fragment::deserialize_checked(table)?;
        let mut input = Self { fragment, token: None };
        // Not there in some chroots; then nothing is said there either.
        let kernel = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
        input.overlay(|name| kernel_argument(&kernel, name));
        input.overlay(|name| {
            let name = format!("PROVOST_{}", name.to_ascii_uppercase());
            std::env::var(name).ok().filter(|v| !v.is_empty())
        });
        Ok(input)
    }

    fn overlay(&mut self, value: impl Fn(&str) -> Option<String>) {
        let list = |text: String| text.split(',').map(str::to_owned).collect();
        let fragment = &mut self.fragment;
        fragment.node = value("node").or(fragment.node.take());
        fragment.servers = value("server").map(list).or(fragment.servers.take());
        fragment.trust.keys = value("key").map(list).or(fragment.trust.keys.take());
        self.token = value("token").or(self.token.take());
    }
}

impl Fragment {
    /// Each file was checked by itself, so that this finds what only shows in the whole.
    fn deserialize_checked(table: toml::Table) -> Result<Self, Failure> {
        serde::Deserialize::deserialize(table).map_err(|e: toml::de::Error| {
            Failure::config(e.message(), "see the configuration files and their drop-ins")
        })
    }
}

fn parse(path: &Path, text: &str) -> Result<toml::Table, Failure> {
    let wrong = |e: toml::de::Error| {
        let line = e.span().map_or(1, |s| 1 + text[..s.start].matches('\n').count());
        let message = format!("{}:{line}: {}", path.display(), e.message());
        Failure::config(message, "mend that line; an unknown key may be a slip of the pen")
    };
    toml::from_str::<Fragment>(text).map_err(wrong)?;
    toml::from_str(text).map_err(wrong)
}

fn merge(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => merge(old, new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn drop_ins(file: &Path) -> Result<Vec<PathBuf>, Failure> {
    let folder = file.with_extension("d");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(unreadable(&folder, &e)),
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn unreadable(path: &Path, e: &std::io::Error) -> Failure {
    let message = format!("reading the configuration {}: {e}", path.display());
    Failure::config(message, "give the right file with --config, and see that root can read it")
}

fn kernel_argument(line: &str, name: &str) -> Option<String> {
    let value = |word: &str| {
        let rest = word.strip_prefix("provost.")?.strip_prefix(name)?;
        rest.strip_prefix('=').filter(|v| !v.is_empty()).map(|v| v.trim_matches('"').to_owned())
    };
    // As in the kernel, the last one counts.
    line.split_ascii_whitespace().filter_map(value).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_kernel_argument_counts() {
        let line =
            "quiet provost.node=a provost.nodes=x provost.node=\"b\" provost.key= xprovost.key=k";
        assert_eq!(kernel_argument(line, "node").as_deref(), Some("b"));
        assert_eq!(kernel_argument(line, "key"), None);
    }

    #[test]
    fn drop_ins_add_to_the_file_and_mistakes_name_their_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("provost.toml");
        std::fs::write(&file, "node = \"a\"\n[fetch]\ndeadline = \"1m\"\nstall_timeout = \"2s\"\n")
            .unwrap();
        std::fs::create_dir(dir.path().join("provost.d")).unwrap();
        let drop_in = dir.path().join("provost.d/10.toml");
        std::fs::write(&drop_in, "[fetch]\ndeadline = \"2m\"\n").unwrap();
        let input = Input::read(Some(&file)).map_err(|e| e.to_string()).unwrap();
        assert_eq!(input.fragment.fetch.deadline.unwrap().to_string(), "2m");
        assert_eq!(input.fragment.fetch.stall_timeout.unwrap().to_string(), "2s");
        for (text, part) in [
            ("\n[fetch]\ndeadlin = \"2m\"\n", "10.toml:3:"),
            ("[fetch]\nstall_timeout = 3\n", ":2:"),
        ] {
            std::fs::write(&drop_in, text).unwrap();
            let e = Input::read(Some(&file)).err().unwrap().to_string();
            assert!(e.contains(part) && e.contains("hint: "), "{e}");
        }
    }
}
